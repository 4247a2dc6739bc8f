"""An event loop that ends its process when it must not go on, such as after a lease has passed.

A machine may stand still at any instruction and go on an hour later. So the loop looks after each time that it waited, and
again before each function that an event or a time calls: whatever stood still in between, nothing is sent without a look.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from contextvars import Context
from typing import Any, TypeVarTuple

__all__ = ["Guard", "GuardedLoop"]

_Arguments = TypeVarTuple("_Arguments")
_LOOKS_AT_LEAST = 1.0
"""Seconds: the clock that the guard looks at may jump while the loop waits."""


class Guard:
    """Says how long the process may go on, and ends it. `end` does not return."""

    def __init__(self, left: Callable[[], float], end: Callable[[], None]) -> None:
        self.left = left
        """Seconds."""
        self._end = end

    def check(self) -> None:
        """Returns if the process may go on, and ends it otherwise."""
        if self.left() <= 0.0:
            self._end()


class _GuardedSelector(selectors.DefaultSelector):
    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        most = min(_LOOKS_AT_LEAST, max(0.0, self._guard.left()))
        events = super().select(most if timeout is None else min(timeout, most))
        self._guard.check()
        return events


class GuardedLoop(asyncio.SelectorEventLoop):
    """asyncio's loop with a guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        super().__init__(_GuardedSelector(guard))

    def add_reader(self, fd: Any, callback: Callable[[*_Arguments], Any], *args: *_Arguments) -> None:
        super().add_reader(fd, self._checked, callback, args)

    def add_writer(self, fd: Any, callback: Callable[[*_Arguments], Any], *args: *_Arguments) -> None:
        super().add_writer(fd, self._checked, callback, args)

    def call_at(
        self,
        when: float,
        callback: Callable[[*_Arguments], object],
        *args: *_Arguments,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return super().call_at(when, self._checked, callback, args, context=context)

    def _checked(self, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._guard.check()
        callback(*args)
