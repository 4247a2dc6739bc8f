"""How long to leave somebody alone."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.core.states import REASONS_OF, Event, Reason, State, after
from parcahyd.rules.politeness.backoff import (
    BAD_REDIRECT,
    LONGEST_WAIT,
    REDIRECTS,
    failure,
    grown,
    retry_after,
    spread,
    wait_for_try,
)

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("6", 6.0),
        (" 120 ", 120.0),
        ("1.5", 1.5),
        ("0", 0.0),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("1e9", None),
        ("9" * 50, None),
        (formatdate(NOW + 30, usegmt=True), 30.0),
        (formatdate(NOW - 30, usegmt=True), 0.0),
        ("Wed, 99 Foo 2015 07:28:00 GMT", None),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
    ],
)
def test_retry_after_by_seconds_and_by_date(header: str, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


@pytest.mark.parametrize("header", ["Tue Nov 14 22:13:50 2023", "Tue, 14 Nov 2023 22:13:50", "Tue, 14 Nov 2023 22:13:50 -0000"])
def test_a_date_without_a_zone_is_in_utc_wherever_the_crawler_runs(header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first form is that of asctime, which RFC 9110 (section 5.6.7) wants to be understood."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert retry_after(header, NOW) == 30.0
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.text())
def test_no_header_raises(header: str) -> None:
    wait = retry_after(header, NOW)
    assert wait is None or wait >= 0.0


def test_waiting_doubles_up_to_a_day() -> None:
    assert [grown(failures, 20.0) for failures in (1, 2, 3, 4)] == [20.0, 40.0, 80.0, 160.0]
    assert grown(0, 20.0) == 20.0
    assert grown(20, 20.0) == LONGEST_WAIT
    assert grown(10**9, 20.0, 3.0) == LONGEST_WAIT
    assert grown(5, 0.0) == 0.0
    assert grown(1, 1e9) == LONGEST_WAIT


@pytest.mark.parametrize("reason", [reason for reason in Reason if reason in REASONS_OF[State.FAILED]])
def test_every_further_try_waits_longer_whatever_the_reason(reason: Reason) -> None:
    waits = [wait_for_try(reason, tries, 10.0) for tries in (1, 2, 3)]
    assert waits == sorted(set(waits))
    assert waits[0] >= 10.0


def test_what_somebody_must_repair_waits_longer_than_what_passes_by_itself() -> None:
    assert wait_for_try(Reason.RESET, 1, 20.0) < wait_for_try(Reason.CONNECT, 1, 20.0) < wait_for_try(Reason.TLS, 1, 20.0)


@given(st.floats(0, 1e6), st.integers(), st.integers())
def test_spreading_lengthens_by_a_quarter_at_most_and_repeats(seconds: float, key: int, tries: int) -> None:
    longer = spread(seconds, key, tries)
    assert seconds <= longer <= 1.25 * seconds
    assert longer == spread(seconds, key, tries)


def test_what_failed_together_is_not_tried_together() -> None:
    assert len({spread(100.0, key, 1) for key in range(100)}) > 90


@pytest.mark.parametrize("status", [200, 201, 203, 204, 226, 299, 304, *sorted(REDIRECTS)])
def test_an_answer_to_be_used_is_no_failure(status: int) -> None:
    assert failure(DownloadResult(status=status)) is None


STATUSES = {
    (404, 410): (Reason.MISSING, Event.MISSING),
    (400, 401, 402, 403, 405, 406, 407, 409, 414, 418, 421, 451, 499, 300, 305, 306): (Reason.HTTP_REFUSED, Event.LAST_FAILURE),
    (408, 425, 429, 500, 501, 502, 503, 504, 507, 511, 599): (Reason.HTTP_ERROR, Event.FAILURE),
    (0, 100, 103, 206, 600, 999): (Reason.PROTOCOL, Event.FAILURE),
}


@pytest.mark.parametrize(
    ("status", "reason", "event"), [(status, *outcome) for statuses, outcome in STATUSES.items() for status in statuses]
)
def test_a_status_is_judged(status: int, reason: Reason, event: Event) -> None:
    found = failure(DownloadResult(status=status))
    assert found is not None
    assert (found.reason, found.event, found.blank_address) == (reason, event, False)
    assert found.final == (event is not Event.FAILURE)


@pytest.mark.parametrize("fault", [fault for fault in DownloadFailure if fault is not DownloadFailure.CANCELLED])
def test_a_fault_keeps_its_name(fault: DownloadFailure) -> None:
    found = failure(DownloadResult(failure=fault))
    assert found is not None
    assert found.reason.word == fault.value
    assert found.event is (Event.REFUSAL if fault is DownloadFailure.SIZE else Event.FAILURE)
    assert found.blank_address == (fault in (DownloadFailure.CONNECT, DownloadFailure.TIMEOUT))


def test_a_fault_outweighs_the_status_before_it() -> None:
    found = failure(DownloadResult(status=200, failure=DownloadFailure.TRUNCATED))
    assert found is not None
    assert found.reason is Reason.TRUNCATED


def test_our_own_cancelling_is_nobodys_failure() -> None:
    with pytest.raises(KeyError):
        failure(DownloadResult(failure=DownloadFailure.CANCELLED))


def test_every_failure_leads_to_a_state_that_may_carry_its_reason() -> None:
    results = [DownloadResult(status=status) for status in range(1000)]
    results += [DownloadResult(failure=fault) for fault in DownloadFailure if fault is not DownloadFailure.CANCELLED]
    for found in [BAD_REDIRECT, *map(failure, results)]:
        if found is not None:
            assert found.reason in REASONS_OF[after(found.event, State.KNOWN)]
