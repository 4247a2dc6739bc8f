"""Multilevel partition: superpages that many links join are merged step by step, the small graph is divided, and the division
is refined while the steps are taken back (Hendrickson and Leland, 1995; Karypis and Kumar, 1998).

Several attempts are made, and combined: where two partitions agree is merged, and what they do not agree on is decided anew
(Sanders and Schulz, 2012). Chance, which makes the attempts differ, is a keyed hash of the numbers of superpages and attempt.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from parcahyd.partition.consistent_hash import number_of
from parcahyd.partition.superpages.graph import SuperpageGraph, cut, loads
from parcahyd.partition.superpages.greedy import partition_1, partition_2
from parcahyd.partition.superpages.refinement import Bound, Stay, refine

__all__ = ["Problem", "improve", "partition", "worth"]

_SMALLEST = 20
"""The graph is not merged further than to so many superpages for each part."""
_SHARE = 10
"""What is merged weighs at most one in so many of what a part may weigh."""
_PER_LINK = (0.1, 0.3, 1.0, 3.0)
"""What Partition II is tried with on the smallest graph."""


class Problem(NamedTuple):
    """What is to be divided."""

    graph: SuperpageGraph
    parts: int
    bound: Bound
    stay: Stay = ()


def worth(problem: Problem, owners: Sequence[int]) -> tuple[int, int]:
    """How bad a partition is: first by how much it is out of balance, then by the links that it cuts or moves for."""
    moved = (
        sum(kept for owner, (now, kept) in zip(owners, problem.stay, strict=True) if now not in (-1, owner))
        if problem.stay
        else 0
    )
    return problem.bound.excess(loads(problem.graph, owners, problem.parts)), cut(problem.graph, owners) + moved


class _Step(NamedTuple):
    """A smaller problem, and where each superpage of the larger one is in it."""

    problem: Problem
    into: list[int]

    def down(self, values: Sequence[Hashable]) -> list[Hashable]:
        """A value of superpages, on the smaller problem."""
        found: list[Hashable] = [None] * len(self.problem.graph)
        for place, value in zip(self.into, values, strict=True):
            found[place] = value
        return found


def _merge(problem: Problem, order: Sequence[int], labels: Sequence[Hashable]) -> _Step:
    """Pairs each superpage with the neighbour of its label that most links join it with for their weight."""
    graph, heaviest = problem.graph, max(1, problem.bound.limit // _SHARE)
    into = [-1] * len(graph)
    weights: list[int] = []
    for page in order:
        if into[page] >= 0:
            continue
        into[page] = len(weights)
        weight = graph.weights[page]
        best, partner = 0.0, -1
        for other, count in graph.links[page].items():
            if into[other] < 0 and weight + graph.weights[other] <= heaviest and labels[page] == labels[other]:
                # As a share of the lighter one's weight: a light page with all its links goes before a heavy pair.
                pull = count / (1 + min(weight, graph.weights[other]))
                if pull > best:
                    best, partner = pull, other
        if partner >= 0:
            into[partner] = into[page]
            weight += graph.weights[partner]
        weights.append(weight)
    joined = ((into[page], into[other], n) for page, row in enumerate(graph.links) for other, n in row.items() if page < other)
    return _Step(
        problem._replace(graph=SuperpageGraph(weights, joined), stay=_merged_stay(problem.stay, into, len(weights))), into
    )


def _merged_stay(stay: Stay, into: Sequence[int], count: int) -> Stay:
    """What is merged stays where most of it is."""
    if not stay:
        return ()
    sums: list[dict[int, int]] = [{-1: 0} for _ in range(count)]
    for place, (now, kept) in zip(into, stay, strict=True):
        sums[place][now] = sums[place].get(now, 0) + kept
    return [max(found.items(), key=lambda item: (item[1], -item[0])) for found in sums]


def _once(problem: Problem, secret: bytes, attempt: str, labels: Sequence[Hashable], owners: Sequence[int] | None) -> list[int]:
    """Down, divided, and up again. Where there are owners, every part has one label, and they are where it begins."""
    steps: list[_Step] = []
    smallest = problem
    while len(smallest.graph) > _SMALLEST * problem.parts:
        order = _order(len(smallest.graph), secret, f"{attempt} {len(steps)}")
        step = _merge(smallest, order, labels)
        if len(step.problem.graph) > 0.97 * len(smallest.graph):
            break
        labels = step.down(labels)
        owners = None if owners is None else [owner for owner in step.down(owners) if isinstance(owner, int)]
        steps.append(step)
        smallest = step.problem
    found = _refined(smallest, _divided(smallest) if owners is None else owners)
    for number in range(len(steps) - 1, -1, -1):
        larger = steps[number - 1].problem if number else problem
        found = _refined(larger, [found[place] for place in steps[number].into])
    return found


def _order(count: int, secret: bytes, attempt: str) -> list[int]:
    return sorted(range(count), key=lambda page: number_of(f"{attempt} {page}", secret))


def _refined(problem: Problem, owners: Sequence[int]) -> list[int]:
    return refine(problem.graph, owners, problem.parts, problem.bound, problem.stay)


def _divided(problem: Problem) -> list[int]:
    """The best of the paper's ways, each refined."""
    graph, parts = problem.graph, problem.parts
    ways = [partition_1(graph, parts), *(partition_2(graph, parts, per_link) for per_link in _PER_LINK)]
    return min((_refined(problem, owners) for owners in ways), key=lambda owners: worth(problem, owners))


def partition(problem: Problem, secret: bytes = b"", attempts: int = 8, rounds: int = 8) -> list[int]:
    """The best of some attempts and of their combinations, the same for the same problem and secret."""
    anything = [0] * len(problem.graph)
    found = [_divided(problem), *(_once(problem, secret, f"first {number}", anything, None) for number in range(attempts))]
    return _combined(problem, secret, found, rounds)


def improve(problem: Problem, owners: Sequence[int], secret: bytes = b"", rounds: int = 4) -> list[int]:
    """A partition that is nowhere worse than the given one, beginning from it."""
    return _combined(problem, secret, [_refined(problem, owners)], rounds)


def _combined(problem: Problem, secret: bytes, found: list[list[int]], rounds: int) -> list[int]:
    for number in range(rounds):
        found.sort(key=lambda owners: worth(problem, owners))
        best, other = found[0], found[1 + number % max(1, len(found) - 1)] if len(found) > 1 else found[0]
        child = _once(problem, secret, f"round {number}", list(zip(best, other, strict=True)), best)
        if worth(problem, child) < worth(problem, found[-1]):
            found[-1] = child
    return min(found, key=lambda owners: worth(problem, owners))
