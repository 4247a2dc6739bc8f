"""A budget of visits a day, spent where they add most freshness.

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
"""The part of a day's requests to wait for when all are used up, so that the crawl is not woken for each single one."""

_CORRECTED = 0.05
"""The factor by which the value's goal moves at once, at most."""

_MOST_CORRECTION = 4.0
_LOWEST, _HIGHEST = log(1e-3), log(1e13)
_STEPS = 26
_MOVED = 0.02
_MOVED_LEAST = 64
_SHORTEST = 1e-3

_Cell = tuple[int, int, int]


class Census:
    """The number of pages by approximate rate; pages that were seen only once are counted separately."""

    def __init__(self) -> None:
        self.once = 0
        self._cells: Counter[_Cell] = Counter()

    @property
    def pages(self) -> int:
        return self.once + self._cells.total()

    def enter(self, rate: ChangeRate | None, pages: int = 1) -> None:
        """Counts pages of a rate; None for pages that were seen only once."""
        if rate is None:
            self.once += pages
        else:
            self._cells[_cell(rate)] += pages

    def move(self, before: ChangeRate | None, after: ChangeRate) -> None:
        """Moves a page from its former rate to another."""
        self.enter(before, -1)
        self.enter(after)

    def rates(self) -> list[tuple[ChangeRate, int]]:
        """Each rate that stands for those near it, and the number of its pages."""
        return [(_middle(cell), pages) for cell, pages in self._cells.items() if pages > 0]


def _cell(rate: ChangeRate) -> _Cell:
    return round(4 * log2(rate.weight)), round(4 * log2(rate.span)), round(-2 * log2(1 - rate.restless))


def _middle(cell: _Cell) -> ChangeRate:
    return ChangeRate(2 ** (cell[0] / 4), 2 ** (cell[1] / 4), 1 - 2 ** (-cell[2] / 2))


class Budget:
    """Keeps the value of a visit at which the requests of a day are just used up.

    What pages ask for at a value is not what they were promised at their last visits, when the value was another: a page that
    was given up for a month does not come back when the value falls. So the promises are summed up, too, and the value is
    sought for a little more or less than the budget until they meet it.
    """

    def __init__(self, per_day: int, revisits: Revisits) -> None:
        self.census = Census()
        self._per_second = per_day / _DAY
        self._revisits = revisits
        self._promised = 0.0
        self._correction = 1.0
        self._moved = 0

    def enter(self, rate: ChangeRate | None, planned: float) -> None:
        """Counts a page of an earlier run; its next visit is `planned` seconds after the last."""
        self.census.enter(rate)
        self._promised += _per_second(planned)

    def replan(self, planned: float, interval: float) -> None:
        """Takes another interval for the next visit to a page."""
        self._promised += _per_second(interval) - _per_second(planned)

    def stored(self, pages: int) -> None:
        """Counts pages that were stored for the first time."""
        self.census.enter(None, pages)
        self._promised += pages * _per_second(self._revisits.first_interval(self._revisits.value) * MEAN_EARLIER)
        self._moved += pages

    def moved(self, before: ChangeRate | None, after: ChangeRate, planned: float, interval: float) -> None:
        """Counts a page that was checked again: its rate before and after, and the intervals that follow from each."""
        self.census.move(before, after)
        self.replan(planned, interval)
        self._moved += 1

    def settle(self) -> None:
        """Computes the value again when enough has changed; otherwise costs little."""
        if self._moved > max(_MOVED_LEAST, _MOVED * self.census.pages):
            ahead = self._promised / self._per_second
            step = min(1 + _CORRECTED, max(1 - _CORRECTED, 1 + (1 - ahead) * _CORRECTED))
            self._correction = min(_MOST_CORRECTION, max(1 / _MOST_CORRECTION, self._correction * step))
            self.tune()

    def tune(self) -> None:
        self._moved = 0
        self._revisits.set_value(self._value(), self.census.pages / self._per_second)

    def demand(self, value: float) -> float:
        """The visits per second that all pages need if each visit must add `value`."""
        revisits = self._revisits
        visits = self.census.once / max(_SHORTEST, revisits.first_interval(value))
        for rate, pages in self.census.rates():
            visits += pages / max(_SHORTEST, revisits.interval(rate, value))
        return visits / MEAN_EARLIER

    def _value(self) -> float:
        wanted = self._per_second * self._correction
        if self.demand(0.0) <= wanted:
            return 0.0
        low, high = _LOWEST, _HIGHEST
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if self.demand(exp(middle)) > wanted:
                low = middle
            else:
                high = middle
        return exp(high)


def _per_second(interval: float) -> float:
    """The visits a second of a page with that interval; 0 where the interval is impossible, such as after the clock was set."""
    return 1 / interval if interval >= _SHORTEST else 0.0


class Allowance:
    """The visits that may be made now: a day's visits are spread over the day, and at most an hour's are saved up.

    `spent` are those of the day before the start: what is left of that day may be made at once.
    """

    def __init__(self, per_day: int, now: float, spent: int = 0) -> None:
        self._per_second = per_day / _DAY
        self._most = max(1.0, per_day * _BURST)
        self._portion = max(1.0, min(self._most, per_day * _PORTION))
        self._saved = float(max(0, per_day - spent))
        self._open = 0
        """Visits that were spent and not settled."""
        self._at = now

    def left(self, now: float) -> int:
        """How many visits may be made."""
        if now > self._at:
            earned = (now - self._at) * self._per_second
            self._saved = max(self._saved, min(self._most, self._saved + earned))
            self._at = now
        return max(0, int(self._saved + 1e-9))

    def spend(self, visits: int) -> None:
        """Counts visits as made, until `take_back`, or for good with `settle`."""
        self._saved -= visits
        self._open += visits

    def settle(self) -> None:
        """Makes final what was spent: the visits were given out."""
        self._open = 0

    def take_back(self) -> None:
        """Returns what was spent since the last `settle`: the visits were not given out."""
        self._saved += self._open
        self._open = 0

    def next_at(self, now: float) -> float:
        """When the next portion of visits may be made; now if some may be."""
        if self.left(now) > 0:
            return now
        return now + (self._portion - self._saved) / self._per_second
