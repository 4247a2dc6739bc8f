"""Turns the block of a record into an answer of HTTP: head, status, headers, and the body without its codings.

The head stays as it was received. Chunks are joined, and content codings are undone within the bounds of a crawl. Some programs
store a body without the codings that its head names: such a body is taken as it is.
"""

from __future__ import annotations

import re
from http import HTTPStatus

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.importing.records import MOST_HEADER
from parcahyd.net.http_heads import headers_of
from parcahyd.rules.media_types.content_codings import codings_of, undo

__all__ = ["UnusableAnswer", "answer_of", "document_answer", "split_head"]

_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/(\d(?:\.\d)?) +(\d{3})(?: [^\r\n]*)?\r?$")
_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_PROTOCOLS = {"http/1.0": "1.0", "http/1.1": "1.1", "h2": "2", "http/2": "2", "h3": "3", "http/3": "3", "2.0": "2", "3.0": "3"}


class UnusableAnswer(Exception):
    """A record that holds no answer that could be kept."""


def split_head(block: bytes) -> tuple[bytes, bytes]:
    """The head of a message with its blank line, and what follows it. A head that does not end is all there is."""
    blank = _BLANK_LINE.search(block, 0, MOST_HEADER)
    if blank is None:
        if len(block) >= MOST_HEADER:
            raise UnusableAnswer("the head of its answer is larger than is read")
        return block.rstrip(b"\r\n") + b"\r\n\r\n", b""
    return block[: blank.end()], block[blank.end() :]


def answer_of(block: bytes, protocol: str, max_bytes: int, *, is_cut: bool = False) -> DownloadResult:
    """The answer that a block holds; UnusableAnswer where it holds none. `protocol` is as WARC-Protocol has it, or empty.

    `is_cut`: the record says that the end of the body is missing.
    """
    head, body = split_head(block)
    line, _, lines = head.partition(b"\n")
    found = _STATUS_LINE.match(line.rstrip(b"\r"))
    if found is None:
        raise UnusableAnswer("its answer does not begin with a status line")
    result = DownloadResult(status=int(found[2]), headers=headers_of(head), head=head, marks=ExchangeMark.IMPORTED)
    result.protocol = _PROTOCOLS.get(protocol.lower()) or _PROTOCOLS.get(found[1].decode(), found[1].decode())
    if result.protocol in ("2", "3") and line.startswith(b"HTTP/1."):
        # Such answers have no status line, and programs make one up.
        result.head = b"HTTP/%s %s \r\n%s" % (result.protocol.encode(), found[2], lines)
    if result.header("transfer-encoding").lower().rstrip().endswith("chunked"):
        body = _joined(body)
    elif (length := result.header("content-length").strip()).isdecimal() and len(body) < int(length[:18]):
        is_cut = True
    if is_cut:
        result.marks |= ExchangeMark.BODY_CUT
    return _without_codings(result, body, max_bytes)


def document_answer(document: bytes, media_type: str) -> DownloadResult:
    """An answer for a document that came without a head."""
    headers = (("Content-Type", media_type), ("Content-Length", str(len(document))))
    return DownloadResult(status=HTTPStatus.OK, headers=headers, body=document, marks=ExchangeMark.IMPORTED)


def _joined(body: bytes) -> bytes:
    """A body without its chunks; as it is where it has none, or where they are not whole."""
    parts: list[bytes] = []
    at = 0
    while (chunk := _CHUNK.match(body, at)) is not None:
        size, begin = int(chunk[1], 16), chunk.end()
        if size == 0:
            return b"".join(parts)
        if begin + size > len(body):
            break
        parts.append(body[begin : begin + size])
        at = begin + size
        at += 2 if body.startswith(b"\r\n", at) else 1 if body.startswith(b"\n", at) else 0
    return body


def _without_codings(result: DownloadResult, body: bytes, max_bytes: int) -> DownloadResult:
    if len(body) > max_bytes:
        raise UnusableAnswer("its body is larger than MaxBytes")
    result.body, result.codings = body, codings_of(result.headers)
    if not result.codings or not body:
        return result
    status, headers = result.status, result.headers
    undo(result, max_bytes, cut=False)
    if result.failure is DownloadFailure.SIZE:
        raise UnusableAnswer("its body unpacks to more than MaxBytes")
    if result.transferred:
        return result
    if not _CONTROLS.search(body, 0, 1024):
        # It is text, so it has been decoded already. That its codings are named says that the coded form is not there.
        result.status, result.headers, result.failure, result.detail = status, headers, None, ""
        result.body = body
    elif result.failure is not None:
        raise UnusableAnswer(f"its body cannot be decoded: {result.detail}")
    return result
