"""What the coordinator knows of its workers: which visits each has, and what was lost with one that ended."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

import pytest

from parcahyd.core.messages import (
    Begin,
    BufferAddress,
    Committed,
    FromCoordinatorToWorker,
    Notice,
    Report,
    Stop,
    Visits,
)
from parcahyd.core.progress import WorkerProgress
from parcahyd.core.records import Assignment, DueUrl, SiteLease
from parcahyd.processes.worker_pool import Loss, WorkerPool
from parcahyd.runtime.channel import Channel, socket_pair
from parcahyd.runtime.children import Child

_PROGRESS = WorkerProgress(0, 1, 2, 3, 4, 5, 6)


class _Child:
    """A process that ends when it is told to."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.is_killed = False

    def wait(self, _timeout: float | None = None) -> int:
        return -9

    def kill(self) -> None:
        self.is_killed = True


class _Pool:
    """A pool whose children are the other ends of sockets, here."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.children: list[_Child] = []
        self.ends: list[Channel] = []
        self.heard: list[Any] = []
        self.losses: list[Loss] = []
        self.notices: list[Notice] = []
        self.rests = 0
        self.pool = WorkerPool(self.loop, Begin(b"c", credit=7), self._start, self.losses.append, self._rest)
        self.pool.on(Notice, self.notices.append)

    def _start(self) -> Child:
        here, there = socket_pair()
        self.children.append(_Child(here))
        end = Channel(there, self.loop, FromCoordinatorToWorker, lambda: None)
        for kind in (Begin, BufferAddress, Visits, Stop):
            end.on(kind, self.heard.append)
        self.ends.append(end)
        return cast("Child", self.children[-1])

    def _rest(self) -> None:
        self.rests += 1

    def run_until(self, is_over: Callable[[], bool]) -> None:
        end = self.loop.time() + 120

        def look() -> None:
            if is_over() or self.loop.time() > end:
                self.loop.stop()
            else:
                self.loop.call_later(0.001, look)

        self.loop.call_soon(look)
        self.loop.run_forever()
        assert is_over()


@pytest.fixture
def made() -> _Pool:
    return _Pool()


def _set(*visits: int) -> tuple[Assignment, ...]:
    pairs = [SiteLease(visit, visit, "http", "host", 80, (DueUrl(1, "/"),)) for visit in visits]
    return tuple([Assignment(pair, "192.0.2.1", ("192.0.2.1",), 0.0, pages=1) for pair in pairs])


def _committed(*released: int) -> Committed:
    return Committed(released, False, 0, 0, 0, 0, 0, 0, {}, 0, 0)


def test_a_worker_is_told_what_to_work_by_and_where_the_buffer_is_before_its_first_visit(made: _Pool) -> None:
    made.pool.start(0)
    made.pool.connect_to_buffer("/buffer")
    made.pool.give(0, _set(1))
    made.pool.give(1, _set(2))
    made.run_until(lambda: len(made.heard) == 6)
    assert [message for message in made.heard if isinstance(message, Begin)] == [
        Begin(b"c", worker=0, serial=1, credit=7),
        Begin(b"c", worker=1, serial=2, credit=7),
    ]
    assert made.heard.count(BufferAddress("/buffer")) == 2
    kinds = [type(message) for message in made.heard]
    assert kinds.index(BufferAddress) < kinds.index(Visits)


def test_workers_that_run_and_workers_to_come_are_told_of_another_configuration(made: _Pool) -> None:
    made.pool.start(0)
    made.pool.begin_again(Begin(b"d", credit=7, max_rate=2.0))
    made.pool.connect_to_buffer("/buffer")
    made.pool.give(1, _set(2))
    made.run_until(lambda: len(made.heard) == 6)
    assert [message for message in made.heard if isinstance(message, Begin)] == [
        Begin(b"c", worker=0, serial=1, credit=7),
        Begin(b"d", worker=0, serial=1, credit=7, max_rate=2.0),
        Begin(b"d", worker=1, serial=2, credit=7, max_rate=2.0),
    ]


def test_visits_are_lost_with_their_worker_until_their_end_is_committed(made: _Pool) -> None:
    made.pool.give(0, _set(1, 2))
    made.pool.give(1, _set(3))
    made.pool.give(0, _set(4))
    made.pool.committed(_committed(1, 3, 99))
    made.ends[0].send(Report(_PROGRESS))
    made.run_until(lambda: made.pool.progress() == (_PROGRESS,))
    made.ends[0].close()
    made.run_until(lambda: len(made.losses) == 1)
    (loss,) = made.losses
    assert (loss.worker, loss.serial, loss.code, sorted(loss.visits), loss.failed_starts) == (0, 1, -9, [2, 4], 0)
    assert made.pool.progress() == ()
    made.pool.give(0, _set(5))  # Its successor.
    assert len(made.children) == 3


def test_workers_that_end_before_they_report_are_counted_in_a_row(made: _Pool) -> None:
    for count, is_working in enumerate([False, False, True, False], 1):
        made.pool.start(0)
        if is_working:
            made.ends[-1].send(Report(_PROGRESS))
        made.ends[-1].close()
        made.run_until(lambda count=count: len(made.losses) == count)  # type: ignore[misc]  # a default binds the loop's value
    assert [loss.failed_starts for loss in made.losses] == [1, 2, 0, 1]


def test_handlers_serve_workers_that_run_and_workers_to_come(made: _Pool) -> None:
    made.pool.start(0)
    more: list[Notice] = []
    made.pool.on(Notice, more.append)
    made.pool.start(1)
    for number, end in enumerate(made.ends):
        end.send(Notice(f"from {number}"))
    made.run_until(lambda: len(more) == 2)
    assert sorted(notice.sentence for notice in more) == ["from 0", "from 1"]
    assert made.notices == more
    assert made.rests >= 1


def test_all_are_told_to_stop_and_killed(made: _Pool) -> None:
    made.pool.start(0)
    made.pool.start(1)
    made.pool.stop(1.5)
    made.run_until(lambda: made.heard.count(Stop(1.5)) == 2)
    made.pool.kill()
    assert [child.is_killed for child in made.children] == [True, True]
