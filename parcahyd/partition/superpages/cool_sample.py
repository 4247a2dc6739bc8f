"""A bounded random sample of the visits whose next token is not hot, taken on line (statement C26).

Chance is a keyed hash: each visit draws a number from the crawl's secret, its token path and its serial number, and those with
the lowest numbers stay. So the same visits leave the same sample everywhere, nobody without the secret can push himself into
it, and the samples of several pipelines merge into the sample of all their visits.
"""

from __future__ import annotations

from heapq import heappush, heapreplace

from parcahyd.partition.consistent_hash import number_of

__all__ = ["SAMPLE", "CoolSample", "Drawn"]

SAMPLE = 4096
"""Visits in the sample of a pipeline."""
Drawn = tuple[int, str]
"""What a visit drew, and its key (`tokens.key_of`)."""


class CoolSample:
    """At most `capacity` visits, each as likely as any other."""

    __slots__ = ("_capacity", "_highest_first", "_secret", "_visits")

    def __init__(self, capacity: int, secret: bytes) -> None:
        self._capacity = max(1, capacity)
        self._secret = secret
        self._visits = 0
        self._highest_first: list[tuple[int, str]] = []
        """A heap of (minus what was drawn, key)."""

    def add(self, key: str, visits: int = 1) -> None:
        """Takes in visits to one URL or to what lies below one prefix."""
        # The lowest of n numbers is, near enough, one number divided by n: an observation stands for many visits at once.
        drawn = number_of(f"{self._visits} {key}", self._secret) // max(1, visits)
        self._visits += visits
        heap = self._highest_first
        if len(heap) < self._capacity:
            heappush(heap, (-drawn, key))
        elif drawn < -heap[0][0]:
            heapreplace(heap, (-drawn, key))

    def drawn(self) -> list[Drawn]:
        """The sample, what was drawn lowest first."""
        return sorted((-drawn, key) for drawn, key in self._highest_first)
