"""Can a site's `lastmod` be believed? Once it has foretold changes: one trust for each site, learnt from what fetches found.

Some sites keep `lastmod` with care; many stamp every page with the time at which the sitemap was made, or never change it. So
what the sitemap said before a fetch is compared with what the fetch found:

| `lastmod` against our copy | the page had changed | it had not |
|---|---|---|
| later | foretold | false alarm |
| older | missed, unless the sitemap was read long before | says nothing: most pages do not change |

Once it is trusted, a page whose `lastmod` is later than our copy is due at once, and one whose `lastmod` is not need not be
fetched until RevisitMax is over. All fetches go on testing it, so trust that is no longer deserved is lost. Old observations
fade: a site may change its ways.

`lastmod` comes from `rules.sitemaps.dates`, where a date without a time is its first second in UTC. A midnight is
therefore taken for a whole day somewhere on earth, and compared only outside that day. Dates of feeds should not be
observed: those of RSS say when a page was published.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

__all__ = ["Comparison", "LastmodTrust", "compare"]

_DAY = 86_400.0
_ZONES_BEHIND = 12 * 3600.0
_ZONES_AHEAD = 14 * 3600.0
_CLOCKS_DIFFER = 60.0

_ENOUGH = 4  # changes that must have been foretold: fewer may be chance
_PER_MISS = 16  # changes that must have been foretold for each that was not
_LATELY = 0.1  # of the time between two fetches: what changed since a sitemap was read, it could not foretell
_MEMORY = 127  # observations before all counts are halved; each count then fits into seven bits


class Comparison(Enum):
    """What a `lastmod` says about a copy of ours."""

    LATER = "the page changed after our copy was made"
    OLDER = "our copy is of the page as it is"
    NOTHING = "it is missing, in the future, or too coarse"


def compare(lastmod: float | None, copied: float, now: float) -> Comparison:
    """Compares a `lastmod`, read at `now`, with a copy that was asked for at `copied`; all in seconds since the epoch."""
    if lastmod is None or lastmod > now + _ZONES_AHEAD:
        return Comparison.NOTHING
    first, last = lastmod - _CLOCKS_DIFFER, lastmod + _CLOCKS_DIFFER
    if lastmod % _DAY == 0.0:
        first, last = lastmod - _ZONES_AHEAD, lastmod + _DAY + _ZONES_BEHIND
    if last <= copied:
        return Comparison.OLDER
    return Comparison.LATER if first > copied else Comparison.NOTHING


class LastmodTrust(NamedTuple):
    """How often a site's `lastmod` was right and wrong."""

    foretold: int = 0
    false_alarms: int = 0
    missed: int = 0

    @property
    def is_trusted(self) -> bool:
        """It has foretold changes, hardly missed one, and at most half of its announcements were false alarms."""
        return self.foretold >= max(_ENOUGH, _PER_MISS * self.missed, self.false_alarms)

    def observe(
        self, lastmod: float | None, copied: float, now: float, *, changed: bool, read: float | None = None
    ) -> LastmodTrust:
        """The trust after a fetch at `now` of a page that we had copied at `copied`, and whose `lastmod` was known before.

        `read` is when the sitemap was read; None: just before.
        """
        verdict = compare(lastmod, copied, now)
        if verdict is Comparison.NOTHING or (verdict is Comparison.OLDER and not changed):
            return self
        if verdict is Comparison.OLDER and read is not None and now - read > _LATELY * (now - copied):
            return self
        if verdict is Comparison.OLDER:
            return LastmodTrust(self.foretold, self.false_alarms, self.missed + 1)._faded()
        return LastmodTrust(self.foretold + changed, self.false_alarms + (not changed), self.missed)._faded()

    def due_at(
        self, ordinary: float, lastmod: float | None, copied: float, now: float, revisit_min: float, revisit_max: float
    ) -> float:
        """When a page is due that would be due at `ordinary`.

        An unchanged page is due when its copy is `revisit_max` seconds old. A changed one is due since its `lastmod`, but not
        before its copy is `revisit_min` seconds old.
        """
        if not self.is_trusted or lastmod is None:
            return ordinary
        verdict = compare(lastmod, copied, now)
        if verdict is Comparison.OLDER:
            return max(ordinary, copied + revisit_max)
        return min(ordinary, max(min(lastmod, now), copied + revisit_min)) if verdict is Comparison.LATER else ordinary

    def encode(self) -> int:
        """All three counts as one number below 2 ** 21, for a column; 0 is a site of which nothing is known."""
        return self.foretold | self.false_alarms << 7 | self.missed << 14

    @classmethod
    def decode(cls, number: int) -> LastmodTrust:
        """What `encode` gave; bits of anything else are cut off."""
        return cls(number & 127, number >> 7 & 127, number >> 14 & 127)

    def _faded(self) -> LastmodTrust:
        """A miss is halved upwards: it weighs most, and one that was seen must not vanish at once."""
        if sum(self) <= _MEMORY:
            return self
        return LastmodTrust(self.foretold // 2, self.false_alarms // 2, (self.missed + 1) // 2)
