"""What the processes of a run stand on: event loop and clock; in a pipeline of a cluster also its deadline.

A pipeline's processes share sixteen bytes of memory, which each inherits at its start as an open file: until when they may
send requests, and how far the hub's clock is ahead of this machine's boot clock. So a deadline is moved for all of them at
once, and no clock of this machine decides what is due.

Tested in tests/processes/test_surroundings.py.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import time
from collections.abc import Callable

from parcahyd.cluster.deadline import Deadline, boot_time
from parcahyd.core.ports import Clock
from parcahyd.runtime.children import end_now
from parcahyd.runtime.clock import SystemClock
from parcahyd.runtime.guarded_loop import Guard, GuardedLoop

__all__ = ["LEASE_IS_OVER", "PipelineMemory", "Surroundings"]

LEASE_IS_OVER = 75
"""The exit code of a process whose lease is over; the number that `sysexits.h` has for what may be tried again."""
_BYTES = 16


class PipelineMemory:
    """The bytes that the processes of one pipeline share."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._bytes = memoryview(mmap.mmap(descriptor, _BYTES))
        self._clock = self._bytes[8:].cast("d")

    @classmethod
    def new(cls) -> PipelineMemory:
        """Memory whose deadline has passed."""
        descriptor = os.memfd_create("parcahyd-deadline")
        os.ftruncate(descriptor, _BYTES)
        memory = cls(descriptor)
        memory.deadline(1.0).end()
        return memory

    def deadline(self, lease: float) -> Deadline:
        """The deadline, for who moves it; who only looks at it needs no lease."""
        return Deadline(boot_time, lease, self._bytes[:8])

    def set_time(self, now: float) -> None:
        """Sets the clock of the pipeline, which goes on as the boot clock does."""
        self._clock[0] = now - boot_time()

    def now(self) -> float:
        return boot_time() + self._clock[0]


class _PipelineClock:
    """The Clock port in a pipeline: the time of the hub."""

    def __init__(self, memory: PipelineMemory) -> None:
        self.now = memory.now
        self.monotonic = time.monotonic


class Surroundings:
    """What one process stands on."""

    def __init__(self, memory: PipelineMemory | None = None) -> None:
        self.clock: Clock = SystemClock()
        self.before_sending: Callable[[], None] = _go_on
        """Ends the process where it must send nothing any more."""
        self.has_passed: Callable[[], bool] = bool
        """Whether the deadline has passed; without one it never does."""
        if memory is None:
            self.loop: asyncio.AbstractEventLoop = asyncio.new_event_loop()
            return
        deadline = memory.deadline(0.0)
        guard = Guard(deadline.left, lambda: end_now(LEASE_IS_OVER))
        self.clock = _PipelineClock(memory)
        self.before_sending = guard.check
        self.has_passed = deadline.passed
        self.loop = GuardedLoop(guard)

    @classmethod
    def of(cls, descriptor: str | None) -> Surroundings:
        """Those of a child, which is told the number of the file with the memory, or none."""
        return cls(None if descriptor is None else PipelineMemory(int(descriptor)))


def _go_on() -> None:
    """Nothing ends this process but its work."""
