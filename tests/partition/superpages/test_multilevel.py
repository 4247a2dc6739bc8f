from __future__ import annotations

import random

import pytest

from parcahyd.partition.superpages.graph import SuperpageGraph, cut, loads
from parcahyd.partition.superpages.greedy import partition_1, partition_2
from parcahyd.partition.superpages.multilevel import Problem, improve, partition, worth
from parcahyd.partition.superpages.refinement import Bound, bound_of, refine
from tests.partition.superpages.webs import clustered


@pytest.mark.parametrize("seed", range(4))
def test_refinement_never_raises_the_cut_nor_breaks_the_balance(seed: int) -> None:
    graph = clustered(seed)
    bound = bound_of(graph, 4, 0.05, 0.9)
    start = partition_1(graph, 4)
    assert bound.excess(loads(graph, start, 4)) == 0
    found = refine(graph, start, 4, bound)
    assert bound.excess(loads(graph, found, 4)) == 0
    assert cut(graph, found) < cut(graph, start)


@pytest.mark.parametrize("seed", range(4))
def test_improvement_never_makes_anything_worse_wherever_it_begins(seed: int) -> None:
    chance = random.Random(seed)
    graph = clustered(seed)
    problem = Problem(graph, 5, bound_of(graph, 5, 0.05))
    start = [chance.randrange(5) for _ in range(len(graph))]
    found = improve(problem, start, b"secret")
    assert worth(problem, found) <= worth(problem, start)
    assert worth(problem, found)[0] == 0
    assert worth(problem, improve(problem, found, b"other")) <= worth(problem, found)


def test_multilevel_partition_finds_the_clusters() -> None:
    graph = clustered(7, clusters=16, each=12)
    problem = Problem(graph, 4, bound_of(graph, 4, 0.05))
    found = partition(problem, b"secret")
    assert worth(problem, found)[0] == 0
    crossing = cut(graph, [page // 12 for page in range(len(graph))])
    # No more than what links clusters at all, and less than any of the paper's ways.
    assert cut(graph, found) <= crossing
    assert cut(graph, found) < min(cut(graph, partition_2(graph, 4, per_link)) for per_link in (0.1, 1.0))
    assert partition(problem, b"secret") == found


def test_a_superpage_stays_where_a_move_saves_less_than_it_costs() -> None:
    graph = SuperpageGraph([10, 10, 10, 10], [(0, 1, 5), (2, 3, 5), (0, 3, 2)])
    start = [0, 1, 1, 0]
    bound = Bound(20)
    assert cut(graph, refine(graph, start, 2, bound)) == 2
    assert refine(graph, start, 2, bound, [(owner, 50) for owner in start]) == start


def test_a_part_that_is_too_light_gets_something() -> None:
    graph = SuperpageGraph([10] * 12, [(page, (page + 1) % 12, 3) for page in range(12)])
    found = refine(graph, [0] * 12, 3, Bound(80, 20))
    assert min(loads(graph, found, 3)) >= 20


def test_odd_graphs_are_divided() -> None:
    for graph in (
        SuperpageGraph([]),
        SuperpageGraph([0]),
        SuperpageGraph([5, 0, 0]),
        SuperpageGraph([1000, 1, 1], [(0, 1, 3)]),
    ):
        found = partition(Problem(graph, 3, bound_of(graph, 3, 0.05)))
        assert len(found) == len(graph)
        assert all(0 <= owner < 3 for owner in found)
