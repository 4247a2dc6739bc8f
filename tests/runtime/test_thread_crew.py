"""Crews of threads: who does what, in which order, and what becomes of mistakes."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any

import pytest

from parcahyd.runtime.thread_crew import ThreadCrew

_PATIENCE = 20.0


def test_what_is_made_or_raised_is_told_in_the_thread() -> None:
    crew = ThreadCrew(1, "crew")
    told: SimpleQueue[tuple[Any, BaseException | None, str]] = SimpleQueue()

    def done(made: Any, error: BaseException | None) -> None:
        told.put((made, error, threading.current_thread().name))

    mistake = ValueError("a mistake")

    def fail() -> None:
        raise mistake

    crew.call(lambda: 7, done)
    crew.call(fail, done)
    assert told.get(timeout=_PATIENCE) == (7, None, "crew-1")
    assert told.get(timeout=_PATIENCE) == (None, mistake, "crew-1")
    crew.close()


def test_an_outcome_is_waited_for_by_all_who_ask() -> None:
    crew = ThreadCrew(3, "crew")
    gate = threading.Event()

    def slow() -> str:
        assert gate.wait(_PATIENCE)
        return "made"

    slow_one = crew.submit(slow)
    others = [crew.submit(slow_one.result) for _ in range(2)]
    gate.set()
    assert [slow_one.result(), slow_one.result(), *(other.result() for other in others)] == ["made"] * 4
    failed = crew.submit(lambda: 1 // 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            failed.result()
    crew.close()


def test_one_thread_keeps_the_order() -> None:
    crew = ThreadCrew(1, "crew")
    seen: list[int] = []
    last = [crew.submit(lambda number=number: seen.append(number)) for number in range(100)][-1]  # type: ignore[misc]
    last.result()
    assert seen == list(range(100))
    crew.close()


def test_there_are_as_many_threads_as_are_needed_and_no_more_than_allowed() -> None:
    crew = ThreadCrew(2, "crew")
    names: set[str] = set()
    gate = threading.Barrier(3)

    def noted() -> None:
        names.add(threading.current_thread().name)

    def together() -> None:
        noted()
        gate.wait(_PATIENCE)

    for _ in range(50):  # One at a time: the first thread has come back, or is about to, so at most one more begins.
        crew.submit(noted).result()
    both = [crew.submit(together) for _ in range(2)]
    more = [crew.submit(noted) for _ in range(20)]
    gate.wait(_PATIENCE)
    for outcome in (*both, *more):
        outcome.result()
    assert names == {"crew-1", "crew-2"}
    crew.close()


def test_a_closed_crew_begins_nothing_and_its_threads_end() -> None:
    crew = ThreadCrew(1, "ending crew")
    begun, gate = threading.Event(), threading.Event()
    told: list[str] = []

    def hold() -> None:
        begun.set()
        assert gate.wait(_PATIENCE)

    crew.call(hold, lambda _made, _error: told.append("held"))
    crew.call(lambda: None, lambda _made, _error: told.append("second"))
    assert begun.wait(_PATIENCE)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("ending crew")]
    crew.close()
    gate.set()
    for thread in threads:
        thread.join(_PATIENCE)
    assert [thread.is_alive() for thread in threads] == [False]
    assert told == []
