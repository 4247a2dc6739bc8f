"""A better improvement than the paper's: k-way refinement after Fiduccia and Mattheyses (1982), under a bound of balance.

In a pass, superpages move one after the other to where most links lead, the best move first, each once, also where a move makes
the cut worse for the moment; then the pass is taken back to its best moment. A heap holds the moves with their gains.

Tested in tests/partition/superpages/test_multilevel.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from parcahyd.partition.superpages.graph import SuperpageGraph, loads

__all__ = ["Bound", "Stay", "bound_of", "rebalance", "refine"]

_PATIENCE = 60
"""A pass ends after so many moves without a new best moment."""
_PASSES = 12

Stay = Sequence[tuple[int, int]]
"""For each superpage the part that it is in now (-1: none), and how many links a move away from there must save."""


class Bound(NamedTuple):
    """What a part may weigh."""

    limit: int
    """No more than this."""
    least: int = 0
    """No less than this."""

    def excess(self, weights: Sequence[int]) -> int:
        """By how much parts are too heavy or too light, together."""
        limit, least = self
        return sum(weight - limit if weight > limit else least - weight for weight in weights if not least <= weight <= limit)


def bound_of(graph: SuperpageGraph, parts: int, tolerance: float, least: float = 0.0) -> Bound:
    """So much more than the mean, so that max:mean is at most 1 + tolerance; and at least this share of the mean."""
    mean = sum(graph.weights) / parts
    return Bound(int(mean * (1 + tolerance)), int(mean * least))


class _Pass:
    """One pass over the superpages. What is best is first the balance, as far as it is out of bounds, then the cut."""

    def __init__(self, graph: SuperpageGraph, owners: list[int], parts: int, bound: Bound, stay: Stay) -> None:
        self.graph, self.owners, self.parts, self.bound, self.stay = graph, owners, parts, bound, stay
        self.loads = loads(graph, owners, parts)
        self.joined = [self._joined(page) for page in range(len(graph))]
        self.moved = [False] * len(graph)
        self.heap: list[tuple[int, int, int, int]] = []
        # A part may become too heavy for the moment: exchanging two superpages is two moves.
        self.slack = bound.limit + max(graph.weights, default=0)

    def _joined(self, page: int) -> list[int]:
        joined = [0] * self.parts
        for other, count in self.graph.links[page].items():
            joined[self.owners[other]] += count
        now, kept = self.stay[page] if self.stay else (-1, 0)
        if now >= 0:
            joined[now] += kept
        return joined

    def _offer(self, page: int) -> None:
        """Puts the best move of a superpage on the heap."""
        owner, joined, weight = self.owners[page], self.joined[page], self.graph.weights[page]
        heavy = self.loads[owner] > self.bound.limit
        most = self.bound.limit if heavy else self.slack
        if self.loads[owner] - weight < self.bound.least and weight:
            return
        best = -1
        for part in range(self.parts):
            if part == owner or self.loads[part] + weight > most:
                continue
            if best < 0 or (joined[part], -self.loads[part]) > (joined[best], -self.loads[best]):
                best = part
        if best >= 0 and (heavy or joined[best] or not joined[owner]):
            heappush(self.heap, (joined[owner] - joined[best], weight, page, best))

    def move(self, page: int, part: int) -> None:
        owner, weight = self.owners[page], self.graph.weights[page]
        self.owners[page] = part
        self.loads[owner] -= weight
        self.loads[part] += weight
        for other, count in self.graph.links[page].items():
            self.joined[other][owner] -= count
            self.joined[other][part] += count

    def relief(self, sources: Sequence[int], targets: Sequence[int]) -> tuple[int, int]:
        """The superpage and the part whose move from one of these to one of those loses least; -1 where there is none."""
        best = (float("inf"), -1, -1)
        among = set(sources)
        for page, owner in enumerate(self.owners):
            weight = self.graph.weights[page]
            if owner not in among or not weight or self.moved[page] or self.loads[owner] - weight < self.bound.least:
                continue
            for part in targets:
                if part != owner and self.loads[part] + weight <= self.bound.limit:
                    loss = self.joined[page][owner] - self.joined[page][part]
                    best = min(best, (loss / weight, page, part))
        return best[1], best[2]

    def _next(self) -> tuple[int, int, int] | None:
        """The best move that may be made now: its loss, superpage and part."""
        while self.heap:
            loss, weight, page, part = heappop(self.heap)
            if self.moved[page]:
                continue
            now = self.joined[page][self.owners[page]] - self.joined[page][part]
            if loss == now and self.loads[part] + weight <= self.slack:
                return loss, page, part
            # Something around it has changed since it was put there.
            self._offer(page)
        return None

    def run(self) -> bool:
        """Whether it made anything better."""
        for page in range(len(self.graph)):
            self._offer(page)
        start = best = (self.bound.excess(self.loads), 0)
        done: list[tuple[int, int]] = []
        kept, loss_so_far = 0, 0
        while len(done) - kept < _PATIENCE:
            found = self._next()
            if found is None:
                break
            loss, page, part = found
            done.append((page, self.owners[page]))
            self.moved[page] = True
            self.move(page, part)
            loss_so_far += loss
            now = (self.bound.excess(self.loads), loss_so_far)
            if now < best:
                best, kept = now, len(done)
            for other in self.graph.links[page]:
                if not self.moved[other]:
                    self._offer(other)
        for page, before in reversed(done[kept:]):
            self.move(page, before)
        return best < start


def rebalance(graph: SuperpageGraph, owners: Sequence[int], parts: int, bound: Bound, stay: Stay = ()) -> list[int]:
    """Takes superpages out of parts that are too heavy, and into parts that are too light, those first that lose the fewest
    links for their weight."""
    state = _Pass(graph, list(owners), parts, bound, stay)
    for _ in range(2 * len(graph)):
        order = sorted(range(parts), key=lambda part: state.loads[part])
        if state.loads[order[-1]] > bound.limit:
            page, part = state.relief(order[-1:], order)
        elif state.loads[order[0]] < bound.least:
            page, part = state.relief(order[1:], order[:1])
        else:
            break
        if page < 0:
            break
        state.moved[page] = True
        state.move(page, part)
    return state.owners


def refine(graph: SuperpageGraph, owners: Sequence[int], parts: int, bound: Bound, stay: Stay = ()) -> list[int]:
    """A partition that is nowhere worse: nearer to the bound, or as near with fewer links cut (or links to stay by)."""
    found = rebalance(graph, owners, parts, bound, stay)
    for _ in range(_PASSES):
        if not _Pass(graph, found, parts, bound, stay).run():
            break
    return found
