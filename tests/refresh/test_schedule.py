"""When a URL is due, for each way a visit can end."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import Reason
from parcahyd.refresh.schedule import Schedule


def test_times_follow_the_settings() -> None:
    schedule = Schedule(WorkConf(RevisitAfter=100.0, RetryDelay=10.0, MaxTries=3))
    for tries, seconds in ((1, 10.0), (2, 20.0), (3, 40.0)):
        assert 1000.0 + seconds <= schedule.retry(1000.0, Reason.RESET, tries) <= 1000.0 + 1.25 * seconds
    assert [schedule.is_last_try(tries) for tries in (1, 2, 3)] == [False, False, True]


def test_what_is_gone_is_looked_at_rarely_whatever_revisit_after_says() -> None:
    assert Schedule(WorkConf(RevisitAfter=0.0)).gone(0.0) == 30 * 86400.0
    assert Schedule(WorkConf(RevisitAfter=1e8)).gone(0.0) == 1e8
