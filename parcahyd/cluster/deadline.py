"""Until when a process may send requests, counted on the clock that also runs while the machine is suspended.

The renewer notes the clock before it asks for a renewal. The answer moves the deadline to nine tenths of a lease after what was
noted. Others take the partition after one whole lease without a new beat, so they come later, however long the answer took.
"""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["BootClock", "Deadline", "HubTime", "boot_time"]

BootClock = Callable[[], float]
"""Seconds since the machine started, with those in which it was suspended."""

_SHARE = 0.9
"""Of a lease. The last tenth is for what a dead process's kernel may still deliver."""
_BYTES = 8


def boot_time() -> float:
    """The boot clock of this machine. `time.monotonic` stands still while a machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Deadline:
    """Checked after each wake-up and before each request. A deadline that has passed is never moved.

    `memory` are eight bytes that the processes of a tree share; without them the deadline is for one process.
    """

    def __init__(self, clock: BootClock, lease: float, memory: memoryview | None = None) -> None:
        self._clock = clock
        self._lease = lease
        self._until = (memoryview(bytearray(_BYTES)) if memory is None else memory).cast("B").cast("d")
        if memory is None:
            self.end()

    def note(self) -> float:
        """The clock, to be noted before a renewal is asked for."""
        return self._clock()

    def start(self, noted: float) -> None:
        """Sets the first deadline; `noted` is the clock before the partition was asked for."""
        self._until[0] = noted + _SHARE * self._lease

    def move(self, noted: float) -> bool:
        """A renewal was granted that was asked for after the clock showed `noted`. False: it is too late, and the tree ends.

        Processes of the tree may have seen that it passed and have ended. The others must not go on without them.
        """
        if self.passed():
            return False
        self._until[0] = noted + _SHARE * self._lease
        return True

    def end(self) -> None:
        """Passes at once: the lease is lost or given back."""
        self._until[0] = float("-inf")

    def passed(self) -> bool:
        return self._clock() >= self._until[0]

    def left(self) -> float:
        """Seconds until it passes."""
        return self._until[0] - self._clock()


class HubTime:
    """The hub's clock as the last renewal told it. Nothing but pauses is counted by it, and these can only become longer."""

    def __init__(self, clock: BootClock) -> None:
        self._clock = clock
        self._ahead = 0.0

    def note(self, said: float) -> None:
        """`said` is what the hub's clock showed. The answer took time, so this is rather too early, and waits are longer."""
        self._ahead = said - self._clock()

    def now(self) -> float:
        return self._clock() + self._ahead
