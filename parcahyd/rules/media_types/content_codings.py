"""Content codings (RFC 9110, section 8.4): which are asked for, which an answer has, and how they are undone.

A downloader hands over a body as it was transferred, and names its codings. `undo` removes them, within a bound, and looks for
the end of each: a body that was cut is no document, however good its beginning is. Brotli is asked for where the package of
that name is installed in a version that can bound what it unpacks (1.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from zlib_ng import zlib_ng

from parcahyd.core.ports import DownloadFailure, DownloadResult

try:
    import brotli
except ImportError:
    brotli = None

__all__ = ["ACCEPT_ENCODING", "coding_to_keep", "codings_of", "undo", "undo_one"]

_HAS_BROTLI = brotli is not None and hasattr(brotli.Decompressor, "can_accept_more_data")

ACCEPT_ENCODING = "gzip, deflate, br" if _HAS_BROTLI else "gzip, deflate"
"""The header's value in every request: the codings that `undo` can undo."""

_MOST_CODINGS = 5
_MOST_BYTES_MORE = 1024
"""That a coded body may have more than the document: a server that sends megabytes for a word does not get them stored."""
_MOST_MEMBERS = 1000
"""Of one gzip body. Each costs a copy of a piece, so that their number must be bounded."""
_PIECE = 256 * 1024
_GZIP, _ZLIB, _RAW = 31, 15, -15
_ZLIB_ERROR = cast("type[Exception]", zlib_ng.error)  # Its stubs take the class for an instance.
_NOT_COMPLETE = "the body ends before its content coding does"
_TOO_MUCH = "bytes follow the end of the coded body"


def codings_of(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The codings that the headers of an answer name, in the order in which they were applied; mostly none."""
    found = [value for name, value in headers if len(name) == 16 and name.lower() == "content-encoding"]
    if not found:
        return ()
    words = [word.strip().lower().removeprefix("x-") for word in ",".join(found).split(",")]
    return tuple([word for word in words if word and word != "identity"])


def undo(result: DownloadResult, max_bytes: int, cut: bool) -> None:
    """Undo the codings of an answer: `body` is the document afterwards, and `transferred` what had come.

    What cannot be undone, or not to its end, makes the result the failure CONTENT_CODING; a body that unpacks to more than
    `max_bytes` makes it SIZE, or is cut there. An answer that is no document keeps its status, and loses a damaged body.
    """
    transferred = result.body
    failure, detail = None, ""
    if transferred:
        body, failure, detail = _undone(transferred, result.codings, max_bytes, cut)
    else:
        body = b""
        if result.status == 200 and result.header("content-length") != "0":
            failure, detail = DownloadFailure.CONTENT_CODING, _NOT_COMPLETE
    result.body = body
    if failure is None:
        result.transferred = transferred
    elif 200 <= result.status < 300 or failure is DownloadFailure.SIZE:
        result.status, result.headers = 0, ()
        result.failure, result.detail = failure, detail


def coding_to_keep(result: DownloadResult) -> str:
    """The coding of an answer that is stored as it was transferred; empty where the document itself is stored.

    That is so where there was no coding, where there were several (what lies between them has no recorded length that would
    bound it when it is read), and where the coded body is larger than the document.
    """
    if len(result.codings) != 1 or not result.transferred:
        return ""
    return result.codings[0] if len(result.transferred) <= len(result.body) + _MOST_BYTES_MORE else ""


def undo_one(body: bytes, coding: str, most: int) -> tuple[bytes, str]:
    """Undo one coding: up to one byte more than `most`, and what is wrong with the body; empty where nothing is."""
    if coding == "gzip":
        return _inflated(body, _GZIP, most)
    if coding == "deflate":
        return _inflated(body, _ZLIB if _has_zlib_header(body) else _RAW, most)
    if coding == "br" and _HAS_BROTLI:
        return _unbrotlied(body, most)
    return b"", f"content coding {coding[:40]}"


def _undone(body: bytes, codings: tuple[str, ...], most: int, cut: bool) -> tuple[bytes, DownloadFailure | None, str]:
    if len(codings) > _MOST_CODINGS:
        return b"", DownloadFailure.CONTENT_CODING, f"more than {_MOST_CODINGS} content codings"
    for coding in reversed(codings):
        may_end_early = cut and len(body) >= most
        body, problem = undo_one(body, coding, most)
        if len(body) > most:
            if not cut:
                return b"", DownloadFailure.SIZE, "the decoded body is larger than allowed"
            body = body[:most]
        elif problem and not (may_end_early and problem is _NOT_COMPLETE):
            return b"", DownloadFailure.CONTENT_CODING, problem
    return body, None, ""


def _has_zlib_header(body: bytes) -> bool:
    """Whether the body is a zlib stream (RFC 1950, section 2.2), as the standard wants it. Some servers send the bare one."""
    return len(body) > 1 and body[0] & 15 == 8 and (body[0] << 8 | body[1]) % 31 == 0


def _inflated(body: bytes, wrapping: int, most: int) -> tuple[bytes, str]:
    """Up to one byte more than `most`, and what is wrong with the stream as far as it was read."""
    view = memoryview(body)
    parts: list[bytes] = []
    at, left, members = 0, most + 1, 1
    stream = zlib_ng.decompressobj(wrapping)
    try:
        while at < len(view):
            piece = view[at : at + _PIECE]
            part = stream.decompress(piece, left)
            parts.append(part)
            left -= len(part)
            if left <= 0:
                return b"".join(parts), ""
            at += len(piece) - len(stream.unused_data)
            if stream.eof and at < len(view):
                # RFC 1952, section 2.2: a gzip file may have several members. Zeros that fill up a block may follow.
                if wrapping != _GZIP or view[at] != 0x1F:
                    return b"".join(parts), _TOO_MUCH if any(view[at:]) else ""
                members += 1
                if members > _MOST_MEMBERS:
                    return b"", f"more than {_MOST_MEMBERS} members"
                stream = zlib_ng.decompressobj(wrapping)
    except _ZLIB_ERROR as error:
        return b"", str(error)
    return b"".join(parts), "" if stream.eof else _NOT_COMPLETE


def _unbrotlied(body: bytes, most: int) -> tuple[bytes, str]:
    """The same of a Brotli stream (RFC 7932)."""
    library: Any = brotli
    stream = library.Decompressor()
    parts: list[bytes] = []
    data, left = body, most + 1
    try:
        while left > 0:
            # The library rounds a bound up, the more the larger it is.
            part = stream.process(data, output_buffer_limit=min(left, _PIECE))
            parts.append(part)
            left -= len(part)
            if stream.is_finished() or not (part or data):
                break
            data = b""
    except library.error as error:
        return b"", str(error)
    return b"".join(parts), "" if left <= 0 or stream.is_finished() else _NOT_COMPLETE
