"""Hosts that wait are given to partitions that have little to do, and go there with what is known of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from parcahyd.cluster.ending import end_if_done
from parcahyd.cluster.given_hosts import GivenHosts
from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import Routing
from parcahyd.partition.by_dynamic_size import ByDynamicSize
from tests.cluster.hub_desk import HubDesk
from tests.cluster.partition_pair import Pair, PartitionDesk


class _BySize(ByDynamicSize):
    def __init__(self, routing: Routing) -> None:
        super().__init__(WorkConf(), routing)


@pytest.fixture
def pair(desk: HubDesk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    monkeypatch.setattr(PartitionDesk, "make_partitioner", _BySize)
    pair = Pair(desk)
    yield pair
    pair.close()


def given(one: PartitionDesk) -> GivenHosts:
    return GivenHosts(one.tree.claiming, _BySize, 2, one.hub.facts.secret)


def homes(desk: HubDesk) -> dict[str, tuple[int, bool]]:
    rows = desk.rows("SELECT site, partition, waits FROM parcahyd_hub.homes ORDER BY site")
    return {site: (partition, waits) for site, partition, waits in rows}


def move_all(pair: Pair) -> None:
    for _ in range(8):
        for one in pair:
            one.partition.move_sites()
    pair.exchange()


def test_a_host_that_is_found_waits_with_its_finder(desk: HubDesk, pair: Pair) -> None:
    first, second = pair
    first.give_seeds("http://a0.example/", "http://b0.example/")
    assert homes(desk) == {"a0.example": (0, True), "b0.example": (0, True)}
    assert first.states() == {"http://a0.example/": "known", "http://b0.example/": "known"}
    assert (first.lease(), first.idle(), second.lease()) == ([], True, [])


def test_who_has_room_gets_the_largest(desk: HubDesk, pair: Pair) -> None:
    first, second = pair
    first.give_seeds("http://a0.example/", "http://b0.example/", "http://c0.example/")
    desk.change("UPDATE parcahyd_hub.homes SET size = 70 WHERE site = 'b0.example'")
    assert given(second).take(1) == 1
    assert given(first).take(1) == 1
    move_all(pair)
    assert homes(desk) == {"a0.example": (0, False), "b0.example": (1, False), "c0.example": (0, True)}
    assert [visit.host for visit in second.lease()] == ["b0.example"]
    assert [visit.host for visit in first.lease()] == ["a0.example"]


def test_a_host_that_waits_holds_up_the_end(desk: HubDesk, pair: Pair) -> None:
    first, second = pair
    first.give_seeds("http://a0.example/")
    assert first.lease() == []
    assert (first.idle(), second.idle()) == (True, True)
    assert end_if_done(desk.hub, pair.run) is None
    assert given(first).take(4) == 1
    assert end_if_done(desk.hub, pair.run) is None, "its writer has not seen it yet"
    assert not first.idle(), "it is its own now"
    first.partition.move_sites()
    first.crawl(first.visit())
    assert (first.idle(), second.idle()) == (True, True)
    assert end_if_done(desk.hub, pair.run) == "done"


def test_what_another_page_names_goes_to_the_one_who_keeps_the_host(desk: HubDesk, pair: Pair) -> None:
    first, second = pair
    first.give_seeds("http://a0.example/")
    given(second).take(1)
    move_all(pair)
    second.link("/", "http://b0.example/1")
    assert homes(desk)["b0.example"] == (1, True)
    first.give_seeds("http://b0.example/2")
    pair.exchange()
    assert second.states() == {
        "http://a0.example/": "stored",
        "http://b0.example/1": "known",
        "http://b0.example/2": "known",
    }
    assert second.lease() == []
