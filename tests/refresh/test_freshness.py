"""What a copy is worth, and what a visit adds: against sums, and the order that the theory asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.refresh.freshness import expected_age, fresh_seconds, gain, interval_of_gain

DAY = 86400.0
rates = st.builds(ChangeRate.of, st.floats(1.0, 100.0), st.floats(1e-2, 1e10), st.floats(0.01, 0.8))
spans = st.floats(1.0, 1e9)


@pytest.mark.parametrize("weight", [1.0, 1.0 + 1e-9, 1.7, 20.0])
@pytest.mark.parametrize("seconds", [3.0, 3e3, 3e5])
def test_fresh_seconds_are_the_sum_of_the_probabilities(weight: float, seconds: float) -> None:
    rate = ChangeRate(weight, 5000.0, 0.25)
    steps = 20_000
    added = sum(rate.unchanged_for((step + 0.5) * seconds / steps) for step in range(steps)) * seconds / steps
    assert fresh_seconds(rate, seconds) == pytest.approx(added, rel=1e-3)
    assert expected_age(rate, seconds) == pytest.approx(seconds - added, rel=1e-2)


@given(rates, spans)
def test_a_copy_is_never_fresh_longer_than_it_is_old(rate: ChangeRate, seconds: float) -> None:
    assert 0 <= fresh_seconds(rate, seconds) <= seconds
    assert 0 <= expected_age(rate, seconds) <= seconds
    assert 0 <= gain(rate, seconds) <= seconds
    assert (fresh_seconds(rate, 0.0), expected_age(rate, 0.0)) == (0.0, 0.0)


@given(rates, spans, spans)
def test_the_longer_the_interval_the_more_a_visit_adds(rate: ChangeRate, first: float, second: float) -> None:
    shorter, longer = sorted((first, second))
    assert gain(rate, shorter) <= gain(rate, longer) * (1 + 1e-6) + 1e-6


def test_gain_is_how_freshness_grows_with_the_number_of_visits() -> None:
    rate, visits = ChangeRate(3.0, 2 * DAY, 0.1), 1 / DAY

    def fresh(frequency: float) -> float:
        return frequency * fresh_seconds(rate, 1 / frequency)

    small = visits * 1e-5
    assert gain(rate, DAY) == pytest.approx((fresh(visits + small) - fresh(visits - small)) / (2 * small), rel=1e-4)


@given(rates, spans)
def test_the_interval_of_a_gain(rate: ChangeRate, interval: float) -> None:
    shortest, longest = 60.0, 1e8
    value = gain(rate, interval)
    found = interval_of_gain(rate, value, shortest, longest)
    assert shortest <= found <= longest
    if shortest < interval < longest and value > 0:
        assert gain(rate, found) == pytest.approx(value, rel=0.01)


@given(rates, st.floats(0, allow_infinity=True), st.floats(0, 1e6), st.floats(0, 1e9))
def test_intervals_keep_their_limits(rate: ChangeRate, value: float, shortest: float, more: float) -> None:
    assert shortest <= interval_of_gain(rate, value, shortest, shortest + more) <= shortest + more


def test_a_page_too_fast_to_follow_is_worth_less_than_one_that_can_be() -> None:
    """Cho and Garcia-Molina, 2003: what changes too often is visited more seldom than what changes now and then."""
    intervals = [
        interval_of_gain(ChangeRate(50.0, 50 / per_day * DAY), 0.3 * DAY, 60.0, 60 * DAY) for per_day in (0.02, 0.5, 50.0)
    ]
    assert intervals[1] < intervals[0] < intervals[2] == 60 * DAY
