from __future__ import annotations

from collections import Counter

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import ClusterNode, ClusterView, JudgedPage, Neighbours, Partitioner, Routing, Seen
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.placement import placement

HOST = WorkConf()
DOMAIN = WorkConf(PartitionBy="domain")


def _homes(conf: WorkConf, hosts: list[str], routing: Routing) -> list[object]:
    strategy = ByHash(conf, routing)
    return [strategy.home(Seen(host)) for host in hosts]


def test_it_is_a_partitioner_with_one_home_that_wants_to_be_told_nothing() -> None:
    strategy = ByHash(HOST, Routing(8))
    assert isinstance(strategy, Partitioner)
    assert strategy.one_home
    assert strategy.observes == frozenset()


def test_hosts_are_spread_evenly_also_those_of_one_domain() -> None:
    counts = Counter(_homes(HOST, [f"{number}.example.org" for number in range(8000)], Routing(8)))
    assert len(counts) == 8
    assert max(counts.values()) < 1.15 * 1000


def test_hosts_of_one_domain_stay_together_where_the_user_wants_it() -> None:
    assert len(set(_homes(DOMAIN, [f"{number}.example.co.uk" for number in range(100)], Routing(8)))) == 1
    assert len(set(_homes(DOMAIN, [f"example-{number}.co.uk" for number in range(100)], Routing(8)))) == 8


def test_path_port_and_finder_do_not_matter() -> None:
    strategy = ByHash(HOST, Routing(64))
    assert {strategy.home(Seen("a.example", f"/{one}", one)) for one in range(50)} == {strategy.home(Seen("a.example"))}


def test_a_page_author_cannot_choose_the_partition_without_the_secret() -> None:
    aimed = [host for host in (f"{number}.evil.example" for number in range(8000)) if _homes(HOST, [host], Routing(8)) == [3]]
    counts = Counter(_homes(HOST, aimed, Routing(8, secret=b"drawn by chance")))
    assert len(counts) == 8
    assert max(counts.values()) < 2 * len(aimed) / 8


def test_a_mapped_host_may_live_with_its_neighbours() -> None:
    strategy = ByHash(HOST, Routing(8))
    own = strategy.home(Seen("a.example"))
    other = 0 if own else 1
    assert strategy.home(Seen("a.example", address="192.0.2.1", neighbours=Neighbours({}, {}))) == own
    assert strategy.home(Seen("a.example", address="192.0.2.1", neighbours=Neighbours({other: 3}, {}))) == other


def test_pages_stay_and_nobody_waits() -> None:
    strategy = ByHash(HOST, Routing(8))
    assert strategy.belongs(JudgedPage("http://a.example/", text="of another topic"), 3) == 3
    assert strategy.next_for(1, [Seen("a.example")], 5) == ()


def test_it_shares_nothing_and_takes_nothing_from_another_strategy() -> None:
    strategy = ByHash(HOST, Routing(8))
    strategy.observe([])
    assert strategy.share() == strategy.share([b"", b""]) == b""
    with pytest.raises(ValueError, match="another strategy"):
        strategy.share([b"tree"])


def test_its_plan_is_the_placement_and_moves_no_site() -> None:
    view = ClusterView(Routing(8), (ClusterNode("a", 1), ClusterNode("b", 3)), (None,) * 8)
    plan = ByHash(HOST, Routing(8)).plan(view)
    assert plan.wanted == placement(view)
    assert (plan.moves, plan.state) == ((), None)
