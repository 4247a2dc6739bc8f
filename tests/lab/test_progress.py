"""The estimate of a crawl's size, judged on replays."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.lab.progress import SHARES, estimates_table, methods_table, stops
from parcahyd.lab.recorded_crawls import RecordedCrawl, of_host, read_recorded
from parcahyd.lab.replay import replay

RECORDED = Path(__file__).parents[3] / "shared" / "data" / "lab" / "graph-uci"


def chain_of_stars(stars: int, leaves: int) -> RecordedCrawl:
    """A page that leads to leaves and to the next such page; the last leaf of each star is missing."""
    links: list[list[int]] = []
    for star in range(stars):
        first = star * (leaves + 1)
        onward = [first + leaves + 1] if star + 1 < stars else [0]
        links += [[*range(first + 1, first + leaves + 1), *onward], *([] for _ in range(leaves))]
    missing = frozenset(star * (leaves + 1) + leaves for star in range(stars))
    return RecordedCrawl("stars", [f"http://a.example/{number}" for number in range(len(links))], links, missing)


def test_a_replay_finds_and_answers_breadth_first() -> None:
    crawl = RecordedCrawl("small", list("abcde"), [[1, 2], [3], [0, 3], [4], []], frozenset({4}))
    assert replay(crawl, seed=3) == replay(crawl, seed=3)
    whole = next(walk for seed in range(20) if (walk := replay(crawl, seed)).start == "a")
    assert whole.found_at == [0, 1, 1, 2, 4]
    assert whole.pages == [0, 1, 2, 3, 4, 4]
    assert whole.links_met == [0, 2, 3, 5, 6, 6]


def test_it_begins_at_a_page_that_leads_to_half_of_all() -> None:
    crawl = chain_of_stars(20, 9)
    assert all(len(replay(crawl, seed).found_at) == 200 for seed in range(5))


def test_stops_know_what_the_crawl_knew_then() -> None:
    found = stops("stars", 1, replay(chain_of_stars(100, 9), 1))
    assert [stop.share for stop in found] == list(SHARES)
    assert [stop.growth.pages for stop in found] == [90, 225, 450, 675]
    assert {stop.truth for stop in found} == {900}
    half = found[2]
    assert half.growth.answered == 499
    assert half.growth.rates[1] == pytest.approx(1.0, abs=0.1)
    assert half.links_met - half.found == 0


def test_tables_have_the_estimate_its_interval_and_the_truth() -> None:
    walk = replay(chain_of_stars(100, 9), 1)
    found = [stop for seed in (1, 2) for stop in stops("stars", seed, walk)]
    table = estimates_table(found, (), "parcahyd lab progress", 1)
    (row,) = table.rows
    assert row.cells[0] == "900"
    assert row.cells[3] == "no end in sight (451 to any)", "each page brings one"
    methods = methods_table(found, (), "parcahyd lab progress", 1, 2)
    assert [row.name for row in methods.rows][:2] == ["PARCAHYD", "known URLs only"]
    assert all(len(row.cells) == len(methods.heading) for row in methods.rows)
    assert "1 crawls, 8 stops" in methods.notes[0]


@pytest.mark.skipif(not RECORDED.is_dir(), reason="no recorded crawl at ../shared/data/lab/graph-uci")
def test_a_recorded_host_is_estimated_within_its_interval() -> None:
    host = of_host(read_recorded(RECORDED), "www.ics.uci.edu")
    last = stops(host.name, 1, replay(host, 1))[-1]
    assert last.estimate is not None
    assert last.is_inside
