"""Medians, spreads and ratios, as the tables show them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from bench.rounds import Outcome

__all__ = ["ratios", "spread"]


def spread(values: Sequence[float], form: str) -> str:
    """The median, with the smallest and the largest value where they look different."""
    low, middle, high = (form.format(value) for value in (min(values), statistics.median(values), max(values)))
    return middle if low == high else f"{middle} ({low}-{high})"


def ratios(runs: Sequence[Outcome], others: Sequence[Outcome]) -> list[float]:
    """Pages per second against another contender's in the same round, for each round in which both took part."""
    by_round = {other.number: other.pages_per_second for other in others}
    return [run.pages_per_second / by_round[run.number] for run in runs if run.number in by_round]
