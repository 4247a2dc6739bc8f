"""Answers from archives in the database: where each belongs, and what they never change."""

from __future__ import annotations

from typing import Any

import msgspec

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.records import AnswerRecord, SiteLease
from parcahyd.core.states import State
from parcahyd.storage.imports import ImportedExchange, ImportWritten
from parcahyd.storage.packing import PackedPage
from parcahyd.storage.schema import exchanges, fetches, runs, seeds, sites
from tests.storage.desk import REVISIT, Desk

_ORIGIN = ("http", "a.example", 80)
_ANSWER = AnswerRecord(b"HTTP/1.1 404 None\r\n\r\n", ExchangeMark.IMPORTED, "1.1", 0.0, 0.0, b"")


def _begin(desk: Desk, **work: Any) -> None:
    work.setdefault("RevisitAfter", REVISIT)
    desk.store.begin_run(Configuration(MapConf(), WorkConf(**work)), desk.now, is_import=True)


def _page(desk: Desk, path: str, body: bytes, before: float, **more: Any) -> PackedPage:
    """A page that was received some seconds before now."""
    number = desk.store.sites_of([_ORIGIN])[_ORIGIN][0]
    packed = desk.page(SiteLease(0, number, *_ORIGIN, ()), path, body, **more)
    page = msgspec.structs.replace(packed.page, fetched_at=desk.now - before, marks=ExchangeMark.IMPORTED)
    return msgspec.structs.replace(packed, page=page)


def _error(desk: Desk, path: str, status: int, before: float) -> ImportedExchange:
    number = desk.store.sites_of([_ORIGIN])[_ORIGIN][0]
    at = desk.now - before
    return ImportedExchange(number, desk.key_of(path), path, f"http://a.example{path}", 0, at, status, "192.0.2.1", _ANSWER)


def _store(desk: Desk, *answers: PackedPage | ImportedExchange) -> ImportWritten:
    written = desk.store.store_imported(answers, desk.now)
    assert desk.findings(running=False) == []
    return written


def _versions(desk: Desk) -> list[tuple[float, int]]:
    return sorted((desk.now - row["at"], row["marks"]) for row in desk.rows(fetches))


def test_a_page_of_an_unknown_site_is_stored_and_nothing_is_due(desk: Desk) -> None:
    _begin(desk)
    assert _store(desk, _page(desk, "/tea", b"tea", 100, external=("http://b.example/", "http://a.example/more"))).versions == 1
    row = desk.row("/tea")
    assert (row["state"], row["etag"], row["modified"], row["visited_in"]) == (State.STORED, "", "", 0)
    assert desk.states() == {
        "http://a.example/tea": "stored",
        "http://a.example/more": "refused scope",
        "http://b.example/": "refused scope",
    }
    assert [site["in_scope"] for site in desk.rows(sites)] == [False, False]
    assert desk.rows(seeds) == []
    assert desk.lease() == []


def test_a_seed_brings_what_was_imported_into_the_crawl(desk: Desk) -> None:
    _begin(desk)
    _store(desk, _page(desk, "/", b"tea", 2 * REVISIT, external=("http://a.example/more",), etag='"1"', modified="yesterday"))
    desk.begin()
    desk.seed("http://a.example/")
    (pair,) = desk.lease()
    assert {url.path for url in pair.urls} == {"/", "/more"}
    assert {(url.etag, url.modified) for url in pair.urls} == {("", "")}


def test_what_is_there_is_not_stored_twice(desk: Desk) -> None:
    _begin(desk, KeepChecks=9, KeepErrors=9)
    batch = (
        _page(desk, "/", b"one", 300),
        _page(desk, "/", b"one", 200),
        _page(desk, "/", b"two", 100),
        _error(desk, "/none", 404, 50),
        _error(desk, "/", 304, 40),
    )
    written = _store(desk, *batch)
    assert (written.versions, written.checks, written.errors, written.present) == (2, 2, 1, 0)
    before = desk.everything()
    written = _store(desk, *batch)
    assert (written.versions, written.checks, written.errors, written.present) == (0, 0, 0, 5)
    assert desk.everything() == before


def test_what_we_fetched_stays_the_newest(desk: Desk) -> None:
    desk.begin()
    desk.seed("http://a.example/")
    pair = desk.visit()
    desk.write(desk.page(pair, "/", b"ours", etag='"ours"'))
    desk.over(pair)
    before = desk.row("/")
    desk.now += 1000
    _begin(desk)
    assert _store(desk, _page(desk, "/", b"older", 5000), _page(desk, "/", b"newer", 10)).versions == 2
    assert desk.row("/") == before
    assert _versions(desk) == [(10.0, 32), (1000.0, 0), (5000.0, 32)]
    # There is no room for a fourth.
    assert _store(desk, _page(desk, "/", b"oldest", 9000)).not_kept == 1
    found = {at: desk.reports.document("http://a.example/", desk.now - at) for at in (0, 500, 4000)}
    newest = desk.reports.document("http://a.example/")
    assert {at: document.body for at, document in found.items() if document is not None} == {
        0: b"newer",
        500: b"ours",
        4000: b"older",
    }
    assert newest is not None
    assert newest.body == b"ours"


def test_a_request_that_is_planned_is_not_put_off(desk: Desk) -> None:
    desk.begin()
    desk.seed("http://a.example/")
    desk.end()
    _begin(desk)
    _store(desk, _page(desk, "/", b"forged", 1))
    assert desk.row("/")["state"] == State.STORED
    desk.begin()
    (pair,) = desk.lease()
    assert [(url.path, url.etag, url.seed) for url in pair.urls] == [("/", "", True)]
    # What comes now is a version of its own, even if the bytes are the same, and nothing is learned from the two.
    desk.write(desk.page(pair, "/", b"forged", etag='"ours"'))
    row = desk.row("/")
    assert (row["checks"], row["changes"], row["etag"]) == (1, 0, '"ours"')
    assert [marks for _, marks in _versions(desk)] == [0, 32]


def test_a_redirect_of_an_archive_brings_no_site_into_the_scope(desk: Desk) -> None:
    desk.begin()
    desk.seed("http://a.example/")
    desk.end()
    _begin(desk)
    _store(desk, _page(desk, "/", b"", 1, redirect="http://evil.example/", status=301, media_type=""))
    assert desk.states()["http://evil.example/"] == "refused scope"
    assert len(desk.rows(seeds)) == 1
    desk.begin()
    (pair,) = desk.lease()
    assert [(url.path, pair.host) for url in pair.urls] == [("/", "a.example")]


def test_an_error_changes_no_state(desk: Desk) -> None:
    desk.begin(KeepErrors=5)
    desk.seed("http://a.example/")
    desk.end()
    _begin(desk, KeepErrors=5)
    assert _store(desk, _error(desk, "/", 404, 1), _error(desk, "/new", 410, 1)).errors == 2
    assert desk.states() == {"http://a.example/": "known", "http://a.example/new": "known"}
    assert len(desk.rows(exchanges)) == 2
    _begin(desk)
    assert _store(desk, _error(desk, "/other", 404, 1)).not_kept == 1
    assert _store(desk, _error(desk, "/other", 304, 1)).not_kept == 1


def test_a_check_of_nothing_is_unresolved(desk: Desk) -> None:
    _begin(desk, KeepChecks=5)
    assert _store(desk, _error(desk, "/", 304, 1)).unresolved == 1


def test_a_run_that_was_killed_is_gone_on_with_after_an_import(desk: Desk) -> None:
    desk.begin()
    desk.killed()
    _begin(desk)
    desk.store.end_import({"stored": 1}, desk.now)
    desk.store.begin_run(Configuration(MapConf(), WorkConf(RevisitAfter=REVISIT)), desk.now)
    assert [(row["outcome"], row["crawl_run"]) for row in sorted(desk.rows(runs), key=lambda row: row["id"])] == [
        (None, 1),
        ("imported", None),
        (None, 1),
    ]
