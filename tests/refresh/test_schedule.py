"""When a URL is due, for each way a visit can end."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.core.states import Reason
from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.refresh.schedule import NEVER, Revisits, Schedule

DAY = 86400.0
keys = st.integers(-(2**63), 2**63 - 1)
seconds = st.one_of(st.just(0.0), st.floats(0, 1e10), st.just(inf))
rates = st.builds(ChangeRate.of, st.floats(1.0, 1e3), st.floats(1e-3, 1e12), st.floats(0.01, 0.8))


def test_times_follow_the_settings() -> None:
    schedule = Schedule(WorkConf(RevisitAfter=100.0, RetryDelay=10.0, MaxTries=3))
    for tries, seconds in ((1, 10.0), (2, 20.0), (3, 40.0)):
        assert 1000.0 + seconds <= schedule.retry(1000.0, Reason.RESET, tries) <= 1000.0 + 1.25 * seconds
    assert [schedule.is_last_try(tries) for tries in (1, 2, 3)] == [False, False, True]


@pytest.mark.parametrize(
    ("cause", "waits"),
    [
        (None, (10.0, 20.0, 40.0)),
        (Reason.HTTP_ERROR, (10.0, 20.0, 40.0)),
        (Reason.TIMEOUT, (20.0, 40.0, 80.0)),
        (Reason.CONNECT, (20.0, 60.0, 180.0)),
        (Reason.TLS, (300.0, 600.0, 1200.0)),
        (Reason.DNS_NO_NAME, (300.0, 900.0, 2700.0)),
    ],
)
def test_a_site_is_spared_as_its_failures_deserve(cause: Reason | None, waits: tuple[float, ...]) -> None:
    schedule = Schedule(WorkConf(RetryDelay=10.0))
    for failures, wait in enumerate(waits, 1):
        assert wait <= schedule.spare_site(0.0, failures, 7, cause) <= 1.25 * wait


def test_what_is_gone_is_looked_at_rarely_whatever_revisit_after_says() -> None:
    assert Schedule(WorkConf(RevisitAfter=0.0)).gone(0.0) == 30 * DAY
    assert Schedule(WorkConf(RevisitAfter=1e8)).gone(0.0) == 1e8


@given(seconds, st.one_of(st.none(), seconds), st.one_of(st.none(), seconds), keys, rates, st.one_of(st.none(), seconds))
def test_the_next_visit_is_between_least_and_most(
    after: float, least: float | None, most: float | None, key: int, rate: ChangeRate, value: float | None
) -> None:
    work = WorkConf(RevisitAfter=after, RevisitMin=least, RevisitMax=most)
    revisits = Revisits(work)
    if value is not None:
        revisits.set_value(value, DAY)
    now = 1e9
    due = revisits.following(now, key, rate)
    assert now + work.revisit_min <= due + 1e-3
    assert due <= now + work.revisit_max + 1e-3 or due >= NEVER
    first = revisits.first(now, key)
    assert now + work.revisit_min <= first + 1e-3
    assert first <= now + work.revisit_max + 1e-3 or first >= NEVER
    for changed in (False, True):
        learned = revisits.learn(rate, 500.0, changed)
        assert now <= revisits.following(now, key, learned)


def test_a_page_that_was_never_checked_again_waits_for_revisit_after() -> None:
    revisits = Revisits(WorkConf(RevisitAfter=100.0))
    assert revisits.first(1000.0, 0) == 1100.0
    assert Revisits(WorkConf(RevisitAfter=0.0)).first(1000.0, 0) == 1000.0
    assert Revisits(WorkConf(RevisitAfter=inf)).first(1000.0, 0) >= NEVER
    for key in (0, 65535):
        assert Revisits(WorkConf(RevisitAfter=100.0, RevisitMin=200.0)).first(1000.0, key) == 1200.0
    assert Revisits(WorkConf(RevisitAfter=100.0, RevisitMax=50.0)).first(1000.0, 0) == 1050.0


def test_pages_stored_together_fall_due_apart_and_always_the_same() -> None:
    revisits = Revisits(WorkConf(RevisitAfter=1000.0))
    dues = [revisits.first(0.0, key * 257) for key in range(200)]
    assert len(set(dues)) > 150
    assert 900.0 < min(dues) < max(dues) <= 1000.0
    assert dues == [Revisits(WorkConf(RevisitAfter=1000.0)).first(0.0, key * 257) for key in range(200)]


@pytest.mark.parametrize(("changed", "expected"), [(True, 3600.0), (False, 30 * DAY)])
def test_a_page_reaches_the_limits(changed: bool, expected: float) -> None:
    revisits = Revisits(WorkConf())
    rate, interval = None, DAY
    for _ in range(60):
        rate = revisits.learn(rate, interval, changed)
        interval = revisits.following(0.0, 0, rate)
    assert interval == pytest.approx(expected)


def test_a_budget_makes_a_first_visit_later_and_never_earlier() -> None:
    revisits = Revisits(WorkConf())
    revisits.set_value(0.0, 60.0)
    assert revisits.first(0.0, 0) == DAY
    revisits.set_value(20 * DAY, 20 * DAY)
    assert revisits.first(0.0, 0) > 10 * DAY
