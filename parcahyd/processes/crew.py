"""The crew: the processes of a run's Crawl Workers, as the coordinator sees them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from parcahyd.core.messages import Begin, FromWorkerToCoordinator, Stop, Visits
from parcahyd.core.progress import WorkerProgress
from parcahyd.core.records import Assignment
from parcahyd.runtime.channel import Channel

if TYPE_CHECKING:
    from parcahyd.core.event_loop import EventLoop
    from parcahyd.runtime.nursery import Newborn, Nursery

__all__ = ["Crew", "Loss"]


class Loss(msgspec.Struct, frozen=True):
    """A worker's process has ended."""

    worker: int
    code: int | None
    visits: tuple[int, ...]
    """Those it was given and whose end is not committed, although it may have told of it."""
    stillborn: int
    """How many in a row, this one included, ended before they could work."""


class _Worker:
    """One process."""

    def __init__(self, newborn: Newborn) -> None:
        self.newborn = newborn
        self.channel: Channel[FromWorkerToCoordinator] | None = None
        self.progress: WorkerProgress | None = None
        self.visits: set[int] = set()


class Crew:
    """Workers by their numbers. `told` is called with what one says, `lost` when one has ended."""

    def __init__(
        self,
        nursery: Nursery,
        loop: EventLoop,
        told: Callable[[int, FromWorkerToCoordinator], None],
        lost: Callable[[Loss], None],
    ) -> None:
        self._nursery = nursery
        self._loop = loop
        self._told = told
        self._lost = lost
        self._workers: dict[int, _Worker] = {}
        self._stillborn = 0

    def __contains__(self, number: int) -> bool:
        return number in self._workers

    def take(self, number: int) -> None:
        """Bear a worker, or have one that was born early; it waits to be told to begin."""
        self._workers[number] = _Worker(self._nursery.worker(number))

    def begin(self, number: int, message: Begin, lock: int) -> socket.socket:
        """Tell a worker to begin, and give it the lock, an open file. Returns Update Database's end of its other channel."""
        worker = self._workers[number]
        worker.channel = Channel(
            worker.newborn.child.end,
            self._loop,
            msgspec.msgpack.Decoder(FromWorkerToCoordinator),
            partial(self._received, number),
            partial(self._ended, number),
        )
        worker.channel.send_descriptor(message, lock)
        return worker.newborn.buffer

    def give(self, number: int, assignments: tuple[Assignment, ...]) -> None:
        """Hand a set of visits to a worker that has begun."""
        worker = self._workers[number]
        assert worker.channel is not None  # noqa: S101 - it has begun
        worker.visits.update([assignment.pair.visit for assignment in assignments])
        worker.channel.send(Visits(assignments))

    def released(self, visits: Iterable[int]) -> None:
        """The end of these visits is committed."""
        for worker in self._workers.values():
            worker.visits.difference_update(visits)

    def report(self, number: int, progress: WorkerProgress) -> None:
        self._workers[number].progress = progress

    def progress(self) -> tuple[WorkerProgress, ...]:
        """What each of them last reported."""
        return tuple([worker.progress for worker in self._workers.values() if worker.progress is not None])

    def stop(self, within: float) -> None:
        """No new request, and no answer is waited for longer than these seconds."""
        for worker in self._workers.values():
            if worker.channel is not None:
                worker.channel.send(Stop(within))

    def dismiss(self) -> None:
        """End all of them at once."""
        for worker in self._workers.values():
            worker.newborn.child.doom()

    def wait(self) -> None:
        """Until all are gone."""
        for worker in self._workers.values():
            worker.newborn.child.wait()

    def _received(self, number: int, message: FromWorkerToCoordinator, _size: int) -> None:
        self._told(number, message)

    def _ended(self, number: int) -> None:
        worker = self._workers.pop(number)
        code = worker.newborn.child.wait()
        self._stillborn = self._stillborn + 1 if worker.progress is None else 0
        self._lost(Loss(number, code, tuple(worker.visits), self._stillborn))
