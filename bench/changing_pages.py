"""Pages that change at known rates on a clock of their own, and how fresh the copies of them are."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["DAY", "DISTRIBUTIONS", "ChangingPages", "Score", "Visits"]

DAY = 86400.0

Visits = Sequence[Sequence[float]]
"""By page: when it was visited, in order; the first visit of each is at 0."""


@dataclass(frozen=True)
class Score:
    """How well copies were kept."""

    fresh: float
    """The share of pages whose copy was current, on average over time."""
    age: float
    """Seconds since a copy was current, on average over pages and time; 0 counts for those that are."""
    requests: int


class ChangingPages:
    """Each page changes as a Poisson process of its own; the same seed gives the same changes."""

    def __init__(self, rates: Sequence[float], seconds: float, seed: int) -> None:
        self.rates = rates
        """Changes a second."""
        self.seconds = seconds
        self._changes = [_process(rate, seconds, random.Random(seed * 1_000_003 + page)) for page, rate in enumerate(rates)]

    def __len__(self) -> int:
        return len(self.rates)

    def version(self, page: int, at: float) -> int:
        """How often the page has changed by then."""
        return bisect_right(self._changes[page], at)

    def score(self, visits: Visits, since: float) -> Score:
        """What a schedule reached from `since` to the end, exactly: between two events everything stays as it is."""
        fresh = age = 0.0
        for page, times in enumerate(visits):
            for start, end in zip(times, [*times[1:], self.seconds], strict=True):
                low = max(start, since)
                if end > low:
                    changed = self._changes[page][self.version(page, start) :][:1] or [self.seconds]
                    stale = min(end, max(low, changed[0]))
                    fresh += stale - low
                    age += ((end - changed[0]) ** 2 - (stale - changed[0]) ** 2) / 2 if end > stale else 0.0
        span = (self.seconds - since) * len(self)
        return Score(fresh / span, age / span, sum(time > since for times in visits for time in times))


def _process(rate: float, seconds: float, dice: random.Random) -> list[float]:
    times, at = [], 0.0
    while rate > 0 and (at := at + dice.expovariate(rate)) < seconds:
        times.append(at)
    return times


def _lognormal(dice: random.Random) -> float:
    return float(dice.lognormvariate(-2.3, 2.0))


def _gamma(dice: random.Random) -> float:
    return float(dice.gammavariate(0.5, 0.6))


def _two_kinds(dice: random.Random) -> float:
    return 100.0 if dice.random() < 0.2 else 1 / 10


def _equal(_: random.Random) -> float:
    return 0.25


DISTRIBUTIONS: Mapping[str, Callable[[random.Random], float]] = {
    "lognormal": _lognormal,
    "gamma": _gamma,
    "two kinds": _two_kinds,
    "all equal": _equal,
}
"""Rates in changes a day: of all orders of magnitude; many hardly ever; some far too fast to follow; no difference at all."""
