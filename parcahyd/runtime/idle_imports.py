"""Modules that are loaded while a process has nothing else to do: nobody waits for them yet, but somebody soon will."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parcahyd.core.event_loop import EventLoop

__all__ = ["IdleImports"]


class IdleImports:
    """Loads modules one by one, each in a turn of the loop of its own, so that a message never waits for more than one.

    Whoever needs one of them before imports it as usual.
    """

    def __init__(self, loop: EventLoop, names: Iterable[str]) -> None:
        self._loop = loop
        self._names = deque(names)
        self._is_wanted = False
        self._is_waiting = False

    def go_on(self) -> None:
        """Load the next one in the loop's next turn, and so on."""
        self._is_wanted = True
        if self._names and not self._is_waiting:
            self._is_waiting = True
            self._loop.call_soon(self._load)

    def pause(self) -> None:
        """Something is more urgent: load no more until `go_on`."""
        self._is_wanted = False

    def _load(self) -> None:
        self._is_waiting = False
        if self._is_wanted:
            import_module(self._names.popleft())
            self.go_on()
