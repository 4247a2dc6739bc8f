"""The worker pool: the processes of a run's Crawl Workers, as the coordinator sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from parcahyd.core.messages import (
    Begin,
    BufferAddress,
    Committed,
    FromWorkerToCoordinator,
    HandBack,
    Report,
    Stop,
    Visits,
    Watched,
)
from parcahyd.core.progress import WorkerProgress
from parcahyd.core.records import Assignment
from parcahyd.processes.watched_requests import WatchedRequest, WatchedRequests
from parcahyd.runtime.channel import Channel
from parcahyd.runtime.children import Child

__all__ = ["Loss", "WorkerPool"]


class Loss(msgspec.Struct, frozen=True):
    """A worker's process has ended."""

    worker: int
    serial: int
    code: int | None
    visits: tuple[int, ...]
    """Those it was given and whose end is not committed, although it may have told of it."""
    failed_starts: int
    """How many processes in a row, this one included, ended before they could work."""
    watched: tuple[int, ...] = ()
    """Those of its visits that were watched."""
    under_way: tuple[WatchedRequest, ...] = ()
    """Their requests that were not over."""


class _Worker:
    """One process."""

    def __init__(self, serial: int, child: Child, channel: Channel) -> None:
        self.serial = serial
        self.child = child
        self.channel = channel
        self.progress: WorkerProgress | None = None
        self.visits: set[int] = set()
        self.watched: set[int] = set()
        self.requests = WatchedRequests()


class WorkerPool:
    """Workers by their numbers. `start` makes a child process, `lost` is called when one has ended.

    `on` says who gets which message of the workers, `rested` is called after the messages of one that came together.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        begin: Begin,
        start: Callable[[], Child],
        lost: Callable[[Loss], None],
        rested: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._begin = begin
        self._start = start
        self._lost = lost
        self._rested = rested
        self._handlers: list[tuple[type, Callable[[Any], None]]] = []
        self._workers: dict[int, _Worker] = {}
        self._buffer_address = ""
        self._last_serial = 0
        self._failed_starts = 0

    def on(self, kind: type, handler: Callable[[Any], None]) -> None:
        """`handler` gets every message of this kind, of workers that run and of those to come."""
        self._handlers.append((kind, handler))
        for worker in self._workers.values():
            worker.channel.on(kind, handler)

    def start(self, number: int) -> None:
        """Start a worker's process and tell it what to work by."""
        self._last_serial += 1
        child = self._start()
        channel = Channel(child.end, self._loop, FromWorkerToCoordinator, partial(self._ended, number), self._rested)
        worker = self._workers[number] = _Worker(self._last_serial, child, channel)
        channel.on(Report, partial(self._report, worker))
        channel.on(Watched, worker.requests.note)
        for kind, handler in self._handlers:
            channel.on(kind, handler)
        channel.send(msgspec.structs.replace(self._begin, worker=number, serial=self._last_serial))
        if self._buffer_address:
            channel.send(BufferAddress(self._buffer_address))

    def begin_again(self, begin: Begin) -> None:
        """Tell every worker, now and later, to work by another configuration. No visit has been given yet."""
        self._begin = begin
        for number, worker in self._workers.items():
            worker.channel.send(msgspec.structs.replace(begin, worker=number, serial=worker.serial))

    def connect_to_buffer(self, address: str) -> None:
        """Tell every worker, now and later, where the Document and URL Buffer is."""
        self._buffer_address = address
        for worker in self._workers.values():
            worker.channel.send(BufferAddress(address))

    def give(self, number: int, assignments: tuple[Assignment, ...]) -> None:
        """Hand a set of visits to a worker, which is started if it does not run."""
        if number not in self._workers:
            self.start(number)
        worker = self._workers[number]
        worker.visits.update([assignment.lease.visit for assignment in assignments])
        worker.watched.update([assignment.lease.visit for assignment in assignments if assignment.lease.is_watched])
        worker.channel.send(Visits(assignments))

    def send(self, number: int, message: HandBack) -> None:
        """Send a message to a worker, if it runs."""
        if number in self._workers:
            self._workers[number].channel.send(message)

    def committed(self, message: Committed) -> None:
        """The end of some visits is committed."""
        for worker in self._workers.values():
            worker.visits.difference_update(message.released)
            worker.watched.difference_update(message.released)

    def progress(self) -> tuple[WorkerProgress, ...]:
        """What each of them last reported."""
        return tuple([worker.progress for worker in self._workers.values() if worker.progress is not None])

    def stop(self, within: float) -> None:
        """Workers send no new request, and wait no longer than these seconds for an answer."""
        for worker in self._workers.values():
            worker.channel.send(Stop(within))

    def kill(self) -> None:
        """End all of them at once, and wait until they are gone."""
        for worker in self._workers.values():
            worker.child.kill()
        for worker in self._workers.values():
            worker.child.wait()
            worker.channel.close()

    def _report(self, worker: _Worker, report: Report) -> None:
        worker.progress = report.progress

    def _ended(self, number: int) -> None:
        worker = self._workers.pop(number)
        code = worker.child.wait()
        self._failed_starts = self._failed_starts + 1 if worker.progress is None else 0
        visits, watched = tuple(worker.visits), tuple(worker.watched)
        self._lost(Loss(number, worker.serial, code, visits, self._failed_starts, watched, worker.requests.under_way()))
