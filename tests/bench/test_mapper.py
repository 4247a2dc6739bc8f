"""When sites are asked for, beside when their names were resolved."""

from __future__ import annotations

from pathlib import Path

from bench.mapper import Arrival, lines, run

ROOT = Path(__file__).resolve().parents[2]


def test_quick_and_slow_names_are_told_apart() -> None:
    arrivals = [Arrival("a", False, 0.1, 0.2), Arrival("b", False, 0.1, 0.6), Arrival("c", True, 3.0, 3.1)]
    *_, quick, slow = lines([*arrivals, Arrival("d", True, 3.0, None)])
    assert quick.startswith("- 2 of 2 quick names asked for after 0.40 s (median), 0.60 s (last); at most 0.50 s after")
    assert slow.startswith("- 1 of 2 slow names asked for after 3.10 s")


def test_every_name_is_resolved_before_its_site_is_asked_for() -> None:
    arrivals = run(ROOT, names=3, place=1, slow_seconds=0.3)
    assert [one.slow for one in arrivals] == [False, True, False]
    for one in arrivals:
        assert one.asked_for is not None
        assert one.asked_for >= one.resolved
    assert arrivals[1].resolved >= 0.3
