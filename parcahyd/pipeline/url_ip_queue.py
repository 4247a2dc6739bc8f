"""The URL-IP Queue (P7): unique pairs on their way to the Mapping Manager, bounded in number.

Filled by the URL Dispatcher, emptied by the Mapping Manager. Each pair is a `SiteLease`: a site with some of its due URLs, and
with its addresses as far as they are known. Tested in tests/pipeline/test_queues_and_mapping.py.
"""

from __future__ import annotations

from collections import deque

from parcahyd.core.records import SiteLease

__all__ = ["UrlIpQueue"]


class UrlIpQueue:
    """First in, first out; holds each site once."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._leases: deque[SiteLease] = deque()
        self._sites: set[int] = set()

    def __len__(self) -> int:
        return len(self._leases)

    @property
    def room(self) -> int:
        return self.size - len(self._leases)

    def put(self, lease: SiteLease) -> bool:
        """Add a pair; returns False, and adds nothing, where its site is in the queue already."""
        if lease.site in self._sites:
            return False
        self._sites.add(lease.site)
        self._leases.append(lease)
        return True

    def take(self, count: int) -> tuple[SiteLease, ...]:
        """Remove at most `count` pairs from the head."""
        taken = tuple(self._leases.popleft() for _ in range(min(count, len(self._leases))))
        self._sites.difference_update(lease.site for lease in taken)
        return taken
