"""How much of the machine other processes used during a crawl, and when that is too much."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

__all__ = ["TOLERATED_CORES", "Busy", "Others", "is_disturbed", "others_between"]

TOLERATED_CORES = 0.1
"""A round in which others used more than this is disturbed."""
_RESOLUTION_SECONDS = 0.05
"""The kernel charges whole ticks to whoever runs when the clock ticks, so a short crawl's share is not known better."""
_SECOND = os.sysconf("SC_CLK_TCK")
_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD among the flags of /proc/PID/stat."""


@dataclass(frozen=True)
class Busy:
    """CPU time of the whole machine so far, in seconds."""

    working: float
    """Every core's time in processes, in the kernel and in interrupts."""
    stolen: float
    """Time in which this machine would have worked, had its hypervisor let it."""
    kernel_threads: float
    """The part of `working` that the kernel did in threads of its own: sending, receiving and writing back for everybody."""

    @classmethod
    def now(cls) -> Self:
        ticks = [int(field) for field in Path("/proc/stat").read_text().partition("\n")[0].split()[1:]]
        user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = ticks[:8]
        working = user + nice + system + interrupts + soft_interrupts
        return cls(working / _SECOND, stolen / _SECOND, _kernel_threads() / _SECOND)


@dataclass(frozen=True)
class Others:
    """What others took of the machine during a span of time, in cores."""

    cores: float
    stolen_cores: float


def others_between(before: Busy, after: Busy, our_seconds: float, seconds: float) -> Others:
    """What neither we nor the kernel's own threads used between two readings."""
    foreign = (after.working - before.working) - (after.kernel_threads - before.kernel_threads) - our_seconds
    return Others(max(foreign, 0.0) / seconds, (after.stolen - before.stolen) / seconds)


def is_disturbed(other_cores: float, seconds: float) -> bool:
    """Others used more than a tenth of a core, and more than the error of the kernel's account."""
    return other_cores * seconds > TOLERATED_CORES * seconds + _RESOLUTION_SECONDS


def _kernel_threads() -> int:
    """The ticks of all threads of the kernel; the fields are those after the name, see proc(5)."""
    ticks = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = status.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[6]) & _KERNEL_THREAD:
                ticks += int(fields[11]) + int(fields[12])
    return ticks
