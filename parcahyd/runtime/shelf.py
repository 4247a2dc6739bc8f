"""A shelf: a piece of memory on which a Crawl Worker lays documents, and where Update Database reads them.

In a frame a document is copied four times on its way: into the message, into the socket, out of it, into a record. On the
shelf it is copied once. Its record crosses as ever and says where it lies: its *place*. Update Database gives places back
when it has packed what lies there, in any order.

Nobody waits for a shelf: what is too small to be worth it, too large, or finds no room travels inside its record. The
memory has no name and belongs to the processes that hold it, so it is gone when they are. Systems that have no
such memory (all but Linux) have no shelf.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections import deque
from collections.abc import Iterable

from parcahyd.core.records import Place

__all__ = ["Room", "Shelf", "Window"]

_SIZE = 8 << 20
_SMALLEST = 2048


class Room:
    """Which parts of a shelf are taken: a ring, where room becomes free when all that was taken before it is back."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._end = 0
        """Where the youngest place ends."""
        self._taken: deque[int] = deque()
        """Where each place starts, the oldest first."""
        self._back: set[int] = set()

    def take(self, length: int) -> int | None:
        """Where that many bytes (at least one) can lie in a row, or None."""
        if not self._taken:
            start, limit = 0, self._size  # The memory that was used last is the nearest to the processor.
        else:
            # The youngest never ends where the oldest starts, so that a full ring does not look like an empty one.
            start, limit = self._end, self._taken[0] - 1
            if start > limit:
                limit = self._size
                if start + length > limit:
                    start, limit = 0, self._taken[0] - 1
        if start + length > limit:
            return None
        self._end = start + length
        self._taken.append(start)
        return start

    def give_back(self, starts: Iterable[int]) -> None:
        """The places that start there are free."""
        self._back.update(starts)
        while self._taken and self._taken[0] in self._back:
            self._back.remove(self._taken.popleft())


class Shelf:
    """The worker's side: it alone writes."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._memory = mmap.mmap(descriptor, size)
        self._room = Room(size)

    @classmethod
    def build(cls, most: int) -> tuple[Shelf, int] | None:
        """A shelf for `most` bytes, or fewer, and the open file that becomes a window on it elsewhere.

        None where it would be too small to be worth it, and where the system has no such memory.
        """
        size = min(most, _SIZE)
        if size < _SMALLEST or not hasattr(os, "memfd_create"):
            return None
        try:
            descriptor = os.memfd_create("shelf", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except OSError:
            return None
        os.ftruncate(descriptor, size)
        # Reading where a file has become shorter would end Update Database.
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        return cls(descriptor, size), descriptor

    def put(self, body: bytes) -> Place | None:
        """Lay a document down; None if it is better sent inside its record."""
        length = len(body)
        start = self._room.take(length) if length >= _SMALLEST else None
        if start is None:
            return None
        self._memory[start : start + length] = body
        return Place(start, length)

    def give_back(self, starts: Iterable[int]) -> None:
        """Nobody reads these places any more: they can be written again."""
        self._room.give_back(starts)


class Window:
    """Update Database's side: the view of one worker's shelf. It stays valid when the worker is gone."""

    def __init__(self) -> None:
        self._view: memoryview | None = None
        self._cleared: deque[int] = deque()

    def open(self, descriptor: int) -> None:
        """Look on the shelf that the open file is; closes the file."""
        try:
            self._view = memoryview(mmap.mmap(descriptor, os.fstat(descriptor).st_size, access=mmap.ACCESS_READ))
        finally:
            os.close(descriptor)

    def at(self, place: Place) -> memoryview:
        """What lies there: not a copy, and not to be read any more once the place is cleared."""
        size = 0 if self._view is None else len(self._view)
        if self._view is None or place.start < 0 or place.length < 0 or place.start + place.length > size:
            raise ValueError(f"{place} is not on a shelf of {size} bytes")
        return self._view[place.start : place.start + place.length]

    def clear(self, place: Place) -> None:
        """What lay there is not needed any more. Called in any thread."""
        self._cleared.append(place.start)

    def take_cleared(self) -> tuple[int, ...]:
        """Where the places start that were cleared since the last call."""
        return tuple([self._cleared.popleft() for _ in range(len(self._cleared))])
