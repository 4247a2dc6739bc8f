"""What the coordinator knows of its workers: which visits each has, and what was lost with one that ended."""

from __future__ import annotations

import os
import socket
from typing import Any, cast

import msgspec
import pytest

from parcahyd.core.messages import Begin, FromCoordinatorToWorker, FromWorkerToCoordinator, Report, Visits
from parcahyd.core.progress import WorkerProgress
from parcahyd.core.records import Assignment, DueUrl, Pair
from parcahyd.processes.crew import Crew, Loss
from parcahyd.runtime.channel import Channel, socket_pair
from parcahyd.runtime.lean_loop import LeanLoop
from parcahyd.runtime.nursery import Newborn, Nursery

_PROGRESS = WorkerProgress(0, 1, 2, 3, 4, 5, 6)


class _Child:
    """A process that ends when it is told to."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.is_doomed = False

    def wait(self, _timeout: float | None = None) -> int:
        return -9

    def doom(self) -> None:
        self.is_doomed = True


class _Nursery:
    """Bears workers whose other ends stay here."""

    def __init__(self) -> None:
        self.ends: list[socket.socket] = []
        self.children: list[_Child] = []

    def worker(self, _number: int) -> Newborn:
        here, there = socket_pair()
        self.ends.append(there)
        self.children.append(_Child(here))
        return Newborn(cast("Any", self.children[-1]), socket_pair()[0])


class _Bench:
    def __init__(self) -> None:
        self.loop = LeanLoop()
        self.nursery = _Nursery()
        self.told: list[tuple[int, FromWorkerToCoordinator]] = []
        self.losses: list[Loss] = []
        self.heard: list[FromCoordinatorToWorker] = []
        self.crew = Crew(cast("Nursery", self.nursery), self.loop, self._take, self.losses.append)

    def _take(self, number: int, message: FromWorkerToCoordinator) -> None:
        self.told.append((number, message))
        if isinstance(message, Report):
            self.crew.report(number, message.progress)

    def begin(self, number: int) -> Channel[FromCoordinatorToWorker]:
        """Have a worker begin; its end."""
        self.crew.take(number)
        self.crew.begin(number, Begin(b""), os.open(os.devnull, os.O_RDONLY)).close()
        decoder = msgspec.msgpack.Decoder(FromCoordinatorToWorker)
        return Channel(self.nursery.ends[-1], self.loop, decoder, lambda message, _: self.heard.append(message), lambda: None)

    def turn(self) -> None:
        self.loop.call_later(0.05, self.loop.stop)
        self.loop.run_forever()


@pytest.fixture
def bench() -> _Bench:
    return _Bench()


def _set(*visits: int) -> tuple[Assignment, ...]:
    pairs = [Pair(visit, visit, "http", "host", 80, (DueUrl(1, "/"),)) for visit in visits]
    return tuple([Assignment(pair, "192.0.2.1", ("192.0.2.1",), 0.0, pages=1) for pair in pairs])


def test_visits_are_lost_with_their_worker_until_their_end_is_committed(bench: _Bench) -> None:
    worker, other = bench.begin(0), bench.begin(1)
    bench.crew.give(0, _set(1, 2))
    bench.crew.give(1, _set(3))
    bench.crew.give(0, _set(4))
    bench.turn()
    assert [len(message.assignments) for message in bench.heard if isinstance(message, Visits)] == [2, 1, 1]
    bench.crew.released([1, 3, 99])
    worker.send(Report(_PROGRESS))
    worker.close()
    bench.turn()
    assert bench.told == [(0, Report(_PROGRESS))]
    (loss,) = bench.losses
    assert (loss.worker, loss.code, sorted(loss.visits), loss.stillborn) == (0, -9, [2, 4], 0)
    assert 0 not in bench.crew
    assert 1 in bench.crew
    other.close()


def test_workers_that_end_before_they_report_are_counted_in_a_row(bench: _Bench) -> None:
    for _ in range(2):
        bench.begin(0).close()
        bench.turn()
    working = bench.begin(0)
    working.send(Report(_PROGRESS))
    working.close()
    bench.turn()
    bench.begin(0).close()
    bench.turn()
    assert [loss.stillborn for loss in bench.losses] == [1, 2, 0, 1]


def test_all_are_told_to_stop_and_dismissed(bench: _Bench) -> None:
    ends = [bench.begin(0), bench.begin(1)]
    bench.crew.take(2)  # It was not told to begin.
    bench.crew.stop(1.5)
    bench.crew.dismiss()
    bench.turn()
    assert sorted(type(message).__name__ for message in bench.heard) == ["Begin", "Begin", "Stop", "Stop"]
    assert [child.is_doomed for child in bench.nursery.children] == [True, True, True]
    assert bench.crew.progress() == ()
    bench.crew.report(1, _PROGRESS)
    assert bench.crew.progress() == (_PROGRESS,)
    for end in ends:
        end.close()
