"""What is posted to OtherPartitions goes with the page that it comes from, once, and in letters of a bounded size."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from parcahyd.cluster.planning import publish
from parcahyd.cluster.seeds import sow
from parcahyd.core.errors import StoreFailure
from parcahyd.core.records import LinksRecord
from parcahyd.storage.schema import sites
from tests.cluster.hub_desk import HubDesk, lose_commit
from tests.cluster.partition_pair import Pair, PartitionDesk

A, B = "http://a0.example", "http://b1.example"


@pytest.fixture
def make(desk: HubDesk) -> Iterator[Callable[..., Pair]]:
    pairs: list[Pair] = []

    def make(**options: Any) -> Pair:
        pairs.append(Pair(desk, **options))
        return pairs[-1]

    yield make
    for pair in pairs:
        pair.close()


def _visited(make: Callable[..., Pair], **options: Any) -> tuple[Pair, PartitionDesk, PartitionDesk, Any]:
    pair = make(**options)
    first, second = pair
    first.give_seeds(f"{A}/")
    return pair, first, second, first.visit()


def test_what_was_posted_is_not_posted_again(make: Callable[..., Pair]) -> None:
    pair, first, _, visit = _visited(make)
    first.write(first.page(visit, "/1", b"1", external=(f"{B}/x",)))
    first.write(first.page(visit, "/2", b"2", external=(f"{B}/x", f"{B}/y")))
    first.write(first.page(visit, "/3", b"3", external=(f"{B}/y", f"{B}/x")))
    assert len(pair.mail()) == 2
    assert first.partition.mail_counts.spared == 3


def test_tables_of_the_least_size_forget_what_was_posted(make: Callable[..., Pair]) -> None:
    """To post a URL again does no harm but costs a letter."""
    _, first, _other, visit = _visited(make, PostedBytes=64, HotUrls=1)
    urls = tuple(f"{B}/{number}" for number in range(50))
    first.write(first.page(visit, "/1", b"1", external=urls))
    first.write(first.page(visit, "/2", b"2", external=(*urls, f"{B}/new")))
    assert first.partition.mail_counts.urls > 90


@pytest.mark.parametrize("statement", [1, 6, 11])
def test_what_failed_half_way_counts_as_never_posted(make: Callable[..., Pair], statement: int) -> None:
    """Else the page that is tried again would post nothing, and the URL would be lost."""
    pair, first, second, visit = _visited(make)
    page = first.page(visit, "/", external=(f"{B}/x",))
    heal = first.fail_at(statement)
    with pytest.raises(StoreFailure):
        first.write(page)
    heal()
    assert pair.mail() == []
    first.write(first.page(visit, "/other", b"other"))  # Another batch may come first.
    first.write(page)
    pair.exchange()
    assert second.states() == {f"{B}/x": "known"}
    assert first.partition.mail_counts.letters == 1


@pytest.mark.parametrize("commits", [True, False], ids=["committed", "not committed"])
def test_a_lost_answer_posts_each_letter_once(make: Callable[..., Pair], commits: bool) -> None:
    pair, first, second, visit = _visited(make)
    page = first.page(visit, "/", external=(f"{B}/x",))
    lose_commit(first.writer, commits=commits)
    if not commits:
        with pytest.raises(StoreFailure):
            first.write(page)
        assert pair.mail() == []
    first.write(page)
    first.write(first.page(visit, "/2", b"2", external=(f"{B}/x",)))
    assert len(pair.mail()) == 1
    pair.exchange()
    assert second.states() == {f"{B}/x": "known"}


def test_a_page_with_very_many_foreign_links_makes_many_letters(make: Callable[..., Pair]) -> None:
    pair, first, _, visit = _visited(make)
    links = tuple(f"{B}/a/page/of/some/length/with/the/number/{number}" for number in range(30_000))
    tracemalloc.start()
    first.write(LinksRecord(visit.visit, visit.site, 1, first.now, external=links))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    ((letters, longest, total),) = pair.hub.rows("SELECT count(*), max(length(body)), sum(length(body)) FROM parcahyd_hub.mail")
    assert longest < 40_000
    assert letters >= total // 40_000
    assert peak < 60_000_000, "some multiple of what the page brought"


def test_many_letters_are_taken_in_some_at_a_time(make: Callable[..., Pair]) -> None:
    pair, first, second, visit = _visited(make)
    links = tuple(f"{B}/{number}".ljust(2000, "x") for number in range(1500))
    first.write(LinksRecord(visit.visit, visit.site, 1, first.now, external=links))
    letters = second.exchange()
    assert letters.has_more
    assert 0 < letters.taken < len(pair.mail()) + letters.taken
    second.exchange_all()
    assert [row["urls"] for row in second.rows(sites)] == [1500]


def test_what_finds_the_box_full_waits_in_the_outbox(make: Callable[..., Pair]) -> None:
    pair, first, second, visit = _visited(make, box_limit=2)
    for number in range(5):
        first.write(first.page(visit, f"/{number}", bytes([number]), external=(f"{B}/{number}",)))
    first.over(visit)
    assert len(pair.mail()) == 2
    assert first.exchange().kept == 3
    assert not first.idle(), "its outbox is not empty"
    assert second.exchange_all() == 2
    assert first.exchange().kept == 0
    pair.exchange()
    assert set(second.states().values()) == {"known"}
    assert len(second.states()) == 5


def test_a_letter_to_a_former_home_is_posted_on(make: Callable[..., Pair]) -> None:
    pair, first, second, visit = _visited(make)
    first.write(first.page(visit, "/", external=(f"{B}/x", f"{B}/y")))
    pair.hub.change("INSERT INTO parcahyd_hub.homes (site, partition) VALUES ('b1.example', 0)")
    assert second.exchange_all() == 1
    assert second.states() == {}
    first.exchange_all()
    assert first.states() == {f"{A}/": "stored", f"{B}/x": "known", f"{B}/y": "known"}


def test_a_seed_to_a_former_home_is_posted_on(make: Callable[..., Pair]) -> None:
    pair = make(Scope="site")
    first, second = pair
    sow(pair.hub.hub, {f"{B}/x": 0})
    assert first.exchange_all() == 1
    assert first.states() == {}
    assert pair.mail() == [(1, "seed")]
    second.exchange_all()
    assert second.states() == {f"{B}/x": "known"}


def test_a_letter_of_a_newer_routing_is_judged_by_that(make: Callable[..., Pair], desk: HubDesk) -> None:
    """Both went by another routing; the reader has not heard of the newer one when the letter comes."""
    pair, first, second, visit = _visited(make)
    host = "moves0.example"
    version = publish(desk.planner(), "name", msgspec.json.encode({host: 1}))
    first.partition.follow_routing()
    first.write(first.page(visit, "/", external=(f"http://{host}/x",)))
    pair.exchange()
    assert second.states() == {f"http://{host}/x": "known"}
    assert second.partition._routes.version == version


def test_a_letter_of_an_older_routing_is_posted_on(make: Callable[..., Pair], desk: HubDesk) -> None:
    pair, first, second, visit = _visited(make)
    version = publish(desk.planner(), "name", msgspec.json.encode({"b1.example": 0}))
    second.partition.follow_routing()
    first.write(first.page(visit, "/", external=(f"{B}/x",)))
    second.exchange_all()
    assert (second.states(), pair.mail()) == ({}, [(0, "urls")])
    assert pair.hub.rows("SELECT routing FROM parcahyd_hub.mail") == [(version,)]
    first.exchange_all()
    assert first.states()[f"{B}/x"] == "known"


def test_a_new_routing_forgets_what_was_posted(make: Callable[..., Pair], desk: HubDesk) -> None:
    pair, first, second, visit = _visited(make)
    first.write(first.page(visit, "/", external=(f"{B}/x",)))
    pair.exchange()
    publish(desk.planner(), "name", b"{}")
    first.partition.follow_routing()
    first.write(first.page(visit, "/2", b"2", external=(f"{B}/x",)))
    assert len(pair.mail()) == 1
    pair.exchange()
    assert second.states() == {f"{B}/x": "known"}
