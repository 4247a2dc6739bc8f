from __future__ import annotations

import json

import msgspec
import pytest

from parcahyd.cli import main
from parcahyd.cli.status import freshness_lines, status_lines
from parcahyd.core.progress import SizeEstimate
from parcahyd.storage.reports.records import FreshnessReport, RunReport, SiteReport, SparedSite, StatusReport

from .conftest import Crawl

EMPTY = StatusReport(
    states={"known": 0, "stored": 0, "failed": 0, "refused": 0, "gone": 0},
    reasons=(),
    sites=0,
    sites_in_scope=0,
    seeds=0,
    documents=0,
    document_bytes=0,
    stored_bytes=0,
    fetches=0,
    last_run=None,
    spared=(),
    top_sites=(),
    due_now=0,
    due_later=0,
    next_due=None,
    next_again=None,
)
NOW = 1_700_000_000.0


def _lines(**changes: object) -> list[str]:
    return list(status_lines(msgspec.structs.replace(EMPTY, **changes), "sqlite:///x.db", NOW))


def test_a_finished_crawl_for_people(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("status")) == 0
    output = capsys.readouterr().out
    for words in (
        "urls       23: 0 known, 20 stored, 0 failed, 2 refused, 1 gone\n",
        "  refused  robots 1, scope 1\n",
        "documents  18 (",
        "sites      2, 1 in scope; 1 seed\n",
        "waiting    nothing\n",
        "last run   number 1, started ",
        f"\n{crawl.site.rstrip('/')} ",
    ):
        assert words in output


def test_a_finished_crawl_for_programs(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("status", "--json")) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["states"] == {"known": 0, "stored": 20, "failed": 0, "refused": 2, "gone": 1}
    assert report["documents"] == 18
    assert report["database"].startswith("sqlite:///")
    assert report["last_run"]["outcome"] == "done"
    end = {"pages": 19, "least": 19, "likely": 19, "most": 19}
    assert report["in_the_end"] == report["top_sites"][0]["in_the_end"] == end


def test_freshness_is_told_when_asked_for(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("status", "--freshness")) == 0
    assert "freshness  " in capsys.readouterr().out
    assert main(crawl.arguments("status", "--freshness", "--json")) == 0
    fresh = json.loads(capsys.readouterr().out)["freshness"]
    assert (fresh["rechecked"], fresh["changed"], fresh["kept"]) == (0, 0, 0)
    assert 0.9 < fresh["fresh"] <= 1.0
    assert fresh["pages"] > 10


def test_no_crawl_yet_is_a_mistake_with_a_remedy(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    conf = tmp_path_factory.mktemp("empty")
    (conf / "MapConf.toml").touch()
    assert main(["status", "--conf", str(conf)]) == 2
    assert "parcahyd run" in capsys.readouterr().err
    assert not (conf / "crawl.db").exists()


def test_what_waits_and_who_is_spared() -> None:
    spared = SparedSite(site="http://down.example", until=NOW + 60, reason="connect", sentence="No connection.", failures=3)
    lines = _lines(due_now=3, due_later=4, next_due=NOW + 90, next_again=NOW - 5, spared=(spared,))
    assert "waiting    3 due now, 4 later; next 2023-11-14 22:14:50Z (in 1 min 30 s)" in lines
    assert "revisit    next now (since 2023-11-14 22:13:15Z)" in lines
    assert lines[-1] == "spared     http://down.example until 2023-11-14 22:14:20Z (in 1 min): No connection."


END = SizeEstimate(pages=500, least=900, likely=1240, most=2000)
SITE = SiteReport(
    site="http://a.example",
    in_scope=True,
    urls=700,
    pages=500,
    received=1,
    requests=1,
    visiting=True,
    due_at=None,
    in_the_end=END,
)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (END, "about 1,240 (900 to 2,000) pages, 40% of them are stored"),
        (msgspec.structs.replace(END, most=None), "about 1,240 (900 at least, no end in sight) pages, 40% of them are stored"),
        (msgspec.structs.replace(END, likely=None, most=None), "900 at least, no end in sight"),
        (None, "not known yet"),
    ],
)
def test_how_far_the_crawl_has_come(end: SizeEstimate | None, words: str) -> None:
    assert f"in the end {words}" in _lines(due_now=200, in_the_end=end)


def test_of_a_crawl_in_which_nothing_waits_no_end_is_foretold() -> None:
    assert not [line for line in _lines(in_the_end=END) if line.startswith("in the end")]


def test_how_far_each_site_has_come() -> None:
    done = msgspec.structs.replace(SITE, site="http://b.example", visiting=False, in_the_end=SizeEstimate(3, 3, 3, 3))
    heading, first, second = _lines(top_sites=(SITE, done), sites_with_pages=2)[-3:]
    assert heading.endswith("received  in the end")
    assert first.endswith("1 B  1,240 (900 to 2,000)  being visited")
    assert second.endswith("1 B  3")


def test_sites_that_are_left_out_are_counted() -> None:
    site = SiteReport(
        site="http://a.example", in_scope=True, urls=1, pages=1, received=1, requests=1, visiting=False, due_at=None
    )
    assert _lines(top_sites=(site,), sites_with_pages=12)[-1] == "and 11 more sites (--sites lists all)"
    assert "more site" not in _lines(top_sites=(site,), sites_with_pages=1)[-1]


def test_all_sites_may_be_asked_for(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("status", "--sites", "--json")) == 0
    report = json.loads(capsys.readouterr().out)
    assert len(report["top_sites"]) == report["sites_with_pages"] == 1


def test_a_run_that_did_not_end() -> None:
    run = RunReport(run=7, version="0.1.0", started_at=NOW - 120, ended_at=None, outcome=None, counts={})
    assert _lines(last_run=run)[-1] == (
        "last run   number 7, started 2023-11-14 22:11:20Z, not ended after 2 min: it is running, or it was killed"
    )


def test_a_runs_rate() -> None:
    counts = {"requests": 60, "stored": 40, "unchanged": 8, "gone": 2, "refused": 5}
    run = RunReport(run=2, version="0.1.0", started_at=NOW - 10, ended_at=NOW, outcome="done", counts=counts)
    assert _lines(last_run=run)[-1].endswith("done after 10 s, 5.0 pages per second")


REPORT = FreshnessReport(pages=1200, rechecked=800, changed=90, fresh=0.873, mean_age=7300.0, overdue=4, kept=0)


def test_a_collection_in_words() -> None:
    assert list(freshness_lines(REPORT)) == [
        "freshness  87.3% of 1,200 pages expected to be current, mean age 2 h 1 min; 4 overdue",
        "  checked  800 more than once, 90 found changed",
    ]
    kept = msgspec.structs.replace(REPORT, fresh=None, mean_age=None, kept=1)
    assert list(freshness_lines(kept)) == [
        "freshness  nothing is stored",
        "  kept     1 document of URLs that failed, are gone or refused now",
    ]
