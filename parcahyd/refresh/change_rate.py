"""How often a page changes, estimated from its checks.

Changes are taken for a Poisson process (Cho and Garcia-Molina, "Estimating frequency of change", 2003). A check does not count
changes: it says whether there was at least one since the last check, after intervals of every length. What is known about
the rate is kept as a gamma distribution, so that few checks give a broad one around the first guess and many a narrow one. A
check that found nothing new makes it another gamma distribution exactly; one that found a change is put back into that form
with its mean and variance kept. With equal intervals and many checks the mean is near that of their estimator.

Kept beside it is the probability that the page is restless: other bytes at every request, however soon it is asked for again. A
gamma distribution around a sensible guess has no room for that, and a crawl that took such a page for one that could be
followed would waste its visits on it. It stays a probability, because giving up a page wrongly costs more than a few visits.

Old checks fade: a page that begins or stops to change is noticed after some ten checks, however many it had before.
"""

from __future__ import annotations

from math import exp, expm1, inf, log1p
from typing import NamedTuple

__all__ = ["ChangeRate"]

_FADES_TO = 0.95
"""The part of old checks that remains after one that is worth as much as a counted change: about twenty are remembered."""

_LEAST_WEIGHT, _MOST_WEIGHT = 1.0, 1e3
_LEAST_SPAN, _MOST_SPAN = 1e-3, 1e12
_RESTLESS, _LEAST_RESTLESS, _MOST_RESTLESS = 0.02, 0.01, 0.8
_QUIET_ALL_THE_SAME = 0.02
"""How often a restless page gives the same bytes twice."""

_NO_TIME = 1e-9
"""Seconds between two checks below which the second says nothing, and of which numbers are too small to be divided by."""
_CERTAIN = 50.0
_GONE_THROUGH = 50
"""Checks of a summary: more would have faded."""


class ChangeRate(NamedTuple):
    """A gamma distribution of the rate: as if `weight` changes had been counted in `span` seconds."""

    weight: float
    span: float
    restless: float = _RESTLESS
    """The probability that the page is restless, and the rest does not hold for it."""

    @classmethod
    def of(cls, weight: float, span: float, restless: float = _RESTLESS) -> ChangeRate:
        """From unchecked numbers, such as those of a damaged database; a number out of range becomes the nearest in range."""
        return cls(
            _within(weight, _LEAST_WEIGHT, _MOST_WEIGHT),
            _within(span, _LEAST_SPAN, _MOST_SPAN),
            _within(restless, _LEAST_RESTLESS, _MOST_RESTLESS),
        )

    @classmethod
    def guess(cls, seconds: float) -> ChangeRate:
        """The rate before any second check: after `seconds` the page has changed with a probability of one half."""
        return cls.of(_LEAST_WEIGHT, seconds)

    @classmethod
    def from_counts(cls, guess: ChangeRate, checks: int, changes: int, seconds: float) -> ChangeRate:
        """From a summary alone: how many checks, the first included, found how many changes in so many seconds.

        Nothing is known of the single intervals, so they are taken for equal.
        """
        again = checks - 1
        if again <= 0 or not seconds > 0:
            return guess
        rate, each, share = guess, seconds / again, min(max(changes, 0), again) / again
        for number in range(min(again, _GONE_THROUGH)):
            is_change = int((number + 1) * share + 1e-9) > int(number * share + 1e-9)
            rate = rate.after_change(each) if is_change else rate.after_quiet(each, inf)
        return rate

    @property
    def per_second(self) -> float:
        """The mean of the rate, unless the page is restless."""
        return self.weight / self.span

    def after_quiet(self, seconds: float, slowest: float) -> ChangeRate:
        """After a check that found nothing new since the last, so many seconds before.

        A page that never changes is taken for one that changes every `slowest` seconds, to be believed soon if it begins to.
        """
        if not seconds > _NO_TIME:
            return self
        weight, span, restless = self._faded(seconds)
        quiet = (1 - restless) * exp(-weight * log1p(seconds / span))
        all_the_same = restless * _QUIET_ALL_THE_SAME
        span = min(span + seconds, weight * slowest)
        return ChangeRate.of(weight, span, all_the_same / (all_the_same + quiet))

    def after_change(self, seconds: float) -> ChangeRate:
        """After a check that found a change since the last, so many seconds before."""
        if not seconds > _NO_TIME:
            return self
        weight, span, restless = self._faded(seconds)
        # The moments of a gamma distribution times 1 - exp(-rate * seconds), each relative to those without that factor.
        power = log1p(seconds / span)
        none = expm1(-weight * power)
        first = expm1(-(weight + 1) * power) / none
        second = expm1(-(weight + 2) * power) / none
        mean = first * weight / span
        spread = (weight + 1) / weight * second / (first * first) - 1  # variance by squared mean
        sharper = _within(1 / spread if spread > 0 else inf, weight, weight + 1)
        return ChangeRate.of(sharper, sharper / mean, restless / (restless - (1 - restless) * none))

    def _faded(self, seconds: float) -> ChangeRate:
        """With less confidence and the same mean, in the measure in which the next check adds knowledge.

        That is its Fisher information about the rate's logarithm: little if it comes so soon that a change is unlikely, or so
        late that one is certain.
        """
        expected = seconds * self.per_second
        if self.weight <= _LEAST_WEIGHT or expected > _CERTAIN:
            return self
        kept = max(_FADES_TO ** (expected * expected / expm1(expected)), _LEAST_WEIGHT / self.weight)
        return ChangeRate(self.weight * kept, self.span * kept, self.restless)

    def unchanged_for(self, seconds: float) -> float:
        """The probability that nothing changes within so many seconds."""
        return (1 - self.restless) * exp(-self.weight * log1p(seconds / self.span)) if seconds > 0 else 1.0

    def changed_with(self, probability: float) -> float:
        """After how many seconds the page has changed with that probability (less than 1), unless it is restless."""
        return self.span * expm1(-log1p(-probability) / self.weight)


def _within(value: float, least: float, most: float) -> float:
    """The value, or the nearest possible one; the least one for NaN."""
    return most if value > most else max(least, value) if value > least else least
