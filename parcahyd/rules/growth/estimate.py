"""How many pages there will be in the end, with an interval: from how many URLs wait, and how many new ones pages bring.

Of `waiting` URLs each brings `rate` new ones, each of which brings as many: there are `waiting / (1 - rate)` more answers to
come. What nobody knows is the rate from now to the end. It is guessed from the rates of the last answers:

- likely, pages bring half as many as all three spans agree on. Where they agree on nearly one, that is a chain or a trap;
- at most, they bring as many as in the worse of the last eighth and quarter, and besides a part of the last half's rate and
  of the rate since the start; or what waits leads to a section that nobody has met yet, half as large as the geometric mean
  of what was answered and what waits. Most sites bring their URLs in such bursts;
- at least, no page brings another URL.

A rate of one or more is a queue that never becomes empty: no end is in sight. Which share of the answers will be pages is
known far less well than their number says, since dead links come in bursts, too. These numbers were chosen on some recorded
crawls and judged on others. docs/lab/progress.md has both, and where the estimate is wrong.

Tested in tests/rules/growth/test_estimate.py.
"""

from __future__ import annotations

import math

from parcahyd.core.progress import SizeEstimate
from parcahyd.rules.growth.discovery import Growth

__all__ = ["FEWEST", "estimate"]

FEWEST = 30
"""Answers before which nothing is said."""

_LIKELY = 0.5
_CHAIN = 0.9
_LAST_HALF = 0.3
_SINCE_START = 0.15
_SECTION = 0.5
_BURST = 60
"""Answers that tell as much of the share of pages as one would that came by chance."""
_MOST_TIMES = 100
"""So many times what is known is no number any more."""
_ONE_IN_TWENTY = 1.645


def estimate(growth: Growth) -> SizeEstimate | None:
    """None: not known yet. Where nothing waits, the end is reached and known."""
    pages, answered, waiting = growth.pages, growth.answered, growth.waiting
    if not waiting:
        return SizeEstimate(pages, pages, pages, pages) if answered else None
    if answered < FEWEST:
        return None
    eighth, quarter, half = growth.rates
    since_start = (answered + waiting) / answered
    fewest, share, most = _shares(pages, answered)
    agreed = min(growth.rates)
    coming = _coming(waiting, answered, _LIKELY * agreed if agreed < _CHAIN else 1.0)
    at_most = _coming(waiting, answered, max(eighth, quarter) + _LAST_HALF * half + _SINCE_START * since_start)
    if at_most is not None:
        at_most = max(at_most, waiting + _SECTION * math.sqrt(answered * waiting))
    return SizeEstimate(
        pages,
        pages + math.floor(fewest * waiting),
        None if coming is None else pages + round(share * coming),
        None if at_most is None else pages + math.ceil(most * at_most),
    )


def _coming(waiting: int, answered: int, rate: float) -> float | None:
    """How many answers are still to come; None: no end is in sight."""
    if rate >= 1:
        return None
    coming = waiting / (1 - rate)
    return coming if coming <= _MOST_TIMES * (answered + waiting) else None


def _shares(pages: int, answered: int) -> tuple[float, float, float]:
    """Which share of the answers are pages, with the bounds of Wilson's interval, in their order: lower, itself, upper."""
    share, drawn, square = pages / answered, answered / _BURST, _ONE_IN_TWENTY**2
    middle = share + square / (2 * drawn)
    half = _ONE_IN_TWENTY * math.sqrt(share * (1 - share) / drawn + square / (4 * drawn**2))
    return max(0.0, (middle - half) / (1 + square / drawn)), share, min(1.0, (middle + half) / (1 + square / drawn))
