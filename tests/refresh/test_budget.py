"""So many visits a day: what pages ask for together, and what may be made now."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.refresh.budget import Allowance, Budget, Census
from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.refresh.schedule import Revisits

DAY = 86400.0
rates = st.builds(ChangeRate.of, st.floats(1.0, 30.0), st.floats(60.0, 1e9), st.floats(0.01, 0.8))


def _budget(per_day: int, pages: int = 300) -> tuple[Budget, Revisits]:
    revisits = Revisits(WorkConf(RevisitsPerDay=per_day))
    budget = Budget(per_day, revisits)
    dice = random.Random(3)
    for _ in range(pages):
        budget.enter(ChangeRate(1 + 9 * dice.random(), dice.lognormvariate(13.0, 2.0)), DAY)
    return budget, revisits


@given(st.lists(st.one_of(st.none(), rates), max_size=40), st.lists(rates, max_size=40))
def test_a_census_counts_every_page_once(entered: list[ChangeRate | None], moved: list[ChangeRate]) -> None:
    census = Census()
    for rate in entered:
        census.enter(rate)
    for before, after in zip(entered, moved, strict=False):
        census.move(before, after)
    assert census.pages == len(entered)
    assert census.once + sum(pages for _, pages in census.rates()) == len(entered)


@given(rates)
def test_a_rate_is_counted_near_itself(rate: ChangeRate) -> None:
    census = Census()
    census.enter(rate)
    ((near, _),) = census.rates()
    assert near.weight == pytest.approx(rate.weight, rel=0.1)
    assert near.span == pytest.approx(rate.span, rel=0.1)
    assert 1 - near.restless == pytest.approx(1 - rate.restless, rel=0.2)


@pytest.mark.parametrize("per_day", [30, 100, 1000])
def test_pages_ask_for_what_the_budget_gives(per_day: int) -> None:
    budget, revisits = _budget(per_day)
    budget.tune()
    assert revisits.value is not None
    assert budget.demand(revisits.value) * DAY == pytest.approx(per_day, rel=0.02)


def test_a_budget_that_is_ample_or_hopeless_keeps_the_limits() -> None:
    budget, revisits = _budget(10**9)
    budget.tune()
    assert revisits.value == 0.0
    budget, revisits = _budget(1)
    budget.tune()
    assert revisits.value is not None
    assert {revisits.interval(rate, revisits.value) for rate, _ in budget.census.rates()} == {30 * DAY}


def test_more_pages_are_visited_less_often() -> None:
    budget, revisits = _budget(100)
    budget.tune()
    before = revisits.value
    budget.stored(3)
    budget.settle()
    assert revisits.value == before
    budget.stored(400)
    budget.settle()
    assert before is not None
    assert revisits.value is not None
    assert revisits.value > before


def test_the_goal_moves_until_what_was_promised_meets_the_budget() -> None:
    budget, revisits = _budget(100)
    budget.tune()
    value = revisits.value
    rate = budget.census.rates()[0][0]
    for _ in range(10):
        for _ in range(100):
            budget.moved(rate, rate, DAY, 30 * DAY)  # given up for long, all of them
        budget.settle()
    assert value is not None
    assert revisits.value is not None
    assert revisits.value < value


def test_an_empty_collection_is_no_trouble() -> None:
    revisits = Revisits(WorkConf(RevisitsPerDay=5, RevisitAfter=0.0))
    budget = Budget(5, revisits)
    budget.tune()
    budget.settle()
    assert revisits.first(0.0, 0) == 0.0


def test_an_allowance_is_spread_over_the_day() -> None:
    allowance = Allowance(2400, 0.0, spent=2400)
    assert allowance.left(0.0) == 0
    assert allowance.next_at(0.0) == pytest.approx(60.0)
    assert allowance.left(360.0) == 10
    allowance.spend(10)
    assert allowance.left(360.0) == 0
    assert allowance.left(360.0 + 10 * DAY) == 100  # an hour's, and no more


def test_what_the_last_day_left_over_may_be_made_at_once() -> None:
    allowance = Allowance(100, 0.0, spent=40)
    assert allowance.left(0.0) == 60
    assert allowance.next_at(0.0) == 0.0
    assert Allowance(100, 0.0, spent=500).left(0.0) == 0


@given(st.integers(1, 10**6), st.lists(st.tuples(st.floats(0, 1e5), st.integers(0, 1000)), max_size=50))
def test_no_more_is_made_than_allowed(per_day: int, steps: list[tuple[float, int]]) -> None:
    allowance, now, made = Allowance(per_day, 0.0, spent=per_day), 0.0, 0
    for wait, wanted in steps:
        now += wait
        visits = min(wanted, allowance.left(now))
        allowance.spend(visits)
        made += visits
        assert made <= per_day * now / DAY + 1
        at = allowance.next_at(now)
        assert at >= now
        if at > now:
            assert allowance.left(at + 1e-3) >= 1
            now = at + 1e-3
