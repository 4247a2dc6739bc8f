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

import psutil

from bench.others import Busy, others_between

__all__ = ["Usage", "adopt_orphans", "run_measured"]

_SAMPLE_SECONDS = 0.1
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Usage:
    """What one crawl took, as the clock and the kernel saw it."""

    exit_code: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    """The largest sum over the process tree that was sampled: PSS where the kernel tells it, else RSS."""
    other_cores: float
    """Cores that processes outside of the benchmark used meanwhile, on average."""
    stolen_cores: float
    """Cores that the hypervisor gave to other machines meanwhile, on average."""
    out_of_patience: bool
    """It was killed because it took too long."""


def adopt_orphans() -> None:
    """Makes this process the parent of descendants that outlive their own, so that their CPU time is counted too."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run_measured(
    command: Sequence[str],
    folder: Path,
    log: Path,
    environment: Mapping[str, str],
    patience: float,
    server_seconds: Callable[[], float],
) -> Usage:
    """Runs the command in the folder to its end, the end of its last process; `server_seconds` is the server's CPU so far."""
    known = frozenset(psutil.pids())
    own, served, busy = time.process_time(), server_seconds(), Busy.now()
    with log.open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, env=environment, start_new_session=True)
        watch = _Watch(known, began + patience)
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
    others = others_between(busy, Busy.now(), ours, seconds)
    return Usage(
        process.returncode, seconds, cpu_seconds, watch.peak, others.cores, others.stolen_cores, out_of_patience=watch.killed
    )


def _reap(pid: int) -> tuple[float, int, float]:
    """Waits for a child: its CPU time with that of all descendants that were waited for, its exit code, and when it ended."""
    _, status, usage = os.wait4(pid, 0)
    return usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status), time.perf_counter()


def _below(known: Collection[int]) -> list[psutil.Process]:
    """The descendants of this process among the processes that are not known.

    Who looks at every process of the machine ten times a second takes a twentieth of a core from those it measures.
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
