"""The URL-IP Queue (P7): unique pairs on their way to the Mapping Manager, bounded in number and weight.

Filled by the URL Dispatcher, emptied by the Mapping Manager.
"""

from __future__ import annotations

from collections import deque

from parcahyd.core.records import SiteLease

__all__ = ["UrlIpQueue"]


class UrlIpQueue:
    """First in, first out; a site that is in it already is not taken twice."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pairs: deque[SiteLease] = deque()
        self._sites: set[int] = set()

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def room(self) -> int:
        return self.size - len(self._pairs)

    def put(self, pair: SiteLease) -> bool:
        """Take the pair in; False when its site is here already."""
        if pair.site in self._sites:
            return False
        self._sites.add(pair.site)
        self._pairs.append(pair)
        return True

    def take(self, count: int) -> tuple[SiteLease, ...]:
        """At most `count` pairs from the head."""
        taken = tuple(self._pairs.popleft() for _ in range(min(count, len(self._pairs))))
        self._sites.difference_update(pair.site for pair in taken)
        return taken
