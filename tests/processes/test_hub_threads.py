"""Talking to the hub in threads: in order, until it answers, and no longer than the lease."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from parcahyd.cluster.records import Renewal
from parcahyd.cluster.taking import Renewer
from parcahyd.core.errors import LeaseLost, StoreFailure
from parcahyd.processes.hub_threads import HubThread, RenewalThread

RENEWAL = Renewal(1, 0.0, None, 0, 0, None, None, None, 0.0)


class _Calls:
    """A loop on which a test waits until something is said."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.said: list[Any] = []
        self.lost: list[LeaseLost] = []
        self.loop.set_exception_handler(lambda _, context: self._say(context["exception"]))

    def _say(self, word: object) -> None:
        self.said.append(word)
        self.loop.stop()

    def wait(self, times: int = 1) -> None:
        """Until so much was said; several words may come in one round of the loop."""
        timer = self.loop.call_later(60.0, self.loop.stop)
        while len(self.said) < times and self.loop.time() < timer.when():
            self.loop.run_forever()
        timer.cancel()
        assert len(self.said) >= times

    def lose(self, lost: LeaseLost) -> None:
        self.lost.append(lost)
        self.loop.call_soon_threadsafe(self._say, "lost")


@pytest.fixture
def calls() -> _Calls:
    return _Calls()


def test_calls_are_answered_in_order(calls: _Calls) -> None:
    hub = HubThread(calls.loop, bool, calls.lose)
    for number in range(3):
        hub.call(lambda number=number: number, calls._say)  # type: ignore[misc]
    calls.wait(3)
    assert calls.said == [0, 1, 2]


def test_a_step_is_repeated_until_the_hub_answers(calls: _Calls) -> None:
    hub, tries = HubThread(calls.loop, bool, calls.lose), []

    def step() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise StoreFailure("away")
        return "answered"

    hub.call(lambda: hub.until_answered(step), calls._say)
    calls.wait()
    assert (calls.said, len(tries)) == (["answered"], 3)


def test_it_is_repeated_no_longer_than_the_lease(calls: _Calls) -> None:
    tries: list[int] = []
    hub = HubThread(calls.loop, lambda: len(tries) > 1, calls.lose)

    def step() -> None:
        tries.append(1)
        raise StoreFailure("away")

    hub.call(lambda: hub.until_answered(step), calls._say)
    calls.wait()
    assert calls.said == ["lost"]
    assert len(calls.lost) == 1


def test_a_bug_is_told_to_the_loop(calls: _Calls) -> None:
    hub = HubThread(calls.loop, bool, calls.lose)
    hub.call(lambda: cast("Any", None).missing, calls._say)
    calls.wait()
    assert isinstance(calls.said[0], AttributeError)


def test_finish_waits_for_all_that_was_asked_before(calls: _Calls) -> None:
    hub, done, may = HubThread(calls.loop, bool, calls.lose), [], threading.Event()

    def first() -> None:
        may.wait(60)
        done.append("first")

    hub.call(first, lambda _: None)
    threading.Timer(0.05, may.set).start()
    hub.finish(lambda: done.append("last"))
    assert done == ["first", "last"]


class _Renewer:
    """Answers as a test says; a StoreFailure stands for a hub that is away."""

    def __init__(self, answers: list[Renewal | Exception]) -> None:
        self.answers = answers
        self.asked = 0

    def renew(self) -> Renewal:
        self.asked += 1
        answer = self.answers.pop(0) if self.answers else RENEWAL
        if isinstance(answer, Exception):
            raise answer
        return answer


def _renewals(calls: _Calls, renewer: _Renewer, goes_on: Callable[[], bool] = lambda: True) -> RenewalThread:
    return RenewalThread(cast("Renewer", renewer), 0.08, calls.loop, goes_on=goes_on, renewed=calls._say, lost=calls.lose)


def test_it_renews_again_and_again_also_after_failures(calls: _Calls) -> None:
    renewer = _Renewer([RENEWAL, StoreFailure("away"), RENEWAL])
    thread = _renewals(calls, renewer)
    calls.wait(3)
    thread.stop()
    assert calls.said[:3] == [RENEWAL] * 3
    asked = renewer.asked
    assert asked >= 4
    thread.stop()
    assert renewer.asked == asked, "a thread that was stopped asks no more"


def test_it_does_not_renew_for_a_process_that_stands_still(calls: _Calls) -> None:
    renewer, asked = _Renewer([]), list[int]()

    def goes_on() -> bool:
        asked.append(renewer.asked)
        return len(asked) > 3

    thread = _renewals(calls, renewer, goes_on)
    calls.wait()
    thread.stop()
    assert asked[:4] == [0, 0, 0, 0]
    assert calls.said[0] == RENEWAL


def test_a_lost_lease_is_told_and_ends_it(calls: _Calls) -> None:
    renewer = _Renewer([LeaseLost("taken")])
    thread = _renewals(calls, renewer)
    calls.wait()
    thread.stop()
    assert calls.said == ["lost"]
    assert renewer.asked == 1
