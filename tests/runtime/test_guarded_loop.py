"""A loop that looks at its guard after each time that it waited, and before what it calls."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest

from parcahyd.runtime.guarded_loop import Guard, GuardedLoop


class Ended(BaseException):
    """Stands for the end of the process."""


class Time:
    """Seconds that are left; a test takes them away."""

    def __init__(self) -> None:
        self.left = 1000.0

    def guard(self) -> Guard:
        def end() -> None:
            raise Ended

        return Guard(lambda: self.left, end)


def _run(time: Time, begin: Callable[[asyncio.AbstractEventLoop], None]) -> None:
    loop = GuardedLoop(time.guard())
    try:
        begin(loop)
        loop.call_later(30.0, loop.stop)
        loop.run_forever()
    finally:
        loop.close()


def test_events_and_times_are_called_while_it_may_go_on() -> None:
    time = Time()
    said: list[str] = []
    here, there = socket.socketpair()

    def begin(loop: asyncio.AbstractEventLoop) -> None:
        def once(word: str, remove: Callable[[int], bool], descriptor: int) -> None:
            said.append(word)
            remove(descriptor)

        loop.add_reader(here.fileno(), once, "read", loop.remove_reader, here.fileno())
        loop.add_writer(there.fileno(), once, "written", loop.remove_writer, there.fileno())
        loop.call_later(0.0, said.append, "later")
        loop.call_later(0.01, loop.stop)
        there.send(b"x")

    with here, there:
        _run(time, begin)
    assert sorted(said) == ["later", "read", "written"]


def test_it_ends_when_the_guard_says_so_although_nothing_happens() -> None:
    answers = iter([1.0, 0.01])  # The loop waits for as long as is left, and then nothing is left.
    loop = GuardedLoop(Guard(lambda: next(answers, -1.0), _raise))
    try:
        with pytest.raises(Ended):
            loop.run_forever()
    finally:
        loop.close()


def _raise() -> None:
    raise Ended


def test_what_is_called_after_a_long_stop_in_the_same_round_is_not_called() -> None:
    """Both are ready together; while the first runs, the machine stands still until the lease is over."""
    time, said = Time(), []

    def stand_still() -> None:
        said.append("first")
        time.left = -5.0

    def begin(loop: asyncio.AbstractEventLoop) -> None:
        at = loop.time()
        loop.call_at(at, stand_still)
        loop.call_at(at, said.append, "second")

    with pytest.raises(Ended):
        _run(time, begin)
    assert said == ["first"]
