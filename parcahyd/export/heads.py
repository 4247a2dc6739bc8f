"""The head of an answer, made to agree with the body that goes out with it.

The database has bodies without their content and transfer codings, and their headers as they came. A reader of WARC files
believes the headers: it inflates a body that says gzip, and waits for chunks where the head says chunked. So what describes
bytes that were not kept gets the name `X-Archive-Orig-NAME`, as other archives name it, and the true Content-Length is added.
All other lines stay as they are, in their order and spelling.

Headers come from servers and plugins. A line that is no header is left out, so that nothing in a stored value can end the head.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = [
    "Head",
    "agreeing_head",
    "as_one_chunk",
    "ends_early",
    "has_other_length",
    "has_trailers",
    "with_crlf",
]

_LINES = re.compile(rb"[\r\n]+")
_IS_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\0]*").fullmatch  # RFC 9110, section 5.1
_LENGTH = b"content-length"
_CODING = b"content-encoding"
_MOVED = {_CODING: "content-coding", b"transfer-encoding": "transfer-coding", b"trailer": "transfer-coding"}
_ANNOUNCES_TRAILERS = re.compile(rb"(?im)^trailer:").search
_LENGTHS = re.compile(rb"(?im)^content-length:[ \t]*([^\r\n]*?)[ \t]*\r?$").findall
_LINE_END = re.compile(rb"\r?\n")


class Head(NamedTuple):
    """The header lines that go out, and what in them was not received so."""

    lines: bytes
    """Each ended by CR LF."""
    reconstructed: tuple[str, ...]
    """Some of: content-coding, transfer-coding, content-length. Empty where the lines are as they came."""


def agreeing_head(headers: bytes, length: int, *, is_coded: bool = False) -> Head:
    """The stored header lines, for a body of `length` bytes without codings; `is_coded`: it has its content codings."""
    lines: list[bytes] = []
    changed: dict[str, None] = {}
    lengths = 0
    true_length = b"%d" % length
    for line in _LINES.split(headers):
        if not _IS_HEADER(line):
            continue
        name, _, value = line.partition(b":")
        known = name.lower()
        if known in _MOVED and not (is_coded and known == _CODING):
            changed[_MOVED[known]] = None
            line = b"X-Archive-Orig-" + line  # noqa: PLW2901 (it is the same line under another name)
        elif known == _LENGTH:
            lengths += 1
            if lengths > 1 or value.strip() != true_length:
                changed["content-length"] = None
                line = b"X-Archive-Orig-" + line  # noqa: PLW2901 (the same)
                lengths -= 1
        lines.append(line)
    if changed and not lengths:
        lines.append(b"Content-Length: " + true_length)
    return Head(b"".join([line + b"\r\n" for line in lines]), tuple(changed))


def ends_early(lines: bytes) -> bool:
    """Whether header lines have a blank line between them, behind which a reader would look for the body."""
    return b"\n\n" in lines or b"\n\r\n" in lines


def has_other_length(lines: bytes, length: int) -> bool:
    """Whether header lines announce another length than that of the body: it was cut, or comes from somebody else's archive."""
    return any(found != b"%d" % length for found in _LENGTHS(lines))


def has_trailers(lines: bytes) -> bool:
    """Whether header lines announce trailers behind the last chunk."""
    return _ANNOUNCES_TRAILERS(lines) is not None


def with_crlf(lines: bytes) -> bytes:
    """Header lines, each ended by CR LF."""
    return _LINE_END.sub(b"\r\n", lines)


def as_one_chunk(payload: bytes) -> bytes:
    """The payload as one chunk and its end."""
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(payload), payload) if payload else b"0\r\n\r\n"
