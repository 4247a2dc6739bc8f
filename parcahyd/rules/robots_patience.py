"""A robots.txt that cannot be read: what that means, and when it is tried again where it lies on another site."""

from __future__ import annotations

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import RobotsFact, RobotsStatus
from parcahyd.rules.backoff import LONGEST_WAIT, spread

__all__ = ["errand_again_at", "stale_robots"]


def stale_robots(fact: RobotsFact, before: RobotsFact | None, work: WorkConf) -> RobotsFact:
    """What a robots.txt that cannot be read means: nothing is allowed, but not for ever (RFC 9309, section 2.3.1.4).

    After RobotsPatience the last copy counts for a while, or, if there never was one, everything is allowed.
    """
    since = (before.failing_since if before is not None else 0.0) or fact.fetched_at
    if fact.fetched_at - since < work.RobotsPatience:
        return msgspec.structs.replace(fact, failing_since=since)
    text = before.text if before is not None else b""
    delay = before.delay if before is not None else 0.0
    detail = f"not read for {(fact.fetched_at - since) / 86400:.0f} days: {fact.detail}"
    return RobotsFact(RobotsStatus.STALE, text, fact.fetched_at, fact.fetched_at + work.RobotsTtl, detail, since, delay)


def errand_again_at(fact: RobotsFact, asker: int, work: WorkConf) -> float:
    """When a site asks again whose robots.txt lies on another site and could not be read there.

    It waits as long again as that has gone on, so the wait doubles: at least RetryDelay, at most a day.
    """
    waited = fact.fetched_at - fact.failing_since
    return fact.fetched_at + spread(min(max(waited, work.RetryDelay), LONGEST_WAIT), asker)
