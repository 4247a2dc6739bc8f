"""The foreign URLs that most links lead to, and which of them were posted already, in bounded memory (statement C39).

`PostedUrls` remembers what was met last, so that a flood of new URLs washes out everything, the pages included that every page
links to. This table keeps those: it counts links with the algorithm space-saving (Metwally, Agrawal and El Abbadi, "Efficient
computation of frequent and top-k elements in data streams", 2005). With K counters, a URL to which more than one in K of all
links lead is always among them, whoever writes the links.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappush, heapreplace
from typing import NamedTuple

__all__ = ["HotUrl", "HotUrls"]


class HotUrl(NamedTuple):
    """A URL that many links lead to."""

    url: str
    links: int
    """How many links were counted, at most."""
    over: int
    """By how many `links` may be too high: those of the URLs that had the counter before."""


class _Counter:
    __slots__ = ("links", "over", "posted_to", "version")

    def __init__(self, links: int, over: int) -> None:
        self.links = links
        self.over = over
        self.posted_to = -1
        self.version = 0


class HotUrls:
    """At most `capacity` URLs with their counters. The same links in the same order always leave the same URLs."""

    def __init__(self, capacity: int) -> None:
        self._capacity = max(1, capacity)
        self._counters: dict[str, _Counter] = {}
        self._least: list[tuple[int, int, str]] = []
        """A heap with one place for each URL: its links when it was last looked at there, which may be fewer than it has."""
        self._serial = 0
        self._versions: dict[int, int] = {}

    def count(self, url: str) -> None:
        """Counts a link to a foreign URL. Where there is no counter left, the one with fewest links changes its URL."""
        known = self._counters.get(url)
        if known is not None:
            known.links += 1
            return
        # Of equals, the one that has been here longest goes first, so the outcome depends on nothing but the links.
        self._serial += 1
        if len(self._counters) < self._capacity:
            self._counters[url] = _Counter(1, 0)
            heappush(self._least, (1, self._serial, url))
            return
        links = self._drop_least()
        self._counters[url] = _Counter(links + 1, links)
        heapreplace(self._least, (links + 1, self._serial, url))

    def is_posted(self, owner: int, url: str) -> bool:
        """Whether the URL has a counter and was posted to this owner."""
        known = self._counters.get(url)
        return known is not None and known.posted_to == owner and known.version == self.version(owner)

    def version(self, owner: int) -> int:
        """As with `PostedUrls`: a number that changes with each `forget`."""
        return self._versions.get(owner, 0)

    def note_committed(self, owner: int, urls: Iterable[str], version: int) -> None:
        """As with `PostedUrls`: remembers URLs whose posting was committed just now, of those that have a counter."""
        if version != self.version(owner):
            return
        for url in urls:
            known = self._counters.get(url)
            if known is not None:
                known.posted_to, known.version = owner, version

    def forget(self, owner: int) -> None:
        """As with `PostedUrls`: forgets what was posted to this owner. The counters stay."""
        self._versions[owner] = self.version(owner) + 1

    def top(self, count: int) -> list[HotUrl]:
        """The URLs with most links, the first one first; of equals, in the order of the URLs."""
        ordered = sorted(self._counters.items(), key=lambda item: (-item[1].links, item[0]))
        return [HotUrl(url, counter.links, counter.over) for url, counter in ordered[:count]]

    def _drop_least(self) -> int:
        """Takes the counter with fewest links away; returns its links. Its place in the heap is still there."""
        while True:
            links, serial, url = self._least[0]
            now = self._counters[url].links
            if now == links:
                del self._counters[url]
                return links
            heapreplace(self._least, (now, serial, url))
