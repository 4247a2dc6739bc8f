"""LastmodRows: checks show whether sitemaps were right. After some correct changes, pages are due as sitemaps say."""

from __future__ import annotations

from typing import Any

import pytest

from parcahyd.core.errors import StoreFailure
from parcahyd.core.records import SiteLease
from parcahyd.refresh.lastmod import LastmodTrust
from parcahyd.storage.schema import sites
from tests.storage.desk import REVISIT, START, Desk

A = "http://a.example"
PAGES = [f"/{number}" for number in range(5)]
LONGEST = 100 * REVISIT
SHORTEST = 300.0


def stored(desk: Desk, **work: Any) -> SiteLease:
    """An open visit that stored the pages, at START."""
    desk.begin(RevisitMax=LONGEST, RevisitMin=SHORTEST, **work)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(*(desk.page(pair, path, path.encode()) for path in ("/", *PAGES)))
    return pair


def tell(desk: Desk, pair: SiteLease, lastmod: float, *paths: str) -> None:
    """A sitemap is read."""
    lastmods = tuple((path, lastmod) for path in paths)
    desk.write(desk.page(pair, "/sitemap.xml", repr(lastmods).encode(), lastmods=lastmods))


def trust(desk: Desk) -> LastmodTrust:
    (row,) = desk.rows(sites)
    return LastmodTrust.decode(row["lastmod_trust"])


def earn(desk: Desk, pair: SiteLease) -> None:
    """Four changes that were foretold, seen at START + 2000."""
    desk.now = START + 2000
    tell(desk, pair, START + 1000, *PAGES[:4])
    desk.write(*(desk.page(pair, path, b"changed " + path.encode()) for path in PAGES[:4]))
    assert trust(desk) == LastmodTrust(4, 0, 0)


def test_changes_that_were_foretold_earn_trust(desk: Desk) -> None:
    pair = stored(desk)
    earn(desk, pair)
    assert trust(desk).is_trusted


def test_nothing_follows_from_what_is_not_trusted(desk: Desk) -> None:
    pair = stored(desk)
    due = {path: desk.row(path)["due_at"] for path in PAGES}
    desk.now = START + 500
    tell(desk, pair, START + 400, *PAGES)
    assert {path: desk.row(path)["due_at"] for path in PAGES} == due
    assert (desk.row("/0")["lastmod"], desk.row("/0")["lastmod_read"]) == (START + 400, START + 500)


def test_false_alarms_and_misses_are_counted(desk: Desk) -> None:
    pair = stored(desk)
    desk.now = START + 2000
    tell(desk, pair, START + 1000, "/0", "/1")
    tell(desk, pair, START - 1000, "/2", "/3")
    desk.now = START + 2100
    desk.write(desk.page(pair, "/0", b"/0"), desk.unchanged(pair, "/1"), desk.unchanged(pair, "/2"))
    assert trust(desk) == LastmodTrust(0, 2, 0)
    desk.write(desk.page(pair, "/3", b"changed"))
    assert trust(desk) == LastmodTrust(0, 2, 1)


def test_each_reading_is_tested_once(desk: Desk) -> None:
    pair = stored(desk)
    desk.now = START + 2000
    tell(desk, pair, START + 1000, "/0")
    desk.write(desk.page(pair, "/0", b"changed"))
    desk.now += 1000
    desk.write(desk.page(pair, "/0", b"changed again"))
    assert trust(desk) == LastmodTrust(1, 0, 0)


def test_a_trusted_page_is_due_since_it_changed(desk: Desk) -> None:
    pair = stored(desk)
    earn(desk, pair)
    ordinary = desk.row("/1")["due_at"]
    desk.now = START + 2600
    tell(desk, pair, START + 2100, "/0")
    tell(desk, pair, START + 2590, "/1")
    assert desk.row("/0")["due_at"] == START + 2000 + SHORTEST
    assert desk.row("/1")["due_at"] == min(ordinary, START + 2590)
    assert ordinary > START + 2590
    desk.over(pair)
    assert desk.findings() == []
    pairs = desk.lease(again_before=desk.now)
    assert "/0" in [due.path for due in pairs[0].urls]


def test_a_trusted_page_is_spared_while_it_has_not_changed(desk: Desk) -> None:
    pair = stored(desk)
    earn(desk, pair)
    desk.now = START + 2100
    tell(desk, pair, START - 1000, "/0", "/4", "/nowhere")
    assert desk.row("/0")["due_at"] == START + 2000 + LONGEST
    assert desk.row("/4")["due_at"] == START + LONGEST
    desk.over(pair)
    assert desk.findings() == []


def test_what_was_read_before_the_copy_says_nothing(desk: Desk) -> None:
    pair = stored(desk)
    earn(desk, pair)
    before = desk.row("/0")
    lastmods = (("/0", START - 1000),)
    desk.write(desk.page(pair, "/sitemap.xml", b"late", lastmods=lastmods, fetched_at=START + 1999))
    assert desk.row("/0") == before


def test_a_failed_transaction_leaves_no_trace(desk: Desk) -> None:
    pair = stored(desk)
    desk.now = START + 2000
    tell(desk, pair, START + 1000, "/0")
    page = desk.page(pair, "/0", b"changed")
    refused = 0
    while True:
        heal = desk.fail_at(refused + 1)
        try:
            desk.write(page)
        except StoreFailure:
            refused += 1
            assert trust(desk) == LastmodTrust(0, 0, 0)
        else:
            break
    heal()
    assert refused > 8
    assert trust(desk) == LastmodTrust(1, 0, 0)


def test_a_budget_knows_of_other_plans(desk: Desk) -> None:
    pair = stored(desk, RevisitsPerDay=1000)
    earn(desk, pair)
    desk.now = START + 2100
    budget = desk.store._state.budget
    assert budget is not None
    tell(desk, pair, START - 1000)  # From now on the sitemap, a page as well, is due after RevisitMin each time.
    before, planned = budget._promised, desk.row("/4")["due_at"] - START
    desk.now += 100
    tell(desk, pair, START - 1000, "/4")
    assert desk.row("/4")["due_at"] == START + LONGEST
    assert budget._promised - before == pytest.approx(1 / LONGEST - 1 / planned)
    desk.over(pair)
    assert desk.findings() == []
