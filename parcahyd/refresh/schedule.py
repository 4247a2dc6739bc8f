"""The time of a URL's next visit, for each way in which a visit can end."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.rules.retries import retry_after

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

    def retry(self, now: float, tries: int) -> float:
        return now + retry_after(tries, self._retry_delay)

    def spare_site(self, now: float, failures: int) -> float:
        """Until when a site is left alone that was found unreachable `failures` times in a row."""
        return now + retry_after(failures, self._retry_delay)
