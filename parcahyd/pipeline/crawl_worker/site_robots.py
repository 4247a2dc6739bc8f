"""The robots.txt of a visit's site: the copy that came with the lease, or the one that the visit requests.

A visit also requests the files of this site that the robots.txt of other sites redirect to.
"""

from __future__ import annotations

from math import inf

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import RobotsFact, RobotsStatus, SiteLease
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.backoff import SiteBackoff
from parcahyd.pipeline.crawl_worker.local_q import LocalQ
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest, redirect_target
from parcahyd.pipeline.crawl_worker.record_writer import RecordWriter
from parcahyd.rules.politeness.backoff import REDIRECTS, Failure, failure
from parcahyd.rules.politeness.rate_limit import Pace
from parcahyd.rules.robots.robots_file import ALLOW_ALL, MAX_ROBOTS, SCHEMES_WITH_ROBOTS, Robots, stale_robots
from parcahyd.rules.urls.host_rules import HostSettings

__all__ = ["SiteRobots"]

_HOPS = 5
"""RFC 9309, section 2.3.1.2: at least five redirects of robots.txt are followed."""


class SiteRobots:
    """Reads and obeys robots.txt for one visit."""

    def __init__(self, lease: SiteLease, work: WorkConf, settings: HostSettings, pace: Pace, writer: RecordWriter) -> None:
        self.rules: Robots | None = None
        """None while it is not known whether anything may be requested."""
        self.fact: RobotsFact | None = None
        """The file that `rules` were read from, or why there is none."""
        self.answer: tuple[float, int] | None = None
        """The seconds that the last answer took, and its bytes; None while no request was answered."""
        self._cause: Reason | None = None
        """Why it could not be read."""
        self._lease = lease
        self._work = work
        self._user_agent = settings.user_agent
        self._is_ignored = settings.ignores_robots
        self._pace = pace
        self._writer = writer

    @property
    def expires_at(self) -> float:
        return self.fact.expires_at if self.fact is not None else 0.0

    @property
    def text(self) -> bytes:
        """The text of the file; empty while it is not known."""
        return self.fact.text if self.fact is not None and self.rules is not None else b""

    def use_stored(self, now: float) -> bool:
        """Obey the copy that came with the lease, if it has not expired; returns whether there are `rules` now."""
        fact = self._lease.robots
        if self._lease.scheme not in SCHEMES_WITH_ROBOTS:
            fact = RobotsFact(RobotsStatus.ABSENT, b"", now, inf)
        if fact is not None and fact.expires_at > now:
            self._obey(fact)
        return self.rules is not None

    def answered(self, request: PlannedRequest, result: DownloadResult, failed: Failure | None, now: float) -> str:
        """Handle the answer to a request of robots.txt; returns the path of the next one, if it redirects within the site."""
        if result.failure is None:
            self.answer = request.seconds, len(result.body)
        origin = self._lease.origin
        fact, target = _read_robots(result, failed, origin + request.path, now, self._work.RobotsTtl)
        if target and request.hops >= _HOPS:
            fact, target = RobotsFact(RobotsStatus.ABSENT, b"", now, now + self._work.RobotsTtl, "redirected too often"), ""
        if target.startswith(origin + "/"):
            return target[len(origin) :]
        if fact.status in (RobotsStatus.ERROR, RobotsStatus.UNREACHABLE):
            fact = stale_robots(fact, self._lease.robots, self._work)
        cause = failed or failure(result)
        self._cause = None if cause is None else cause.reason
        self._obey(fact)
        self._writer.robots(self._with_delay(fact), target, request.path, result)
        return ""

    def record_failure(self, local_q: LocalQ, backoff: SiteBackoff, now: float) -> None:
        """Back off where robots.txt could not be read: nothing is requested then (RFC 9309, section 2.3.1.4).

        A network error blanks the address (statement P17). The failure decides when the file is requested again, as with every
        URL.
        """
        fact = self.fact
        if fact is None or fact.status is RobotsStatus.AWAITED:
            return
        network = fact.status is RobotsStatus.UNREACHABLE
        reason = Reason.ROBOTS_UNREACHABLE if network else Reason.ROBOTS_ERROR
        if local_q:  # Empty when the run is being stopped.
            self._writer.no_robots(local_q.pop(), reason, self._cause, fact.detail, network, now)
        backoff.back_off(reason, now, self._cause)

    def redirect_answered(self, request: PlannedRequest, result: DownloadResult, failed: Failure | None, now: float) -> None:
        """Handle the answer to a request that was made because the robots.txt of another site redirects there."""
        fact, target = _read_robots(result, failed, self._lease.origin + request.path, now, self._work.RobotsTtl)
        fact = self._with_delay(fact)
        for redirect in request.robots_redirects:
            self._writer.robots_redirect(redirect, fact, target)

    def _obey(self, fact: RobotsFact) -> None:
        """Set `rules`, if the file is there or known to be absent."""
        self.fact = fact
        if fact.status in (RobotsStatus.FOUND, RobotsStatus.STALE) and fact.text:
            rules = Robots.parse(fact.text, self._user_agent)
            self.rules = rules.without_rules() if self._is_ignored else rules
            if self.rules.crawl_delay is not None:
                self._pace.ask_for(min(self.rules.crawl_delay, self._work.MaxCrawlDelay))
        elif fact.status in (RobotsStatus.FOUND, RobotsStatus.ABSENT, RobotsStatus.STALE):
            self.rules = ALLOW_ALL

    def _with_delay(self, fact: RobotsFact) -> RobotsFact:
        if not fact.text:
            return fact
        return msgspec.structs.replace(fact, delay=Robots.parse(fact.text, self._user_agent).crawl_delay or 0.0)


def _read_robots(result: DownloadResult, failed: Failure | None, url: str, now: float, ttl: float) -> tuple[RobotsFact, str]:
    """What an answer to robots.txt means (RFC 9309, section 2.3.1), and where it redirects to, if it does."""
    if failed is not None or result.failure is not None:
        reason = failed.reason.sentence if failed is not None else result.detail
        return RobotsFact(RobotsStatus.UNREACHABLE, b"", now, now, reason), ""
    status = result.status
    if status in REDIRECTS and (target := redirect_target(result, url)):
        return RobotsFact(RobotsStatus.AWAITED, b"", now, now, f"redirects to {target}"), target
    if 200 <= status < 300:
        return RobotsFact(RobotsStatus.FOUND, result.body[:MAX_ROBOTS], now, now + ttl), ""
    if status == 429 or status >= 500:
        return RobotsFact(RobotsStatus.ERROR, b"", now, now, f"HTTP {status}"), ""
    return RobotsFact(RobotsStatus.ABSENT, b"", now, now + ttl, f"HTTP {status}"), ""
