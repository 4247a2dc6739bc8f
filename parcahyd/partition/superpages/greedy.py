"""The paper's ways to partition superpages: Partition I, Partition II, and local improvement (statements C34 to C36).

Each part has a time T. In Problem I it is the sum of w_j / r_ij over its superpages; in Problem II the time to send and
receive links comes on top: `per_link` for each link that crosses, which is the paper's 1 / c_i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from parcahyd.partition.superpages.graph import SuperpageGraph
from parcahyd.partition.superpages.rates import RateTable

__all__ = ["improve_locally", "partition_1", "partition_2"]

_SAME: Callable[[int, int], float] = RateTable()


def _heaviest_first(graph: SuperpageGraph) -> list[int]:
    return sorted(range(len(graph)), key=lambda page: (-graph.weights[page], page))


def partition_1(graph: SuperpageGraph, parts: int, rate: Callable[[int, int], float] = _SAME) -> list[int]:
    """The heaviest superpage first, each goes to the part that will be done with it first. Links do not matter."""
    times = [0.0] * parts
    owners = [0] * len(graph)
    for page in _heaviest_first(graph):
        ends = [time + graph.weights[page] / rate(part, page) for part, time in enumerate(times)]
        owners[page] = ends.index(min(ends))
        times[owners[page]] = min(ends)
    return owners


class _Times:
    """T of all parts, with the links that cross, while superpages come and go. -1 owns what is nowhere yet."""

    def __init__(self, graph: SuperpageGraph, parts: int, per_link: float, rate: Callable[[int, int], float]) -> None:
        self.graph, self.parts, self.per_link, self.rate = graph, parts, per_link, rate
        self.owners = [-1] * len(graph)
        self.times = [0.0] * parts

    def _joined(self, page: int) -> tuple[list[int], int]:
        """How many links join the superpage with each part, and with all."""
        joined = [0] * self.parts
        for other, count in self.graph.links[page].items():
            owner = self.owners[other]
            if owner >= 0:
                joined[owner] += count
        return joined, sum(joined)

    def outcomes(self, page: int) -> list[tuple[float, float]]:
        """For each part that the superpage might go to: the longest T then, and all T together."""
        joined, total = self._joined(page)
        times = [time + self.per_link * count for time, count in zip(self.times, joined, strict=True)]
        *_, second, longest = sorted([0.0, *times])
        together = sum(times)
        found = []
        for part, time in enumerate(times):
            own = self.times[part] + self._own(page, part, total - joined[part])
            found.append((max(own, second if time == longest else longest), together - time + own))
        return found

    def _own(self, page: int, part: int, crossing: int) -> float:
        return self.graph.weights[page] / self.rate(part, page) + self.per_link * crossing

    def put(self, page: int, part: int, sign: int = 1) -> None:
        joined, total = self._joined(page)
        for other, count in enumerate(joined):
            self.times[other] += sign * (self._own(page, part, total - count) if other == part else self.per_link * count)
        self.owners[page] = part

    def take(self, page: int) -> None:
        """Takes the superpage away from its part."""
        part, self.owners[page] = self.owners[page], -1
        self.put(page, part, -1)
        self.owners[page] = -1


def partition_2(graph: SuperpageGraph, parts: int, per_link: float, rate: Callable[[int, int], float] = _SAME) -> list[int]:
    """The heaviest superpage first, each goes where the longest T of all parts stays shortest.

    Of equals, where all T together grow least: the paper leaves it open, and mostly the longest T is that of a third part.
    """
    state = _Times(graph, parts, per_link, rate)
    for page in _heaviest_first(graph):
        outcomes = state.outcomes(page)
        state.put(page, outcomes.index(min(outcomes)))
    return state.owners


def improve_locally(
    graph: SuperpageGraph, owners: Sequence[int], parts: int, per_link: float = 0.0, rate: Callable[[int, int], float] = _SAME
) -> list[int]:
    """Moves a superpage from the part with the longest T to where the longest T becomes shortest, as long as it does."""
    state = _Times(graph, parts, per_link, rate)
    for page, part in enumerate(owners):
        state.put(page, part)
    for _ in range(4 * len(graph)):
        longest = max(state.times)
        source = state.times.index(longest)
        best = (longest * (1 - 1e-9), -1, -1)
        for page in [page for page, owner in enumerate(state.owners) if owner == source]:
            state.take(page)
            outcomes = state.outcomes(page)
            state.put(page, source)
            best = min(best, *((outcomes[part][0], page, part) for part in range(parts) if part != source))
        if best[1] < 0:
            break
        state.take(best[1])
        state.put(best[1], best[2])
    return state.owners
