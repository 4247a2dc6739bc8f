"""What the records of a visit say about requests and answers: heads, bounded, and marks.

Tested in tests/pipeline/crawl_worker/test_record_writer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.ports import DownloadResult
from parcahyd.rules.media_types.content_codings import ACCEPT_ENCODING

__all__ = ["MOST_HEAD", "head_and_marks", "request_lines"]

_PHRASES = {status.value: status.phrase for status in HTTPStatus}

MOST_HEAD = 16 * 1024
"""Bytes of a head that are kept. Servers send some hundreds; a page's author may send as much as libcurl takes."""


def head_and_marks(result: DownloadResult) -> tuple[bytes, int]:
    """The head of an answer as it is kept, and marks that say what it lacks."""
    head, marks = result.head, result.marks
    if not head:
        head, marks = _made_up(result), marks | ExchangeMark.HEAD_MADE_UP
    if len(head) > MOST_HEAD:
        end = head.rfind(b"\n", 0, MOST_HEAD - 2) + 1
        head, marks = head[: end or MOST_HEAD - 4] + b"\r\n", marks | ExchangeMark.HEAD_CUT
    return head, marks


def _made_up(result: DownloadResult) -> bytes:
    lines = [f"HTTP/{result.protocol or '1.1'} {result.status} {_PHRASES.get(result.status, '')}".rstrip()]
    lines += [f"{name}: {value}" for name, value in result.headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def request_lines(headers: Sequence[tuple[str, str]]) -> bytes:
    """The header lines of requests with these headers, which hold no secret, as a record has them."""
    given = [*headers, ("Accept-Encoding", ACCEPT_ENCODING)]
    return "".join([f"{name}: {value}\r\n" for name, value in given]).encode("latin-1", "replace")
