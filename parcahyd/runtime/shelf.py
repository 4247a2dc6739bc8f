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
"""Behind a worker that fetches all it can, 3 to 4 MiB lie here in the mean. Smaller shelves are full too often; larger ones
save no more, and memory that is used for the first time costs page faults."""
_SMALLEST = 2048
"""From here on a place costs less than the copies that it saves."""
_BLOCK = mmap.PAGESIZE


class Room:
    """Which blocks of a shelf are free, a bit for each.

    The lowest that fit are taken, so that no more memory is ever touched than was needed at a time.
    """

    def __init__(self, size: int) -> None:
        self._free = (1 << size // _BLOCK) - 1
        self._taken: dict[int, int] = {}
        """The blocks of each place, by its start."""

    def take(self, length: int) -> int | None:
        """Where that many bytes (at least one) can lie in a row, or None."""
        wanted = -(-length // _BLOCK)
        # A bit stays where as many free blocks follow each other as were looked at.
        runs, looked_at = self._free, 1
        while looked_at < wanted and runs:
            step = min(looked_at, wanted - looked_at)
            runs &= runs >> step
            looked_at += step
        if not runs:
            return None
        first = (runs & -runs).bit_length() - 1
        blocks = ((1 << wanted) - 1) << first
        self._free ^= blocks
        self._taken[first * _BLOCK] = blocks
        return first * _BLOCK

    def give_back(self, starts: Iterable[int]) -> None:
        """The places that start there are free."""
        for start in starts:
            self._free |= self._taken.pop(start)


class Shelf:
    """The worker's side: it alone writes."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._memory = mmap.mmap(descriptor, size)
        self._room = Room(size)

    @classmethod
    def build(cls, most: int) -> tuple[Shelf, int] | None:
        """A shelf for `most` bytes, or fewer, and the open file that becomes a window on it elsewhere.

        None where that is less than a block, and where the system has no such memory.
        """
        size = min(most, _SIZE) // _BLOCK * _BLOCK
        if not size or not hasattr(os, "memfd_create"):
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
