"""The Mapping Manager (P13): assigns sets of at most ArgumentUrl pairs to URL Mappers that are hungry.

It empties the URL-IP Queue, and stops while the Resolved URL Queue has no room for what is being mapped. A pair is a
`SiteLease`, and a `ResolvedLease` when it has its addresses. Tested in tests/pipeline/test_queues_and_mapping.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from parcahyd.core.records import SiteLease

__all__ = ["MappingManager"]


class _Source(Protocol):
    def __len__(self) -> int: ...

    def take(self, count: int) -> tuple[SiteLease, ...]: ...


class _Target(Protocol):
    @property
    def room(self) -> int: ...


class MappingManager:
    """Counts the hungry mappers: all at the start (reading 3 of the paper), and each again when its set is finished."""

    def __init__(
        self,
        source: _Source,
        target: _Target,
        mappers: int,
        argument_url: int,
        assign: Callable[[tuple[SiteLease, ...]], None],
    ) -> None:
        self._source = source
        self._target = target
        self._argument_url = argument_url
        self._assign = assign
        self._hungry = mappers
        self.being_mapped = 0

    def run(self) -> None:
        """Assign sets while there are pairs, hungry mappers and room; called on *Something to map* and *Hungry*."""
        while self._hungry and len(self._source):
            room = self._target.room - self.being_mapped
            if room <= 0:
                return
            # A mapper resolves its set one by one, so the waiting pairs are shared among all hungry mappers.
            share = -(-len(self._source) // self._hungry)
            leases = self._source.take(min(self._argument_url, room, share))
            self._hungry -= 1
            self.being_mapped += len(leases)
            self._assign(leases)

    def delivered(self) -> None:
        """A mapper has delivered one pair of its set."""
        self.being_mapped -= 1

    def hungry(self) -> None:
        """A mapper has finished its set."""
        self._hungry += 1
