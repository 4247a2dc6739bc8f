"""What a visit has seen of its site: the keys that came with the set, and those found since, both bounded."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from parcahyd.rules.traps.holding import Memory

__all__ = ["KnownUrls", "Room"]


class Room:
    """What all visits of a worker may hold together: URLs in LocalQs, keys of URLs found, links and facts remembered."""

    __slots__ = ("facts", "is_idle", "keys", "links", "urls")

    def __init__(self, urls: int, keys: int, links: int) -> None:
        self.urls = urls
        self.keys = keys
        self.links = links
        self.facts = Memory(links)
        self.is_idle = True
        """Whether the worker has connections to spare."""


class KnownUrls:
    """A set of 64-bit keys: the sorted array that came with the set costs eight bytes each, new ones a set's entry.

    When the room for new keys is used up, `is_whole` turns false: a URL that is not in here may still be known, so it is
    recorded again (the database ignores it) but not fetched in this visit.
    """

    __slots__ = ("_fresh", "_room", "_sent", "is_whole")

    def __init__(self, sent: bytes, whole: bool, room: Room) -> None:
        self._sent = array("q", sent)
        self._fresh: set[int] = set()
        self._room = room
        self.is_whole = whole

    def __contains__(self, key: int) -> bool:
        sent = self._sent
        at = bisect_left(sent, key)
        return key in self._fresh or (at < len(sent) and sent[at] == key)

    def add(self, key: int) -> bool:
        """Whether the key is new; from now on it is known."""
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
            self.is_whole = False
        return True

    def take_back(self, key: int) -> None:
        """A key that was just added is of no use: it takes no room, and is new again when it comes again."""
        if key in self._fresh:
            self._fresh.remove(key)
            self._room.keys += 1

    def forget(self) -> None:
        """Give the room back: the visit is over."""
        self._room.keys += len(self._fresh)
        self._fresh = set()
        self._sent = array("q")
