"""What becomes of a crawl when an agent fails or joins at half time, and where agents differ or crawl several sites at once.

Tested in tests/lab/test_balance.py.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from math import inf

from parcahyd.config.schema import WorkConf
from parcahyd.lab.balance import Experiment
from parcahyd.lab.balance_figures import crawl_draw, deviation, least_time
from parcahyd.lab.balance_methods import DYNAMIC_RANDOM, DYNAMIC_SIZE, SPLIT, Method
from parcahyd.lab.report import LabRow, LabTable, spread
from parcahyd.lab.simulated_agents import Agent, Outcome
from parcahyd.lab.site_sizes import Draw

__all__ = ["changes_table"]

_METHODS = (DYNAMIC_RANDOM, DYNAMIC_SIZE, SPLIT)
_AT_ONCE = (2, 5)
_HEADING = ("stdev of work in %, mean", "last agent done, by the least possible", "coverage", "fetched again", "hand-overs")
_NOTES = (
    f"What was fetched is stored in batches of {WorkConf().MaxSize} pages (`MaxSize`).",
    "What an agent had not stored when it failed was in flight and is fetched again: the column is its part of all pages.",
    "`coverage` is the part of all pages that was stored in the end, the least of all draws.",
    "Work is that of the agents that were there from the beginning to the end.",
    "Where speeds differ, every second agent fetches half as many pages in the same time.",
    "`hand-overs`: how often a site, or the next part of it, went to another agent than before.",
    "`at once`: each agent crawls so many sites at the same time, as a pipeline of the crawler does.",
    "With few sites they are given away at the beginning: the crawl ends as early as it can, and nobody comes back for more.",
)


def changes_table(experiment: Experiment) -> LabTable:
    """Half time is half of the least possible time without the change."""
    drawn, count = experiment.draw(), experiment.agents
    events = {
        "one fails": _one_fails,
        "one joins": _one_joins,
        "speeds differ": _speeds_differ,
        **{f"{number} at once": _at_once(number) for number in _AT_ONCE},
    }
    rows = [_measured(method, event, make, drawn, count) for event, make in events.items() for method in _METHODS]
    flight = statistics.fmean(WorkConf().MaxSize / sum(draw.truth.values()) for draw in drawn)
    goal = {"coverage": 1.0, "again": flight}
    rows.append(LabRow("one fails, as the paper has it", "paper", ("", "", "1", "0", ""), {"coverage": 1.0, "again": 0.0}))
    rows.append(LabRow("goal, one fails", "goal", ("", "", "1", f"at most {flight:.6f}", ""), goal))
    title = f"Changes at half time, and other agents: {experiment.sites} sites on {count} agents"
    return experiment.table("balance-changes", title, _HEADING, rows, _NOTES)


def _one_fails(count: int, half: float) -> tuple[Agent, ...]:
    return (Agent(fails=half), *(Agent(),) * (count - 1))


def _one_joins(count: int, half: float) -> tuple[Agent, ...]:
    return (*(Agent(),) * count, Agent(joins=half))


def _speeds_differ(count: int, half: float) -> tuple[Agent, ...]:  # noqa: ARG001 - made as the others are
    return tuple(Agent(speed=1.0 if number % 2 else 0.5) for number in range(count))


def _at_once(number: int) -> Callable[[int, float], tuple[Agent, ...]]:
    return lambda count, _: (Agent(at_once=number),) * count


def _measured(
    method: Method, event: str, make: Callable[[int, float], tuple[Agent, ...]], drawn: Sequence[Draw], count: int
) -> LabRow:
    agents = [make(count, least_time(draw, (Agent(),) * count) / 2) for draw in drawn]
    outcomes = [crawl_draw(draw, method, some) for draw, some in zip(drawn, agents, strict=True)]
    pages = [sum(draw.truth.values()) for draw in drawn]
    found = spread(deviation(_of_those_who_stayed(*pair)) for pair in zip(outcomes, agents, strict=True))
    late = spread(one.end / least_time(draw, some) for one, draw, some in zip(outcomes, drawn, agents, strict=True))
    coverage = min(one.stored / total for one, total in zip(outcomes, pages, strict=True))
    again = spread((one.fetched - one.stored) / total for one, total in zip(outcomes, pages, strict=True))
    handed = spread(sum(work.hand_overs for work in one.work) for one in outcomes)
    cells = (found.text("{:.2f}"), late.text("{:.3f}"), f"{coverage:.6g}", f"{again.mean:.6f}", f"{handed.mean:.1f}")
    figures = {"stdev": found.mean, "late": late.mean, "coverage": coverage, "again": again.mean, "hand-overs": handed.mean}
    return LabRow(f"{method.name}, {event}", method.whose, cells, figures)


def _of_those_who_stayed(outcome: Outcome, agents: Sequence[Agent]) -> list[float]:
    return [work.busy for work, agent in zip(outcome.work, agents, strict=True) if agent.joins <= 0 and agent.fails == inf]
