"""The validators of conditional requests, told by the answers before them."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.records import AnswerRecord
from parcahyd.core.states import Reason, State
from parcahyd.export.captures import read_captures
from parcahyd.export.exchanges import read_exchanges
from parcahyd.export.selection import Selection
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import fetches
from tests.storage.desk import Desk

_REQUEST = b"Accept: */*\r\nAccept-Encoding: gzip\r\n"
_KEEP: dict[str, Any] = {"KeepChecks": 9, "KeepErrors": 9, "KeepVersions": 9}


def _head(status: int, *lines: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} x", *lines, "", ""]).encode()


def _answer(head: bytes) -> AnswerRecord:
    return AnswerRecord(head, ExchangeMark.CONDITIONAL, "1.1", 0.0, 0.1, _REQUEST)


def _again(desk: Desk) -> Any:
    """The visit of another run, later."""
    desk.now += 10**7
    desk.begin(**_KEEP)
    (pair,) = desk.lease(again_before=desk.now)
    return pair


def _first(desk: Desk, *lines: str) -> None:
    desk.begin(**_KEEP)
    desk.seed("http://a.example/")
    desk.crawl(desk.visit(), head=_head(200, *lines), request=_REQUEST)


def _asked_with(desk: Desk) -> list[list[str]]:
    """By exchange in the order of time: the header lines of the request between Accept and Accept-Encoding."""
    with closing(Reader(desk.url)) as reader:
        found = list(read_exchanges(reader, read_captures(reader, Selection(reader)), lambda *_: None))
    requests = []
    for exchange in sorted(found, key=lambda one: one.capture.at):
        assert exchange.request is not None
        assert exchange.is_request_reconstructed == bool(exchange.capture.marks & ExchangeMark.CONDITIONAL)
        between = exchange.request.decode().partition("Accept: */*\r\n")[2].partition("Accept-Encoding: ")[0]
        requests.append(between.splitlines())
    return requests


def test_they_are_those_of_the_version_before(desk: Desk) -> None:
    _first(desk, 'ETAG:"1" ', "Last-Modified: Monday", 'ETag: "second of that name"')
    pair = _again(desk)
    desk.write(desk.unchanged(pair, exchange=_answer(_head(304))))
    desk.over(pair)
    pair = _again(desk)
    desk.crawl(pair, body=b"<p>new</p>", head=_head(200, "ETag: 2"), request=_REQUEST, marks=ExchangeMark.CONDITIONAL)
    pair = _again(desk)
    desk.write(desk.unchanged(pair, exchange=_answer(_head(304))))
    desk.over(pair)
    of_first = ['If-None-Match: "1"', "If-Modified-Since: Monday"]
    assert _asked_with(desk) == [[], of_first, of_first, ["If-None-Match: 2"]]


def test_an_answer_that_confirms_a_version_may_change_them(desk: Desk) -> None:
    _first(desk, "ETag: 1", "Last-Modified: Monday")
    for lines in (["ETag: 2"], ["Last-Modified: Tuesday"]):
        pair = _again(desk)
        desk.write(desk.unchanged(pair, exchange=_answer(_head(304, *lines))))
        desk.over(pair)
    assert _asked_with(desk) == [
        [],
        ["If-None-Match: 1", "If-Modified-Since: Monday"],
        ["If-None-Match: 2", "If-Modified-Since: Monday"],
    ]


def test_a_page_that_came_again_has_its_own(desk: Desk) -> None:
    _first(desk, "ETag: 1", "Last-Modified: Monday")
    pair = _again(desk)
    desk.crawl(pair, head=_head(200, "ETag: 2"), request=_REQUEST, marks=ExchangeMark.CONDITIONAL)
    pair = _again(desk)
    gone = desk.bad(pair, "/", State.GONE, Reason.MISSING, status=404, exchange=_answer(_head(404)))
    desk.store.store_bad([gone], desk.now)
    desk.over(pair)
    assert _asked_with(desk) == [[], ["If-None-Match: 1", "If-Modified-Since: Monday"], ["If-None-Match: 2"]]


@pytest.mark.parametrize("line", ["ETag: *", 'ETag: "a', "X-ETag: 1", "ETag:", "ETag: \xe9"])
def test_what_is_no_validator_was_not_sent(desk: Desk, line: str) -> None:
    _first(desk, line)
    pair = _again(desk)
    desk.write(desk.unchanged(pair, exchange=_answer(_head(304))))
    desk.over(pair)
    assert _asked_with(desk) == [[], []]


def test_a_damaged_head_tells_nothing(doomed_desk: Desk) -> None:
    desk = doomed_desk
    _first(desk, "ETag: 1")
    pair = _again(desk)
    desk.write(desk.unchanged(pair, exchange=_answer(_head(304))))
    desk.over(pair)
    with desk.look.begin() as connection:
        connection.execute(fetches.update().values(head=b"x", head_base=99))
    with closing(Reader(desk.url)) as reader:
        captures = [capture for capture in read_captures(reader, Selection(reader)) if capture.status == 304]
        (found,) = read_exchanges(reader, captures, lambda *_: None)
    assert found.request is not None
    assert b"If-" not in found.request
