"""What the benchmark of clusters makes of a log."""

from __future__ import annotations

import pytest

from bench.cluster import Turns, middle_rate, turns_of
from bench.synthetic_server import Request


def _asked(began: float, host: int, asker: int) -> Request:
    return Request(began, began + 0.1, host, 0, 200, asker)


def test_turns_are_counted_by_address() -> None:
    """Hosts 0 and 2 have one address, host 1 another."""
    asked = [(0, 0, 1), (1, 2, 2), (2, 1, 1), (3, 2, 2), (7, 0, 1), (8, 1, 1)]
    found = turns_of([_asked(*one) for one in asked], 2, lambda request: request.asker)
    assert found == {0: Turns(2, 2, 7.0), 1: Turns(1, 0, 6.0)}


def test_the_rate_is_that_of_the_middle() -> None:
    """Ten in a second, with slow ones before and after."""
    times = [0.0, 5.0, 10.0, *(20.0 + number / 10 for number in range(10)), 30.0, 40.0, 50.0]
    assert middle_rate([_asked(time, 0, 1) for time in times]) == pytest.approx(10.0)
