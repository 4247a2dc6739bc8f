"""Which of the files that an event loop watches are ready: as epoll says, or poll where there is no epoll."""

from __future__ import annotations

import contextlib
import math
import select
from abc import ABC, abstractmethod
from typing import Any

__all__ = ["EpollWatch", "FileWatch", "PollWatch"]

_epoll: Any = getattr(select, "epoll", None)

_MOST_AT_ONCE = 64
"""Files told of in one answer of epoll, which begins with those that waited longest."""


class FileWatch(ABC):
    """Files and what is wanted of them, in the bits of `select.poll`, which are those of epoll too."""

    def __init__(self, set_: Any) -> None:
        self._set = set_
        self._wanted: dict[int, int] = {}

    @staticmethod
    def quickest() -> FileWatch:
        """The quickest way this platform has."""
        return PollWatch() if _epoll is None else EpollWatch()

    def follow(self, descriptor: int, wanted: int) -> None:
        """Watch a file for this from now on; 0: no longer."""
        if not wanted:
            if self._wanted.pop(descriptor, None) is not None:
                with contextlib.suppress(OSError):  # A closed file has left by itself.
                    self._set.unregister(descriptor)
        elif descriptor not in self._wanted:
            self._set.register(descriptor, wanted)
            self._wanted[descriptor] = wanted
        elif self._wanted[descriptor] != wanted:
            self._set.modify(descriptor, wanted)
            self._wanted[descriptor] = wanted

    @abstractmethod
    def poll(self, seconds: float) -> list[tuple[int, int]]:
        """The files that are ready, waiting so long for the first, each with its bits."""

    def close(self) -> None:
        self._wanted.clear()


class EpollWatch(FileWatch):
    """For any number of files; only those that are ready cost anything."""

    def __init__(self) -> None:
        super().__init__(_epoll())
        self._poll = self._set.poll

    def poll(self, seconds: float) -> list[tuple[int, int]]:
        ready: list[tuple[int, int]] = self._poll(seconds, _MOST_AT_ONCE)
        return ready

    def close(self) -> None:
        super().close()
        self._set.close()


class PollWatch(FileWatch):
    """For platforms without epoll: every file is looked at each time."""

    def __init__(self) -> None:
        super().__init__(select.poll())

    def poll(self, seconds: float) -> list[tuple[int, int]]:
        ready: list[tuple[int, int]] = self._set.poll(math.ceil(seconds * 1000))
        return ready
