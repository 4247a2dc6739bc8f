"""How fast which part reads which superpage: the table R (statement C27).

A part knows the rates of what it crawls; what it would reach elsewhere is taken to be the superpage's rate as others know it,
times how fast the part is on the whole. Where nothing is known, all rates are equal.

Tested in tests/partition/superpages/test_greedy.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

__all__ = ["RateTable"]

_MOST = 16.0
"""A part is taken to be at most so many times as fast or as slow as the others: rates vary with the delays of hosts."""


class RateTable:
    """r_ij: the rate of part i on superpage j, relative to the mean of all that is known, which is 1."""

    def __init__(self, known: Iterable[tuple[int, int, float]] = ()) -> None:
        """Rates are given as (part, superpage, pages a second); several of one pair are averaged."""
        sums: dict[tuple[int, int], list[float]] = defaultdict(list)
        for part, page, rate in sorted(known):
            if rate > 0:
                sums[part, page].append(rate)
        self._known = {pair: sum(rates) / len(rates) for pair, rates in sums.items()}
        self._mean = sum(self._known.values()) / len(self._known) if self._known else 1.0
        self._of_page = self._means(1)
        self._of_part = self._means(0)

    def _means(self, place: int) -> dict[int, float]:
        found: dict[int, list[float]] = defaultdict(list)
        for pair, rate in self._known.items():
            found[pair[place]].append(rate / self._mean)
        return {number: sum(rates) / len(rates) for number, rates in found.items()}

    def __bool__(self) -> bool:
        return bool(self._known)

    def __call__(self, part: int, page: int) -> float:
        """The rate of this part on this superpage."""
        known = self._known.get((part, page))
        rate = self._of_page.get(page, 1.0) * self._of_part.get(part, 1.0) if known is None else known / self._mean
        return min(max(rate, 1 / _MOST), _MOST)
