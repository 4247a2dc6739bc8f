"""The threads of the URL Mappers. They deliver every pair as soon as it is resolved (P14).

The threads share the pairs of all sets: a slow name keeps one thread busy, and the others resolve the rest of its set.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

from parcahyd.core.records import ResolvedLease, SiteLease
from parcahyd.pipeline.url_mapper import UrlMapper

__all__ = ["MapperThreads"]


class _Set:
    """How many pairs of a set are not delivered yet."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class MapperThreads:
    """Sets in; on the event loop, `delivered` gets each pair with its outcome, and `hungry` is called when a set is finished.

    The threads are daemons: a resolver that never answers must not keep the run from ending.
    """

    def __init__(
        self,
        mapper: UrlMapper,
        count: int,
        loop: asyncio.AbstractEventLoop,
        *,
        delivered: Callable[[ResolvedLease], None],
        hungry: Callable[[], None],
    ) -> None:
        self._mapper = mapper
        self._loop = loop
        self._delivered = delivered
        self._hungry = hungry
        self._pairs: SimpleQueue[tuple[SiteLease, _Set]] = SimpleQueue()
        for number in range(count):
            threading.Thread(target=self._work, name=f"url-mapper-{number}", daemon=True).start()

    def map(self, pairs: tuple[SiteLease, ...]) -> None:
        """Have a set resolved."""
        together = _Set(len(pairs))
        for pair in pairs:
            self._pairs.put((pair, together))

    def _work(self) -> None:
        with suppress(RuntimeError):  # The loop is closed: the run is over.
            while True:
                pair, together = self._pairs.get()
                try:
                    resolved = self._mapper.map(pair)
                except Exception as error:
                    self._loop.call_soon_threadsafe(self._raise, error)
                else:
                    self._loop.call_soon_threadsafe(self._deliver, resolved, together)

    def _deliver(self, resolved: ResolvedLease, together: _Set) -> None:
        self._delivered(resolved)
        together.left -= 1
        if not together.left:
            self._hungry()

    def _raise(self, error: Exception) -> None:
        raise error
