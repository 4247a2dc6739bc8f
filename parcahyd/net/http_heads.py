"""The head of an answer as libcurl hands it over, line by line."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["final_head"]

_BLANK_LINES = (b"\r\n", b"\n")


def final_head(lines: Sequence[bytes]) -> bytes:
    """Status line, header lines and blank line of the last answer, without interim answers before it and trailers behind."""
    head = b"".join(lines)
    if head.find(b"\r\n\r\n") == len(head) - 4:
        return head  # Nearly every answer: one block, and nothing behind it.
    begin = end = 0
    is_over = True
    for number, line in enumerate(lines):
        if is_over:
            if line.startswith(b"HTTP/"):
                begin, is_over = number, False
        elif line in _BLANK_LINES:
            end, is_over = number + 1, True
    return b"".join(lines[begin:end])
