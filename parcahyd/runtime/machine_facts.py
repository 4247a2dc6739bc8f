"""What this machine can bear: its cores, the memory that is left, and how busy other programs keep it (statements G3, G10).

A program in a container sees the figures of the whole machine. The kernel keeps those of the container in the files of its
control group, and of the groups around that one (<https://docs.kernel.org/admin-guide/cgroup-v2.html>). The least counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from parcahyd.core.partitions import ClusterNode
from parcahyd.runtime.children import usable_cores

__all__ = ["measure_machine"]

_ROOT = Path("/")
_KIB = 1024
_AVAILABLE = "MemAvailable:"
_CACHE = ("inactive_file", "total_inactive_file")
"""Pages of files that the kernel gives up first. `total_` is the name in version 1."""


def measure_machine(name: str, *, own_cores: float = 0.0, own_memory: int = 0, root: Path = _ROOT) -> ClusterNode:
    """This machine as it is now, under the name of its node. What the system does not say limits nothing.

    `own_cores` and `own_memory` are what the crawl itself uses here: it does not take its own place away.
    `root` is where /proc and /sys are.
    """
    cores = min([float(usable_cores()), *_cores_of_groups(root)])
    memory = _memory(root)
    return ClusterNode(
        name,
        cores=cores,
        memory=None if memory is None else float(max(memory, 0) + own_memory),
        load=max(0.0, min(_load() - own_cores, cores)),
    )


def _load() -> float:
    """Processes that run or wait for a core, as a mean over five minutes."""
    try:
        return os.getloadavg()[1]
    except OSError:
        return 0.0


def _memory(root: Path) -> int | None:
    """Bytes that may still be used."""
    found = list(_memory_of_groups(root))
    lines = _text(root / "proc/meminfo").splitlines()
    found += [int(line.split()[1]) * _KIB for line in lines if line.startswith(_AVAILABLE)]
    return min(found, default=None)


def _memory_of_groups(root: Path) -> Iterator[int]:
    files = (("", "memory.max", "memory.current"), ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes"))
    for controller, limit_file, used_file in files:
        for group in _groups(root, controller):
            limit, used = _number(group / limit_file), _number(group / used_file)
            if limit is not None and used is not None:
                yield limit - used + _cache(group)


def _cache(group: Path) -> int:
    lines = dict(line.split(maxsplit=1) for line in _text(group / "memory.stat").splitlines() if " " in line)
    return max((int(lines[name]) for name in _CACHE if name in lines), default=0)


def _cores_of_groups(root: Path) -> Iterator[float]:
    for group in _groups(root, ""):
        quota, _, period = _text(group / "cpu.max").partition(" ")
        if quota.isdigit():
            yield int(quota) / int(period)
    for group in _groups(root, "cpu"):
        limit, period_of_old = _number(group / "cpu.cfs_quota_us"), _number(group / "cpu.cfs_period_us")
        if limit is not None and period_of_old is not None and limit > 0:
            yield limit / period_of_old


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's control group and of those around it. No controller stands for version 2, which has one
    tree for all."""
    top = root / "sys/fs/cgroup" / controller
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            group = Path(path.lstrip("/"))
            yield from (top / part for part in (group, *group.parents) if ".." not in part.parts)


def _number(file: Path) -> int | None:
    """None where the file is not there, or says `max`."""
    text = _text(file).strip()
    return int(text) if text.removeprefix("-").isdigit() else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
