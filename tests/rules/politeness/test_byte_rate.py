"""Bytes a second: the mean over the answers so far, whatever their sizes are, never exceeds the rate."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.rules.politeness.byte_rate import ByteRate


@given(st.lists(st.tuples(st.integers(0, 100_000), st.floats(0, 5), st.floats(0, 20)), min_size=1), st.integers(1, 10_000))
def test_the_mean_keeps_the_rate(answers: list[tuple[int, float, float]], rate: int) -> None:
    byte_rate = ByteRate()
    now, total, begin = 100.0, 0, 100.0
    for size, seconds, idle in answers:
        started = now = max(now + idle, byte_rate.opens_at)
        assert total <= rate * (started - begin) * (1 + 1e-9) + 1e-6
        now += seconds
        byte_rate.received(size, rate, started)
        total += size


def test_idle_time_is_not_saved_up() -> None:
    byte_rate = ByteRate()
    byte_rate.received(1000, 100, started_at=0.0)
    assert byte_rate.opens_at == 10.0
    byte_rate.received(1000, 100, started_at=500.0)
    assert byte_rate.opens_at == 510.0


def test_answers_that_came_together_are_added_up() -> None:
    byte_rate = ByteRate()
    for _ in range(3):
        byte_rate.received(1000, 100, started_at=5.0)
    assert byte_rate.opens_at == 35.0


def test_no_rate_is_no_limit() -> None:
    byte_rate = ByteRate()
    byte_rate.received(10**9, 0, started_at=5.0)
    assert byte_rate.opens_at == 0.0
