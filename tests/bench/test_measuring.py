"""A crawl's account holds all of its processes, and a crawl that does not end is ended."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.others import is_disturbed

ROOT = Path(__file__).parents[2]

# In a process of its own: whoever adopts orphans does so for good.
_MEASURE = """
import dataclasses, json, os, pathlib, sys
from bench.measuring import adopt_orphans, run_measured
folder, patience, command = pathlib.Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
adopt_orphans()
usage = run_measured(command, folder, folder / "log", os.environ, patience, lambda: 0.0)
print(json.dumps(dataclasses.asdict(usage)))
"""
_BURN = "import time\nwhile time.process_time() < 0.5: pass"


def _measure(folder: Path, *command: str, patience: float = 60.0) -> dict[str, float]:
    arguments = [sys.executable, "-c", _MEASURE, str(folder), str(patience), *command]
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
    usage = _measure(tmp_path, "/bin/sh", "-c", "sleep 600 & wait", patience=0.2)
    assert usage["out_of_patience"]


def test_what_others_use_is_seen(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            usage = _measure(tmp_path, "/bin/sh", "-c", "sleep 1")
        finally:
            busy.kill()
    # Where it does not get a core of its own, still others have what it lacks.
    assert is_disturbed(usage["other_cores"], usage["seconds"])
