"""Who gets which superpage: the leader's part of a plan, from the figures of all pipelines (statements C21, C24, C31, C32).

The tree is expanded where superpages have become too heavy; the partition is improved, beginning from the present one. What is
balanced is the work ahead: URLs to be visited count in full, those that were visited a little, since their places are to be
stored and refreshed. A superpage moves only where what it saves is worth its cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from parcahyd.core.partitions import ClusterView
from parcahyd.partition.superpages.estimate import Estimate, summed
from parcahyd.partition.superpages.figures import Figures, renumbered
from parcahyd.partition.superpages.graph import SuperpageGraph
from parcahyd.partition.superpages.layout import Layout
from parcahyd.partition.superpages.multilevel import Problem, improve, partition, worth
from parcahyd.partition.superpages.rates import RateTable
from parcahyd.partition.superpages.refinement import Bound, bound_of, rebalance
from parcahyd.partition.superpages.tokens import token_path

__all__ = ["Decision", "decide"]

_LEAST_VISITS = 200
"""With fewer URLs for each part, there is nothing to be learned yet."""
_TOLERANCE = 1.0
"""A part may have so much more than the mean."""
_AHEAD = 80
"""A part has so many URLs that wait, at least: it is not idle before the next plan. Where few wait, it has"""
_LEAST = 0.9
"""this share of the mean."""
_WAITING = 8
"""In the balance of parts, a URL that waits weighs as much as so many that were visited."""
_ATTEMPTS = 4
_ROUNDS = 2
"""How much is tried: a plan should be made in about a second."""
_COST = 0.1
"""What a URL costs that is moved, in links that cross."""
_SCALE = 16
"""Links are counted in such parts, so that few of them do not vanish in rounding."""
_GAIN = 0.05
"""A plan is carried out if it saves this share of the links that cross, its cost counted in."""

Home = Callable[[str], int]
"""The partition of a host of which the layout says nothing."""


class Decision(NamedTuple):
    """What a plan changes."""

    before: Layout
    after: Layout
    known: tuple[str, ...]
    """Keys of hosts and prefixes that were met: a move can be told only of what has a name."""


def decide(view: ClusterView, shared: Sequence[Figures], home: Home, secret: bytes) -> Decision | None:
    """The next layout; None: the present one is good enough, or too little is known."""
    parts = view.routing.partitions
    before = Layout.read(view.routing.state)
    known = summed(before.expansion, before.figures, shared, view.routing.version)
    visits = sum(known.met)
    if parts < 2 or visits < _LEAST_VISITS * parts:
        return None
    estimate, delta = Estimate(before.expansion, known, parts), known.delta(parts)
    present = _Present(before, estimate, home, parts)
    problem = _problem(estimate, present, parts)
    owners = _owners(problem, estimate.waiting(), present.owners, secret)
    finer = len(estimate.expansion) > len(before.expansion) and max(known.work()) > 2 * delta
    if owners == present.owners and not (finer and before.figures):
        return None
    figures = estimate.figures(view.routing.version + 1)
    into = estimate.expansion.simplify(owners, estimate.work, delta)
    merged_owners: list[int | None] = [None] * len(estimate.expansion)
    for page, number in enumerate(into):
        merged_owners[number] = owners[page]
    return Decision(before, Layout(estimate.expansion, merged_owners, renumbered(figures, into)), present.names)


class _Present:
    """Where the superpages of a new expansion are now."""

    def __init__(self, layout: Layout, estimate: Estimate, home: Home, parts: int) -> None:
        heads = {key.partition("/")[0] for _, key in estimate.known.sample}
        heads |= {prefix.partition("/")[0] for prefix in estimate.known.hot if "/" in prefix}
        self.names = tuple(sorted({*estimate.known.hot, *heads, *(key for _, key in estimate.known.sample)}))
        self.owners = [
            self._owner(layout.owners[share.old], share.prefix.partition("/")[0], heads, home, parts)
            for share in estimate.shares
        ]

    @staticmethod
    def _owner(owner: int | None, head: str, hosts: set[str], home: Home, parts: int) -> int:
        """-1: the hash divides its hosts among all."""
        if owner is not None and 0 <= owner < parts:
            return owner
        return home(".".join(head.split(",")[::-1])) if head in hosts else -1


def _problem(estimate: Estimate, present: _Present, parts: int) -> Problem:
    rate = _rates(estimate, present)
    weights = [
        round((_WAITING * (met - fetched) + fetched) / rate(owner, page))
        for page, (met, fetched, owner) in enumerate(zip(estimate.met, estimate.fetched, present.owners, strict=True))
    ]
    graph = SuperpageGraph(weights, _links_ahead(estimate))
    stay = [(owner, round(_SCALE * _COST * met)) for owner, met in zip(present.owners, estimate.met, strict=True)]
    return Problem(graph, parts, bound_of(graph, parts, _TOLERANCE), stay)


def _links_ahead(estimate: Estimate) -> list[tuple[int, int, int]]:
    """Links of the pages to come, if they link as those of their superpage did that were visited.

    A superpage that is done sends no links any more, however many it sent.
    """
    return [
        (page, other, _SCALE * count * (estimate.met[page] - estimate.fetched[page] + 1) // (estimate.fetched[page] + 1))
        for page, other, count in estimate.links()
    ]


def _rates(estimate: Estimate, present: _Present) -> RateTable:
    """The table R, from what the owners of hosts measured."""
    known = []
    for host, thousandths, count in estimate.known.rates:
        page = estimate.expansion.find(token_path(".".join(host.split(",")[::-1])))
        if count:
            known.append((present.owners[page], page, thousandths / count))
    return RateTable(known)


def _owners(problem: Problem, waiting: Sequence[int], present: Sequence[int], secret: bytes) -> list[int]:
    """The best partition that is found, or the present one where it is not worth the change."""
    start = list(present)
    if -1 in start:
        found = partition(problem, secret, _ATTEMPTS, _ROUNDS)
    else:
        found = improve(problem, start, secret, _ROUNDS)
        before, after = worth(problem, start), worth(problem, found)
        # Out of balance by a hundredth of a part is not worth the trouble: it comes and goes.
        if before[0] - after[0] <= problem.bound.limit // 100 and before[1] - after[1] <= _GAIN * before[1]:
            found = start
    return _fed(problem, waiting, found)


def _fed(problem: Problem, waiting: Sequence[int], owners: Sequence[int]) -> list[int]:
    """The same, but no part is without work as long as others have some: it would be idle before the next plan."""
    total = sum(waiting)
    graph = problem.graph.weighing(waiting)
    return rebalance(graph, owners, problem.parts, Bound(total, min(int(_LEAST * total / problem.parts), _AHEAD)), problem.stay)
