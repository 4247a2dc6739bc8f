"""Who takes part in the crawl benchmark."""

from __future__ import annotations

import platform
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.contenders.contender import Peers, Task
from bench.contenders.roster import choose_contenders
from bench.machine import python_build

ROOT = Path(__file__).resolve().parents[2]


def test_another_version_takes_part_where_its_checkout_is_given(tmp_path: Path) -> None:
    present, left_out = choose_contenders(["parcahyd-before"], Peers(sys.executable, None, False, ()))
    assert not present
    assert "--before CHECKOUT" in left_out["parcahyd-before"]
    other = tmp_path / "other"
    (other / "parcahyd").mkdir(parents=True)
    (other / "parcahyd" / "__init__.py").touch()
    (one,), left_out = choose_contenders(["parcahyd-before"], Peers(sys.executable, None, False, (), other))
    assert not left_out
    assert one.environment["PYTHONPATH"].startswith(str(other))
    output = tmp_path / "output"
    output.mkdir()
    assert "http://127.0.0.1/" in one.command(Task("http://127.0.0.1/", output, tmp_path / "known"))


def test_this_checkout_is_the_one_that_is_measured() -> None:
    (one,), _ = choose_contenders(["parcahyd"], Peers(sys.executable, None, False, ()))
    assert one.environment["PYTHONPATH"].startswith(str(ROOT))


def test_another_interpreter_runs_it_where_one_is_given(tmp_path: Path) -> None:
    peers = Peers(sys.executable, None, False, ())
    present, left_out = choose_contenders(["parcahyd-elsewhere"], peers)
    assert not present
    assert "--other-python" in left_out["parcahyd-elsewhere"]
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    (one, two), _ = choose_contenders(["parcahyd", "parcahyd-elsewhere"], replace(peers, other_python=str(other)))
    for contender, python in ((one, sys.executable), (two, str(other))):
        output = tmp_path / contender.name
        output.mkdir()
        assert contender.command(Task("http://127.0.0.1/", output, tmp_path / "known"))[0] == python


def test_the_report_says_by_which_build_of_python() -> None:
    (one,), _ = choose_contenders(["parcahyd"], Peers(sys.executable, None, False, ()))
    assert f"Python {platform.python_version()} [" in one.version
    assert float(one.version.split()[-3]) > 0


def test_what_is_no_interpreter_is_said_at_once() -> None:
    with pytest.raises(SystemExit, match="no-such-python"):
        python_build("no-such-python")
