"""The time of a URL's next visit, for each way in which a visit can end."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import Reason
from parcahyd.rules.backoff import grown, spread, wait_for_try

__all__ = ["NEVER", "Schedule"]

NEVER = 253_402_300_799.0
"""The last second of the year 9999: looked at again only when settings change."""

_GONE_AGAIN = 30 * 86400.0


class Schedule:
    """Answers with times since the epoch; `now` is handed in."""

    def __init__(self, work: WorkConf) -> None:
        self._revisit_after = work.RevisitAfter
        self._retry_delay = work.RetryDelay
        self._max_tries = work.MaxTries

    def stored(self, now: float) -> float:
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

    def spare_site(self, now: float, failures: int, site: int = 0) -> float:
        """Until when a site is left alone that was found unreachable `failures` times in a row."""
        return now + spread(grown(failures, self._retry_delay), site, failures)
