"""What a stored copy is worth after a while, and what a visit adds to that.

The measures are those of Cho and Garcia-Molina ("Effective page refresh policies for Web crawlers", 2003). A copy
is fresh until its page changes; its age counts from then. Everything here is an expectation under what is known of the page's
rate, so a page that is hardly known is not treated as if its rate were certain.
"""

from __future__ import annotations

from math import exp, expm1, log1p, sqrt

from parcahyd.refresh.change_rate import ChangeRate

__all__ = ["expected_age", "fresh_seconds", "gain", "interval_of_gain"]

_STEPS = 30
_CLOSE = 0.003
_SHORTEST = 1e-3
_TINY = 1e-5


def fresh_seconds(rate: ChangeRate, seconds: float) -> float:
    """For how many of the `seconds` since a check the copy is fresh."""
    weight, span, restless = rate
    if not seconds > 0:
        return 0.0
    power = log1p(seconds / span)
    lower = weight - 1
    steady = span * power if abs(lower) * power < _TINY else span * -expm1(-lower * power) / lower
    return (1 - restless) * min(seconds, steady)


def expected_age(rate: ChangeRate, seconds: float) -> float:
    """For how many seconds the page has been newer than its copy, `seconds` after a check."""
    return max(0.0, seconds - fresh_seconds(rate, seconds))


def gain(rate: ChangeRate, interval: float) -> float:
    """What one more visit adds to a page that is visited at this interval, in seconds of freshness.

    It grows with the interval. For a page that changes faster than it can be visited it stays small: visiting that one
    adds less than visiting a slow one, however often it changes.
    """
    weight, span, restless = rate
    share = interval / span
    if share < _TINY:
        return (1 - restless) * span * weight * share * share / 2
    return max(0.0, fresh_seconds(rate, interval) - (1 - restless) * interval * exp(-weight * log1p(share)))


def interval_of_gain(rate: ChangeRate, value: float, shortest: float, longest: float) -> float:
    """The interval, between the two bounds, at which a visit adds `value`. Visits add most when all pages have one value."""
    if not shortest < longest or gain(rate, shortest) >= value:
        return shortest
    if gain(rate, longest) <= value:
        return longest
    low, high, interval = shortest, longest, sqrt(2 * value * rate.span / (rate.weight * (1 - rate.restless)))
    for _ in range(_STEPS):
        if not low < interval < high:
            interval = sqrt(max(low, _SHORTEST) * high)
        missing = value - gain(rate, interval)
        if missing > 0:
            low = interval
        else:
            high = interval
        if abs(missing) < _CLOSE * value:
            break
        # Newton's step for the logarithm of the interval: its gain grows by interval * slope with it.
        share = interval / rate.span
        slope = (1 - rate.restless) * rate.weight * share * exp(-(rate.weight + 1) * log1p(share))
        interval *= exp(min(1.0, max(-1.0, missing / (interval * slope)))) if slope > 0 else 2.0
    return min(longest, max(shortest, interval))
