"""A robots.txt that cannot be read: nothing is allowed at first, the last copy counts in the end."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import RobotsFact, RobotsStatus
from parcahyd.rules.backoff import LONGEST_WAIT
from parcahyd.rules.robots_patience import errand_again_at, stale_robots

WORK = WorkConf(RobotsPatience=1000.0, RobotsTtl=50.0, RetryDelay=10.0)
ERROR = RobotsFact(RobotsStatus.ERROR, b"", 5000.0, 5000.0, "HTTP 500")


def test_the_first_failure_notes_since_when() -> None:
    fact = stale_robots(ERROR, None, WORK)
    assert (fact.status, fact.failing_since) == (RobotsStatus.ERROR, 5000.0)
    read_before = RobotsFact(RobotsStatus.FOUND, b"User-agent: *", 10.0, 20.0)
    assert stale_robots(ERROR, read_before, WORK).failing_since == 5000.0


def test_until_patience_is_over_nothing_is_allowed() -> None:
    before = RobotsFact(RobotsStatus.ERROR, b"User-agent: *\nDisallow: /x", failing_since=4000.1)
    fact = stale_robots(ERROR, before, WORK)
    assert (fact.status, fact.failing_since) == (RobotsStatus.ERROR, 4000.1)


def test_after_it_the_last_copy_counts_for_a_while() -> None:
    before = RobotsFact(RobotsStatus.ERROR, b"User-agent: *\nDisallow: /x", failing_since=4000.0, delay=2.0)
    fact = stale_robots(ERROR, before, WORK)
    assert (fact.status, fact.text, fact.delay) == (RobotsStatus.STALE, before.text, 2.0)
    assert (fact.failing_since, fact.expires_at) == (4000.0, 5050.0)


def test_where_there_never_was_one_everything_is_allowed_then() -> None:
    fact = stale_robots(ERROR, RobotsFact(RobotsStatus.UNREACHABLE, failing_since=1.0), WORK)
    assert (fact.status, fact.text) == (RobotsStatus.STALE, b"")


def test_an_errand_waits_as_long_again_as_it_has_waited() -> None:
    def wait(since: float) -> float:
        return errand_again_at(RobotsFact(RobotsStatus.ERROR, b"", 5000.0, 5000.0, "", since), 7, WORK) - 5000.0

    assert 10.0 <= wait(5000.0) <= 12.5
    assert 400.0 <= wait(4600.0) <= 500.0
    assert LONGEST_WAIT <= wait(-1e9) <= 1.25 * LONGEST_WAIT
