from __future__ import annotations

import random

import pytest

from parcahyd.partition.superpages.graph import SuperpageGraph, cut, loads
from parcahyd.partition.superpages.greedy import improve_locally, partition_1, partition_2
from parcahyd.partition.superpages.rates import RateTable
from tests.partition.superpages.webs import clustered


@pytest.mark.parametrize("seed", range(5))
def test_partition_1_keeps_the_bound_of_longest_first(seed: int) -> None:
    chance = random.Random(seed)
    graph = SuperpageGraph([chance.randrange(1, 1000) for _ in range(60)])
    found = loads(graph, partition_1(graph, 7), 7)
    # Graham (1969): 4/3 - 1/(3 k) times the best, which is no less than the mean and the heaviest.
    best = max([sum(graph.weights) / 7, *graph.weights])
    assert max(found) <= (4 / 3 - 1 / 21) * best


def test_partition_1_gives_superpages_to_those_who_are_fast_there() -> None:
    graph = SuperpageGraph([100, 100, 100, 100])
    rate = RateTable([(0, 0, 4.0), (1, 0, 1.0), (0, 1, 1.0), (1, 1, 4.0), (0, 2, 4.0), (1, 2, 1.0), (0, 3, 1.0), (1, 3, 4.0)])
    assert partition_1(graph, 2, rate) == [0, 1, 0, 1]


def test_partition_2_cuts_less_the_more_links_count() -> None:
    graph = clustered(1)
    cuts = [cut(graph, partition_2(graph, 4, per_link)) for per_link in (0.0, 0.5, 5.0)]
    assert cuts[0] > cuts[1] > cuts[2]
    assert max(loads(graph, partition_2(graph, 4, 0.0), 4)) <= 1.01 * max(loads(graph, partition_1(graph, 4), 4))


def _longest(graph: SuperpageGraph, owners: list[int], parts: int, per_link: float) -> float:
    times = [float(load) for load in loads(graph, owners, parts)]
    for page, row in enumerate(graph.links):
        for other, count in row.items():
            if owners[page] != owners[other]:
                times[owners[page]] += per_link * count
    return max(times)


@pytest.mark.parametrize("per_link", [0.0, 0.3])
def test_local_improvement_shortens_the_longest_time(per_link: float) -> None:
    graph = clustered(2)
    start = [page % 3 for page in range(len(graph))]
    found = improve_locally(graph, start, 4, per_link)
    assert _longest(graph, found, 4, per_link) < _longest(graph, start, 4, per_link)


def test_links_count_in_both_directions_and_once() -> None:
    graph = SuperpageGraph([1, 1, 1], [(0, 1, 2), (1, 0, 3), (2, 2, 9)])
    assert graph.links == [{1: 5}, {0: 5}, {}]
    assert cut(graph, [0, 1, 1]) == 5


def test_rates_are_relative_and_guessed_where_unknown() -> None:
    rates = RateTable([(0, 0, 10.0), (0, 1, 2.0), (1, 1, 1.0)])
    assert rates(0, 0) == pytest.approx(10 * 3 / 13)
    # Part 1 was never at superpage 0: what others find there, times how fast part 1 is on the whole.
    assert rates(1, 0) == pytest.approx((10 * 3 / 13) * (1 * 3 / 13))
    assert RateTable()(5, 7) == 1.0
