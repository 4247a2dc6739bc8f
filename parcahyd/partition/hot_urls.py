"""The foreign URLs that most links lead to, and which of them were posted already, in bounded memory (statement C39).

`PostedUrls` remembers what was met last, so that a flood of new URLs washes out everything, the pages included that every page
links to. This table keeps those: it counts links by `SpaceSaving`. With K counters, a URL to which more than one in K of all
links lead is always among them, whoever writes the links.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from parcahyd.partition.space_saving import SpaceSaving

__all__ = ["HotUrl", "HotUrls"]


class HotUrl(NamedTuple):
    """A URL that many links lead to."""

    url: str
    links: int
    """How many links were counted, at most."""
    over: int
    """By how many `links` may be too high: those of the URLs that had the counter before."""


class HotUrls:
    """At most `capacity` URLs with their counters. The same links in the same order always leave the same URLs."""

    def __init__(self, capacity: int) -> None:
        self._links = SpaceSaving(capacity)
        self._posted: dict[str, tuple[int, int]] = {}
        """The owner that a URL with a counter was posted to, and the version of the owner at that time."""
        self._versions: dict[int, int] = {}

    def count(self, url: str) -> None:
        """Counts a link to a foreign URL. Where there is no counter left, the one with fewest links changes its URL."""
        dropped = self._links.add(url)
        if dropped is not None:
            self._posted.pop(dropped, None)

    def is_posted(self, owner: int, url: str) -> bool:
        """Whether the URL has a counter and was posted to this owner."""
        return self._posted.get(url) == (owner, self.version(owner))

    def version(self, owner: int) -> int:
        """As with `PostedUrls`: a number that changes with each `forget`."""
        return self._versions.get(owner, 0)

    def note_committed(self, owner: int, urls: Iterable[str], version: int) -> None:
        """As with `PostedUrls`: remembers URLs whose posting was committed just now, of those that have a counter."""
        if version == self.version(owner):
            self._posted.update((url, (owner, version)) for url in urls if url in self._links)

    def forget(self, owner: int) -> None:
        """As with `PostedUrls`: forgets what was posted to this owner. The counters stay."""
        self._versions[owner] = self.version(owner) + 1

    def top(self, count: int) -> list[HotUrl]:
        """The URLs with most links, the first one first; of equals, in the order of the URLs."""
        ordered = sorted(self._links, key=lambda one: (-one.most, one.name))
        return [HotUrl(one.name, one.most, one.most - one.least) for one in ordered[:count]]
