"""A gate counts from end to start with one connection, from start to start with more."""

from __future__ import annotations

from math import inf

from parcahyd.rules.politeness.rate_limit import RateLimit


def test_with_one_connection_the_delay_runs_from_the_end() -> None:
    gate = RateLimit(2.0, 1)
    assert gate.opens_at() == 0.0
    gate.enter(10.0)
    assert gate.opens_at() == inf
    gate.leave(15.0)
    assert gate.opens_at() == 17.0


def test_with_more_connections_the_delay_runs_from_the_start() -> None:
    gate = RateLimit(2.0, 2)
    gate.enter(10.0)
    assert gate.opens_at() == 12.0
    gate.enter(12.0)
    assert gate.opens_at() == inf
    gate.leave(20.0)
    assert gate.opens_at() == 14.0
