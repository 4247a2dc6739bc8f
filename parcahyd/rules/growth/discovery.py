"""How fast pages bring new URLs: the rates of the last answers, from the times at which URLs were found and answered.

Tested in tests/rules/growth/test_discovery.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

__all__ = ["Growth", "growth_of"]

SPANS = (8, 4, 2)
"""The last eighth, quarter and half of the answers: what a page brings changes as a crawl goes on, and never evenly."""


class Growth(msgspec.Struct, frozen=True):
    """What is known of a crawl, or of one site, that is under way."""

    pages: int
    """Answers that are pages."""
    answered: int
    """URLs that were asked for and need not be asked for again."""
    waiting: int
    """URLs that are known and were not answered yet."""
    rates: tuple[float, float, float]
    """New URLs for each answer, in the last eighth, quarter and half of the answers."""


def growth_of(pages: int, answered: int, waiting: int, found_at: Sequence[float], answered_at: Sequence[float]) -> Growth:
    """Of the times at which URLs were found, and those at which they were answered, both ascending.

    The times may be those of a fair sample of the URLs; the counts are those of all.
    """
    now, known = len(answered_at), len(found_at)
    rates = [0.0, 0.0, 0.0]
    for place, part in enumerate(SPANS):
        span = max(1, now // part)
        if now > span:
            rates[place] = (known - bisect_right(found_at, answered_at[now - span - 1])) / span
    return Growth(pages, answered, waiting, (rates[0], rates[1], rates[2]))
