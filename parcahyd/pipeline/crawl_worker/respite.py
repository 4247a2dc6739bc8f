"""Respite: whether a visit's site is to be left alone for a while, for how long, and why."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import Reason
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import Pair
from parcahyd.refresh.schedule import Schedule
from parcahyd.rules.backoff import retry_after

__all__ = ["Respite"]

_FAULTS_IN_A_ROW = 5
"""So many requests without an answer, and the site is left alone for a while."""
_BUSY = frozenset((429, 503))
"""What servers answer that want to be left alone for a while."""


class Respite:
    """What one visit's answers say about it. Where a method gives True, the visit is to end."""

    __slots__ = ("_faults", "_longest", "_schedule", "_site", "asked_until", "failures", "reason", "until")

    def __init__(self, pair: Pair, work: WorkConf) -> None:
        self.failures = pair.failures
        """Visits in a row that found the site unreachable, or that it wished to be over."""
        self.until = 0.0
        self.reason: Reason | None = None
        self.asked_until = 0.0
        """Until when the server wants its host to be left alone, until the worker has taken note of it."""
        self._site = pair.site
        self._longest = work.MaxRetryAfter
        self._schedule = Schedule(work)
        self._faults = 0

    @property
    def word(self) -> str:
        return self.reason.word if self.reason is not None else ""

    def answered(self, with_page: bool) -> None:
        """Somebody is at home."""
        self._faults = 0
        if with_page:
            self.failures = 0

    def fault(self, now: float) -> bool:
        """A request got no answer that is of any use."""
        self._faults += 1
        if self._faults < _FAULTS_IN_A_ROW:
            return False
        self.give(Reason.UNREACHABLE_SITE, now)
        return True

    def heed(self, result: DownloadResult, now: float) -> bool:
        """Whether the server wants to be left alone: its host for as long as it says; where a 429 does not say, the site,
        longer every time."""
        if result.status not in _BUSY:
            return False
        seconds = retry_after(result.header("retry-after"), now)
        if seconds is None:
            if result.status != 429:
                return False  # An error like others.
            failures = self.failures + (self.reason is None)
            self._spare(Reason.ASKED_TO_WAIT, self._schedule.spare_site(now, failures, self._site))
            return True
        until = now + min(seconds, self._longest)
        self.asked_until = max(self.asked_until, until)
        self._spare(Reason.ASKED_TO_WAIT, until)
        return True

    def give(self, reason: Reason, now: float, cause: Reason | None = None) -> None:
        """Leave the site alone for a while that grows with every visit that ends like this."""
        self._spare(reason, self._schedule.spare_site(now, self.failures + 1, self._site, cause))

    def extend(self, until: float) -> None:
        """Its host or address is to be left alone until then, without blame."""
        self.until = max(self.until, until)

    def _spare(self, reason: Reason, until: float) -> None:
        if self.reason is None:
            self.failures += 1
        if self.reason is None or reason is Reason.ASKED_TO_WAIT:
            self.reason = reason
        self.extend(until)
