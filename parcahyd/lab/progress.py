"""Is the estimate of a crawl's size right? Recorded crawls are replayed, and stopped at shares of their pages (statement C15).

At each stop the estimator of `parcahyd status` is told what the crawler's database would know then, and no more. The rivals are
told the same, and the last one also how many links were met, which no database keeps.

Tested in tests/lab/test_progress.py.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from parcahyd.core.progress import SizeEstimate
from parcahyd.lab.data import DataFile
from parcahyd.lab.replay import Replay
from parcahyd.lab.report import LabRow, LabTable
from parcahyd.rules.growth.discovery import Growth, growth_of
from parcahyd.rules.growth.estimate import estimate

__all__ = ["SHARES", "Stop", "estimates_table", "methods_table", "stops"]

SHARES = (0.10, 0.25, 0.50, 0.75)


class Stop(msgspec.Struct, frozen=True):
    """A crawl that was stopped at a share of its pages."""

    crawl: str
    start: str
    seed: int
    share: float
    truth: int
    """Its pages in the end."""
    growth: Growth
    links_met: int
    """By the last quarter of the answers."""
    found: int
    """Those of them that led to URLs that nobody had met before."""
    estimate: SizeEstimate | None

    @property
    def is_inside(self) -> bool:
        """Whether the truth lies in the interval; it does not where there is none yet."""
        made = self.estimate
        return made is not None and made.least <= self.truth and (made.most is None or self.truth <= made.most)


def stops(crawl: str, seed: int, walk: Replay) -> list[Stop]:
    """One for each of the SHARES."""
    return [_stop(crawl, seed, walk, share) for share in SHARES]


def _stop(crawl: str, seed: int, walk: Replay, share: float) -> Stop:
    truth = walk.pages[-1]
    answered = bisect_left(walk.pages, share * truth)
    known = bisect_right(walk.found_at, answered)
    begin = answered - answered // 4
    growth = growth_of(walk.pages[answered], answered, known - answered, walk.found_at[:known], range(1, answered + 1))
    met, found = walk.links_met[answered] - walk.links_met[begin], known - bisect_right(walk.found_at, begin)
    return Stop(crawl, walk.start, seed, share, truth, growth, met, found, estimate(growth))


# --- ways to estimate ---------------------------------------------------------------------------------------------------

_Way = Callable[[Stop], float | None]


def _ours(stop: Stop) -> float | None:
    return None if stop.estimate is None else stop.estimate.likely


def _known(stop: Stop) -> float | None:
    """What is known is all that there is."""
    growth = stop.growth
    return _with_pages(growth, growth.waiting)


def _constant_rate(stop: Stop) -> float | None:
    """Pages go on bringing as many new URLs as those of the last quarter."""
    growth, rate = stop.growth, stop.growth.rates[1]
    return _with_pages(growth, growth.waiting / (1 - rate)) if rate < 1 else None


def _capture_recapture(stop: Stop) -> float | None:
    """Of all URLs, the share is known that links of the last quarter lead to (coverage after Good and Turing)."""
    growth = stop.growth
    coverage = 1 - stop.found / max(stop.links_met, 1)
    return _with_pages(growth, (growth.answered + growth.waiting) / coverage - growth.answered) if coverage > 0 else None


def _with_pages(growth: Growth, coming: float) -> float:
    return growth.pages + growth.pages / max(growth.answered, 1) * coming


_WAYS: tuple[tuple[str, str, _Way], ...] = (
    ("PARCAHYD", "ours", _ours),
    ("known URLs only", "rival", _known),
    ("constant new-link rate", "rival", _constant_rate),
    ("capture-recapture", "rival", _capture_recapture),
)


# --- tables -------------------------------------------------------------------------------------------------------------


def estimates_table(found: Sequence[Stop], data: tuple[DataFile, ...], command: str, seed: int) -> LabTable:
    """A row for each crawl, as it went from its first start."""
    first = [stop for stop in found if stop.seed == seed]
    rows = []
    for crawl in dict.fromkeys(stop.crawl for stop in first):
        of_crawl = [stop for stop in first if stop.crawl == crawl]
        figures = {f"likely at {stop.share:.0%}": stop.estimate.likely for stop in of_crawl if stop.estimate is not None}
        rows.append(
            LabRow(
                crawl,
                "ours",
                (f"{of_crawl[0].truth:,}", *map(_cell, of_crawl)),
                {"truth": of_crawl[0].truth, **{name: value for name, value in figures.items() if value is not None}},
            )
        )
    heading = ("pages in the end", *(f"estimate at {share:.0%}" for share in SHARES))
    note = (
        "A cell has the likely number of pages in the end, and in brackets the interval that should have the truth in nine "
        "cases of ten; `any` stands for no upper bound. A cell in *italics* has it not."
    )
    return LabTable("progress", "Estimates of a crawl's size", heading, tuple(rows), command, seed, 1, data, (note,))


def _cell(stop: Stop) -> str:
    made = stop.estimate
    if made is None:
        return "not known yet"
    likely = "no end in sight" if made.likely is None else f"{made.likely:,}"
    text = f"{likely} ({made.least:,} to {'any' if made.most is None else f'{made.most:,}'})"
    return text if stop.is_inside else f"*{text}*"


def methods_table(found: Sequence[Stop], data: tuple[DataFile, ...], command: str, seed: int, runs: int) -> LabTable:
    """Every way to estimate, over all crawls and starts; and how often our interval had the truth."""
    rows = [
        LabRow(name, whose, tuple(cell for share in SHARES for cell in _errors(_at(found, share), way)))
        for name, whose, way in _WAYS
    ]
    inside = [cell for share in SHARES for cell in _intervals(_at(found, share))]
    rows.append(LabRow("truth in our interval, upper bound known", "ours", tuple(inside)))
    heading = tuple(f"{what} at {share:.0%}" for share in SHARES for what in ("error", "made"))
    made = [stop for stop in found if stop.estimate is not None]
    bounded = [stop for stop in made if stop.estimate is not None and stop.estimate.most is not None]
    crawls = len({stop.crawl for stop in found})
    errors = (
        f"Of {crawls} crawls, {len(found)} stops. Error: median factor between estimate and truth, and the worst; "
        "1.00 is right. Made: at how many of the stops the way gives a number."
    )
    intervals = (
        f"An interval was given at {len(made)} of {len(found)} stops, and had the truth at {_share(made)}. "
        f"Of the {len(bounded)} with an upper bound, {_share(bounded)} had it."
    )
    return LabTable("methods", "Ways to estimate", heading, tuple(rows), command, seed, runs, data, (errors, intervals))


def _at(found: Iterable[Stop], share: float) -> list[Stop]:
    return [stop for stop in found if stop.share == share]


def _errors(found: Sequence[Stop], way: _Way) -> Iterator[str]:
    factors = [math.exp(abs(math.log(likely / stop.truth))) for stop in found if (likely := way(stop))]
    yield f"{statistics.median(factors):.2f} ({max(factors):.2f})" if factors else "-"
    yield f"{len(factors)} of {len(found)}"


def _intervals(found: Sequence[Stop]) -> Iterator[str]:
    yield _share([stop for stop in found if stop.estimate is not None])
    yield f"{sum(stop.estimate is not None and stop.estimate.most is not None for stop in found)} of {len(found)}"


def _share(found: Sequence[Stop]) -> str:
    inside = sum(stop.is_inside for stop in found)
    return f"{inside} of {len(found)} ({inside / len(found):.0%})" if found else "none"
