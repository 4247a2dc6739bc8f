"""Heads come back as they were, also after a transaction that failed; damage is noticed."""

from __future__ import annotations

import contextlib

from sqlalchemy import delete, update

from parcahyd.core.errors import StoreFailure
from parcahyd.storage.heads import header_lines
from parcahyd.storage.schema import fetches, head_bases, requests
from tests.storage.desk import Desk

SEED = "http://a.example/"


def _head(number: int) -> bytes:
    return (
        b"HTTP/1.1 200 Very Well\r\nserver:  odd/1.0\r\nServer: again\r\nX-Folded: one\r\n\ttwo\r\n"
        b"Date: Wed, 18 Nov 2026 12:00:%02d GMT\r\nContent-Length: %d\r\n\r\n" % (number % 60, number * 7919)
    )


def _read(desk: Desk, number: int) -> bytes:
    document = desk.reports.document(f"{SEED}{number}")
    assert document is not None
    return document.head


def _store(desk: Desk, count: int) -> None:
    desk.begin()
    desk.seed(SEED)
    pair = desk.visit()
    for number in range(count):
        desk.write(desk.page(pair, f"/{number}", b"%d" % number, head=_head(number), request=b"User-Agent: x\r\n"))
    desk.over(pair)


def test_heads_of_a_site_are_compressed_against_the_first(desk: Desk) -> None:
    _store(desk, 6)
    rows = desk.rows(fetches)
    assert [_read(desk, number) for number in range(6)] == [_head(number) for number in range(6)]
    assert [row["head_base"] for row in rows] == [None, *[rows[1]["head_base"]] * 5]
    assert max(len(row["head"]) for row in rows[1:]) < 30
    assert [row["content"] for row in desk.rows(head_bases)] == [_head(0)]
    assert [row["content"] for row in desk.rows(requests)] == [b"User-Agent: x\r\n"]
    assert {row["request_id"] for row in rows} == {desk.rows(requests)[0]["id"]}
    assert desk.findings() == []


def test_a_base_of_a_transaction_that_failed_is_written_with_the_next(desk: Desk) -> None:
    desk.begin()
    desk.seed(SEED)
    pair = desk.visit()
    pages = [
        desk.page(pair, f"/{number}", b"%d" % number, head=_head(number), request=b"User-Agent: x\r\n") for number in range(4)
    ]
    desk.write(pages[0])
    failed = 0
    while not desk.rows(head_bases):
        heal = desk.fail_at(failed + 1)  # Each statement of the transaction fails once.
        with contextlib.suppress(StoreFailure):
            desk.write(*pages[1:])
        heal()
        failed += 1
    assert failed > 5
    desk.over(pair)
    assert len(desk.rows(head_bases)) == 1
    assert desk.findings() == []
    assert _read(desk, 3) == _head(3)


def test_a_head_whose_base_is_gone_is_found(desk: Desk) -> None:
    _store(desk, 3)
    with desk.look.begin() as connection:
        connection.execute(delete(head_bases))
    assert [finding.kind for finding in desk.findings()] == ["head-damaged"] * 2
    desk.clear()


def test_a_damaged_head_is_found(desk: Desk) -> None:
    _store(desk, 2)
    with desk.look.begin() as connection:
        connection.execute(update(fetches).where(fetches.c.head_base.is_not(None)).values(head=b"\xff\xff"))
    assert [finding.kind for finding in desk.findings()] == ["head-damaged"]
    desk.clear()


def test_the_headers_of_a_head() -> None:
    assert header_lines(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n") == b"A: b\r\n"
    assert header_lines(b"HTTP/1.0 200\nA: b\n\n") == b"A: b\n"
    assert header_lines(b"HTTP/1.1 204 No Content\r\n\r\n") == b""
