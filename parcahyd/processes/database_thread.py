"""The database thread: the only one of a run that uses the database's connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec

from parcahyd.core.errors import StoreFailure
from parcahyd.core.messages import BufferQueue, BufferRecord, Written
from parcahyd.core.ports import Clock
from parcahyd.core.records import BadRecord, ExternRecord, PageRecord, VisitOver
from parcahyd.core.states import Event, Reason, after
from parcahyd.processes.packing_threads import BufferedItem
from parcahyd.storage.store import Store

__all__ = ["DatabaseThread"]

_POISON_AGAIN = 86400.0

_Done = Callable[[Written | Exception], None]


class DatabaseThread:
    """The one thread that uses the database; answers come back on the event loop, in order."""

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Clock) -> None:
        self._loop = loop
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, "database")
        self.store: Store | None = None

    def call(self, work: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        """Run `work` in the thread, then `done` with its result or what it raised."""

        def finished(future: Future[Any]) -> None:
            error = future.exception()
            self._loop.call_soon_threadsafe(done, None if error is not None else future.result(), error)

        self._thread.submit(work).add_done_callback(finished)

    def write(self, queue: BufferQueue, items: Sequence[BufferedItem], done: _Done) -> None:
        self._write(lambda: self._store_batch(queue, items), done)

    def write_as_failed(self, _queue: BufferQueue, item: BufferedItem, done: _Done) -> None:
        """Store as `failed` what cannot be stored; what is neither a document nor a bad URL is given up."""
        self._write(lambda: self._store_poison(item.record), done)

    def release(self, over: Sequence[VisitOver], abandoned: Sequence[int], done: _Done) -> None:
        self._write(lambda: self._release(over, abandoned), done)

    def _write(self, work: Callable[[], Written], done: _Done) -> None:
        def written(result: Written | None, error: BaseException | None) -> None:
            if isinstance(error, StoreFailure):
                done(error)
            elif error is not None:
                raise error  # A bug: the process ends with a traceback, and the run with it.
            else:
                done(result or Written())

        self.call(work, written)

    def _store_batch(self, queue: BufferQueue, items: Sequence[BufferedItem]) -> Written:
        store, now = self.opened(), self._clock.now()
        if queue is BufferQueue.EXTERN:
            return store.store_extern([item.record for item in items if isinstance(item.record, ExternRecord)], now)
        if queue is BufferQueue.BAD:
            return store.store_bad([item.record for item in items if isinstance(item.record, BadRecord)], now)
        return store.store_documents([item.document() for item in items], now)

    def _store_poison(self, record: BufferRecord) -> Written:
        now = self._clock.now()
        if isinstance(record, BadRecord):
            instead = msgspec.structs.replace(record, detail="")
        elif isinstance(record, PageRecord):
            instead = _failed(record, now)
        else:
            return Written()
        written = self.opened().store_bad([instead], now)
        written.instead = None if written.late else instead
        return written

    def _release(self, over: Sequence[VisitOver], abandoned: Sequence[int]) -> Written:
        store, now = self.opened(), self._clock.now()
        if over:
            store.release(over, now)
        if abandoned:
            store.abandon(abandoned, now)
        return Written()

    def opened(self) -> Store:
        if self.store is None:
            raise StoreFailure("the database is not open")
        return self.store


def _failed(page: PageRecord, now: float) -> BadRecord:
    return BadRecord(
        visit=page.visit,
        site=page.site,
        key=page.key,
        path=page.path,
        depth=page.depth,
        hops=page.hops,
        seed=page.seed,
        at=now,
        state=int(after(Event.FAILURE)),
        reason=Reason.STORE.word,
        due_at=now + _POISON_AGAIN,
        tries=1,
        status=page.status,
        address=page.address,
    )
