"""Update Database's process: the Document and URL Buffer, Update Database and the store, the only writer of a run.

An event loop reads records from the workers' channels as they come; the database thread writes; packing threads pack pages
while they wait (SHA-256, the compressors and the database drivers release the interpreter lock). Tested in
tests/end_to_end/test_store_failures.py and tests/torture/test_kill.py.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from parcahyd.config.database_url import database_url
from parcahyd.config.remembered import take_over
from parcahyd.config.schema import Configuration, decode_configuration
from parcahyd.core.errors import LeaseLost, RunFailure, StoreFailure, UserError
from parcahyd.core.messages import (
    AddressesFound,
    Assigned,
    Begin,
    BufferRecord,
    CannotGoOn,
    CannotRun,
    Committed,
    Credit,
    Finish,
    Finished,
    FollowScope,
    FromCoordinatorToUpdate,
    FromWorkerToUpdate,
    GoIdle,
    LeaseRequest,
    Leases,
    Notice,
    Ready,
    Signal,
    WorkerGone,
    WorkerJoined,
    charge,
    rows_of,
)
from parcahyd.core.records import BadRecord, PauseRecord, SiteAddresses, VisitOver
from parcahyd.core.states import State
from parcahyd.plugin_manager import PluginManager
from parcahyd.processes.database_thread import DatabaseThread
from parcahyd.processes.packing_threads import PackingThreads
from parcahyd.processes.partition_database import PartitionDatabase
from parcahyd.processes.surroundings import LEASE_IS_OVER, Surroundings
from parcahyd.runtime.channel import Channel, Listener
from parcahyd.runtime.children import become_child, end_now, end_with_traceback
from parcahyd.storage.store import Store

if TYPE_CHECKING:
    from parcahyd.topology import UpdateBoxes

__all__ = ["UpdateDatabaseProcess"]

_COORDINATOR = -1
"""The coordinator as a sender of records; it needs no credit."""
_REPORT_EVERY = 0.1
_TRY_AGAIN_AFTER = 1.0


class UpdateDatabaseProcess:
    """Hosts the Document and URL Buffer and Update Database until the coordinator is gone.

    `join` makes and connects the boxes.
    """

    packing: PackingThreads
    _listener: Listener
    _configuration: Configuration
    _boxes: UpdateBoxes

    def __init__(self, join: Callable[[Configuration, UpdateDatabaseProcess], UpdateBoxes], memory: str | None = None) -> None:
        end = become_child("update-database")
        surroundings = Surroundings.of(memory)
        self.loop = surroundings.loop
        self.loop.set_exception_handler(self._raised)
        self._join = join
        self._clock = surroundings.clock
        self._partition = PartitionDatabase(self, surroundings)
        self.writer = DatabaseThread(self.loop, self._clock)
        # By the serials of their processes: a worker may join while its predecessor's channel is still being read.
        self._workers: dict[int, Channel] = {}
        self._gone: dict[int, WorkerGone] = {}
        self._found: list[SiteAddresses] = []
        """Addresses that are not in the database yet."""
        self._released: list[int] = []
        self._has_new_work = False
        self._rests_until = 0.0
        self._is_reporting = False
        self.coordinator = Channel(end, self.loop, FromCoordinatorToUpdate, self._end, self._arrived)
        self.coordinator.on(Begin, self._begin)
        self.coordinator.on(LeaseRequest, self._lease)
        self.coordinator.on(AddressesFound, self._note_addresses)
        self.coordinator.on(Assigned, self._assign)
        self.coordinator.on(WorkerGone, self._worker_gone)
        self.coordinator.on(Finish, self._finish)
        self.coordinator.on(GoIdle, self._partition.go_idle)
        self.coordinator.on(FollowScope, self._partition.follow_scope)
        self.coordinator.on(BadRecord, self._record_of_coordinator)
        self.coordinator.on(VisitOver, self._record_of_coordinator)

    def run(self) -> int:
        self.loop.run_forever()
        return 0

    # --- the boxes' ports ----------------------------------------------------------------------------------------------

    def grant_credit(self, credit: dict[int, int]) -> None:
        for serial, size in credit.items():
            channel = self._workers.get(serial)
            if channel is not None:
                channel.send(Credit(size))
        if not self._is_reporting:
            self._is_reporting = True
            self.loop.call_later(_REPORT_EVERY, self._report)

    def send_committed(self, released: list[int], new_work: bool, rests_until: float) -> None:
        self._released.extend(released)
        self._rests_until = max(self._rests_until, rests_until)
        self._has_new_work = self._has_new_work or new_work
        if released or new_work:
            self._report()

    def send_notice(self, sentence: str) -> None:
        """Tell what the database did not take, and how much waits for it: nothing else tells this while it takes nothing."""
        self._report()
        self.coordinator.send(Notice(sentence, self._boxes.document_buffer.records))

    def later(self, seconds: float, then: Callable[[], None]) -> None:
        self.loop.call_later(seconds, then)

    def _report(self) -> None:
        self._is_reporting = False
        tally, buffer = self._boxes.update_database.committed_counts, self._boxes.document_buffer
        self.coordinator.send(
            Committed(
                released=tuple(self._released),
                new_work=self._has_new_work,
                stored=tally.stored,
                unchanged=tally.unchanged,
                failed=tally.by_state[State.FAILED],
                refused=tally.by_state[State.REFUSED],
                gone=tally.by_state[State.GONE],
                received=tally.received,
                reasons=dict(tally.reasons),
                buffer_records=buffer.records,
                buffer_bytes=buffer.size,
                pages=tally.pages,
                rests_until=self._rests_until,
                unstored=buffer.records if self._boxes.update_database.is_held_up else 0,
                saved=dict(tally.saved),
            )
        )
        self._released = []
        self._has_new_work = False
        self._rests_until = 0.0

    # --- what the database is asked ------------------------------------------------------------------------------------

    def call(self, work: Callable[[Store], Any], done: Callable[[Any], None], failure: str) -> None:
        """Have the database thread do something until it succeeds; `failure` is what the user reads when it does not."""

        def finished(result: Any, error: BaseException | None) -> None:
            if isinstance(error, StoreFailure):
                self.send_notice(f"{failure}: {error}")
                self.later(_TRY_AGAIN_AFTER, lambda: self.call(work, done, failure))
            elif error is not None:
                raise error
            else:
                done(result)

        self.writer.call(lambda: work(self.writer.opened()), finished)

    def _begin(self, message: Begin) -> None:
        given = decode_configuration(message.configuration)
        self._make_boxes(given)
        try:
            self._listener = Listener(self.loop, self._accepted)
        except OSError as error:
            said = f"no socket could be made in the folder for temporary files: {error.strerror}"
            self.coordinator.send(CannotRun(said, "make room there, or name another folder in the variable TMPDIR"))
            return

        def open_and_recover() -> tuple[Configuration, Ready]:
            if message.partition:
                return given, self._partition.open(given, message, self._listener.address)
            return self._open_and_recover(given, message)

        def opened(agreed: tuple[Configuration, Ready], error: BaseException | None) -> None:
            if isinstance(error, UserError):
                self.coordinator.send(CannotRun(error.message, error.remedy))
            elif isinstance(error, StoreFailure):
                self.coordinator.send(CannotRun(f"the database takes nothing: {error}", "start again when it does"))
            elif error is not None:
                raise error
            else:
                configuration, ready = agreed
                if configuration is not given:  # No worker is connected yet, so there is nothing in them.
                    self._make_boxes(configuration)
                self.coordinator.send(ready)

        if message.partition:
            self._partition.begin()
        self.writer.call(open_and_recover, opened)

    def _open_and_recover(self, given: Configuration, message: Begin) -> tuple[Configuration, Ready]:
        """Runs in the database thread."""
        now = self._clock.now()
        self.writer.store = store = Store.open(database_url(given))
        store.claim()
        agreed = take_over(given, store.last_settings(), as_configured=message.as_configured)
        configuration = agreed.configuration
        plugins = PluginManager.load(configuration)
        store.set_order(plugins.order())
        store.set_local_schemes(plugins.local_schemes)
        store.check_local_seeds(message.seeds)
        start = store.begin_run(configuration, now, forever=message.forever)
        if message.seeds:
            store.add_seeds(message.seeds, now)
        changed = b"" if configuration is given else msgspec.msgpack.encode(configuration)
        empty = start.empty and not message.seeds
        return configuration, Ready(start.run, start.pauses, empty, self._listener.address, changed, agreed.told)

    def _make_boxes(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self.packing = PackingThreads(configuration.work)
        self._boxes = self._join(configuration, self)

    def _lease(self, message: LeaseRequest) -> None:
        work = self._configuration.work

        def lease(store: Store) -> Leases:
            pairs, next_due = store.lease(
                message.count, self._clock.now(), message.again_before, work.VisitPages, work.MetaKeys
            )
            return Leases(tuple(pairs), next_due)

        self.call(lease, self.coordinator.send, "the database gave no leases")

    def _note_addresses(self, message: AddressesFound) -> None:
        """Those that arrive while others are being written are written together."""
        self._found.extend(message.sites)
        if len(self._found) == len(message.sites):
            self._write_addresses()

    def _write_addresses(self) -> None:
        found = tuple(self._found)

        def written(_: None) -> None:
            del self._found[: len(found)]
            if self._found:
                self._write_addresses()

        if found:
            failure = f"the database did not note the addresses of {len(found)} sites"
            self.call(lambda store: store.note_addresses(found), written, failure)

    def _assign(self, message: Assigned) -> None:
        self.call(
            lambda store: store.assign(message.addresses),
            lambda _: None,
            f"the database did not note the addresses of {len(message.addresses)} visits",
        )

    def _pause(self, record: PauseRecord, cost: int, serial: int) -> None:
        """A server is to be left alone: this is written before everything in the buffer."""
        self.call(
            lambda store: store.pause(record),
            lambda _: self.grant_credit({serial: cost}),
            "the database did not note which server is to be left alone",
        )

    # --- workers -------------------------------------------------------------------------------------------------------

    def _accepted(self, end: socket.socket) -> None:
        """A worker has connected; its first message says which."""
        serial = 0

        def joined(message: WorkerJoined) -> None:
            nonlocal serial
            serial = message.serial
            self._workers[serial] = channel

        def received(record: BufferRecord) -> None:
            rows = rows_of(record)
            self._boxes.document_buffer.put(record, charge(channel.frame_size, rows), serial, rows)

        def paused(record: PauseRecord) -> None:
            self._pause(record, charge(channel.frame_size, rows_of(record)), serial)

        def closed() -> None:
            """Everything that the worker sent is in the buffer now."""
            if self._workers.pop(serial, None) is not None and serial in self._gone:
                self._abandon(self._gone.pop(serial))

        channel = Channel(end, self.loop, FromWorkerToUpdate, closed, self._arrived)
        channel.on(WorkerJoined, joined)
        channel.on(PauseRecord, paused)
        for kind in get_args(BufferRecord):
            channel.on(kind, received)

    def _worker_gone(self, message: WorkerGone) -> None:
        if message.serial in self._workers:  # Its channel is still being read.
            self._gone[message.serial] = message
        else:
            self._abandon(message)

    def _abandon(self, message: WorkerGone) -> None:
        """Release the visits, after what was under way in them is stored as failed."""
        buffer = self._boxes.document_buffer
        for record in message.failed:
            buffer.put(record, charge(len(record.path), 1), _COORDINATOR)
        if message.guilty or message.innocent:
            judge = partial(Store.judge, guilty=message.guilty, innocent=message.innocent)
            self.call(judge, lambda _: None, "the database is not open")
        if message.visits:
            buffer.abandon(message.visits)
            self._boxes.signals.raise_(Signal.SOMETHING_TO_UPDATE)

    def _record_of_coordinator(self, record: BadRecord | VisitOver) -> None:
        self._boxes.document_buffer.put(record, charge(self.coordinator.frame_size, 1), _COORDINATOR)

    def _arrived(self) -> None:
        """Everything that came together is in the buffer: its pages go to be packed."""
        self.packing.pack()
        if self._boxes.document_buffer.records:
            self._boxes.signals.raise_(Signal.SOMETHING_TO_UPDATE)

    # --- the end -------------------------------------------------------------------------------------------------------

    def _finish(self, message: Finish) -> None:
        tally = self._boxes.update_database.committed_counts
        counts = {
            "requests": message.requests,
            "stored": tally.stored,
            "unchanged": tally.unchanged,
            "received": tally.received,
            **{f"saved_by_{what}": size for what, size in tally.saved.items()},
            **{state.word: count for state, count in tally.by_state.items()},
        }

        def finish(store: Store) -> Finished:
            store.end_run(message.outcome, counts, self._clock.now())
            held_back = store.held_back() if self._configuration.work.MaxPagesPerSite else 0
            finished = Finished(*store.waiting(), held_back)
            store.close()
            return finished

        self.call(finish, self.coordinator.send, "the database did not note the end of the run")

    def _raised(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The coordinator reports why the run cannot go on, such as a database that was deleted; anything else is a bug."""
        error = context.get("exception")
        if isinstance(error, LeaseLost):
            end_now(LEASE_IS_OVER)
        elif not isinstance(error, RunFailure):
            end_with_traceback(loop, context)
        else:
            self.coordinator.send(CannotGoOn(str(error)))
            self.coordinator.close()
            self._end()

    def _end(self) -> None:
        # What is not committed can be fetched again; the database rolls back an open transaction.
        if hasattr(self, "_listener"):
            self._listener.close()
        end_now(0)
