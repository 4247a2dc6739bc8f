from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.core.partitions import ClusterNode, ClusterView, Routing
from parcahyd.partition.capacity import capacity
from parcahyd.partition.placement import placement, quotas

Placed = tuple[str | None, ...]


def _nodes(**cores: float) -> tuple[ClusterNode, ...]:
    return tuple(ClusterNode(name, count) for name, count in cores.items())


def _place(nodes: tuple[ClusterNode, ...], partitions: int, placed: Placed = ()) -> Placed:
    return placement(ClusterView(Routing(partitions), nodes, placed))


def _moved(before: Placed, after: Placed) -> list[tuple[str | None, str | None]]:
    return [(one, other) for one, other in zip(before, after, strict=True) if one != other]


def test_partitions_go_by_capacity() -> None:
    assert Counter(_place(_nodes(a=2, b=2, c=8), 12)) == {"a": 2, "b": 2, "c": 8}


def test_equal_nodes_get_equal_numbers_and_no_node_more_than_its_share_rounded_up() -> None:
    assert sorted(Counter(_place(_nodes(a=4, b=4, c=4), 16)).values()) == [5, 5, 6]


def test_the_order_of_the_nodes_says_nothing() -> None:
    nodes = _nodes(a=2, b=3, c=8, d=1)
    assert _place(nodes, 20) == _place(nodes[::-1], 20)


def test_where_nothing_changed_nothing_moves() -> None:
    nodes = _nodes(a=2, b=3, c=8, d=1)
    first = _place(nodes, 20)
    assert _place(nodes, 20, first) == first


def test_a_node_that_joins_gets_its_share_and_nothing_else_moves() -> None:
    before = _place(_nodes(a=4, b=4, c=4), 12)
    after = _place(_nodes(a=4, b=4, c=4, d=4), 12, before)
    moved = _moved(before, after)
    assert len(moved) == 3
    assert {target for _, target in moved} == {"d"}


def test_of_a_node_that_leaves_everything_moves_and_nothing_else() -> None:
    before = _place(_nodes(a=4, b=4, c=4, d=4), 12)
    after = _place(_nodes(a=4, b=4, c=4), 12, before)
    moved = _moved(before, after)
    assert [source for source, _ in moved] == ["d"] * 3
    assert Counter(after) == {"a": 4, "b": 4, "c": 4}


def test_a_node_that_joins_is_not_left_idle() -> None:
    """With an upper bound alone, 2 and 2 of 4 partitions would leave the third of three nodes without any."""
    after = _place(_nodes(a=1, b=1, c=1), 4, ("a", "a", "b", "b"))
    assert Counter(after)["c"] == 1


def test_a_machine_whose_partitions_are_idle_gets_some_of_those_that_work() -> None:
    nodes = _nodes(a=4, b=4)
    placed = ("a", "a", "a", "a", "b", "b", "b", "b")
    view = ClusterView(Routing(8), nodes, placed, idle=frozenset({4, 5, 6, 7}))
    after = placement(view)
    assert Counter(after[:4]) == {"a": 2, "b": 2}
    assert after[4:] == placed[4:], "the idle ones stay"
    again = ClusterView(Routing(8), nodes, after, idle=view.idle)
    assert placement(again) == after
    assert _moved(after, placement(ClusterView(Routing(8), nodes, after, idle=frozenset(range(8))))) == []
    assert None not in placement(ClusterView(Routing(8), nodes, (None,) * 8, idle=frozenset(range(8))))


def test_a_load_that_goes_up_and_down_moves_a_partition_once() -> None:
    placed = _place((ClusterNode("a", 4), ClusterNode("b", 4)), 9)
    history = []
    for load in (0.1, 0.0, 0.1, 0.2, 0.0, 0.1):
        placed = _place((ClusterNode("a", 4, load=load), ClusterNode("b", 4, load=0.1)), 9, placed)
        history.append(placed)
    assert sum(len(_moved(one, other)) for one, other in pairwise(history)) <= 1


@pytest.mark.parametrize("placed", [(), ("a",), ("gone", None, "a") * 9, ("a",) * 100])
def test_a_view_may_be_short_long_or_of_nodes_that_are_gone(placed: Placed) -> None:
    after = _place(_nodes(a=1, b=1), 8, placed)
    assert Counter(after) == {"a": 4, "b": 4}


def test_without_a_node_nobody_is_wanted() -> None:
    assert _place((), 3, ("a", "b", None)) == (None, None, None)


def test_where_no_node_has_capacity_all_count_alike() -> None:
    assert Counter(_place(_nodes(a=0, b=0), 4)) == {"a": 2, "b": 2}


def test_a_node_without_capacity_gets_nothing_beside_one_that_has_some() -> None:
    assert set(_place(_nodes(a=0, b=1), 4, ("a",) * 4)) == {"b"}


def test_placements_stay_what_they_are() -> None:
    """Two versions of the program in one cluster, or two processors, must find the same."""
    assert "".join(str(node) for node in _place(_nodes(a=2, b=3, c=8, d=1), 28)) == "bccccccbaaccccbbdcdaccbabccc"


NODES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.5, 1, 2, 3, 4, 8, 64]), min_size=1)


@given(NODES, NODES, st.integers(1, 40))
def test_shares_are_kept_whatever_comes_and_goes(before: dict[str, float], after: dict[str, float], partitions: int) -> None:
    placed = _place(_nodes(**after), partitions, _place(_nodes(**before), partitions))
    weights = {node.name: capacity(node) for node in _nodes(**after)}
    counts = Counter(placed)
    for name, weight in weights.items():
        share = partitions * weight / sum(weights.values())
        assert share - 1 < counts[name] < share + 1


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.lists(st.integers(0, 5), min_size=3, max_size=3),
    st.integers(1, 8),
)
def test_no_other_quotas_within_the_bounds_would_move_less(weights: list[int], had: list[int], homeless: int) -> None:
    names = "abc"[: len(weights)]
    before = dict(zip(names, had, strict=False))
    count = sum(before.values()) + homeless
    by_name = dict(zip(names, weights, strict=True))
    found = quotas(by_name, before, count)

    def moves(quota: dict[str, int]) -> int:
        return sum(max(0, before[name] - quota[name]) for name in names)

    ranges = [range(count * by_name[name] // sum(weights), -(-count * by_name[name] // sum(weights)) + 1) for name in names]
    others = [dict(zip(names, chosen, strict=True)) for chosen in product(*ranges) if sum(chosen) == count]
    assert found in others
    assert moves(found) == min(map(moves, others))
