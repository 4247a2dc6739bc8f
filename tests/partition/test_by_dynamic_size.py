from __future__ import annotations

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import ClusterNode, ClusterView, JudgedPage, Neighbours, Partitioner, Routing, Seen
from parcahyd.partition.by_dynamic_size import PARTS_OF_A_SHARE, ByDynamicSize, parts
from parcahyd.partition.placement import placement
from parcahyd.testing import check_partitioner


def _strategy(partitions: int = 1) -> ByDynamicSize:
    return ByDynamicSize(WorkConf(), Routing(partitions))


WAITING = [
    Seen("new"),
    Seen("small", size=10),
    Seen("large", size=900),
    Seen("failed and small", size=5, failed=True),
    Seen("later new"),
    Seen("later large", size=900),
    Seen("failed and new", failed=True),
    Seen("empty", size=0),
]


def test_it_keeps_the_contract_of_a_partitioner() -> None:
    check_partitioner(ByDynamicSize, many=10_000)
    assert isinstance(_strategy(), Partitioner)
    assert _strategy().one_home


def test_every_host_waits_also_once_it_is_mapped() -> None:
    assert _strategy(8).home(Seen("a.example", size=3)) is None
    assert _strategy(8).home(Seen("a.example", address="192.0.2.1", neighbours=Neighbours({3: 9}, {3: 9}))) is None


def test_failed_ones_are_first_then_the_largest_and_unknown_ones_last_in_the_order_of_waiting() -> None:
    """Algorithm 3.1, lines 1, 8, 17 and 31."""
    waiting, order = list(WAITING), []
    while waiting:
        (name,) = _strategy().next_for(0, waiting, 1)
        order.append(name)
        waiting = [seen for seen in waiting if seen.host != name]
    assert order == ["failed and small", "failed and new", "large", "later large", "small", "empty", "new", "later new"]
    assert _strategy().next_for(0, WAITING, 0) == ()


def test_a_partition_with_much_room_does_not_get_all_large_hosts() -> None:
    """Half of its share is 250 of 1,000 pages, then 125 of 500."""
    waiting = [Seen(f"{size}", size=size) for size in (500, 65, 60, 65, 70, 60, 70, 50, 60)]
    assert _strategy(2).next_for(0, waiting, 100) == ("500",)
    assert _strategy(2).next_for(1, waiting[1:], 100) == ("70",)
    assert _strategy(1).next_for(1, waiting[1:], 100) == ("70", "70", "65")
    assert _strategy(1).next_for(1, waiting[1:], 2) == ("70", "70")


def test_of_hosts_of_unknown_size_it_gets_half_of_its_share_of_their_number() -> None:
    waiting = [Seen(f"{number}") for number in range(24)]
    assert _strategy(4).next_for(0, waiting, 100) == ("0", "1", "2")


def test_a_large_host_is_divided_into_parts_that_are_a_fraction_of_a_share() -> None:
    found = parts({"large": 3200, "mean": 1600, "unknown": None, "small": 1}, 4)
    total = 3200 + 1600 + (3200 + 1600 + 1) / 3 + 1
    assert found == {"large": 64, "mean": 32, "unknown": 32, "small": 1}
    assert all(size / found[host] <= total / 4 / PARTS_OF_A_SHARE for host, size in (("large", 3200), ("mean", 1600)))
    assert parts({}, 4) == {}
    assert parts({"a": None, "b": None}, 2) == {"a": 32, "b": 32}


def test_machines_get_partitions_by_capacity_and_no_site_is_moved() -> None:
    view = ClusterView(Routing(8), (ClusterNode("a", 1), ClusterNode("b", 3)), (None,) * 8)
    plan = _strategy(8).plan(view)
    assert plan.wanted == placement(view)
    assert plan.wanted.count("b") == 6
    assert (plan.moves, plan.state) == ((), None)


def test_pages_stay_and_it_takes_nothing_from_another_strategy() -> None:
    assert _strategy(8).belongs(JudgedPage("http://a.example/", text="of another topic"), 3) == 3
    with pytest.raises(ValueError, match="another strategy"):
        _strategy().share([b"tree"])
