"""So many visits a day, made where they do most for freshness.

The most is made of a budget when every visit adds the same (Cho and Garcia-Molina, "Effective page refresh policies", 2003): if
one added more than another, the requests would be better spent the other way round. That common value is sought so that all
pages together ask for what the budget gives. It takes the whole collection to know it, and no more of it than how many pages
have about which rate: a census that is kept up to date page by page.
"""

from __future__ import annotations

from collections import Counter
from math import exp, log, log2

from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.refresh.schedule import MEAN_EARLIER, Revisits

__all__ = ["Allowance", "Budget", "Census"]

_DAY = 86400.0
_BURST = 1 / 24
"""The part of a day's requests that may be saved up while nothing is due."""

_PORTION = 1 / 1440
"""The part of a day's requests to wait for when all are used up, so that not every single one wakes the crawl."""

_LOWEST, _HIGHEST = log(1e-3), log(1e13)
_STEPS = 26
_MOVED = 0.02
_MOVED_LEAST = 64
_SHORTEST = 1e-3

_Cell = tuple[int, int]


class Census:
    """How many pages have about which rate; those that were seen only once are counted apart."""

    def __init__(self) -> None:
        self.once = 0
        self._cells: Counter[_Cell] = Counter()

    @property
    def pages(self) -> int:
        return self.once + self._cells.total()

    def enter(self, rate: ChangeRate | None, pages: int = 1) -> None:
        """Counts pages of a rate; None: seen only once."""
        if rate is None:
            self.once += pages
        else:
            self._cells[_cell(rate)] += pages

    def move(self, before: ChangeRate | None, after: ChangeRate) -> None:
        """A page that has another rate than before."""
        self.enter(before, -1)
        self.enter(after)

    def rates(self) -> list[tuple[ChangeRate, int]]:
        """Rates that stand for those near them, and how many pages have them."""
        return [(_middle(cell), pages) for cell, pages in self._cells.items() if pages > 0]


def _cell(rate: ChangeRate) -> _Cell:
    return round(4 * log2(rate.weight)), round(4 * log2(rate.span))


def _middle(cell: _Cell) -> ChangeRate:
    return ChangeRate(2 ** (cell[0] / 4), 2 ** (cell[1] / 4))


class Budget:
    """Keeps the value of a visit where the requests of a day are just used up."""

    def __init__(self, per_day: int, revisits: Revisits) -> None:
        self.census = Census()
        self._per_second = per_day / _DAY
        self._revisits = revisits
        self._moved = 0

    def stored(self, pages: int) -> None:
        """So many pages were stored for the first time."""
        self.census.enter(None, pages)
        self._moved += pages

    def moved(self, before: ChangeRate | None, after: ChangeRate) -> None:
        """A page was checked again."""
        self.census.move(before, after)
        self._moved += 1

    def settle(self) -> None:
        """Seeks the value anew when enough has moved; costs little otherwise."""
        if self._moved > max(_MOVED_LEAST, _MOVED * self.census.pages):
            self.tune()

    def tune(self) -> None:
        self._moved = 0
        self._revisits.set_value(self._value())

    def demand(self, value: float) -> float:
        """How many visits a second all pages ask for if each must add `value`."""
        revisits = self._revisits
        visits = self.census.once / max(_SHORTEST, revisits.first_interval(value))
        for rate, pages in self.census.rates():
            visits += pages / max(_SHORTEST, revisits.interval(rate, value))
        return visits / MEAN_EARLIER

    def _value(self) -> float:
        if self.demand(0.0) <= self._per_second:
            return 0.0
        low, high = _LOWEST, _HIGHEST
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if self.demand(exp(middle)) > self._per_second:
                low = middle
            else:
                high = middle
        return exp(high)


class Allowance:
    """The visits that may be made now: a day's are spread over the day, and no more than an hour's are saved up.

    `spent` are those of the day before the start: what is left of that day may be made at once.
    """

    def __init__(self, per_day: int, now: float, spent: int = 0) -> None:
        self._per_second = per_day / _DAY
        self._most = max(1.0, per_day * _BURST)
        self._portion = max(1.0, min(self._most, per_day * _PORTION))
        self._saved = float(max(0, per_day - spent))
        self._at = now

    def left(self, now: float) -> int:
        """How many visits may be made."""
        if now > self._at:
            earned = (now - self._at) * self._per_second
            self._saved = max(self._saved, min(self._most, self._saved + earned))
            self._at = now
        return max(0, int(self._saved + 1e-9))

    def spend(self, visits: int) -> None:
        self._saved -= visits

    def next_at(self, now: float) -> float:
        """When the next portion of visits may be made; now if some may be."""
        if self.left(now) > 0:
            return now
        return now + (self._portion - self._saved) / self._per_second
