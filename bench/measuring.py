"""Runs one crawl and measures it: wall-clock time, CPU time and memory of its whole process tree, and what others used."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

__all__ = [
    "TOLERATED_CORES",
    "MachineLoad",
    "OtherLoad",
    "Usage",
    "adopt_orphans",
    "is_disturbed",
    "other_load",
    "run_measured",
]

_SAMPLE_SECONDS = 0.1
_PR_SET_CHILD_SUBREAPER = 36

TOLERATED_CORES = 0.1
"""A round in which others used more than this is disturbed."""
_RESOLUTION_SECONDS = 0.05
"""The kernel charges a whole tick to the process that runs when the clock ticks: a short crawl's share is known no better."""
_SECOND = os.sysconf("SC_CLK_TCK")
_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD among the flags of /proc/PID/stat."""


@dataclass(frozen=True)
class Usage:
    """What one crawl took, as the clock and the kernel saw it."""

    exit_code: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    """The largest sum over the process tree that was sampled: PSS where the kernel shows it, else RSS."""
    other_cores: float
    """Cores that processes outside of the benchmark used meanwhile, on average."""
    stolen_cores: float
    """Cores that the hypervisor gave to other machines meanwhile, on average."""
    timed_out: bool
    """It was killed because it took too long."""


def adopt_orphans() -> None:
    """Makes this process the parent of descendants that outlive their own, so that their CPU time is counted too."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run_measured(
    command: Sequence[str],
    folder: Path,
    log: Path,
    environment: Mapping[str, str],
    timeout: float,
    server_seconds: Callable[[], float],
) -> Usage:
    """Runs the command in the folder to its end, the end of its last process; `server_seconds` is the server's CPU so far."""
    known = frozenset(psutil.pids())
    own, served, busy = time.process_time(), server_seconds(), MachineLoad.now()
    with log.open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, env=environment, start_new_session=True)
        watch = _Watch(known, began + timeout)
        watch.start()
        try:
            cpu_seconds, process.returncode, ended = _reap(process.pid)
            while orphans := {child.pid for child in psutil.Process().children()} - known:
                more_seconds, _, ended = _reap(orphans.pop())
                cpu_seconds += more_seconds
        except BaseException:
            # In a session of its own it does not hear what ends the benchmark.
            _kill(_below(known))
            raise
        seconds = ended - began
        watch.stop()
    ours = cpu_seconds + server_seconds() - served + time.process_time() - own
    others = other_load(busy, MachineLoad.now(), ours, seconds)
    return Usage(
        process.returncode, seconds, cpu_seconds, watch.peak, others.cores, others.stolen_cores, timed_out=watch.killed
    )


def _reap(pid: int) -> tuple[float, int, float]:
    """Waits for a child: its CPU time with that of all descendants that were waited for, its exit code, and when it ended."""
    _, status, usage = os.wait4(pid, 0)
    return usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status), time.perf_counter()


def _below(known: Collection[int]) -> list[psutil.Process]:
    """The descendants of this process among the processes that are not known.

    To look at every process of the machine ten times a second would take a twentieth of a core from those that are measured.
    """
    new: dict[int, psutil.Process] = {}
    parents: dict[int, int] = {}
    for pid in psutil.pids():
        if pid not in known:
            with contextlib.suppress(psutil.NoSuchProcess):
                new[pid] = psutil.Process(pid)
                parents[pid] = new[pid].ppid()
    family = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        if not more:
            return [new[pid] for pid in family if pid in new]
        family |= more


def _kill(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


class _Watch(threading.Thread):
    """Samples the memory of all processes that are not known until `stop`, and kills them at the deadline."""

    def __init__(self, known: Collection[int], deadline: float) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self.killed = False
        self._known = known
        self._deadline = deadline
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.is_set():
            processes = _below(self._known)
            self.peak = max(self.peak, sum(_memory(process) for process in processes))
            if time.perf_counter() > self._deadline:
                self.killed = True
                _kill(processes)
            self._over.wait(_SAMPLE_SECONDS)

    def stop(self) -> None:
        self._over.set()
        self.join()


def _memory(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.NoSuchProcess):
        try:
            return int(process.memory_full_info().pss)
        except (psutil.AccessDenied, AttributeError):
            return int(process.memory_info().rss)
    return 0


@dataclass(frozen=True)
class MachineLoad:
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
class OtherLoad:
    """What others took of the machine during a span of time, in cores."""

    cores: float
    stolen_cores: float


def other_load(before: MachineLoad, after: MachineLoad, our_seconds: float, seconds: float) -> OtherLoad:
    """What neither we nor the kernel's own threads used between two readings."""
    foreign = (after.working - before.working) - (after.kernel_threads - before.kernel_threads) - our_seconds
    return OtherLoad(max(foreign, 0.0) / seconds, (after.stolen - before.stolen) / seconds)


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
