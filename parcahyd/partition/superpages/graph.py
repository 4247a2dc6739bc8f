"""The coarsened graph (statement C20): superpages with their weights, and how many links join them.

Direction does not matter to a cut, so a link counts for both of its ends. Links within a superpage never cross: they are left
out.

Tested in tests/partition/superpages/test_greedy.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["SuperpageGraph", "cut", "loads"]


class SuperpageGraph:
    """Superpages are numbered from 0."""

    __slots__ = ("links", "weights")

    def __init__(self, weights: Sequence[int], links: Iterable[tuple[int, int, int]] = ()) -> None:
        """Links are given as (from, to, how many), in any order, a pair as often as you like."""
        self.weights = list(weights)
        self.links: list[dict[int, int]] = [{} for _ in self.weights]
        for one, other, count in links:
            if one != other:
                self.links[one][other] = self.links[one].get(other, 0) + count
                self.links[other][one] = self.links[other].get(one, 0) + count
        # The order in which links were told must not matter to what is decided by them.
        self.links = [dict(sorted(joined.items())) for joined in self.links]

    def weighing(self, weights: Sequence[int]) -> SuperpageGraph:
        """The same links with other weights."""
        other = SuperpageGraph(weights)
        other.links = self.links
        return other

    def __len__(self) -> int:
        return len(self.weights)


def cut(graph: SuperpageGraph, owners: Sequence[int]) -> int:
    """How many links lead from one part to another."""
    crossing = sum(
        count for page, joined in enumerate(graph.links) for other, count in joined.items() if owners[page] != owners[other]
    )
    return crossing // 2


def loads(graph: SuperpageGraph, owners: Sequence[int], parts: int) -> list[int]:
    """The weight of each part."""
    found = [0] * parts
    for weight, owner in zip(graph.weights, owners, strict=True):
        found[owner] += weight
    return found
