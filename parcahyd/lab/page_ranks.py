"""PageRank of a graph, and how alike two orders of the same pages are.

Tested in tests/lab/test_page_ranks.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

__all__ = ["kendall_tau", "page_ranks"]

_DAMPING = 0.85
_ROUNDS = 100
_CLOSE = 1e-9


def page_ranks(links: Sequence[Sequence[int]], damping: float = _DAMPING) -> list[float]:
    """The PageRank of each page by the paper's formula (X3): each begins with 1, and repeated links count once."""
    targets = [sorted(set(of_page)) for of_page in links]
    ranks = [1.0] * len(targets)
    for _ in range(_ROUNDS):
        sums = [0.0] * len(targets)
        for rank, of_page in zip(ranks, targets, strict=True):
            if of_page:
                part = rank / len(of_page)
                for target in of_page:
                    sums[target] += part
        following = [1.0 - damping + damping * total for total in sums]
        change = max((abs(new - old) for new, old in zip(following, ranks, strict=True)), default=0.0)
        ranks = following
        if change < _CLOSE:
            break
    # The same sums in another order differ in their last digits, and are ties.
    return [round(rank, 7) for rank in ranks]


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float:
    """Kendall's tau-b of two rankings of the same things; 0 where one of them has no order at all."""
    size = len(first)
    order = sorted(range(size), key=lambda place: (first[place], second[place]))
    pairs = size * (size - 1) // 2
    tied_first = _tied([first[place] for place in order])
    tied_both = _tied([(first[place], second[place]) for place in order])
    tied_second = _tied(sorted(second))
    swaps = _inversions([second[place] for place in order])
    free = (pairs - tied_first) * (pairs - tied_second)
    return (pairs - tied_first - tied_second + tied_both - 2 * swaps) / sqrt(free) if free else 0.0


def _tied(values: Sequence[object]) -> int:
    """How many pairs of a sorted list are equal."""
    pairs = run = 0
    for before, value in pairwise(values):
        run = run + 1 if value == before else 0
        pairs += run
    return pairs


def _inversions(values: list[float]) -> int:
    """How many pairs stand in falling order, by merging."""
    count, width = 0, 1
    while width < len(values):
        merged: list[float] = []
        for start in range(0, len(values), 2 * width):
            left, right = values[start : start + width], values[start + width : start + 2 * width]
            place = 0
            for value in right:
                while place < len(left) and left[place] <= value:
                    merged.append(left[place])
                    place += 1
                count += len(left) - place
                merged.append(value)
            merged += left[place:]
        values, width = merged, 2 * width
    return count
