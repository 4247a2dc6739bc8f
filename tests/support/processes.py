"""The processes of a run: found by the mark in their environment, distinguished by name, killed by id."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import psutil

__all__ = ["KINDS", "TEST_TIMEOUT", "Kind", "end_all", "kind_of", "marked_processes", "process_of_kind", "wait_until"]

TEST_TIMEOUT = 120.0
"""Seconds after which a test gives up. Nothing takes nearly as long, even on a busy machine: only what is stuck reaches it."""

Kind = Literal["coordinator", "worker", "update database"]
KINDS: tuple[Kind, ...] = ("coordinator", "worker", "update database")

_NAMES: dict[str, Kind] = {"crawl-worker": "worker", "update-database": "update database"}


def marked_processes(mark: str) -> list[psutil.Process]:
    """Every living process whose environment holds the variable `mark`, orphans of a killed parent included."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.environ() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            continue
    return found


def kind_of(process: psutil.Process) -> Kind | None:
    """Which part of a run the process is; None for helpers of the interpreter, and for a child that has no name yet."""
    try:
        arguments, name, parent = process.cmdline(), Path(f"/proc/{process.pid}/comm").read_text().strip(), process.parent()
        if name in _NAMES:
            return _NAMES[name]
        is_child = parent is not None and parent.cmdline() == arguments
    except (psutil.Error, OSError):
        return None
    return "coordinator" if "parcahyd" in arguments and "run" in arguments and not is_child else None


def process_of_kind(mark: str, kind: Kind) -> psutil.Process | None:
    """One living process of that kind, or None while there is none."""
    for process in marked_processes(mark):
        if kind_of(process) == kind:
            return process
    return None


def end_all(processes: list[psutil.Process]) -> None:
    """Kills them and waits until they are gone."""
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(processes, timeout=TEST_TIMEOUT)


def wait_until(condition: Callable[[], bool], timeout: float = TEST_TIMEOUT, pause: float = 0.02) -> bool:
    """Polls until the condition holds; False when it still does not after `timeout` seconds."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True
