"""Servers that ask for a pause, and addresses that do not answer, on a simulated clock and network."""

from __future__ import annotations

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.core.records import Assignment, DueUrl, PauseRecord, RobotsFact, RobotsStatus, SiteLease, VisitOver
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.server_pauses import LONGEST_WAIT
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.world import ADDRESS, World, page

_SILENCE = DownloadResult(failure=DownloadFailure.TIMEOUT)


def _busy(seconds: float) -> DownloadResult:
    return DownloadResult(503, (("Retry-After", f"{seconds:g}"),), peer=ADDRESS)


@pytest.mark.parametrize("seconds", [LONGEST_WAIT / 2, LONGEST_WAIT * 2])
def test_a_host_that_asks_for_a_pause_gets_it_at_once(seconds: float) -> None:
    world = World({"/": page("/busy", "/next"), "/busy": _busy(seconds), "/next": page()}, WorkConf(HostDelay=1.0))
    world.visit("/")
    (pause,) = world.of(PauseRecord)
    (over,) = world.of(VisitOver)
    host, address = pause.pauses
    assert (host.subject, host.reason) == ("host site.example", Reason.ASKED_TO_WAIT.word)
    assert host.not_before == over.not_before
    assert world.asked[-1][1].endswith("/busy"), "nothing is asked within the pause"
    assert host.not_before >= world.asked[-1][0] + seconds
    assert address.subject == f"address {ADDRESS}"
    assert address.not_before <= host.not_before, "the address has other sites, too"


@pytest.mark.parametrize(("retry_delay", "stay"), [(200.0, 0), (20.0, 3)])
def test_who_would_wait_for_long_at_a_silent_address_gives_up_its_place(retry_delay: float, stay: int) -> None:
    world = World({}, WorkConf(HostDelay=1.0, RetryDelay=retry_delay))
    world.site = dict.fromkeys([f"http://h{number}.example/{path}" for number in range(3) for path in range(9)], _SILENCE)
    robots = RobotsFact(RobotsStatus.ABSENT, b"", 900.0, 9000.0)
    urls = tuple(DueUrl(key_of(f"/{path}"), f"/{path}") for path in range(9))
    leases = [SiteLease(number, number, "http", f"h{number}.example", 80, urls, robots=robots) for number in range(3)]
    world.worker.accept([Assignment(lease, ADDRESS, (ADDRESS,), 9000.0, 100) for lease in leases])
    world.run(until=1010.0)
    assert len(world.asked) >= 10
    assert world.worker.open_visits == stay
    (silence,) = [pause for record in world.of(PauseRecord) for pause in record.pauses if pause.subject == f"address {ADDRESS}"]
    assert silence.not_before > 1000.0 + retry_delay
    assert [over.not_before for over in world.of(VisitOver)] == [silence.not_before] * (3 - stay)
