"""The machine, as far as it matters for figures: cores, memory, kernel, and which folders are in memory."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.nginx import nginx_version

__all__ = ["describe_machine", "file_system", "is_in_memory", "python_build"]

_MEMORY_FILE_SYSTEMS = {"tmpfs", "ramfs"}


def describe_machine() -> Iterator[tuple[str, str]]:
    """What to say of it, and the value."""
    yield "cores", f"{len(os.sched_getaffinity(0))}, {_processor()}"
    yield "memory", f"{psutil.virtual_memory().total / 2**30:.0f} GiB"
    yield "kernel", f"{platform.system()} {platform.release()}"
    yield "server", nginx_version()


_BUILD = "import sys; print(sys.version.split()[0], sys.version[sys.version.rfind('['):])"
# Dictionaries, integers, calls and loops: what a crawler's own work is made of, and what builds differ in.
_PACE = """
import time

def work():
    found, total = {}, 0
    for number in range(200_000):
        found[number & 1023] = number
        total ^= len(str(found.get(number >> 1, 0)))
    return total

begun = time.process_time()
rounds = 0
while time.process_time() - begun < 0.5:
    work()
    rounds += 1
print(round(rounds * 0.2 / (time.process_time() - begun), 1))
"""


def python_build(python: str) -> str:
    """An interpreter's version, its compiler, and how quick it is: builds of one version differ by a fifth and more."""
    try:
        build, pace = (
            subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
            for program in (_BUILD, _PACE)
        )
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{python} is no Python interpreter that runs: {error}")
    return f"{build}, {pace} million loops/s"


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
