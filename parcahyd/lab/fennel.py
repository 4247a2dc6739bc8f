"""Fennel, a rival that divides a graph of pages while it streams by (Tsourakakis, Gkantsidis, Radunovic and Vojnovic, 2014).

Tested in tests/lab/test_graph.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from parcahyd.partition.superpages.graph import SuperpageGraph

__all__ = ["fennel"]

_GAMMA = 1.5


def fennel(graph: SuperpageGraph, order: Sequence[int], parts: int, tolerance: float = 0.05) -> list[int]:
    """The part of each page, or superpage: where most of its links lead so far, less a price that grows with the part.

    The price's factor is that of the paper, sqrt(k) m / n^1.5, and no part gets more than 1 + tolerance times the mean weight.
    """
    total, joined = sum(graph.weights), sum(sum(row.values()) for row in graph.links) / 2
    alpha = parts**0.5 * joined / total**_GAMMA
    most = (1 + tolerance) * total / parts
    owners, sizes = [-1] * len(graph), [0] * parts
    for page in order:
        weight = graph.weights[page]
        prices = [alpha * _GAMMA * weight * size ** (_GAMMA - 1) for size in sizes]
        worth = [-price if size + weight <= most else -1e18 - size for price, size in zip(prices, sizes, strict=True)]
        for other, count in graph.links[page].items():
            if owners[other] >= 0:
                worth[owners[other]] += count
        owners[page] = worth.index(max(worth))
        sizes[owners[page]] += weight
    return owners
