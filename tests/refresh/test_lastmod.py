"""Trust in `lastmod` is earned by foretelling changes, and lost by missing them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.refresh.lastmod import Comparison, LastmodTrust, compare

DAY = 86_400.0
NOON = 1_714_564_800.0  # 2024-05-01T12:00:00Z
MIDNIGHT = NOON - DAY / 2

COUNTS = st.integers(0, 127)
DISTRUST = LastmodTrust()
"""Where trust begins."""
TRUSTS = st.builds(LastmodTrust, COUNTS, COUNTS, COUNTS).filter(lambda trust: sum(trust) <= 127)
MOMENTS = st.floats(6e8, 4e9)


def test_a_time_is_compared_with_the_copy() -> None:
    assert compare(NOON + 3600, NOON, NOON + DAY) is Comparison.LATER
    assert compare(NOON - 3600, NOON, NOON + DAY) is Comparison.OLDER
    assert compare(NOON, NOON, NOON + DAY) is Comparison.NOTHING  # clocks differ
    assert compare(None, NOON, NOON + DAY) is Comparison.NOTHING
    assert compare(NOON + 9 * DAY, NOON, NOON + DAY) is Comparison.NOTHING  # from the future


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        (-15, Comparison.LATER),
        (-13, Comparison.NOTHING),
        (0, Comparison.NOTHING),
        (12, Comparison.NOTHING),
        (35, Comparison.NOTHING),
        (37, Comparison.OLDER),
    ],
)
def test_a_day_says_nothing_about_a_copy_that_was_made_on_it(hours: int, expected: Comparison) -> None:
    assert compare(MIDNIGHT, MIDNIGHT + hours * 3600, NOON + 9 * DAY) is expected


def observed(trust: LastmodTrust, times: int, *, later: bool, changed: bool) -> LastmodTrust:
    for _ in range(times):
        trust = trust.observe(NOON + (3600 if later else -3600), NOON, NOON + DAY, changed=changed)
    return trust


def test_trust_is_earned_by_foretelling() -> None:
    assert not DISTRUST.is_trusted
    assert not observed(DISTRUST, 3, later=True, changed=True).is_trusted
    assert observed(DISTRUST, 4, later=True, changed=True) == LastmodTrust(4, 0, 0)
    assert observed(DISTRUST, 4, later=True, changed=True).is_trusted


def test_a_page_that_did_not_change_proves_nothing() -> None:
    assert observed(DISTRUST, 99, later=False, changed=False) == DISTRUST


def test_missed_changes_cost_the_trust_soon() -> None:
    trusted = observed(DISTRUST, 60, later=True, changed=True)
    assert observed(trusted, 3, later=False, changed=True).is_trusted
    assert not observed(trusted, 4, later=False, changed=True).is_trusted
    assert observed(observed(trusted, 4, later=False, changed=True), 99, later=True, changed=True).is_trusted


def test_a_site_that_stamps_everything_is_not_trusted() -> None:
    trust = DISTRUST
    for _ in range(50):
        trust = observed(observed(trust, 1, later=True, changed=True), 4, later=True, changed=False)
    assert not trust.is_trusted


def test_a_trusted_lastmod_spares_fetches_until_the_longest_time_is_over() -> None:
    trusted = LastmodTrust(20, 0, 0)
    now, ordinary, limits = NOON + DAY, NOON + DAY, (3600.0, 30 * DAY)
    assert trusted.due_at(ordinary, NOON - DAY, NOON, now, *limits) == NOON + 30 * DAY
    assert trusted.due_at(ordinary, None, NOON, now, *limits) == ordinary
    assert DISTRUST.due_at(ordinary, NOON - DAY, NOON, now, *limits) == ordinary
    assert trusted.due_at(NOON + 60 * DAY, NOON - DAY, NOON, now, *limits) == NOON + 60 * DAY


def test_a_trusted_lastmod_brings_a_page_forward_that_changed() -> None:
    trusted = LastmodTrust(20, 0, 0)
    now, ordinary, limits = NOON + DAY, NOON + 9 * DAY, (3600.0, 30 * DAY)
    assert trusted.due_at(ordinary, NOON + 7200, NOON, now, *limits) == NOON + 7200
    assert trusted.due_at(ordinary, NOON + 600, NOON, now, *limits) == NOON + 3600  # RevisitMin
    assert trusted.due_at(ordinary, now + 7200, NOON, now, *limits) == now  # a clock that is ahead
    assert trusted.due_at(NOON + 10, NOON + 7200, NOON, now, *limits) == NOON + 10
    assert DISTRUST.due_at(ordinary, NOON + 7200, NOON, now, *limits) == ordinary


def test_what_changed_after_the_sitemap_was_read_was_not_missed() -> None:
    older, now = NOON - DAY, NOON + 10 * DAY
    assert DISTRUST.observe(older, NOON, now, changed=True, read=now - DAY / 2) == LastmodTrust(0, 0, 1)
    assert DISTRUST.observe(older, NOON, now, changed=True, read=now - 2 * DAY) == DISTRUST
    assert DISTRUST.observe(NOON + DAY, NOON, now, changed=True, read=now - 2 * DAY) == LastmodTrust(1, 0, 0)


@given(TRUSTS)
def test_trust_is_a_small_number(trust: LastmodTrust) -> None:
    assert LastmodTrust.decode(trust.encode()) == trust
    assert 0 <= trust.encode() < 1 << 21


@given(st.integers(-(1 << 40), 1 << 40))
def test_any_number_is_some_trust(number: int) -> None:
    trust = LastmodTrust.decode(number)
    assert all(0 <= count <= 127 for count in trust)


@given(TRUSTS, st.none() | MOMENTS, MOMENTS, MOMENTS, st.booleans())
def test_observations_keep_their_bounds_and_their_sense(
    trust: LastmodTrust, lastmod: float | None, copied: float, now: float, changed: bool
) -> None:
    after = trust.observe(lastmod, copied, now, changed=changed)
    assert sum(after) <= 127
    assert min(after) >= 0
    assert LastmodTrust.decode(after.encode()) == after
    verdict = compare(lastmod, copied, now)
    if verdict is Comparison.OLDER and changed:
        assert trust.is_trusted or not after.is_trusted
    if verdict is Comparison.LATER and changed and sum(trust) < 127:
        assert after.is_trusted or not trust.is_trusted
    if verdict is Comparison.NOTHING:
        assert after is trust


@given(TRUSTS, st.none() | MOMENTS, MOMENTS, MOMENTS, MOMENTS, st.floats(0, 1e8), st.floats(0, 1e8))
def test_due_times_keep_their_limits(
    trust: LastmodTrust, lastmod: float | None, copied: float, now: float, ordinary: float, shortest: float, longest: float
) -> None:
    due = trust.due_at(ordinary, lastmod, copied, now, shortest, longest)
    assert min(ordinary, copied + shortest) <= due <= max(ordinary, copied + longest)
    if not trust.is_trusted:
        assert due == ordinary


@given(TRUSTS, MOMENTS, MOMENTS, MOMENTS)
def test_what_changed_after_the_copy_is_never_spared(trust: LastmodTrust, lastmod: float, copied: float, now: float) -> None:
    if lastmod > copied:
        assert trust.due_at(now, lastmod, copied, now, 0.0, 30 * DAY) <= now
