"""How often a page changes: what checks tell, in properties and in simulated pages."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parcahyd.refresh.change_rate import ChangeRate

DAY = 86400.0
rates = st.builds(ChangeRate.of, st.floats(1.0, 1e3), st.floats(1e-3, 1e12), st.floats(0.01, 0.8))
inner_rates = st.builds(ChangeRate.of, st.floats(1.0, 1e2), st.floats(1.0, 1e9), st.floats(0.01, 0.8))
"""Those from which no check leads out of range."""
spans = st.floats(1e-6, 1e11)
anything = st.floats(allow_nan=True, allow_infinity=True)


def _is_sound(rate: ChangeRate) -> bool:
    return 1 <= rate.weight <= 1e3 and 1e-3 <= rate.span <= 1e12 and 0.01 <= rate.restless <= 0.8


@given(anything, anything, anything)
def test_whatever_a_row_holds_gives_a_rate(weight: float, span: float, restless: float) -> None:
    assert _is_sound(ChangeRate.of(weight, span, restless))
    assert _is_sound(ChangeRate.guess(span))


@example(ChangeRate.of(1.0, 2.0, 0.5), 5e-324, 0.0)
@example(ChangeRate.of(2.0, 4.0, 0.5), 5e-324, 0.0)
@given(rates, anything, anything)
def test_no_interval_breaks_it(rate: ChangeRate, seconds: float, slowest: float) -> None:
    assert _is_sound(rate.after_change(seconds))
    assert _is_sound(rate.after_quiet(seconds, slowest))


@given(inner_rates, spans)
def test_a_change_speaks_for_a_faster_page_and_quiet_for_a_slower_one(rate: ChangeRate, seconds: float) -> None:
    assert rate.after_change(seconds).per_second >= rate.per_second * (1 - 1e-6)
    assert rate.after_quiet(seconds, math.inf).per_second <= rate.per_second * (1 + 1e-6)
    assert rate.after_change(seconds).restless >= rate.restless - 1e-12


@given(inner_rates, spans)
def test_a_change_soon_after_the_last_check_counts_as_one_and_one_much_later_tells_nothing(
    rate: ChangeRate, seconds: float
) -> None:
    soon, late = rate.after_change(rate.span * 1e-7), rate.after_change(rate.span * 1e9)
    assert soon.weight == pytest.approx(min(rate.weight + 1, 1e3), rel=1e-3)
    assert late.per_second == pytest.approx(rate.per_second, rel=1e-3)
    assert rate.weight * 0.9 <= rate.after_change(seconds).weight <= rate.weight + 1


@given(rates, spans, spans)
def test_the_longer_the_less_likely_is_it_that_nothing_changed(rate: ChangeRate, first: float, second: float) -> None:
    shorter, longer = sorted((first, second))
    assert 0 <= rate.unchanged_for(longer) <= rate.unchanged_for(shorter) <= 1
    assert rate.unchanged_for(0.0) == rate.unchanged_for(-5.0) == 1.0


@given(rates, st.floats(0.01, 0.99))
def test_the_time_of_a_probability(rate: ChangeRate, probability: float) -> None:
    steady = rate._replace(restless=0.0)
    assert steady.unchanged_for(rate.changed_with(probability)) == pytest.approx(1 - probability, abs=1e-6)


def test_a_guess_is_an_even_chance() -> None:
    assert ChangeRate.guess(DAY).changed_with(0.5) == pytest.approx(DAY)
    assert ChangeRate.guess(DAY).after_quiet(DAY, math.inf).changed_with(0.5) == pytest.approx(2 * DAY)


def _learned(per_day: float, intervals: list[float], seed: int) -> ChangeRate:
    dice = random.Random(seed)
    rate = ChangeRate.guess(DAY)
    for days in intervals:
        changed = dice.random() < -math.expm1(-per_day * days)
        rate = rate.after_change(days * DAY) if changed else rate.after_quiet(days * DAY, 1e12)
    return rate


@pytest.mark.parametrize("per_day", [0.03, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("spread", [0.0, 1.0], ids=["equal intervals", "intervals of all lengths"])
def test_the_mean_over_many_pages_is_near_the_truth(per_day: float, spread: float) -> None:
    """As that of Cho and Garcia-Molina's estimator is, which needs equal intervals."""
    dice = random.Random(7)
    found = []
    for seed in range(200):
        intervals = [math.exp(dice.gauss(0.0, spread)) * 0.7 / max(per_day, 0.1) for _ in range(60)]
        found.append(_learned(per_day, intervals, seed).per_second * DAY)
    assert sum(found) / len(found) == pytest.approx(per_day, rel=0.2)


def test_few_checks_stay_near_the_guess() -> None:
    once = ChangeRate.guess(DAY).after_change(DAY)
    assert 1 / DAY < once.per_second < 2 / DAY
    assert 0.4 / DAY < ChangeRate.guess(DAY).after_quiet(DAY, 1e12).per_second < 1 / DAY


def test_a_page_that_falls_asleep_or_wakes_up_is_believed() -> None:
    lively = _learned(5.0, [0.2] * 500, 1)
    asleep = lively
    for _ in range(60):
        asleep = asleep.after_quiet(asleep.changed_with(0.5), 1e12)
    assert asleep.per_second < lively.per_second / 20
    slowest = 300 * DAY
    for _ in range(200):
        asleep = asleep.after_quiet(30 * DAY, slowest)
    assert asleep.span <= slowest * asleep.weight * (1 + 1e-9)
    for _ in range(12):
        asleep = asleep.after_change(30 * DAY)
    assert asleep.per_second > 0.5 / (30 * DAY)


def test_a_restless_page_is_suspected_and_soon_cleared_by_quiet_checks() -> None:
    rate = ChangeRate.guess(DAY)
    for _ in range(15):
        rate = rate.after_change(DAY / 4)
    assert rate.restless > 0.5
    quiet = rate.after_quiet(DAY / 4, 1e12)
    assert quiet.restless < 0.4
    assert quiet.after_quiet(DAY / 4, 1e12).restless < 0.1


@given(st.integers(-5, 10**6), st.integers(-5, 10**6), anything)
def test_any_summary_gives_a_rate(checks: int, changes: int, seconds: float) -> None:
    guess = ChangeRate.guess(DAY)
    assert _is_sound(ChangeRate.from_counts(guess, checks, changes, seconds))
    assert ChangeRate.from_counts(guess, 1, 0, seconds) == guess


def test_a_summary_tells_about_as_much_as_its_checks() -> None:
    guess = ChangeRate.guess(DAY)
    summed = ChangeRate.from_counts(guess, 41, 20, 40 * DAY)
    assert summed.per_second * DAY == pytest.approx(math.log(2), rel=0.2)
    assert ChangeRate.from_counts(guess, 41, 0, 40 * DAY).per_second < 0.05 / DAY
    assert ChangeRate.from_counts(guess, 2001, 1000, 2000 * DAY).per_second * DAY == pytest.approx(math.log(2), rel=0.3)
