"""The Resolved URL Queue (P9): pairs with vetted addresses, grouped by address, bounded.

Filled by the URL Mappers, emptied by the Crawl Manager. A pair whose host has several addresses is in the group of the first
one; the Crawl Manager chooses the address of the visit. Tested in tests/pipeline/test_queues_and_mapping.py.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator

from parcahyd.core.records import ResolvedLease

__all__ = ["ResolvedQueue"]


class ResolvedQueue:
    """Groups in the order in which they appeared; within a group, first in, first out."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._groups: OrderedDict[str, deque[ResolvedLease]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def room(self) -> int:
        return self.size - self._count

    def put(self, resolved: ResolvedLease) -> None:
        self._groups.setdefault(resolved.addresses[0], deque()).append(resolved)
        self._count += 1

    def heads(self) -> Iterator[tuple[str, ResolvedLease]]:
        """The first pair of every group; groups may be taken from while this runs."""
        for address in list(self._groups):
            group = self._groups.get(address)
            if group:
                yield address, group[0]

    def take(self, address: str) -> ResolvedLease:
        """Remove the first pair of a group; the group goes to the end, so that every address gets its turn."""
        group = self._groups[address]
        resolved = group.popleft()
        self._count -= 1
        if group:
            self._groups.move_to_end(address)
        else:
            del self._groups[address]
        return resolved

    def take_all(self) -> list[ResolvedLease]:
        """Empty the queue: the run is stopping."""
        waiting = [resolved for group in self._groups.values() for resolved in group]
        self._groups.clear()
        self._count = 0
        return waiting
