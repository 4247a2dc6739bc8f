"""What becomes of a URL whose request gave no document."""

from __future__ import annotations

import pytest

from parcahyd.core.life_cycle import REASONS_OF, Event, Reason, State, after
from parcahyd.core.ports import DownloadFault, DownloadResult
from parcahyd.rules.retries import BAD_REDIRECT, REDIRECTS, failure


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


@pytest.mark.parametrize("fault", [fault for fault in DownloadFault if fault is not DownloadFault.CANCELLED])
def test_a_fault_keeps_its_name(fault: DownloadFault) -> None:
    found = failure(DownloadResult(fault=fault))
    assert found is not None
    assert found.reason.word == fault.value
    assert found.event is (Event.REFUSAL if fault is DownloadFault.SIZE else Event.FAILURE)
    assert found.blank_address == (fault in (DownloadFault.CONNECT, DownloadFault.TIMEOUT))


def test_a_fault_outweighs_the_status_before_it() -> None:
    found = failure(DownloadResult(status=200, fault=DownloadFault.TRUNCATED))
    assert found is not None
    assert found.reason is Reason.TRUNCATED


def test_our_own_cancelling_is_nobodys_failure() -> None:
    with pytest.raises(KeyError):
        failure(DownloadResult(fault=DownloadFault.CANCELLED))


def test_every_failure_leads_to_a_state_that_may_carry_its_reason() -> None:
    results = [DownloadResult(status=status) for status in range(1000)]
    results += [DownloadResult(fault=fault) for fault in DownloadFault if fault is not DownloadFault.CANCELLED]
    for found in [BAD_REDIRECT, *map(failure, results)]:
        if found is not None:
            assert found.reason in REASONS_OF[after(found.event, State.KNOWN)]
