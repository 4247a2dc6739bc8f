"""How fresh a collection stays: the scheduler against other ways to spend the same requests, on a simulated clock.

    python bench/freshness.py [--pages N] [--days N] [--visits N] [--seed N] [--store]

Pages change at rates that only this program knows. `scheduler` learns them from its visits; with `--store` the same is done
by the store itself, on SQLite, with leases and records as in a crawl. `uniform` visits all pages equally often, `proportional`
in the measure in which they change, and `all-knowing` is the best that is possible to who knows every rate from the beginning.
The first quarter of the time, in which the scheduler knows little, does not count.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.changing_pages import DAY, DISTRIBUTIONS, ChangingPages, Visits
from parcahyd.config.schema import WorkConf
from parcahyd.refresh.budget import Allowance, Budget
from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.refresh.freshness import interval_of_gain
from parcahyd.refresh.schedule import Revisits
from parcahyd.rules.urls.canonical_url import key_of

__all__ = ["all_knowing", "pages_of", "proportional", "scheduled", "settings", "uniform"]

_UNCOUNTED = 0.25
_VISITS = (0.2, 0.5, 1.0)


def pages_of(distribution: str, pages: int, days: float, seed: int) -> ChangingPages:
    dice = random.Random(seed)
    return ChangingPages([DISTRIBUTIONS[distribution](dice) / DAY for _ in range(pages)], days * DAY, seed)


def settings(per_day: int) -> WorkConf:
    return WorkConf(RevisitsPerDay=per_day, RevisitMin=3600.0, RevisitMax=30 * DAY)


# --- schedules that need no history -------------------------------------------------------------------------------------


def _at_intervals(pages: ChangingPages, intervals: Sequence[float]) -> Visits:
    """Each page after every such interval, beginning somewhere within the first."""
    found = []
    for page, interval in enumerate(intervals):
        times, at = [0.0], interval * (page * 0.618 % 1)
        while at < pages.seconds:
            times.append(at)
            at += interval
        found.append(times)
    return found


def uniform(pages: ChangingPages, per_day: int) -> Visits:
    return _at_intervals(pages, [len(pages) * DAY / per_day] * len(pages))


def proportional(pages: ChangingPages, per_day: int) -> Visits:
    total = sum(pages.rates)
    return _at_intervals(pages, [total / (rate * per_day) * DAY if rate else pages.seconds for rate in pages.rates])


def all_knowing(pages: ChangingPages, per_day: int) -> Visits:
    """The most that any schedule of equal intervals can reach: the same gain for every page, with certain rates."""
    certain = [ChangeRate(1e3, 1e3 / max(rate, 1e-12), 0.0) for rate in pages.rates]

    def intervals(value: float) -> list[float]:
        return [interval_of_gain(rate, value, 3600.0, 30 * DAY) for rate in certain]

    low, high = 1e-3, 1e9
    for _ in range(40):
        value = (low * high) ** 0.5
        if sum(DAY / interval for interval in intervals(value)) > per_day:
            low = value
        else:
            high = value
    return _at_intervals(pages, intervals(high))


# --- the scheduler ------------------------------------------------------------------------------------------------------


def scheduled(pages: ChangingPages, work: WorkConf) -> Visits:
    """What the store does with a page's history, without a store."""
    revisits = Revisits(work)
    budget, allowance = Budget(work.RevisitsPerDay, revisits), Allowance(work.RevisitsPerDay, 0.0, work.RevisitsPerDay)
    budget.census.enter(None, len(pages))
    budget.tune()
    keys = [key_of(f"/{page}") for page in range(len(pages))]
    for key in keys:
        budget.replan(0.0, revisits.first(0.0, key))
    visits = [[0.0] for _ in range(len(pages))]
    rates: list[ChangeRate | None] = [None] * len(pages)
    queue = [(revisits.first(0.0, keys[page]), page) for page in range(len(pages))]
    heapq.heapify(queue)
    while queue:
        due, page = heapq.heappop(queue)
        now = max(due, allowance.next_at(due))
        if now >= pages.seconds:
            break
        allowance.left(now)
        allowance.spend(1)
        last = visits[page][-1]
        changed = pages.version(page, now) > pages.version(page, last)
        before, after = rates[page], revisits.learn(rates[page], now - last, changed)
        rates[page] = after
        visits[page].append(now)
        following = revisits.following(now, keys[page], after)
        budget.moved(before, after, due - last, following - now)
        budget.settle()
        heapq.heappush(queue, (following, page))
    return visits


# --- the report ---------------------------------------------------------------------------------------------------------


def report(distribution: str, visits: float, arguments: argparse.Namespace) -> None:
    pages = pages_of(distribution, arguments.pages, arguments.days, arguments.seed)
    per_day = max(1, round(arguments.pages * visits))
    kept = {
        "all-knowing": all_knowing(pages, per_day),
        "scheduler": scheduled(pages, settings(per_day)),
        "uniform": uniform(pages, per_day),
        "proportional": proportional(pages, per_day),
    }
    if arguments.store:
        from bench.stored_pages import scheduled_by_store

        with tempfile.TemporaryDirectory() as folder:
            kept["scheduler, by the store"] = scheduled_by_store(pages, settings(per_day), f"sqlite:///{folder}/crawl.db")
    print(f"\n{distribution}: {len(pages)} pages, {arguments.days:g} days, {per_day} requests a day\n")
    print("| schedule | fresh | age in days | requests a day |\n|---|---|---|---|")
    since = pages.seconds * _UNCOUNTED
    for name, times in kept.items():
        score = pages.score(times, since)
        daily = score.requests / ((pages.seconds - since) / DAY)
        print(f"| {name} | {score.fresh:.3f} | {score.age / DAY:.2f} | {daily:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="How fresh a collection stays, on a simulated clock.")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--days", type=float, default=120.0)
    parser.add_argument("--visits", type=float, action="append", help="requests a day for each page; may be repeated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", action="store_true", help="also by the store, on SQLite: some minutes")
    arguments = parser.parse_args()
    for distribution in DISTRIBUTIONS:
        for visits in arguments.visits or _VISITS:
            report(distribution, visits, arguments)


if __name__ == "__main__":
    main()
