from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.net.stall_timeout import Pace, StallTimeout


def stalls(timeout: StallTimeout, looks: list[tuple[float, int]]) -> tuple[float, str]:
    """When and why the transfer with these bytes at these times is given up."""
    pace: Pace | None = None
    for at, received in looks:
        pace, said = timeout.check(pace, received, at)
        if said:
            return at, said
    return -1.0, ""


@pytest.mark.parametrize(
    ("timeout", "looks", "expected"),
    [
        (StallTimeout(None, 4, 0), [(0, 0), (3, 0), (4, 0)], (4, "no answer within 4 s")),
        (StallTimeout(9, 4, 0), [(0, 0), (8, 0), (9, 0)], (9, "no answer within 9 s")),
        (StallTimeout(0, 4, 0), [(0, 0), (1000, 0)], (-1, "")),
        (StallTimeout(9, 4, 0), [(0, 0), (8, 5), (11, 5), (12, 5)], (12, "no byte for 4 s")),
        (StallTimeout(None, 0, 0), [(0, 0), (1000, 5), (9000, 5)], (-1, "")),
        (StallTimeout(None, 10, 100), [(0, 1), (5, 400), (9, 900), (10, 1000)], (10, "100 bytes a second, fewer than 100")),
        (
            StallTimeout(None, 10, 100),
            [(0, 1), (9, 2), (10, 1001), (19, 1002), (20, 1003)],
            (20, "0 bytes a second, fewer than 100"),
        ),
        (StallTimeout(None, 0, 100), [(0, 0), (50, 0), (60, 1), (89, 2), (90, 3)], (90, "0 bytes a second, fewer than 100")),
        (StallTimeout(None, 10, 0), [(0, 1), (9, 2), (18, 3), (27, 4)], (-1, "")),
    ],
)
def test_which_limit_is_passed_and_when(
    timeout: StallTimeout, looks: list[tuple[float, int]], expected: tuple[float, str]
) -> None:
    assert stalls(timeout, looks) == expected


def test_the_looks_are_frequent_enough_for_the_shortest_limit() -> None:
    assert StallTimeout(None, 30, 100).interval == 7.5
    assert StallTimeout(2, 30, 100).interval == 0.5
    assert StallTimeout(0, 0, 1).interval == 7.5
    assert StallTimeout(None, 0, 0).interval == 0.0


@given(st.lists(st.tuples(st.floats(0.1, 3), st.integers(300, 5000)), max_size=40))
def test_a_brisk_transfer_is_never_given_up(steps: list[tuple[float, int]]) -> None:
    timeout = StallTimeout(5, 5, 99)
    at, received, looks = 0.0, 1, [(0.0, 1)]
    for seconds, size in steps:
        at, received = at + seconds, received + size
        looks.append((at, received))
    assert stalls(timeout, looks) == (-1.0, "")
