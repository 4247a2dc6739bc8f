"""The Resolved URL Queue (P9): pairs with vetted addresses, grouped by address, bounded.

Filled by the URL Mappers, emptied by the Crawl Manager. A pair whose host has several addresses is in the group of the first
one; the Crawl Manager chooses the address of the visit. Tested in tests/pipeline/test_queues_and_mapping.py.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable

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

    @property
    def groups(self) -> list[str]:
        """The addresses that pairs wait for; groups may be taken from while the list is gone through."""
        return list(self._groups)

    def waiting(self, address: str) -> tuple[ResolvedLease, ...]:
        """The pairs of a group, in the order in which they came."""
        return tuple(self._groups.get(address, ()))

    def take(self, address: str, at: int = 0) -> ResolvedLease:
        """Remove the pair at that place of a group; the group goes to the end, so that every address gets its turn."""
        group = self._groups[address]
        resolved = group[at]
        del group[at]
        self._count -= 1
        if group:
            self._groups.move_to_end(address)
        else:
            del self._groups[address]
        return resolved

    def take_where(self, is_wanted: Callable[[ResolvedLease], bool]) -> list[ResolvedLease]:
        """Remove the pairs of which that is true."""
        found: list[ResolvedLease] = []
        for address in self.groups:
            wanted = [at for at, resolved in enumerate(self._groups[address]) if is_wanted(resolved)]
            found += [self.take(address, at) for at in reversed(wanted)]
        return found

    def take_all(self) -> list[ResolvedLease]:
        """Empty the queue: the run is stopping."""
        return self.take_where(lambda _: True)
