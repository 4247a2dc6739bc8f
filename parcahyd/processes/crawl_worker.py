"""A Crawl Worker's process: one event loop, the downloader plugin, and two channels.

One channel leads to the coordinator (sets in, *Request processed* out), one to Update Database (records out, credit in). Beside
the second is the shelf, on which documents lie until they are packed. When the coordinator's end closes, the process ends at
once: everything it holds can be fetched again.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from parcahyd.config.schema import Configuration, decode_configuration
from parcahyd.core.buffer import charge
from parcahyd.core.errors import UserMistake
from parcahyd.core.messages import (
    Begin,
    FromCoordinatorToWorker,
    FromUpdateToWorker,
    FromWorkerToUpdate,
    Misbehaviour,
    Mistake,
    PlacesCleared,
    Report,
    RequestProcessed,
    ShelfBuilt,
    Slowed,
    Stop,
    Visits,
)
from parcahyd.core.ports import Clock, Downloader
from parcahyd.core.records import PageRecord
from parcahyd.runtime.channel import Channel
from parcahyd.runtime.children import Complaining, become_child, end_with_traceback
from parcahyd.runtime.clock import SystemClock
from parcahyd.runtime.garbage import settle_in
from parcahyd.runtime.idle_imports import IdleImports
from parcahyd.runtime.lean_loop import LeanLoop
from parcahyd.runtime.shelf import Shelf

if TYPE_CHECKING:
    from parcahyd.core.event_loop import EventLoop, Timer
    from parcahyd.pipeline.crawl_worker import CrawlWorker
    from parcahyd.pipeline.crawl_worker.documents import DocumentTools, Reading
    from parcahyd.plugin_manager import PluginManager
    from parcahyd.runtime.thread_crew import ThreadCrew

__all__ = ["CrawlWorkerHost", "CrawlWorkerProcess"]

_REPORT_EVERY = 0.5
_FOR_PAGES = ("html", "pcre2", "parcahyd.rules.link_scanner", "parcahyd.rules.known_tags", "parcahyd.rules.links")
"""What the first page needs and the first request does not."""


class CrawlWorkerHost(Protocol):
    """What a Crawl Worker asks of its process."""

    number: int
    credit: int
    clock: Clock
    tools: DocumentTools

    def send_record(self, record: FromWorkerToUpdate) -> int: ...

    def send_request_processed(self, message: RequestProcessed) -> None: ...

    def send_slowed(self, message: Slowed) -> None: ...

    def send_misbehaviour(self, sentence: str) -> None: ...

    def wake(self, at: float) -> None: ...

    def read_aside(self, read: Callable[[], Reading], done: Callable[[Reading | None, Exception | None], None]) -> None: ...


class CrawlWorkerProcess:
    """Hosts one Crawl Worker until the coordinator says *Stop* or is gone."""

    def __init__(
        self,
        coordinator: int,
        update: int,
        join: Callable[[Configuration, Downloader, CrawlWorkerHost], CrawlWorker],
    ) -> None:
        become_child("crawl-worker")
        self.number = 0
        self.credit = 0
        self.clock: Clock = SystemClock()
        # While the coordinator is still reading plugins, so that the first visit finds everything loaded.
        import_module("parcahyd.pipeline.crawl_worker")
        from parcahyd.plugin_manager import PluginManager

        self._load_plugins = PluginManager.load_for_worker
        self._join = join
        loop = LeanLoop()
        loop.set_exception_handler(self._raised)
        self._loop: EventLoop = loop
        self._is_moving = False
        self._worker: CrawlWorker | None = None
        self._downloader: Downloader | None = None
        self._alarm: Timer | None = None
        self._alarm_at = 0.0
        self._misbehaviours: set[str] = set()
        self._stopping = False
        self._reader: ThreadCrew | None = None
        self._shelf: Shelf | None = None
        self._coordinator: Channel[FromCoordinatorToWorker] = Channel(
            socket.socket(fileno=coordinator),
            self._loop,
            msgspec.msgpack.Decoder(FromCoordinatorToWorker),
            self._told,
            self._end_now,
        )
        self._update: Channel[FromUpdateToWorker] = Channel(
            socket.socket(fileno=update),
            self._loop,
            msgspec.msgpack.Decoder(FromUpdateToWorker),
            self._told_by_update,
            self._end_now,
        )

    def run(self) -> int:
        loop = self._loop
        IdleImports(loop, _FOR_PAGES).begin()
        loop.run_forever()
        if loop is not self._loop:  # The first message asked for another one.
            loop.close()
            self._loop.run_forever()
        return 0

    # --- the worker's ports --------------------------------------------------------------------------------------------

    def send_record(self, record: FromWorkerToUpdate) -> int:
        """What it costs in credit, wherever its body lies."""
        if self._shelf is not None and isinstance(record, PageRecord):
            place = self._shelf.put(record.body)
            if place is not None:
                return charge(self._update.send(msgspec.structs.replace(record, body=b"", place=place)) + place.length)
        return charge(self._update.send(record))

    def send_request_processed(self, message: RequestProcessed) -> None:
        self._coordinator.send(message)

    def send_slowed(self, message: Slowed) -> None:
        self._coordinator.send(message)

    def send_misbehaviour(self, sentence: str) -> None:
        """Said once for each sentence: a plugin that misbehaves does so for every page."""
        if sentence not in self._misbehaviours and len(self._misbehaviours) < 100:
            self._misbehaviours.add(sentence)
            self._coordinator.send(Misbehaviour(sentence))

    def report_misbehaviour(self, sentence: str) -> None:
        """The same from any thread."""
        self._loop.call_soon_threadsafe(self.send_misbehaviour, sentence)

    def read_aside(self, read: Callable[[], Reading], done: Callable[[Reading | None, Exception | None], None]) -> None:
        """Documents that take long are read one after the other, in a thread of their own."""
        if self._reader is None:
            from parcahyd.runtime.thread_crew import ThreadCrew  # Few sites have such documents.

            self._reader = ThreadCrew(1, "document-reader")

        def finished(reading: Reading | None, error: BaseException | None) -> None:
            self._loop.call_soon_threadsafe(done, reading, error if isinstance(error, Exception) else None)

        self._reader.call(read, finished)

    def wake(self, at: float) -> None:
        """Have `turn` called at a time of the monotonic clock, which is the loop's clock too."""
        if self._alarm is not None:
            if self._alarm_at <= at and not self._alarm.cancelled():
                return
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = self._loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        if self._worker is not None:
            self._worker.turn()

    # --- messages ------------------------------------------------------------------------------------------------------

    def _told(self, message: FromCoordinatorToWorker, size: int) -> None:
        if self._is_moving:
            self._loop.call_soon(self._told, message, size)  # Behind the first message, which waits for the other loop.
        elif isinstance(message, Visits):
            if self._worker is not None:
                self._worker.accept(message.assignments)
        elif isinstance(message, Begin):
            self._begin(message)
        else:
            self._stop(message)

    def _begin(self, message: Begin) -> None:
        configuration = decode_configuration(message.configuration)
        self.number, self.credit = message.worker, message.credit
        plugins = self._load_plugins(configuration, message.strangers)
        if plugins.wants_asyncio:
            self._move_to_asyncio()
            self._loop.call_soon(self._begin_work, configuration, plugins)
        else:
            self._begin_work(configuration, plugins)

    def _move_to_asyncio(self) -> None:
        """Go on with another loop as soon as this one has ended its turn."""
        import asyncio  # Only for a stranger's downloader: it takes long to load.

        loop, before = asyncio.new_event_loop(), self._loop
        loop.set_exception_handler(self._raised)
        self._is_moving = True
        self._loop = loop
        self._coordinator.move_to(loop)
        self._update.move_to(loop)
        before.stop()

    def _begin_work(self, configuration: Configuration, plugins: PluginManager) -> None:
        self._is_moving = False
        self._downloader = plugins.downloader(self._loop)
        self.tools: DocumentTools = plugins.tools(self.report_misbehaviour)
        self._worker = self._join(configuration, self._downloader, self)
        self._build_shelf(self.credit)
        settle_in()
        self._report()

    def _build_shelf(self, credit: int) -> None:
        built = Shelf.build(credit)  # More than that is never on its way.
        if built is not None:
            self._shelf, memory = built
            self._update.send_descriptor(ShelfBuilt(), memory)

    def _told_by_update(self, message: FromUpdateToWorker, _size: int) -> None:
        if isinstance(message, PlacesCleared):
            if self._shelf is not None:
                self._shelf.give_back(message.starts)
        elif self._worker is not None:
            self._worker.add_credit(message.size)

    def _report(self) -> None:
        if self._worker is not None:
            self._coordinator.send(Report(self._worker.progress(os.getpid())))
        self._loop.call_later(_REPORT_EVERY, self._report)

    # --- the end -------------------------------------------------------------------------------------------------------

    def _stop(self, message: Stop) -> None:
        if self._worker is None:
            self._end_now()
            return
        self._stopping = True
        self._worker.stop()
        self._loop.call_later(message.within, self._cancel)

    def _cancel(self) -> None:
        if self._downloader is not None:
            self._downloader.cancel_all()

    def _raised(self, loop: Complaining, context: dict[str, Any]) -> None:
        """A user's mistake, such as a plugin that cannot be made, is the coordinator's to tell; all else is a bug."""
        error = context.get("exception")
        if not isinstance(error, UserMistake):
            end_with_traceback(loop, context)
            return
        self._coordinator.send(Mistake(error.message, error.remedy))
        self._coordinator.close()
        self._end_now()

    def _end_now(self) -> None:
        # Nothing in this process needs an orderly end, and a downloader's threads must not delay it.
        os._exit(0 if self._stopping else 1)
