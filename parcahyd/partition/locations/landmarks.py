"""Which machine is the nearest to a network: foreseen from landmarks, which are networks that every machine has measured.

A network that is near a landmark has nearly the same times as the landmark, from everywhere. So each landmark says which times
a new network may have, and it counts by how well it fits what is known. Before any probe, that is the registries' word: a
landmark of the same organisation counts most, then one of the same country, then one of the same registry. Each probe then
takes weight from the landmarks with another time. What is foreseen is a mean over all landmarks by their weight, so one that is
in the wrong place, or a country that spans a continent, is outvoted by the next probe.

The papers' way is to ask the machines that have neighbours of the network until one is near enough (statement I8). Landmarks
need fewer probes, since each probe says something about all other machines, too; docs/lab/locate.md has both in figures.

Tested in tests/partition/locations/test_landmarks.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from math import exp, inf
from operator import mul
from typing import NamedTuple

from parcahyd.partition.locations.hierarchy import NOBODY, Place

__all__ = ["Foresight", "Landmark", "Landmarks"]

_SAME_HOLDER = 200.0
_SAME_COUNTRY = 20.0
_SAME_REGISTRY = 2.0
_STRANGER = 0.2
"""How much a landmark counts before any probe. Only their ratios matter. They were chosen on two thirds of the lab's sites."""
_BLUR = 0.004
_BLUR_SHARE = 0.1
"""Seconds, and the share of a time: so far apart are times of places that are as good as one."""
_FLOOR = 1e-4
"""What a landmark keeps of its weight at least, whatever the probe: else an odd network would be left without any."""
_LONG = 10.0
"""Seconds, in place of the time from a machine that did not reach a network."""


class Landmark(NamedTuple):
    """A network that every crawler has measured."""

    times: tuple[float, ...]
    """Seconds from each crawler, in their order."""
    place: Place | None


class Foresight(NamedTuple):
    """What is foreseen for a network."""

    nearest: int
    """The crawler that is the least away from the nearest one, in the mean."""
    excess: float
    """By how many seconds that one is farther than the nearest, in the mean."""
    next_probe: int | None
    """The crawler that has not measured yet and is most likely the nearest; None: all have measured."""


class Landmarks:
    """The landmarks of one routing."""

    def __init__(self, crawlers: int) -> None:
        self._crawlers = crawlers
        self._places: list[Place | None] = []
        self._times: list[tuple[float, ...]] = []
        self._columns: list[list[float]] = [[] for _ in range(crawlers)]
        self._by_time: list[list[int]] = []
        """Of each landmark the crawlers, the nearest first."""

    def add(self, landmark: Landmark) -> None:
        """Adds one."""
        times = tuple(min(time, _LONG) for time in landmark.times)
        self._places.append(landmark.place)
        self._times.append(times)
        self._by_time.append(sorted(range(self._crawlers), key=times.__getitem__))
        for column, time in zip(self._columns, times, strict=True):
            column.append(time)

    def __len__(self) -> int:
        return len(self._times)

    def foresee(self, place: Place | None, measured: Mapping[int, float]) -> Foresight:
        """For a network of this place, of which some crawlers have measured the time. There is a crawler at least."""
        times = {crawler: min(time, _LONG) for crawler, time in measured.items()}
        others = [crawler for crawler in range(self._crawlers) if crawler not in times]
        if not self._times or not others:
            nearest = min(times, key=lambda crawler: (times[crawler], crawler), default=others[0] if others else 0)
            return Foresight(nearest, inf if others else 0.0, others[0] if others else None)
        weights = self._weights(place, times)
        rows = [(weight, number) for number, weight in weights.items()]
        columns = list(zip(*[self._times[number] for _, number in rows], strict=True))
        shares = [weight for weight, _ in rows]
        least = list(map(min, *[columns[crawler] for crawler in others], repeat(min(times.values(), default=inf))))
        least_mean = _dot(shares, least)
        excess = {crawler: time - least_mean for crawler, time in times.items()}
        excess.update((crawler, _dot(shares, columns[crawler]) - least_mean) for crawler in others)
        nearest = min(excess, key=lambda crawler: (excess[crawler], crawler not in times, crawler))
        return Foresight(nearest, excess[nearest], self._next(others, rows, least))

    def _weights(self, place: Place | None, measured: Mapping[int, float]) -> dict[int, float]:
        """By number, of the landmarks that count at all; they are 1 together."""
        weights = [_likeness(place, other) for other in self._places]
        for crawler, time in measured.items():
            blur = _BLUR + _BLUR_SHARE * time
            fits = [exp(-abs(time - other) / blur) + _FLOOR for other in self._columns[crawler]]
            weights = list(map(mul, weights, fits))
        enough = max(weights) * _FLOOR
        counting = {number: weight for number, weight in enumerate(weights) if weight >= enough}
        total = sum(counting.values())
        return {number: weight / total for number, weight in counting.items()}

    def _next(self, others: Sequence[int], rows: Sequence[tuple[float, int]], least: Sequence[float]) -> int:
        """Of the crawlers that have not measured, the one that most landmarks, by weight, name as the nearest."""
        likely = dict.fromkeys(others, 0.0)
        for (weight, number), shortest in zip(rows, least, strict=True):
            first = self._by_time[number][0]
            if first not in likely:
                first = next(crawler for crawler in self._by_time[number] if crawler in likely)
            if self._times[number][first] == shortest:
                likely[first] += weight
        return max(others, key=lambda crawler: (likely[crawler], -crawler))


def _likeness(place: Place | None, other: Place | None) -> float:
    if place is None or other is None:
        return _STRANGER
    if place.holder == other.holder != NOBODY:
        return _SAME_HOLDER
    if place.country == other.country != NOBODY:
        return _SAME_COUNTRY
    return _SAME_REGISTRY if place.registry == other.registry else _STRANGER


def _dot(weights: Sequence[float], values: Sequence[float]) -> float:
    total: float = sum(map(mul, weights, values))
    return total
