"""The two threads in which a pipeline's coordinator talks to the hub: one renews and does nothing else, one does the rest.

The renewer does not renew for a pipeline of which a process stands still: what that process began, such as a claim that locks
rows, could not be ended by anybody as long as the partition is held. Tested in tests/processes/test_hub_threads.py.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from parcahyd.cluster.records import Renewal
from parcahyd.cluster.taking import Renewer
from parcahyd.core.errors import DatabaseUnusable, LeaseLost, StoreFailure

__all__ = ["HubThread", "RenewalThread"]

_AGAIN = 0.2
_BEATS = 8
"""Renewals in a lease."""

Answer = TypeVar("Answer")


class HubThread:
    """Runs what is to be done at the hub, one thing after the other. `lost` is called in the thread when the lease is over."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, has_passed: Callable[[], bool], lost: Callable[[LeaseLost], None]
    ) -> None:
        self._loop = loop
        self._has_passed = has_passed
        self._lost = lost
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=self._work, name="hub", daemon=True).start()

    def call(self, work: Callable[[], Answer], done: Callable[[Answer], None]) -> None:
        """Runs `work` in the thread, and `done` on the loop with what it returned."""

        def run() -> None:
            self._loop.call_soon_threadsafe(done, work())

        self._calls.put(run)

    def finish(self, work: Callable[[], object]) -> None:
        """Runs `work` after everything that was asked for before, and returns when it is done. The loop runs no more."""
        is_done = threading.Event()

        def run() -> None:
            work()
            is_done.set()

        self._calls.put(run)
        is_done.wait()

    def until_answered(self, step: Callable[[], Answer]) -> Answer:
        """In the thread: repeats a step as long as the hub does not answer. LeaseLost: the deadline has passed meanwhile."""
        while not self._has_passed():
            try:
                return step()
            except (StoreFailure, DatabaseUnusable):
                time.sleep(_AGAIN)
        raise LeaseLost("the deadline has passed")

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            try:
                call()
            except LeaseLost as lost:
                self._lost(lost)
                return
            except Exception as error:
                self._loop.call_soon_threadsafe(_raise, error)


class RenewalThread:
    """Renews until `stop`, and hands each answer to `renewed` on the loop.

    `goes_on` says whether every process of the pipeline has lately shown that it goes on.
    """

    def __init__(
        self,
        renewer: Renewer,
        lease: float,
        loop: asyncio.AbstractEventLoop,
        *,
        goes_on: Callable[[], bool],
        renewed: Callable[[Renewal], None],
        lost: Callable[[LeaseLost], None],
    ) -> None:
        self._renewer = renewer
        self._every = lease / _BEATS
        self._loop = loop
        self._goes_on = goes_on
        self._renewed = renewed
        self._lost = lost
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="renewer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Renews no more; returns when the thread has ended."""
        self._stopped.set()
        self._thread.join()

    def _work(self) -> None:
        pause = self._every
        while not self._stopped.wait(pause):
            pause = min(_AGAIN, self._every)
            if not self._goes_on():
                continue
            try:
                renewal = self._renewer.renew()
            except (StoreFailure, DatabaseUnusable):
                continue
            except LeaseLost as lost:
                self._lost(lost)
                return
            pause = self._every
            self._loop.call_soon_threadsafe(self._renewed, renewal)


def _raise(error: Exception) -> Any:
    raise error
