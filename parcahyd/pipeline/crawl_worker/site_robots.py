"""The robots.txt of a visit's site: the copy that came with the pair, or the one that is asked for; and errands for others."""

from __future__ import annotations

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import Reason
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import Pair, RobotsFact, RobotsStatus
from parcahyd.pipeline.crawl_worker.answers import read_robots
from parcahyd.pipeline.crawl_worker.asks import Ask
from parcahyd.pipeline.crawl_worker.local_q import LocalQ
from parcahyd.pipeline.crawl_worker.respite import Respite
from parcahyd.pipeline.crawl_worker.scribe import Scribe
from parcahyd.rules.host_rules import HostSettings
from parcahyd.rules.politeness import Pace
from parcahyd.rules.retries import Failure, failure
from parcahyd.rules.robots import ALLOW_ALL, Robots
from parcahyd.rules.robots_patience import stale_robots

__all__ = ["SiteRobots"]

_HOPS = 5
"""RFC 9309, section 2.3.1.2: at least five redirects of robots.txt are followed."""


class SiteRobots:
    """Says what may be asked for, once it is known."""

    def __init__(self, pair: Pair, work: WorkConf, settings: HostSettings, pace: Pace, scribe: Scribe) -> None:
        self.rules: Robots | None = None
        """None while it is not known whether anything may be asked for."""
        self.fact: RobotsFact | None = None
        """What `rules` were read from, or why there are none."""
        self._cause: Reason | None = None
        """Why it could not be read."""
        self._pair = pair
        self._work = work
        self._user_agent = settings.user_agent
        self._pace = pace
        self._scribe = scribe

    @property
    def expires_at(self) -> float:
        return self.fact.expires_at if self.fact is not None else 0.0

    @property
    def text(self) -> bytes:
        """What stands in it; empty where nothing is known or nothing stands there."""
        return self.fact.text if self.fact is not None and self.rules is not None else b""

    def use_stored(self, now: float) -> bool:
        """Go by the copy that came with the pair, if it is fresh; whether it says what may be asked for."""
        fact = self._pair.robots
        if fact is not None and fact.expires_at > now:
            self._obey(fact)
        return self.rules is not None

    def answered(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> str:
        """Take an answer to robots.txt; gives the path where it is to be asked for instead, if it moved within the site."""
        origin = self._pair.origin
        fact, target = read_robots(result, failed, origin + ask.path, now, self._work.RobotsTtl)
        if target and ask.hops >= _HOPS:
            fact, target = RobotsFact(RobotsStatus.ABSENT, b"", now, now + self._work.RobotsTtl, "redirected too often"), ""
        if target.startswith(origin + "/"):
            return target[len(origin) :]
        if fact.status in (RobotsStatus.ERROR, RobotsStatus.UNREACHABLE):
            fact = stale_robots(fact, self._pair.robots, self._work)
        cause = failed or failure(result)
        self._cause = None if cause is None else cause.reason
        self._obey(fact)
        self._scribe.robots(self._with_delay(fact), target)
        return ""

    def fail(self, local_q: LocalQ, respite: Respite, now: float) -> None:
        """RFC 9309, section 2.3.1.4: nothing is fetched. A network error blanks the address (statement P17).

        When it is tried again depends on why it failed, as with every URL.
        """
        fact = self.fact
        if fact is None or fact.status is RobotsStatus.AWAITED:
            return
        network = fact.status is RobotsStatus.UNREACHABLE
        reason = Reason.ROBOTS_UNREACHABLE if network else Reason.ROBOTS_ERROR
        if local_q:  # Empty when the run is being stopped.
            self._scribe.no_robots(local_q.pop(), reason, self._cause, fact.detail, network, now)
        respite.give(reason, now, self._cause)

    def errand_answered(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        """Take an answer to the robots.txt that another site asked for."""
        errand = ask.errand
        assert errand is not None  # noqa: S101 - every errand ask has its errand
        fact, target = read_robots(result, failed, self._pair.origin + ask.path, now, self._work.RobotsTtl)
        self._scribe.errand(errand, self._with_delay(fact), target)

    def _obey(self, fact: RobotsFact) -> None:
        """Go by what is known of robots.txt, where it says whether anything may be asked for."""
        self.fact = fact
        if fact.status in (RobotsStatus.FOUND, RobotsStatus.STALE) and fact.text:
            self.rules = Robots.parse(fact.text, self._user_agent)
            if self.rules.crawl_delay is not None:
                self._pace.ask_for(min(self.rules.crawl_delay, self._work.MaxCrawlDelay))
        elif fact.status in (RobotsStatus.FOUND, RobotsStatus.ABSENT, RobotsStatus.STALE):
            self.rules = ALLOW_ALL

    def _with_delay(self, fact: RobotsFact) -> RobotsFact:
        if not fact.text:
            return fact
        return msgspec.structs.replace(fact, delay=Robots.parse(fact.text, self._user_agent).crawl_delay or 0.0)
