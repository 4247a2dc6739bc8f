"""What a machine says of itself: the least of what the system and its control groups leave."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parcahyd.runtime.children import usable_cores
from parcahyd.runtime.machine_facts import measure_machine

GIB = 1 << 30


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_this_machine() -> None:
    found = measure_machine("n1")
    assert found.name == "n1"
    assert 0 < found.cores <= usable_cores()
    assert found.memory is not None
    assert 0 < found.memory <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert (found.disk, found.bandwidth) == (None, None)


def test_a_system_that_says_nothing_limits_nothing(tmp_path: Path) -> None:
    found = measure_machine("n1", root=tmp_path)
    assert (found.cores, found.memory) == (usable_cores(), None)


def test_a_container_of_version_2_and_one_around_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/meminfo": f"MemTotal: 99 kB\nMemAvailable: {8 * GIB // 1024} kB\n",
            "proc/self/cgroup": "0::/outer/inner\n",
            "sys/fs/cgroup/outer/memory.max": f"{4 * GIB}\n",
            "sys/fs/cgroup/outer/memory.current": f"{3 * GIB}\n",
            "sys/fs/cgroup/outer/memory.stat": f"anon 1\ninactive_file {GIB}\n",
            "sys/fs/cgroup/outer/inner/memory.max": "max\n",
            "sys/fs/cgroup/outer/inner/memory.current": "5\n",
            "sys/fs/cgroup/outer/cpu.max": "max 100000\n",
            "sys/fs/cgroup/outer/inner/cpu.max": "50000 100000\n",
        },
    )
    found = measure_machine("n1", own_memory=GIB // 2, root=tmp_path)
    assert found.cores == 0.5
    assert found.memory == 2 * GIB + GIB // 2


def test_a_container_of_version_1(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/meminfo": f"MemAvailable: {8 * GIB // 1024} kB\n",
            "proc/self/cgroup": "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n0::/\n",
            # Inside a container its own group is the top folder.
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "25000",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
    )
    found = measure_machine("n1", root=tmp_path)
    assert (found.cores, found.memory) == (0.25, GIB)


def test_a_group_without_a_limit_of_version_1(tmp_path: Path) -> None:
    write(tmp_path, {"proc/self/cgroup": "3:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1"})
    write(tmp_path, {"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"})
    assert measure_machine("n1", root=tmp_path).cores == usable_cores()


def test_the_crawl_itself_is_no_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (9.0, 1.0, 9.0))
    assert measure_machine("n1", own_cores=0.75, root=tmp_path).load == 0.25
    assert measure_machine("n1", own_cores=3.0, root=tmp_path).load == 0.0
