"""Counters of what comes most often, in bounded memory: hot URLs (C39), hot tokens of the URL tree (C26), super-links (C27).

The algorithm is space-saving (Metwally, Agrawal and El Abbadi, "Efficient computation of frequent and top-k elements in data
streams", 2005), with weights: with K counters, a name that has more than one in K of all weight is always among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappush, heapreplace
from typing import NamedTuple

__all__ = ["Counted", "SpaceSaving"]


class Counted(NamedTuple):
    """A name that has a counter."""

    name: str
    least: int
    """It came so often at least."""
    most: int
    """It came so often at most: the difference is of names that had the counter before."""


class SpaceSaving:
    """At most `capacity` names with their counters. The same names in the same order always leave the same counters."""

    __slots__ = ("_capacity", "_counts", "_least", "_serial")

    def __init__(self, capacity: int) -> None:
        self._capacity = max(1, capacity)
        self._counts: dict[str, tuple[int, int]] = {}
        """Count and its surplus, by name."""
        self._least: list[tuple[int, int, str]] = []
        """A heap with one place for each name: its count when it was last looked at there, which may be smaller than now."""
        self._serial = 0

    def add(self, name: str, weight: int = 1) -> str | None:
        """Counts the name. Where there is no counter left, the smallest changes its name, and its former one is returned; of
        equals, the oldest."""
        known = self._counts.get(name)
        if known is not None:
            self._counts[name] = known[0] + weight, known[1]
            return None
        self._serial += 1
        if len(self._counts) < self._capacity:
            self._counts[name] = weight, 0
            heappush(self._least, (weight, self._serial, name))
            return None
        dropped, surplus = self._drop_smallest()
        self._counts[name] = surplus + weight, surplus
        heapreplace(self._least, (surplus + weight, self._serial, name))
        return dropped

    def least(self, name: str) -> int:
        """How often the name came at least; 0 where it has no counter."""
        count, surplus = self._counts.get(name, (0, 0))
        return count - surplus

    def __contains__(self, name: str) -> bool:
        return name in self._counts

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[Counted]:
        for name, (count, surplus) in self._counts.items():
            yield Counted(name, count - surplus, count)

    def _drop_smallest(self) -> tuple[str, int]:
        """Takes the name with the smallest counter away; returns it and the count. Its place in the heap is still there."""
        while True:
            count, serial, name = self._least[0]
            now = self._counts[name][0]
            if now == count:
                del self._counts[name]
                return name, count
            heapreplace(self._least, (now, serial, name))
