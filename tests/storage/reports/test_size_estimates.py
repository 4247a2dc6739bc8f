"""How many pages there will be in the end, from what the tables say."""

from __future__ import annotations

import pytest

from parcahyd.core.progress import SizeEstimate
from parcahyd.core.states import Reason, State
from parcahyd.rules.growth.discovery import Growth
from parcahyd.rules.growth.estimate import estimate
from parcahyd.storage.reports import size_estimates
from tests.storage.desk import Desk

A, B = "http://a.example", "http://b.example"


def ends(desk: Desk) -> tuple[SizeEstimate | None, dict[str, SizeEstimate | None]]:
    status = desk.reports.status(desk.now)
    return status.in_the_end, {site.site: site.in_the_end for site in status.top_sites}


@pytest.fixture
def half_way(desk: Desk) -> Desk:
    """A site of which 80 pages were asked for, a second each; the first brings 120 others, and every fourth brings another."""
    desk.begin()
    desk.seed(f"{A}/p0", f"{B}/")
    first, second = sorted(desk.lease(), key=lambda pair: pair.host)
    desk.crawl(second)
    for number in range(80):
        new = tuple(f"/p{other}" for other in range(1, 121)) if not number else (f"/new{number}",) * (number % 4 == 0)
        desk.write(desk.page(first, f"/p{number}", b"page %d" % number, internal=new))
        desk.now += 1
    desk.now -= 1
    return desk


def test_a_crawl_and_its_sites_are_estimated_from_the_same_growth(half_way: Desk) -> None:
    whole, by_site = ends(half_way)
    growth = Growth(80, 80, 41 + 19, (0.2, 0.25, 0.25))
    assert by_site == {A: estimate(growth), B: SizeEstimate(1, 1, 1, 1)}
    assert whole is not None
    assert whole.pages == 81
    assert whole.most is not None


def test_a_sample_says_much_the_same(half_way: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = ends(half_way)
    monkeypatch.setattr(size_estimates, "_SAMPLE", 71)
    sampled, _ = ends(half_way)
    assert whole is not None
    assert sampled is not None
    assert (sampled.pages, sampled.least) == (whole.pages, whole.least), "counts are those of all URLs"
    assert sampled.likely != whole.likely
    assert sampled.likely == pytest.approx(whole.likely, rel=0.2)


def test_a_crawl_in_which_nothing_waits_has_its_size(desk: Desk) -> None:
    desk.begin()
    assert ends(desk) == (None, {})
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    assert ends(desk) == (SizeEstimate(1, 1, 1, 1), {f"{A}": SizeEstimate(1, 1, 1, 1)})


def test_little_is_not_enough(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), internal=("/one", "/two"))
    assert ends(desk) == (None, {A: None})


def test_what_is_refused_without_being_asked_for_is_no_work(desk: Desk) -> None:
    """But what failed is, as long as there is a try to come."""
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, refused=((Reason.DEPTH.word, "/deep"),), external=("http://outside.example/",)))
    assert ends(desk)[0] == SizeEstimate(1, 1, 1, 1)
    desk.store.store_bad([desk.bad(pair, "/failed"), desk.bad(pair, "/gone", State.GONE, Reason.MISSING)], desk.now)
    assert ends(desk)[0] is None
    desk.over(pair)
