"""A site moves from one partition to another with all that is known of it (`carried_rows`), however often it is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import Table

from parcahyd.cluster import site_moves
from parcahyd.cluster.ending import end_if_done
from parcahyd.cluster.verification import cluster_findings
from parcahyd.core.errors import StoreFailure
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import documents, exchanges, fetches, head_bases, runs, sites, urls
from tests.cluster.hub_desk import HubDesk
from tests.cluster.partition_pair import Pair, PartitionDesk

A, B = "http://a0.example", "http://b0.example"
HOST = "a0.example"


@pytest.fixture
def pair(desk: HubDesk) -> Iterator[Pair]:
    pair = Pair(desk)
    yield pair
    pair.close()


def want(desk: HubDesk, host: str = HOST, source: int = 0, target: int = 1) -> None:
    desk.change("INSERT INTO parcahyd_hub.moves VALUES (%s, %s, %s, 'a test')", host, source, target)


_LEFT = "SELECT site FROM parcahyd_hub.moves UNION ALL SELECT site FROM parcahyd_hub.homes WHERE moving IS NOT NULL"


def home(desk: HubDesk, host: str = HOST) -> tuple[int, int | None]:
    ((partition, moving),) = desk.rows(f"SELECT partition, moving FROM parcahyd_hub.homes WHERE site = '{host}'")  # noqa: S608
    return partition, moving


def move_all(pair: Pair, most: int = 100) -> None:
    """Lets both partitions work on moves and letters until there are none."""
    for _ in range(most):
        for one in pair:
            one.partition.move_sites()
        if not pair.exchange() and not pair.hub.rows(_LEFT):
            return
    raise AssertionError("the moves do not end")


def findings(desk: HubDesk, pair: Pair) -> list[Any]:
    with closing(Reader(desk.url)) as reader:
        return [*cluster_findings(reader, one_home=True), *(finding for one in pair for finding in one.findings())]


def crawled(first: PartitionDesk) -> None:
    """Two hosts in the first partition, with pages of which one is the same on both, and one that is not fetched yet."""
    first.give_seeds(f"{A}/", f"{B}/")
    for visit in first.lease():
        first.write(first.page(visit, "/", f"root of {visit.host}".encode(), internal=("/same", "/later")))
        first.write(first.page(visit, "/same", b"the same on both"))
        first.over(visit)


def place(row: dict[str, Any]) -> tuple[int, int, str]:
    return row["site_id"], row["key"], row["path"]


def by_id(*desks: PartitionDesk, of: Table) -> dict[int, dict[str, Any]]:
    """Rows of several partitions; a number that two have would show in their count."""
    rows = [row for desk in desks for row in desk.rows(of)]
    found = {row["id"]: row for row in rows}
    assert len(found) == len(rows)
    return found


SHARED = {"document_id", "request_id", "visited_in", "rested_in", "visit"}
"""What refers to rows that a partition's sites share, and to its starts."""


def test_everything_of_a_site_goes_along(desk: HubDesk, pair: Pair) -> None:
    first, second = pair
    crawled(first)
    states = {url: state for url, state in first.states().items() if url.startswith(A)}
    assert states == {f"{A}/": "stored", f"{A}/same": "stored", f"{A}/later": "known"}
    before = {of.name: by_id(first, of=of) for of in (fetches, exchanges, head_bases, sites)}
    places = {place(row): row for row in first.rows(urls)}
    want(desk)
    move_all(pair)
    assert home(desk) == (1, None)
    assert second.states() == states
    assert all(url.startswith(B) for url in first.states())
    for of in (fetches, exchanges, head_bases):
        after = by_id(first, second, of=of)
        assert {number: without(row) for number, row in after.items()} == {
            number: without(row) for number, row in before[of.name].items()
        }
    assert {place(row): without(row) for one in pair for row in one.rows(urls)} == {
        where: without(row) for where, row in places.items()
    }
    ((site,),) = (by_id(second, of=sites).items(),)
    assert without(site[1]) == without(before["sites"][site[0]])
    assert {row["visited_in"] for row in second.rows(urls)} == {0, second.rows(runs)[0]["id"]}, "they are not visited again"
    assert [len(one.rows(documents)) for one in pair] == [2, 2], "the shared one is on both sides, the other where it is used"
    assert len(by_id(first, second, of=documents)) == 4
    assert findings(desk, pair) == []
    assert [(visit.host, [url.path for url in visit.urls]) for visit in second.lease()] == [(HOST, ["/later"])]


def without(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in SHARED}


def test_a_site_leaves_when_nobody_visits_it(desk: HubDesk, pair: Pair) -> None:
    first, second = pair
    first.give_seeds(f"{A}/", f"{B}/")
    visits = {visit.host: visit for visit in first.lease()}
    want(desk)
    assert first.partition.move_sites().leaving == (HOST,)
    first.crawl(visits[HOST], "/", internal=("/later",))
    assert [visit.host for visit in first.lease()] == [], "it is due, and is to leave first"
    assert home(desk) == (1, 0)
    assert [second.lease(), first.idle(), second.idle()] == [[], False, False]
    first.crawl(visits["b0.example"])
    move_all(pair)
    assert second.states() == {f"{A}/": "stored", f"{A}/later": "known"}


def test_what_is_found_meanwhile_is_stored_by_the_target(desk: HubDesk, pair: Pair) -> None:
    """Also a URL whose row is still elsewhere, and one that a third page names while it moves."""
    first, second = pair
    crawled(first)
    want(desk)
    first.partition.move_sites()
    (visit,) = first.lease()
    first.crawl(visit, "/later", b"more", external=(f"{A}/later", f"{A}/new"))
    assert pair.mail() == [(1, "urls")]
    second.exchange_all()
    assert second.states() == {f"{A}/later": "known", f"{A}/new": "known"}
    assert second.lease() == [], "no visit begins before all has come"
    move_all(pair)
    assert second.states() == {f"{A}/": "stored", f"{A}/same": "stored", f"{A}/later": "known", f"{A}/new": "known"}
    assert findings(desk, pair) == []


def test_a_site_that_comes_to_an_idle_partition_holds_up_the_end(desk: HubDesk, pair: Pair) -> None:
    first, second = pair
    crawled(first)
    want(desk)
    assert second.idle()
    for one in (first, second, second):
        one.partition.move_sites()
        assert end_if_done(desk.hub, pair.run) is None
    move_all(pair)
    for visit in (*first.lease(), *second.lease()):
        assert end_if_done(desk.hub, pair.run) is None
        (first if visit.host != HOST else second).crawl(visit, "/later", b"later")
    assert (first.idle(), second.idle()) == (True, True)
    assert end_if_done(desk.hub, pair.run) == "done"


def test_a_letter_that_follows_a_site_to_and_fro_is_not_taken_for_posted(desk: HubDesk, pair: Pair) -> None:
    """Each partition has posted this URL to the other before, and now the letter alone has it."""
    first, second = pair
    first.give_seeds(f"{A}/")
    second.give_seeds("http://c1.example/")
    second.link("/", f"{A}/new")
    want(desk)
    for one in (first, second, second, second):
        one.partition.move_sites()
    assert (home(desk), pair.mail()[0]) == ((1, None), (0, "urls"))
    want(desk, source=1, target=0)
    first.exchange_all()
    second.partition.move_sites()
    second.exchange_all()
    move_all(pair)
    assert first.states() == {f"{A}/": "known", f"{A}/new": "known"}


def test_a_site_may_go_back(desk: HubDesk, pair: Pair) -> None:
    first, second = pair
    crawled(first)
    before = {place(row): without(row) for row in first.rows(urls)}
    for source, target in ((0, 1), (1, 0), (0, 1)):
        want(desk, source=source, target=target)
        move_all(pair)
        assert home(desk) == (target, None)
        assert findings(desk, pair) == []
    assert {place(row): without(row) for one in pair for row in one.rows(urls)} == before
    first.link("/later", f"{A}/more")
    pair.exchange()
    assert second.states()[f"{A}/more"] == "known"


def test_numbers_of_rows_that_went_away_are_not_given_out_again(desk: HubDesk, pair: Pair) -> None:
    first, second = pair
    crawled(first)
    for host in (HOST, "b0.example"):
        want(desk, host)
    move_all(pair)
    assert (first.rows(fetches), first.rows(sites)) == ([], [])
    first.give_seeds("http://c0.example/")
    first.crawl(first.visit(), "/")
    assert len(by_id(first, second, of=fetches)) == 5
    assert len(by_id(first, second, of=sites)) == 3


def test_a_move_goes_on_after_any_failure(desk: HubDesk, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its steps fail at one statement after the other, and both partitions get new trees in the middle."""
    monkeypatch.setattr(site_moves, "_AT_ONCE", 1)
    first, _ = pair
    crawled(first)
    before = {place(row): without(row) for row in first.rows(urls)}
    want(desk)
    failures = 0
    for number in range(40):
        for one in pair.desks:
            heal = one.fail_at(number)
            try:
                one.partition.move_sites()
            except StoreFailure:
                failures += 1
            finally:
                heal()
        if number % 10 == 9:
            for one in pair.desks:
                one.partition.move_sites()
        if number in (15, 25):
            pair.desks[:] = [one.take_over() for one in pair.desks]
            for one in pair.desks:
                one.begin_run(pair.run)
    assert failures > 10
    move_all(pair)
    assert {place(row): without(row) for one in pair for row in one.rows(urls)} == before
    assert home(desk) == (1, None)
    assert findings(desk, pair) == []
