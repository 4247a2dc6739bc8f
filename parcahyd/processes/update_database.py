"""Update Database's process: the only one that writes.

The event loop reads every channel and keeps the buffer; one thread owns the database connection; a few more pack pages while
they wait (SHA-256, the compressors and the database drivers release the interpreter lock).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from functools import partial
from typing import Protocol

import msgspec

from parcahyd.config.database_url import database_url
from parcahyd.config.schema import Configuration, decode_configuration
from parcahyd.core.buffer import charge
from parcahyd.core.errors import StoreFailed, UserMistake
from parcahyd.core.life_cycle import State
from parcahyd.core.messages import (
    Assigned,
    Begin,
    BufferRecord,
    Committed,
    Credit,
    Finish,
    Finished,
    FromCoordinatorToUpdate,
    FromWorkerToUpdate,
    LeaseRequest,
    Leases,
    Mistake,
    PlacesCleared,
    Ready,
    ShelfBuilt,
    Trouble,
    WorkerGone,
    WorkerJoined,
)
from parcahyd.core.records import BadRecord, PageRecord, PauseRecord, VisitOver
from parcahyd.core.signals import Signal, SignalBoard
from parcahyd.pipeline.document_buffer import DocumentBuffer
from parcahyd.pipeline.update_database import UpdateDatabase
from parcahyd.processes.crates import Packers, Prepared
from parcahyd.processes.database_thread import DatabaseThread
from parcahyd.rules.orders import BREADTH_FIRST
from parcahyd.runtime.channel import Channel
from parcahyd.runtime.children import become_child, end_with_traceback
from parcahyd.runtime.clock import SystemClock
from parcahyd.runtime.cores import OneCore
from parcahyd.runtime.garbage import settle_in
from parcahyd.runtime.idle_imports import IdleImports
from parcahyd.runtime.lean_loop import LeanLoop
from parcahyd.runtime.shelf import Window

__all__ = ["UpdateBoxes", "UpdateDatabaseHost", "UpdateDatabaseProcess"]

_COORDINATOR = -1
"""The coordinator as a sender of records; it needs no credit."""
_TELL_EVERY = 0.1
_BEHIND = 0.75
"""When this share of a worker's credit waits in the buffer, more arrives than one core can pack and store."""
_FOR_PAGES = (
    "hashlib",
    "isal.isal_zlib",
    "parcahyd.storage.page_batch",
    "html",
    "pcre2",
    "parcahyd.rules.brief",
    "parcahyd.rules.media_type",
    "parcahyd.rules.similarity",
    "parcahyd.storage.packing",
)
"""What the first page needs and the first request does not."""


class UpdateBoxes(msgspec.Struct, frozen=True):
    """The boxes of this process."""

    signals: SignalBoard
    document_buffer: DocumentBuffer[Prepared]
    update_database: UpdateDatabase[Prepared]


class UpdateDatabaseHost(Protocol):
    """What the buffer and Update Database ask of their process."""

    packers: Packers
    writer: DatabaseThread

    def grant_credit(self, credit: dict[int, int]) -> None: ...

    def send_committed(self, released: list[int], new_work: bool) -> None: ...

    def send_trouble(self, sentence: str) -> None: ...

    def later(self, seconds: float, then: Callable[[], None]) -> None: ...


class UpdateDatabaseProcess:
    """Hosts the Document and URL Buffer and Update Database until the coordinator says *Finish* or is gone."""

    def __init__(self, coordinator: int, join: Callable[[Configuration, UpdateDatabaseHost], UpdateBoxes]) -> None:
        become_child("update-database")
        self._one_core = OneCore()
        self._credit = 0
        # While the coordinator is still reading plugins, so that the configuration finds everything loaded.
        from parcahyd.storage.store import Store

        self._open_store = Store.open
        self._join = join
        self._loop = LeanLoop()
        self._loop.set_exception_handler(end_with_traceback)
        self._clock = SystemClock()
        self.writer = DatabaseThread(self._loop, self._clock)
        self.packers = Packers(self._clock)
        self._for_pages = IdleImports(self._loop, _FOR_PAGES)
        self._lock: int | None = None
        self._configuration: Configuration | None = None
        self._boxes: UpdateBoxes | None = None
        # By sender, not by the worker's number: a new worker may join while its predecessor's channel is still being read.
        self._workers: dict[int, Channel[FromWorkerToUpdate]] = {}
        self._gone: dict[int, tuple[int, ...]] = {}
        self._senders: dict[int, int] = {}
        self._last_sender = 0
        self._released: list[int] = []
        self._new_work = False
        self._telling = False
        self._decoder: msgspec.msgpack.Decoder[FromWorkerToUpdate] = msgspec.msgpack.Decoder(FromWorkerToUpdate)
        self._coordinator: Channel[FromCoordinatorToUpdate] = Channel(
            socket.socket(fileno=coordinator),
            self._loop,
            msgspec.msgpack.Decoder(FromCoordinatorToUpdate),
            self._told,
            _end_now,
            partial(self._arrived, Window()),  # The coordinator has no shelf.
        )

    def run(self) -> int:
        self._loop.run_forever()
        return 0

    # --- the boxes' ports ----------------------------------------------------------------------------------------------

    def grant_credit(self, credit: dict[int, int]) -> None:
        for sender, size in credit.items():
            channel = self._workers.get(sender)
            if channel is not None:
                channel.send(Credit(size))
        self._tell_soon()

    def send_committed(self, released: list[int], new_work: bool) -> None:
        self._released.extend(released)
        self._new_work = self._new_work or new_work
        if released or new_work:
            self._tell()

    def send_trouble(self, sentence: str) -> None:
        self._coordinator.send(Trouble(sentence))

    def later(self, seconds: float, then: Callable[[], None]) -> None:
        self._loop.call_later(seconds, then)

    def _tell_soon(self) -> None:
        if not self._telling:
            self._telling = True
            self._loop.call_later(_TELL_EVERY, self._tell)

    def _tell(self) -> None:
        self._telling = False
        if self._boxes is None:
            return
        tally, buffer = self._boxes.update_database.tally, self._boxes.document_buffer
        self._coordinator.send(
            Committed(
                released=tuple(self._released),
                new_work=self._new_work,
                stored=tally.stored,
                unchanged=tally.unchanged,
                failed=tally.by_state[State.FAILED],
                refused=tally.by_state[State.REFUSED],
                gone=tally.by_state[State.GONE],
                received=tally.received,
                reasons=dict(tally.reasons),
                buffer_records=buffer.records,
                buffer_bytes=buffer.size,
            )
        )
        self._released = []
        self._new_work = False

    # --- messages ------------------------------------------------------------------------------------------------------

    def _told(self, message: FromCoordinatorToUpdate, size: int) -> None:
        if isinstance(message, LeaseRequest):
            self._lease(message)
        elif isinstance(message, BadRecord | VisitOver):
            self._record(message, size, _COORDINATOR)
        elif isinstance(message, Assigned):
            self._assign(message)
        elif isinstance(message, WorkerJoined):
            self._join_worker(message.worker)
        elif isinstance(message, WorkerGone):
            sender = self._senders.pop(message.worker)
            self._gone[sender] = message.visits
            if sender not in self._workers:
                self._abandon(sender)
        elif isinstance(message, Begin):
            self._begin(message)
        else:
            self._finish(message)

    def _begin(self, message: Begin) -> None:
        self._lock = self._coordinator.take_descriptor()  # Held until the process ends.
        configuration = decode_configuration(message.configuration)
        self._configuration = configuration
        self._credit = message.credit
        self._boxes = self._join(configuration, self)

        def open_and_recover() -> Ready:
            now = self._clock.now()
            self.writer.store = store = self._open_store(database_url(configuration))
            store.claim()
            if configuration.work.Order != BREADTH_FIRST:
                from parcahyd.plugin_manager import PluginManager

                store.set_order(PluginManager.load(configuration).order())
            start = store.begin_run(configuration, now)
            if message.seeds:
                store.add_seeds(message.seeds, now)
            settle_in()
            return Ready(start.run, now, start.pauses, start.empty and not message.seeds)

        def opened(ready: Ready | None, error: BaseException | None) -> None:
            if isinstance(error, UserMistake):
                self._coordinator.send(Mistake(error.message, error.remedy))
            elif error is not None:
                raise error
            else:
                self._coordinator.send(ready)

        self.writer.call(open_and_recover, opened)

    def _lease(self, message: LeaseRequest) -> None:
        if self._configuration is None:
            return
        work = self._configuration.work

        def lease() -> Leases:
            pairs, next_due = self.writer.opened().lease(
                message.count, self._clock.now(), message.again_before, work.VisitPages, work.MetaKeys
            )
            return Leases(tuple(pairs), next_due)

        def leased(leases: Leases | None, error: BaseException | None) -> None:
            if isinstance(error, StoreFailed):
                self.send_trouble(f"the database gave no leases: {error}")
                self.later(1.0, lambda: self.writer.call(lease, leased))
            elif error is not None:
                raise error
            else:
                self._coordinator.send(leases)

        self.writer.call(lease, leased)

    def _assign(self, message: Assigned) -> None:
        def assigned(_: None, error: BaseException | None) -> None:
            if isinstance(error, StoreFailed):
                self.send_trouble(f"the database did not note the addresses of {len(message.addresses)} visits: {error}")
            elif error is not None:
                raise error

        self.writer.call(lambda: self.writer.opened().assign(message.addresses), assigned)
        self._for_pages.begin()  # Not before: the cores are for those whom the first request waits for.

    def _join_worker(self, number: int) -> None:
        window = Window()
        self._last_sender += 1
        sender = self._senders[number] = self._last_sender

        def received(record: FromWorkerToUpdate, size: int) -> None:
            if isinstance(record, ShelfBuilt):
                window.open(channel.take_descriptor())
            elif isinstance(record, PageRecord) and record.place is not None:
                self._record(record, size + record.place.length, sender)
            else:
                self._record(record, size, sender)

        def arrived() -> None:
            cleared = window.take_cleared()
            if cleared:
                channel.send(PlacesCleared(cleared))
            self._arrived(window)

        def lost() -> None:
            nonlocal window
            window = Window()  # The shelf's memory belongs to those who still pack from it: nobody else, no cycle keeps it.
            self._lost(sender)

        end = self._coordinator.take_socket()
        channel: Channel[FromWorkerToUpdate] = Channel(end, self._loop, self._decoder, received, lost, arrived)
        self._workers[sender] = channel

    def _record(self, record: BufferRecord | PauseRecord, size: int, sender: int) -> None:
        if isinstance(record, PauseRecord):
            self._pause(record, charge(size), sender)
        elif self._boxes is not None:
            self._boxes.document_buffer.put(record, charge(size), sender)

    def _pause(self, record: PauseRecord, cost: int, sender: int) -> None:
        """Somebody wants to be left alone: the next thing that the database hears."""

        def pause() -> None:
            self.writer.opened().pause(record)

        def paused(_: None, error: BaseException | None) -> None:
            if isinstance(error, StoreFailed):
                self.send_trouble(f"the database did not note who is to be left alone: {error}")
                self.later(1.0, lambda: self.writer.call(pause, paused))
            elif error is not None:
                raise error
            else:
                self.grant_credit({sender: cost})

        self.writer.call(pause, paused)

    def _arrived(self, window: Window) -> None:
        """Everything that came together is in the buffer: its pages go to be packed."""
        if self._boxes is None or self._configuration is None:
            return
        work, buffer = self._configuration.work, self._boxes.document_buffer
        self.packers.pack(window, work)
        if self._one_core.is_kept and buffer.size > _BEHIND * self._credit:
            self._one_core.leave()
        if buffer.records:
            self._boxes.signals.raise_(Signal.SOMETHING_TO_UPDATE)

    def _lost(self, sender: int) -> None:
        """A worker's channel is at its end: everything it sent is in the buffer now."""
        del self._workers[sender]
        if sender in self._gone:
            self._abandon(sender)

    def _abandon(self, sender: int) -> None:
        visits = self._gone.pop(sender)
        if self._boxes is not None and visits:
            self._boxes.document_buffer.abandon(visits)
            self._boxes.signals.raise_(Signal.SOMETHING_TO_UPDATE)

    # --- the end -------------------------------------------------------------------------------------------------------

    def _finish(self, message: Finish) -> None:
        if self._boxes is None:
            return
        tally = self._boxes.update_database.tally
        counts = {
            "requests": message.requests,
            "stored": tally.stored,
            "unchanged": tally.unchanged,
            **{state.word: count for state, count in tally.by_state.items()},
        }

        def finish() -> Finished:
            store, now = self.writer.opened(), self._clock.now()
            store.end_run(message.outcome, counts, now)
            finished = Finished(*store.waiting())
            store.close()
            return finished

        def done(finished: Finished | None, error: BaseException | None) -> None:
            if error is not None:
                raise error
            self._coordinator.send(finished)
            self._coordinator.flush()
            if self._coordinator.is_flushed:
                _end_now()  # The system clears this process away while the coordinator tells its summary.

        self.writer.call(finish, done)


def _end_now() -> None:
    # Whatever is not committed can be fetched again; an open transaction is rolled back by the database.
    os._exit(0)
