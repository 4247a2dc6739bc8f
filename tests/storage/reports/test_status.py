"""What status and urls show."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.states import Reason, State
from parcahyd.storage import reports as module
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.reports.records import (
    FreshnessReport,
    ReasonCount,
    RunReport,
    SiteReport,
    SparedSite,
    StatusReport,
    UrlReport,
)
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"
B = "http://b.example:8080"


def _status(desk: Desk, top: int = 10) -> StatusReport:
    with Reports.open(desk.url) as reports:
        return reports.status(desk.now, top)


def _urls(desk: Desk, state: str | None = None, site: str | None = None) -> list[str]:
    with Reports.open(desk.url) as reports:
        return sorted(found.url for found in reports.urls(state, site))


@pytest.fixture
def crawled(desk: Desk) -> Desk:
    """Two sites of the crawl, one outside, URLs in every state."""
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    first, second = sorted(desk.lease(), key=lambda pair: pair.host)
    desk.write(desk.page(first, internal=("/known", "/twin"), external=("https://c.example/",)))
    desk.write(desk.page(first, "/twin"), desk.page(first, "/other", b"other" * 100))
    desk.store.store_bad(
        [
            desk.bad(first, "/failed", due_at=desk.now + 50),
            desk.bad(first, "/ready", due_at=desk.now),
            desk.bad(first, "/gone", State.GONE, Reason.MISSING, due_at=desk.now + 70, status=404),
            desk.bad(first, "/refused", State.REFUSED, Reason.ROBOTS, due_at=desk.now + 60),
        ],
        desk.now,
    )
    desk.over(first, requests=9)
    desk.store.store_bad([desk.bad(second, due_at=desk.now + 40, reason=Reason.CONNECT)], desk.now)
    desk.over(second, not_before=desk.now + 30, reason=Reason.UNREACHABLE_SITE.word, failures=4)
    return desk


def test_an_empty_crawl(desk: Desk) -> None:
    start = desk.begin()
    status = _status(desk)
    assert status.states == {"known": 0, "stored": 0, "failed": 0, "refused": 0, "gone": 0}
    assert (status.documents, status.document_bytes, status.stored_bytes, status.fetches) == (0, 0, 0, 0)
    assert (status.next_due, status.next_again, status.due_now, status.due_later) == (None, None, 0, 0)
    assert status.last_run is not None
    assert (status.last_run.run, status.last_run.outcome) == (start.run, None)
    assert _urls(desk) == []


def test_a_crawl_as_a_whole(crawled: Desk) -> None:
    crawled.store.end_run("done", {"stored": 3}, crawled.now + 1)
    status = _status(crawled)
    assert status.states == {"known": 1, "stored": 3, "failed": 3, "refused": 2, "gone": 1}
    assert status.reasons[0] == ReasonCount(state="failed", reason="reset", sentence=Reason.RESET.sentence, urls=2)
    assert {(counted.state, counted.reason, counted.urls) for counted in status.reasons[1:]} == {
        ("failed", "connect", 1),
        ("refused", "scope", 1),
        ("refused", "robots", 1),
        ("gone", "missing", 1),
    }
    assert (status.sites, status.sites_in_scope, status.seeds) == (3, 2, 2)
    assert (status.documents, status.fetches) == (2, 3)
    assert status.document_bytes == len(b"<p>hello</p>") + 500
    assert 0 < status.stored_bytes < status.document_bytes
    assert status.last_run is not None
    assert status.last_run == RunReport(
        run=1,
        version=status.last_run.version,
        started_at=crawled.now,
        ended_at=crawled.now + 1,
        outcome="done",
        counts={"stored": 3},
    )
    assert status.spared == (
        SparedSite(
            site=B,
            until=crawled.now + 30,
            reason="unreachable-site",
            sentence=Reason.UNREACHABLE_SITE.sentence,
            failures=4,
        ),
    )
    assert status.top_sites == (
        SiteReport(
            site=A,
            in_scope=True,
            urls=8,
            pages=3,
            received=2 * len(b"<p>hello</p>") + 500,
            requests=9,
            visiting=False,
            due_at=crawled.now,
        ),
    )
    assert (status.due_now, status.due_later) == (2, 2)
    assert (status.next_due, status.next_again) == (crawled.now, crawled.now + 60)


def test_lists_are_no_longer_than_asked_for(crawled: Desk) -> None:
    status = _status(crawled, top=0)
    assert (status.spared, status.top_sites) == ((), ())


def test_a_site_is_spared_no_longer_than_it_is(crawled: Desk) -> None:
    crawled.now += 31
    assert _status(crawled).spared == ()


def test_every_url_with_what_is_known_of_it(crawled: Desk) -> None:
    with Reports.open(crawled.url) as reports:
        found = {report.url: report for report in reports.urls()}
    assert len(found) == 10
    stored = found[f"{A}/other"]
    assert stored == UrlReport(
        url=f"{A}/other",
        state="stored",
        reason=None,
        depth=1,
        status=200,
        site=A,
        seed=False,
        first_seen=crawled.now,
        checked_at=crawled.now,
        due_at=crawled.first_due("/other"),
        tries=0,
        length=500,
        media_type="text/html",
        title="",
        language="",
        topic="",
        sha256=stored.sha256,
    )
    assert stored.sha256 is not None
    assert len(bytes.fromhex(stored.sha256)) == 32
    gone = found[f"{A}/gone"]
    assert (gone.state, gone.reason, gone.status, gone.length, gone.tries) == ("gone", "missing", 404, None, 1)


@pytest.mark.parametrize(
    ("state", "site", "paths"),
    [
        ("stored", None, [f"{A}/", f"{A}/other", f"{A}/twin"]),
        ("failed", None, [f"{A}/failed", f"{A}/ready", f"{B}/"]),
        (None, "b.example", [f"{B}/"]),
        (None, "b.example:8080", [f"{B}/"]),
        (None, B, [f"{B}/"]),
        (None, f"{B}/", [f"{B}/"]),
        (None, "https://b.example:8080", []),
        (None, "nowhere.example", []),
        ("gone", "a.example", [f"{A}/gone"]),
        ("stored", "https://c.example", []),
        ("refused", "https://c.example", ["https://c.example/"]),
    ],
)
def test_some_of_the_urls(crawled: Desk, state: str | None, site: str | None, paths: list[str]) -> None:
    assert _urls(crawled, state, site) == paths


def test_a_state_that_there_is_not(crawled: Desk) -> None:
    with pytest.raises(UserError, match="lost") as mistake:
        _urls(crawled, "lost")
    assert "known" in mistake.value.remedy


def test_urls_by_their_reason_and_by_a_pattern(crawled: Desk) -> None:
    with Reports.open(crawled.url) as reports:
        assert [url.url for url in reports.urls(reason="missing")] == [f"{A}/gone"]
        assert [url.url for url in reports.urls(match="https://c.*")] == ["https://c.example/"]
        assert list(reports.urls(match="https://c.*", reason="missing")) == []
        with pytest.raises(UserError, match='"mising" is not a reason') as error:
            reports.urls(reason="mising")
        assert error.value.remedy.startswith('did you mean "missing"? reasons are address, asked-to-wait, ')
        with pytest.raises(UserError, match=r"the pattern .* cannot be read"):
            reports.urls(match="re:(")


def test_a_limit_reads_no_more_pages_than_it_needs(crawled: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAGE", 2)
    pages = 0

    def counted(self: Reader, *arguments: Any) -> list[Any]:
        nonlocal pages
        pages += 1
        return rows(self, *arguments)

    rows = Reader.rows
    monkeypatch.setattr(Reader, "rows", counted)
    with Reports.open(crawled.url) as reports:
        assert len(list(islice(reports.urls(), 3))) == 3
    assert pages == 2


def test_all_sites_are_counted_and_listed_where_that_is_asked(crawled: Desk) -> None:
    with Reports.open(crawled.url) as reports:
        none, every = reports.status(crawled.now, top=0), reports.status(crawled.now, top=None)
    assert none.top_sites == ()
    assert none.sites_with_pages == len(every.top_sites) == 1


@pytest.mark.parametrize("page", [1, 2, 3, 10, 11])
def test_pages_leave_nothing_out(crawled: Desk, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(module, "_PAGE", page)
    assert len(_urls(crawled)) == len(set(_urls(crawled))) == 10


def test_reading_goes_on_while_the_crawl_does(crawled: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAGE", 2)
    with Reports.open(crawled.url) as reports:
        stream = reports.urls()
        first = next(stream).url
        crawled.crawl(crawled.visit(), "/known")
        assert len({first, *(found.url for found in stream)}) == 10


def test_the_freshness_of_a_collection(desk: Desk) -> None:
    work = WorkConf(RevisitAfter=REVISIT)
    desk.begin()
    desk.seed(f"{A}/")
    assert desk.reports.freshness(desk.now, work) == FreshnessReport(
        pages=0, rechecked=0, changed=0, fresh=None, mean_age=None, overdue=0, kept=0
    )
    pair = desk.visit()
    desk.write(desk.page(pair), desk.page(pair, "/x", b"x"), desk.page(pair, "/y", b"y"))
    desk.write(desk.redirect(pair, "/r", f"{A}/x"))
    desk.over(pair)
    now = desk.reports.freshness(desk.now, work)
    assert (now.pages, now.rechecked, now.fresh, now.mean_age, now.overdue) == (3, 0, 1.0, 0.0, 0)
    later = desk.reports.freshness(desk.now + REVISIT, work)
    assert later.fresh == pytest.approx(0.5, abs=0.02)
    assert later.mean_age == pytest.approx((1 - 0.69) * REVISIT, rel=0.1)
    assert later.overdue == 3

    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    desk.write(desk.unchanged(pair), desk.page(pair, "/x", b"changed"))
    desk.store.store_bad([desk.bad(pair, "/y", State.GONE, Reason.MISSING, due_at=desk.now + 70)], desk.now)
    desk.over(pair)
    last = desk.reports.freshness(desk.now + 1, work)
    assert (last.pages, last.rechecked, last.changed, last.kept, last.overdue) == (2, 2, 1, 1, 0)
    assert last.fresh is not None
    assert 0.9 < last.fresh < 1
