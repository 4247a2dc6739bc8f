"""The head of an answer: found among the lines that libcurl hands over, and read."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["final_head", "headers_of"]

_BLANK_LINES = (b"\r\n", b"\n")
_FOLD = re.compile(r"\r?\n[ \t]+")


def final_head(lines: Sequence[bytes]) -> bytes:
    """Status line, header lines and blank line of the last answer, without interim answers before it and trailers behind.

    Empty where the head is not complete. Interim answers (RFC 9110, section 15.2) come first, each with its own status line
    and blank line.
    """
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
    return b"".join(lines[begin:end]) if is_over else b""


def headers_of(head: bytes) -> list[tuple[str, str]]:
    """The headers of a head, in order, names as received.

    A folded header continues in lines that begin with a blank. A line without a name before its colon is dropped: nothing
    could ask for it, and it says nothing about the document.
    """
    text = head.decode("latin-1")
    if "\n " in text or "\n\t" in text:
        text = _FOLD.sub(" ", text)
    # The blank line at the end has no name, either.
    return [(name, value.strip()) for name, _, value in [line.partition(":") for line in text.split("\n")[1:]] if name.strip()]
