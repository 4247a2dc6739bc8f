"""The threads of the URL Mappers. Each takes a set at a time, and delivers every pair as soon as it is resolved (P14)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

from parcahyd.core.records import Pair, ResolvedPair
from parcahyd.pipeline.url_mapper import UrlMapper

__all__ = ["MapperThreads"]


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
        delivered: Callable[[ResolvedPair], None],
        hungry: Callable[[], None],
    ) -> None:
        self._mapper = mapper
        self._loop = loop
        self._delivered = delivered
        self._hungry = hungry
        self._sets: SimpleQueue[tuple[Pair, ...]] = SimpleQueue()
        for number in range(count):
            threading.Thread(target=self._work, name=f"url-mapper-{number}", daemon=True).start()

    def map(self, pairs: tuple[Pair, ...]) -> None:
        """Give a set to a thread that is hungry."""
        self._sets.put(pairs)

    def _work(self) -> None:
        with suppress(RuntimeError):  # The loop is closed: the run is over.
            while True:
                self._map(self._sets.get())

    def _map(self, pairs: tuple[Pair, ...]) -> None:
        for pair in pairs:
            try:
                resolved = self._mapper.map(pair)
            except Exception as error:
                self._loop.call_soon_threadsafe(self._raise, error)
                return
            self._loop.call_soon_threadsafe(self._delivered, resolved)
        self._loop.call_soon_threadsafe(self._hungry)

    def _raise(self, error: Exception) -> None:
        raise error
