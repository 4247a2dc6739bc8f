"""The URLs that a visit knows of its site: keys that came with the lease, keys found since, and the paths of sitemaps.

All of it is bounded. `Room` holds the limits that the visits of a worker share.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable

from parcahyd.rules.traps.budgets import MemoryBudget

__all__ = ["SITEMAP_LEVELS", "KnownUrls", "LaterUrls", "Room", "SitemapPaths"]

SITEMAP_LEVELS = 3
"""Levels of sitemaps that are followed: an index of indexes of sitemaps. The protocol has two."""
_MAX_SITEMAPS = 500
"""Sitemaps of one visit: an index may invent new ones with every answer."""


class Room:
    """How much all visits of a worker together may still hold: URLs in LocalQs, keys of found URLs, links, facts of guards, and
    bytes of documents that wait for their tables."""

    __slots__ = ("document_bytes", "facts", "is_idle", "keys", "links", "urls")

    def __init__(self, urls: int, keys: int, links: int, document_bytes: int = 0) -> None:
        self.urls = urls
        self.keys = keys
        self.links = links
        self.document_bytes = document_bytes
        self.facts = MemoryBudget(links)
        self.is_idle = True
        """Whether the worker has connections to spare."""


class KnownUrls:
    """A set of 64-bit keys. Those that came with the lease are a sorted array of eight bytes each, new ones a Python set.

    When the room for new keys is used up, `is_complete` becomes False. A URL that is not in here may be known then: it is
    recorded again (the database ignores it), but not requested in this visit.
    """

    __slots__ = ("_fresh", "_room", "_sent", "is_complete")

    def __init__(self, sent: bytes, is_complete: bool, room: Room) -> None:
        self._sent = array("q", sent)
        self._fresh: set[int] = set()
        self._room = room
        self.is_complete = is_complete

    def __contains__(self, key: int) -> bool:
        sent = self._sent
        at = bisect_left(sent, key)
        return key in self._fresh or (at < len(sent) and sent[at] == key)

    def add(self, key: int) -> bool:
        """Add a key; returns whether it is new."""
        if key in self._fresh:
            return False
        sent = self._sent
        at = bisect_left(sent, key)
        if at < len(sent) and sent[at] == key:
            return False
        if self._room.keys > 0:
            self._room.keys -= 1
            self._fresh.add(key)
        else:
            self.is_complete = False
        return True

    def take_back(self, key: int) -> None:
        """Remove a key that was just added: it uses no room, and counts as new next time."""
        if key in self._fresh:
            self._fresh.remove(key)
            self._room.keys += 1

    def forget(self) -> None:
        """Give the room back: the visit is over."""
        self._room.keys += len(self._fresh)
        self._fresh = set()
        self._sent = array("q")


class LaterUrls(KnownUrls):
    """The URLs that only pages lead to whose links are followed later. They do not count as known to other pages."""

    __slots__ = ("_known",)

    def __init__(self, known: KnownUrls, room: Room) -> None:
        super().__init__(b"", True, room)
        self._known = known

    def __contains__(self, key: int) -> bool:
        return key in self._known or super().__contains__(key)

    def add(self, key: int) -> bool:
        return key not in self._known and super().add(key)


class SitemapPaths:
    """The paths of a visit's site that are sitemaps: robots.txt names them, or a sitemap does."""

    __slots__ = ("_paths", "_prefix")

    def __init__(self, origin: str) -> None:
        self._prefix = origin + "/"
        self._paths: set[str] = set()

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    def note(self, urls: Iterable[str | None]) -> list[str]:
        """Add canonical URLs; returns the paths of this site among them that are new."""
        new = []
        for url in urls:
            if url is not None and url.startswith(self._prefix) and len(self._paths) < _MAX_SITEMAPS:
                path = url[len(self._prefix) - 1 :]
                if path not in self._paths:
                    self._paths.add(path)
                    new.append(path)
        return new
