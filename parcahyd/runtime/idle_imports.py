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
        self._is_begun = False

    def begin(self) -> None:
        """Load the first one in the loop's next turn, and so on; to begin again does nothing."""
        if not self._is_begun:
            self._is_begun = True
            self._loop.call_soon(self._load)

    def _load(self) -> None:
        if self._names:
            import_module(self._names.popleft())
            self._loop.call_soon(self._load)
