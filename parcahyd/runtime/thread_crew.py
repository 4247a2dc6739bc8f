"""A crew of threads that do what they are given, the first thing first.

`concurrent.futures` offers more and brings `logging` along, which keeps the first request waiting for three milliseconds in
each process; and a thread of it that never comes back keeps a process from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

__all__ = ["Outcome", "ThreadCrew"]

Made = TypeVar("Made")


class Outcome(Generic[Made]):
    """What a thread is about to make."""

    __slots__ = ("_error", "_made", "_under_way")

    def __init__(self) -> None:
        self._made: Made | None = None
        self._error: BaseException | None = None
        self._under_way = threading.Lock()
        self._under_way.acquire()

    def result(self) -> Made:
        """Waits for it, and raises what was raised instead."""
        with self._under_way:
            if self._error is not None:
                raise self._error
            return self._made  # type: ignore[return-value]  # It is there, or the error is.

    def settle(self, made: Made | None, error: BaseException | None) -> None:
        """Called once, by who made it."""
        self._made, self._error = made, error
        self._under_way.release()


class ThreadCrew:
    """Up to `most` threads, begun when there is something to do for them; they do not outlive the process."""

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._tasks: SimpleQueue[tuple[Callable[[], Any], Callable[[Any, BaseException | None], object]] | None] = SimpleQueue()
        self._threads = 0
        self._unclaimed = 0
        """Threads that wait for a task, less the tasks that wait for a thread."""
        self._lock = threading.Lock()
        self._closed = False

    def call(self, work: Callable[[], Made], done: Callable[[Made | None, BaseException | None], object]) -> None:
        """Run `work` in a thread, and there then `done` with what it returned or raised. One thread alone keeps the order."""
        with self._lock:
            self._tasks.put((work, done))
            self._unclaimed -= 1
            is_needed = self._unclaimed < 0 and self._threads < self._most
            if is_needed:
                self._threads += 1
                self._unclaimed += 1
        if is_needed:
            threading.Thread(target=self._serve, name=f"{self._name}-{self._threads}", daemon=True).start()

    def submit(self, work: Callable[[], Made]) -> Outcome[Made]:
        """Run `work` in a thread; the outcome can be waited for."""
        outcome: Outcome[Made] = Outcome()
        self.call(work, outcome.settle)
        return outcome

    def close(self) -> None:
        """Begin nothing more and tell nobody of what is under way, without waiting for it."""
        self._closed = True
        for _ in range(self._threads):
            self._tasks.put(None)

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            if not self._closed:
                self._do(*task)
            del task  # What it held is not kept until the next one comes.
            with self._lock:
                self._unclaimed += 1

    def _do(self, work: Callable[[], Any], done: Callable[[Any, BaseException | None], object]) -> None:
        made, error = None, None
        try:
            made = work()
        except BaseException as raised:
            error = raised
        if not self._closed:
            done(made, error)
