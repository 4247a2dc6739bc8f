"""A crawl's account holds all of its processes, and a crawl that does not end is ended."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.measuring import MachineLoad, is_disturbed, other_load

ROOT = Path(__file__).parents[2]

# In a process of its own: adopting orphans cannot be undone.
_MEASURE = """
import dataclasses, json, os, pathlib, sys
from bench.measuring import adopt_orphans, run_measured
folder, timeout, command = pathlib.Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
adopt_orphans()
usage = run_measured(command, folder, folder / "log", os.environ, timeout, lambda: 0.0)
print(json.dumps(dataclasses.asdict(usage)))
"""
_BURN = "import time\nwhile time.process_time() < 0.5: pass"


def _measure(folder: Path, *command: str, timeout: float = 60.0) -> dict[str, float]:
    arguments = [sys.executable, "-c", _MEASURE, str(folder), str(timeout), *command]
    usage: dict[str, float] = json.loads(subprocess.run(arguments, cwd=ROOT, capture_output=True, check=True).stdout)
    return usage


@pytest.mark.parametrize("command", ['"$0" -c "$1"', '"$0" -c "$1" & exit 0'], ids=["child", "orphan"])
def test_the_time_of_every_process_counts(tmp_path: Path, command: str) -> None:
    usage = _measure(tmp_path, "/bin/sh", "-c", command, sys.executable, _BURN)
    assert usage["exit_code"] == 0
    assert 0.5 <= usage["cpu_seconds"] <= usage["seconds"] * 2
    assert usage["peak_bytes"] > 1_000_000


def test_the_exit_code_is_told_and_output_is_kept(tmp_path: Path) -> None:
    assert _measure(tmp_path, "/bin/sh", "-c", "echo said; exit 7")["exit_code"] == 7
    assert (tmp_path / "log").read_text() == "said\n"


def test_a_crawl_that_does_not_end_is_killed(tmp_path: Path) -> None:
    usage = _measure(tmp_path, "/bin/sh", "-c", "sleep 600 & wait", timeout=0.2)
    assert usage["timed_out"]


def test_what_others_use_is_seen(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            usage = _measure(tmp_path, "/bin/sh", "-c", "sleep 1")
        finally:
            busy.kill()
    # Where it does not get a core of its own, still others have what it lacks.
    assert is_disturbed(usage["other_cores"], usage["seconds"])


def test_others_are_what_neither_we_nor_the_kernel_used() -> None:
    others = other_load(MachineLoad(100.0, 5.0, 10.0), MachineLoad(112.0, 6.0, 11.0), our_seconds=8.0, seconds=4.0)
    assert others.cores == pytest.approx(0.75)
    assert others.stolen_cores == pytest.approx(0.25)


def test_an_account_that_comes_out_below_nothing_is_nothing() -> None:
    assert other_load(MachineLoad(0, 0, 0), MachineLoad(1.0, 0, 0), our_seconds=1.1, seconds=1.0).cores == 0


@pytest.mark.parametrize(
    ("cores", "seconds", "disturbed"),
    [(0.09, 100.0, False), (0.11, 100.0, True), (0.3, 0.2, False), (0.5, 0.2, True), (1.0, 10.0, True)],
)
def test_more_than_a_tenth_of_a_core_disturbs_unless_the_crawl_was_too_short_to_tell(
    cores: float, seconds: float, disturbed: bool
) -> None:
    assert is_disturbed(cores, seconds) is disturbed


def test_this_machine_can_be_read() -> None:
    busy = MachineLoad.now()
    assert busy.working > 0
    assert 0 <= busy.kernel_threads <= busy.working
