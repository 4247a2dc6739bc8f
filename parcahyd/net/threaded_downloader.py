"""The base class of downloaders that block: a subclass has one blocking method, `fetch`, which runs in threads."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from queue import SimpleQueue

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult

__all__ = ["ThreadedDownloader"]

# More threads cost more than they gain. Requests wait for a free one, and the wait counts for TimeoutTotal.
_MOST_THREADS = 256


class _Fetch:
    """One request on its way through a thread."""

    __slots__ = ("done", "request", "thread", "timer")

    def __init__(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        self.request = request
        self.done = done
        self.timer: asyncio.TimerHandle | None = None
        self.thread = 0
        """The thread that runs it; 0 while none does."""


class ThreadedDownloader(ABC):
    """Runs a blocking `fetch` in at most `Connections` threads and calls `done` with its result on the loop.

    What `fetch` raises becomes DownloadFailure.PLUGIN with its text. A fetch that takes longer than `TimeoutTotal` is
    answered with DownloadFailure.TIMEOUT, and its late result is dropped. A subclass must keep to the contract of
    `parcahyd.plugins.Downloader`: connect to the pinned address only, follow no redirect, report the peer, bound
    the body. `check_downloader` of `parcahyd.testing` checks that.
    """

    schemes: frozenset[str] = frozenset({"http", "https"})
    """A subclass names its own."""

    def __init__(self, conf: WorkConf, loop: asyncio.AbstractEventLoop) -> None:
        self.conf = conf
        self._loop = loop
        self._unanswered: set[_Fetch] = set()
        self._queue: SimpleQueue[_Fetch | None] = SimpleQueue()
        self._most_threads = min(conf.Connections, _MOST_THREADS)
        self._threads = 0
        self._unfinished = 0
        self._closed = False

    @abstractmethod
    def fetch(self, request: DownloadRequest) -> DownloadResult:
        """Fetch one document, blocking; called from several threads at once."""

    def abandon(self, thread: int) -> None:  # noqa: B027  a subclass may leave it out
        """Break off the connection of the `fetch` that this thread is running: its result will be dropped.

        Called on the loop. The thread may have finished that fetch meanwhile.
        """

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        """Has a thread `fetch` the document."""
        if self._closed:
            self._loop.call_soon(done, DownloadResult(failure=DownloadFailure.CANCELLED, detail="closed"))
            return
        fetch = _Fetch(request, done)
        self._unanswered.add(fetch)
        if self.conf.TimeoutTotal:
            fetch.timer = self._loop.call_later(self.conf.TimeoutTotal, self._time_out, fetch)
        self._unfinished += 1
        if self._unfinished > self._threads and self._threads < self._most_threads:
            self._threads += 1
            # A daemon, because a blocked fetch must not keep a stopped worker alive.
            threading.Thread(target=self._work, name=f"{type(self).__name__}-{self._threads}", daemon=True).start()
        self._queue.put(fetch)

    def cancel_all(self) -> None:
        """Answers everything that is under way with CANCELLED."""
        for fetch in list(self._unanswered):
            self._give_up(fetch, DownloadFailure.CANCELLED, "cancelled")

    def close(self) -> None:
        """Cancels everything; the threads end when their fetches do."""
        if self._closed:
            return
        self._closed = True
        if not self._loop.is_closed():
            self.cancel_all()
        for _ in range(self._threads):
            self._queue.put(None)

    def _work(self) -> None:
        while (fetch := self._queue.get()) is not None:
            fetch.thread = threading.get_ident()
            result = self._outcome(fetch.request) if fetch in self._unanswered else DownloadResult()
            fetch.thread = 0
            # The loop is closed when a worker was stopped at once; the result is dropped.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._finish, fetch, result)

    def _outcome(self, request: DownloadRequest) -> DownloadResult:
        try:
            result = self.fetch(request)
        except BaseException as error:  # not even SystemExit may end a thread, or its request would never be answered
            return DownloadResult(failure=DownloadFailure.PLUGIN, detail=f"{type(error).__name__}: {error}")
        if not isinstance(result, DownloadResult):
            return DownloadResult(failure=DownloadFailure.PLUGIN, detail=f"fetch returned {type(result).__name__}")
        return result

    def _finish(self, fetch: _Fetch, result: DownloadResult) -> None:
        self._unfinished -= 1
        if fetch not in self._unanswered:
            return
        self._unanswered.remove(fetch)
        if fetch.timer is not None:
            fetch.timer.cancel()
        fetch.done(result)

    def _time_out(self, fetch: _Fetch) -> None:
        self._give_up(fetch, DownloadFailure.TIMEOUT, f"not complete after {self.conf.TimeoutTotal:g} s")

    def _give_up(self, fetch: _Fetch, failure: DownloadFailure, detail: str) -> None:
        self._unanswered.remove(fetch)
        if fetch.timer is not None:
            fetch.timer.cancel()
        self._loop.call_soon(fetch.done, DownloadResult(failure=failure, detail=detail))
        if fetch.thread:
            self._loop.call_soon(self.abandon, fetch.thread)
