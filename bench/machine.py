"""The machine, as far as it matters for figures: cores, memory, kernel, and which folders are in memory."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.nginx import nginx_version

__all__ = ["describe_machine", "file_system", "is_in_memory"]

_MEMORY_FILE_SYSTEMS = {"tmpfs", "ramfs"}


def describe_machine() -> Iterator[tuple[str, str]]:
    """What to say of it, and the value."""
    yield "cores", f"{len(os.sched_getaffinity(0))}, {_processor()}"
    yield "memory", f"{psutil.virtual_memory().total / 2**30:.0f} GiB"
    yield "kernel", f"{platform.system()} {platform.release()}"
    yield "Python", platform.python_version()
    yield "server", nginx_version()


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.machine()


def file_system(folder: Path) -> str:
    """The kind of the file system that a folder is on, such as `ext4`."""
    place = folder.resolve()
    mounted = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}
    return next((mounted[above] for above in (place, *place.parents) if above in mounted), "unknown")


def is_in_memory(folder: Path) -> bool:
    """Nothing that is written there reaches a disk."""
    return file_system(folder) in _MEMORY_FILE_SYSTEMS
