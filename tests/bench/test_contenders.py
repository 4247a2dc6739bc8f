"""Who takes part in the crawl benchmark."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.contenders.contender import Peers, Task
from bench.contenders.roster import choose_contenders

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
