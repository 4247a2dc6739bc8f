"""How evenly sites are divided among agents: paper 001's Table 1 on real sizes, and the same for 5 to 20 agents.

Tested in tests/lab/test_balance.py.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.lab.balance_figures import (
    GOAL,
    PRINTED,
    crawl_draw,
    deviation,
    least_deviation,
    least_time,
    work_deviation,
)
from parcahyd.lab.balance_methods import (
    BOUNDED_HASH,
    BOUNDED_SPLIT,
    DYNAMIC_RANDOM,
    DYNAMIC_SIZE,
    HASH,
    SPLIT,
    STATIC_RANDOM,
    STATIC_SIZE,
    STATIC_SPLIT,
    UNEVEN_SPLIT,
    Method,
)
from parcahyd.lab.report import LabRow, LabTable, Spread, spread
from parcahyd.lab.simulated_agents import Agent
from parcahyd.lab.site_sizes import Draw, SiteSizes, draws

__all__ = ["Experiment", "balance_table", "sweep_table"]

_WHOLE = (STATIC_RANDOM, STATIC_SIZE, DYNAMIC_RANDOM, DYNAMIC_SIZE, HASH, BOUNDED_HASH)
_DIVIDED = (SPLIT, UNEVEN_SPLIT, STATIC_SPLIT, BOUNDED_SPLIT)
_WITH_NEW = (DYNAMIC_SIZE, SPLIT)
_SWEPT = (BOUNDED_HASH, DYNAMIC_SIZE, SPLIT)
_AGENTS = range(5, 21)


class Experiment(msgspec.Struct, frozen=True):
    """What all tables of one command have in common."""

    sizes: SiteSizes
    command: str
    seed: int = 1
    draws: int = 348
    sites: int = 30
    agents: int = 6

    def draw(self, *, with_new: bool = False) -> list[Draw]:
        return list(draws(self.sizes, self.seed, self.draws, self.sites, with_new=with_new))

    def table(self, name: str, title: str, heading: Sequence[str], rows: Iterable[LabRow], notes: Sequence[str]) -> LabTable:
        return LabTable(
            name=name,
            title=title,
            heading=tuple(heading),
            rows=tuple(rows),
            command=self.command,
            seed=self.seed,
            runs=self.draws,
            data=() if self.sizes.file is None else (self.sizes.file,),
            notes=tuple(notes),
        )


def balance_table(experiment: Experiment) -> LabTable:
    """Paper 001's experiment with its four methods, the crawler's strategies and a rival."""
    drawn, new, count = experiment.draw(), experiment.draw(with_new=True), experiment.agents
    rows = [_printed(name) for name in PRINTED]
    rows += [_measured(method, method.name, drawn, count) for method in _WHOLE]
    best = spread(least_deviation(draw.truth.values(), count) for draw in drawn)
    rows.append(LabRow("whole sites, at best", "rival", (*_balance(best), "", ""), _figures(best)))
    rows += [_measured(method, method.name, drawn, count) for method in _DIVIDED]
    rows += [_measured(method, f"{method.name}, with new sites", new, count) for method in _WITH_NEW]
    rows.append(LabRow("goal", "goal", (f"{GOAL}", "", "", "", ""), {"stdev": GOAL}))
    title = f"Balance of {experiment.sites} sites on {count} agents"
    heading = ("stdev of work in %, mean", "median", "range", "last agent done, hours", "by the least possible")
    return experiment.table("balance", title, heading, rows, _notes(drawn, new, count))


def _printed(name: str) -> LabRow:
    found = deviation(PRINTED[name])
    return LabRow(f"{name}, as printed", "paper", (f"{found:.2f}", "", "", "", ""), {"stdev": found})


def _measured(method: Method, name: str, drawn: Sequence[Draw], count: int) -> LabRow:
    agents = (Agent(),) * count
    outcomes = [crawl_draw(draw, method, agents) for draw in drawn]
    found = spread(deviation([work.busy for work in outcome.work]) for outcome in outcomes)
    if not method.keeps_delay:
        return LabRow(name, method.whose, (*_balance(found), "", ""), _figures(found))
    hours = statistics.fmean(outcome.end for outcome in outcomes) * WorkConf().HostDelay / 3600
    late = statistics.fmean(outcome.end / least_time(draw, agents) for outcome, draw in zip(outcomes, drawn, strict=True))
    cells = (*_balance(found), f"{hours:.1f}", f"{late:.3f}")
    return LabRow(name, method.whose, cells, _figures(found) | {"hours": hours, "late": late})


def _balance(found: Spread) -> tuple[str, str, str]:
    return f"{found.mean:.2f}", f"{found.median:.2f}", f"{found.low:.2f} to {found.high:.2f}"


def _figures(found: Spread) -> dict[str, float]:
    return {"stdev": found.mean, "median": found.median}


def _notes(drawn: Sequence[Draw], new: Sequence[Draw], count: int) -> list[str]:
    large = statistics.fmean(max(draw.truth.values()) > sum(draw.truth.values()) / count for draw in drawn)
    unknown = statistics.fmean(pages is None for draw in new for pages in draw.planned.values())
    parts = statistics.fmean(sum(len(site.parts) for site in SPLIT.divide(draw, count)[0]) for draw in drawn)
    one_month = ["These data have one month only, which is both."] if drawn[0].planned == drawn[0].truth else []
    return [
        "Sites are divided by their pages in one month, and crawled with those of the next.",
        *one_month,
        f"Work is the time that an agent is busy, at one page in each HostDelay of {WorkConf().HostDelay:g} s.",
        "Of agents that are idle at the same moment, the one that has worked least asks first.",
        "What is printed is of one crawl each, of other sites.",
        f"In {large:.0%} of the draws one site is larger than a share: no way that keeps sites whole can balance these.",
        "`at best` is a bound and no method: it knows all sizes, and divides all but the largest sites as if they were water.",
        f"`split` divides sites into parts of at most a 32nd of a share, {parts:.0f} parts a draw.",
        "It balances storage and processor time, and makes no site faster: its delay stays one, its parts are visited in turn.",
        "`unevenly`: a part has 0.5 to 1.5 times the mean part of its site, as folders would.",
        "`the same parts`: of these ways, only the balance was counted.",
        f"`with new sites`: {unknown:.1%} of the sites were not seen in the month that is planned by.",
        "They come last, and `split` divides them as if they had the mean size.",
    ]


def sweep_table(experiment: Experiment) -> LabTable:
    """The same for other numbers of agents."""
    drawn = experiment.draw()
    rows = [_swept(drawn, count) for count in _AGENTS]
    rows.append(LabRow("goal", "goal", ("", "", f"{GOAL}", ""), {"split": GOAL}))
    title = f"Balance of {experiment.sites} sites on {_AGENTS[0]} to {_AGENTS[-1]} agents"
    heading = (*(method.name for method in _SWEPT), "whole sites, at best")
    notes = ("Standard deviation of work in %, mean and range. All work is 100 %: a share of 20 agents is 5 %.",)
    return experiment.table("balance-agents", title, heading, rows, notes)


def _swept(drawn: Sequence[Draw], count: int) -> LabRow:
    found = [spread(work_deviation(draw, method, count) for draw in drawn) for method in _SWEPT]
    found.append(spread(least_deviation(draw.truth.values(), count) for draw in drawn))
    figures = dict(zip(("bounded", "whole", "split", "best"), (one.mean for one in found), strict=True))
    return LabRow(f"{count} agents", "ours", tuple(one.text("{:.2f}") for one in found), figures)
