"""The clock stops at the first request, whatever comes afterwards."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.contenders.contender import Contender, Task
from bench.start import measure

_ASK = "import sys, time, urllib.request as u; u.urlopen(sys.argv[1]).read(); u.urlopen(sys.argv[1]).read()"


def _contender(program: str) -> Contender:
    def command(task: Task) -> list[str]:
        return [sys.executable, "-c", program, task.url]

    return Contender("asker", "1.0", "asks twice", command)


def test_a_start_has_its_time_and_its_processes(tmp_path: Path) -> None:
    start = measure(_contender(_ASK), tmp_path)
    assert start.seconds > 0
    assert start.processes == 1


def test_a_program_that_asks_for_nothing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.start._TIMEOUT", 0.2)
    with pytest.raises(SystemExit, match="asker asked for nothing"):
        measure(_contender("pass"), tmp_path)
