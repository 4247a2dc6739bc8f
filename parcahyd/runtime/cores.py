"""Which cores this process uses."""

from __future__ import annotations

import os
from contextlib import suppress

__all__ = ["OneCore", "usable_cores"]

_THREADS = "/proc/self/task"


def usable_cores() -> int:
    """The cores of the affinity mask where the system has one, else all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class OneCore:
    """Keeps the threads of this process on one core, until that is not enough for them.

    Threads that hand the interpreter lock to each other lose time when they do it across cores, and take the other cores from
    processes that could use them alone. Made before the first thread is started: threads are where their makers are. Where
    the system cannot do it, nothing happens.
    """

    def __init__(self) -> None:
        self._cores: set[int] = set()
        if not os.path.isdir(_THREADS) or usable_cores() < 2:
            return
        cores = os.sched_getaffinity(0)
        with suppress(OSError):
            os.sched_setaffinity(0, {sorted(cores)[os.getpid() % len(cores)]})  # Not the same for all crawls of a machine.
            self._cores = cores

    @property
    def is_kept(self) -> bool:
        return bool(self._cores)

    def leave(self) -> None:
        """Let all threads use all cores again."""
        cores, self._cores = self._cores, set()
        if cores:
            for thread in os.listdir(_THREADS):
                with suppress(OSError):  # It has ended.
                    os.sched_setaffinity(int(thread), cores)
