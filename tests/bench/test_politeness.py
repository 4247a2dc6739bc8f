"""The parts of bench/politeness.py that take no crawl."""

from __future__ import annotations

from bench.polite import robots, traps
from bench.politeness import PARTS
from tests.support.sites import Request


def test_urls_are_counted() -> None:
    lines = list(PARTS["urls"][1]())
    assert "891 of 891 cases" in lines[0]
    assert any("200 of 280 cases; 80 differ on purpose" in line for line in lines)


def test_cases_of_robots_are_counted() -> None:
    first, *others = robots._cases()
    assert "142 of 146 cases" in first
    assert len(others) == 4


def test_twins_of_the_hostile_site_differ_in_little() -> None:
    trap = traps._Trap()
    one, other = (trap(Request("GET", f"/twin?item={number}", "", {})).body for number in (1, 2))
    assert one != other
    assert abs(len(one) - len(other)) < 20
