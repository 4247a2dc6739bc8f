"""What the records of a visit say about requests and answers: heads, bounded, and marks.

Tested in tests/pipeline/crawl_worker/test_record_writer.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import AnswerRecord
from parcahyd.core.status_lines import usual_status_line
from parcahyd.rules.media_types.content_codings import ACCEPT_ENCODING, coding_to_keep

__all__ = [
    "MOST_BODY",
    "MOST_HEAD",
    "exchange_of",
    "exchange_of_file",
    "head_and_marks",
    "kept_body",
    "request_lines",
]

MOST_HEAD = 16 * 1024
"""Bytes of a head that are kept. Servers send some hundreds; a page's author may send as much as libcurl takes."""


MOST_BODY = 1024 * 1024
"""Bytes of a body that are kept of an error or a redirect."""
_MOST_DECODED = 16 * MOST_BODY
"""What such a body may unpack to when it is kept coded."""


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
    lines = [f"{name}: {value}".encode("latin-1", "replace") for name, value in result.headers]
    return b"\r\n".join([usual_status_line(result.status, result.protocol or "1.1"), *lines, b"", b""])


def kept_body(result: DownloadResult) -> tuple[bytes, str, int | None, int]:
    """The body of an answer that is no document, as it is kept: bytes, codings, decoded length if it is coded, and marks."""
    codings = ",".join(result.codings)
    if coding_to_keep(result) and len(result.transferred) <= MOST_BODY and len(result.body) <= _MOST_DECODED:
        return result.transferred, codings, len(result.body), 0
    if len(result.body) > MOST_BODY:
        return result.body[:MOST_BODY], codings, None, ExchangeMark.BODY_CUT
    return result.body, codings, None, 0


def exchange_of(result: DownloadResult, request: bytes) -> AnswerRecord:
    """An answer that brought no version of a page, for the record."""
    head, marks = head_and_marks(result)
    body, codings, length, cut = kept_body(result)
    return AnswerRecord(head, marks | cut, result.protocol, result.started_at, result.elapsed, request, body, codings, length)


def exchange_of_file(result: DownloadResult, request: bytes, address: str, file: str) -> AnswerRecord:
    """The answer to the request of a robots.txt. Such a body may have been cut, so it is kept without its coding."""
    head, marks = head_and_marks(result)
    facts = (result.protocol, result.started_at, result.elapsed, request, result.body[:MOST_BODY], ",".join(result.codings))
    return AnswerRecord(head, marks, *facts, None, result.status, address, file)


def request_lines(headers: Sequence[tuple[str, str]]) -> bytes:
    """The header lines of requests with these headers, which hold no secret, as a record has them."""
    given = [*headers, ("Accept-Encoding", ACCEPT_ENCODING)]
    return "".join([f"{name}: {value}\r\n" for name, value in given]).encode("latin-1", "replace")
