"""The time of a URL's next visit, for each way in which a visit can end."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.states import Reason
from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.refresh.freshness import interval_of_gain
from parcahyd.rules.politeness.backoff import grown, spread, wait_for_try

__all__ = ["MEAN_EARLIER", "NEVER", "SETTINGS", "Revisits", "Schedule"]

NEVER = 253_402_300_799.0
"""The last second of the year 9999: looked at again only when settings change."""

SETTINGS = frozenset({"Work.RevisitAfter", "Work.RevisitMin", "Work.RevisitMax", "Work.RevisitsPerDay"})
"""When one of them differs from the last run's, the next visits of all stored pages are set anew."""

_GONE_AGAIN = 30 * 86400.0
_USUAL_GUESS = 86400.0
_DUE_WITH = 0.5
"""Without a budget, a page is due when it is as likely as not that it has changed."""

_SLOWEST = 10.0
"""No page is taken for slower than one change in so many times RevisitMax."""

_EARLIER = 0.1 / 65536
"""Visits are up to a tenth earlier than planned, by the low bits of the URL's key: what was stored together falls due apart."""

MEAN_EARLIER = 0.95
"""The mean of that, as a factor."""


class Schedule:
    """Visits that stored nothing. Answers with times since the epoch; `now` is handed in."""

    def __init__(self, work: WorkConf) -> None:
        self._revisit_after = work.RevisitAfter
        self._retry_delay = work.RetryDelay
        self._max_tries = work.MaxTries

    def again(self, now: float) -> float:
        """When something is looked at again that may have passed by then."""
        return now + self._revisit_after

    def gone(self, now: float) -> float:
        """Rarely: a month, or RevisitAfter if that is longer."""
        return now + max(_GONE_AGAIN, self._revisit_after)

    def is_last_try(self, tries: int) -> bool:
        """Whether a URL that has failed `tries` times in a row is out of tries."""
        return tries >= self._max_tries

    def retry(self, now: float, reason: Reason, tries: int, key: int = 0) -> float:
        """When a URL is tried again that failed `tries` times in a row, the last time for that reason."""
        return now + spread(wait_for_try(reason, tries, self._retry_delay), key, tries)

    def spare_site(self, now: float, failures: int, site: int = 0, cause: Reason | None = None) -> float:
        """Until when a site is left alone that was found unreachable `failures` times in a row, the last time for `cause`."""
        wait = grown(failures, self._retry_delay) if cause is None else wait_for_try(cause, failures, self._retry_delay)
        return now + spread(wait, site, failures)


class Revisits:
    """Visits to pages that are stored.

    `value` is what a visit must add to be worth its request, in seconds of freshness (`refresh.freshness.gain`). Without a
    budget there is none, and every page is due when it is as likely as not that it has changed.
    """

    def __init__(self, work: WorkConf) -> None:
        self.shortest = work.revisit_min
        self.longest = max(work.revisit_min, min(work.revisit_max, NEVER))
        self._guessed = work.RevisitAfter if 0 < work.RevisitAfter < NEVER else _USUAL_GUESS
        self.guess = ChangeRate.guess(self._guessed)
        self._after = work.RevisitAfter
        self._slowest = _SLOWEST * max(self.longest, 1.0)
        self._first = self.first_interval(None)
        self.value: float | None = None

    def set_value(self, value: float, mean_interval: float) -> None:
        """From now on a visit must add `value`; all pages together are visited after `mean_interval`, on average.

        Faster rates cannot be distinguished with so few visits, so the first guess is not faster either.
        """
        self.value = value
        self.guess = ChangeRate.guess(max(self._guessed, min(mean_interval, self.longest)))
        self._first = self.first_interval(value)

    def first(self, now: float, key: int) -> float:
        """When a page that was stored for the first time is due: after RevisitAfter, or later where the budget is small."""
        interval = self._first * (1 - (key & 65535) * _EARLIER)
        return now + (interval if interval > self.shortest else self.shortest)

    def following(self, now: float, key: int, rate: ChangeRate) -> float:
        """When a page that was checked again is due."""
        return now + max(self.shortest, self.interval(rate, self.value) * (1 - (key & 65535) * _EARLIER))

    def learn(self, rate: ChangeRate | None, seconds: float, changed: bool) -> ChangeRate:
        """The rate after a check that came so many seconds after the one before."""
        rate = rate or self.guess
        return rate.after_change(seconds) if changed else rate.after_quiet(seconds, self._slowest)

    def first_interval(self, value: float | None) -> float:
        first = min(self.longest, max(self.shortest, self._after))
        return first if value is None else max(first, self.interval(self.guess, value))

    def interval(self, rate: ChangeRate, value: float | None) -> float:
        """The seconds between two visits to a page."""
        if value is None:
            return min(self.longest, max(self.shortest, rate.changed_with(_DUE_WITH)))
        return interval_of_gain(rate, value, self.shortest, self.longest)
