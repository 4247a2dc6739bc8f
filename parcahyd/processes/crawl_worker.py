"""A Crawl Worker's process: one event loop, the downloader plugin, and two channels.

One channel leads to the coordinator (sets in, *Request processed* out), one to the Document and URL Buffer (records out, credit
in). When either closes, the process ends at once: everything it holds can be fetched again. Tested in
tests/end_to_end/test_interrupt.py and tests/torture/test_kill.py.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NoReturn

from parcahyd.config.schema import Configuration, decode_configuration
from parcahyd.core.errors import UserError
from parcahyd.core.messages import (
    Begin,
    BufferAddress,
    CannotRun,
    FromCoordinatorToWorker,
    FromUpdateToWorker,
    FromWorkerToUpdate,
    Notice,
    Report,
    Stop,
    Watched,
    WorkerJoined,
    charge,
    rows_of,
)
from parcahyd.core.ports import Clock, Downloader
from parcahyd.document_tools import DocumentTools
from parcahyd.pipeline.crawl_worker import CrawlWorker
from parcahyd.plugin_manager import PluginManager
from parcahyd.processes.surroundings import Surroundings
from parcahyd.runtime.channel import Channel, connect
from parcahyd.runtime.children import become_child, end_now, end_with_traceback

__all__ = ["CrawlWorkerProcess"]

_REPORT_EVERY = 0.5
_MOST_NOTICES = 100


class CrawlWorkerProcess:
    """Hosts one Crawl Worker until the coordinator is gone. `join` makes and connects the worker."""

    number: int
    credit: int
    max_rate: float
    tools: DocumentTools
    _configuration: Configuration
    _worker: CrawlWorker
    _downloader: Downloader
    _buffer: Channel

    def __init__(
        self, join: Callable[[Configuration, Downloader, CrawlWorkerProcess], CrawlWorker], memory: str | None = None
    ) -> None:
        end = become_child("crawl-worker")
        surroundings = Surroundings.of(memory)
        self.clock: Clock = surroundings.clock
        self.loop = surroundings.loop
        self.before_sending = surroundings.before_sending
        self.loop.set_exception_handler(self._raised)
        self.buffer_handlers: list[tuple[type, Callable[[Any], None]]] = []
        """Who gets which message of Update Database, once the worker is connected to it."""
        self._join = join
        self._serial = 0
        self._plugins: PluginManager | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._notices: set[str] = set()
        self._is_stopping = False
        self._thread = ThreadPoolExecutor(1, "document-reader")
        self.coordinator = Channel(end, self.loop, FromCoordinatorToWorker, self._end)
        self.coordinator.on(Begin, self._begin)
        self.coordinator.on(BufferAddress, self._connect)
        self.coordinator.on(Stop, self._stop)

    def run(self) -> int:
        self.loop.run_forever()
        return 0

    # --- the worker's ports --------------------------------------------------------------------------------------------

    def send_record(self, record: FromWorkerToUpdate) -> int:
        """Send a record to the Document and URL Buffer; returns what it costs in credit."""
        return charge(self._buffer.send_counted(record), rows_of(record))

    def send_watched(self, message: Watched) -> None:
        """Write to the socket at once: this process may die with the next step."""
        self.coordinator.send(message)
        self.coordinator.flush()

    def send_notice(self, sentence: str) -> None:
        """Send each sentence once: a plugin that breaks its contract does so for every page."""
        if sentence not in self._notices and len(self._notices) < _MOST_NOTICES:
            self._notices.add(sentence)
            self.coordinator.send(Notice(sentence))

    def _send_notice_from_thread(self, sentence: str) -> None:
        self.loop.call_soon_threadsafe(self.send_notice, sentence)

    def run_in_thread(self, work: Callable[[], Any], done: Callable[[Any, Exception | None], None]) -> None:
        """One thread does what takes long, such as reading a large document, one thing after the other."""

        def finished(future: Future[Any]) -> None:
            error = future.exception()
            result = None if error is not None else future.result()
            self.loop.call_soon_threadsafe(done, result, error if isinstance(error, Exception) else None)

        self._thread.submit(work).add_done_callback(finished)

    def wake(self, at: float) -> None:
        """Have the worker's `turn` called at a time of the monotonic clock, which is the loop's clock too."""
        if self._alarm is not None:
            if self._alarm.when() <= at:
                return
            self._alarm.cancel()
        self._alarm = self.loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._worker.turn()

    # --- messages ------------------------------------------------------------------------------------------------------

    def _begin(self, message: Begin) -> None:
        """Load the plugins while the database is opened. A second one follows where the crawl has settings of its own."""
        configuration = self._configuration = decode_configuration(message.configuration)
        self.number, self._serial, self.credit = message.worker, message.serial, message.credit
        self.max_rate = message.max_rate
        if self._plugins is None:
            self._plugins = PluginManager.load(configuration)
        else:
            self._downloader.close()
            self._plugins = self._plugins.reconfigured(configuration)
        self._downloader = self._plugins.downloader(self.loop)
        self.tools = DocumentTools(self._plugins, configuration.work, self._send_notice_from_thread)

    def _connect(self, message: BufferAddress) -> None:
        """The database is open, and the configuration is settled."""
        self._worker = self._join(self._configuration, self._downloader, self)
        self._report()
        try:
            end = connect(message.address)
        except (ConnectionRefusedError, FileNotFoundError):  # The process of Update Database is gone.
            self._end()
        self._buffer = Channel(end, self.loop, FromUpdateToWorker, self._end)
        for kind, handler in self.buffer_handlers:
            self._buffer.on(kind, handler)
        self._buffer.send(WorkerJoined(self._serial))

    def _report(self) -> None:
        self.coordinator.send(Report(self._worker.progress(os.getpid())))
        self.loop.call_later(_REPORT_EVERY, self._report)

    # --- the end -------------------------------------------------------------------------------------------------------

    def _stop(self, message: Stop) -> None:
        self._is_stopping = True
        self._worker.stop()
        self.loop.call_later(message.within, self._downloader.cancel_all)

    def _raised(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The coordinator reports a user's error, such as a plugin that cannot be made; anything else is a bug."""
        error = context.get("exception")
        if not isinstance(error, UserError):
            end_with_traceback(loop, context)
        else:
            self.coordinator.send(CannotRun(error.message, error.remedy))
            self.coordinator.close()
            self._end()

    def _end(self) -> NoReturn:
        end_now(0 if self._is_stopping else 1)
