"""The measures of `parcahyd lab balance`, with the bounds that no division passes, and paper 001's figures.

Tested in tests/lab/test_balance.py.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from math import inf

from parcahyd.config.schema import WorkConf
from parcahyd.lab.balance_methods import Method
from parcahyd.lab.simulated_agents import Agent, Outcome, crawl
from parcahyd.lab.site_sizes import Draw

__all__ = ["GOAL", "PRINTED", "crawl_draw", "deviation", "least_deviation", "least_time", "work_deviation"]

GOAL = 0.25
"""In percent of all work: the mean of the standard deviation."""
PRINTED = {
    "Static-Random": (0.27, 0.20, 0.09, 0.14, 0.16, 0.14),
    "Static-Size": (0.15, 0.23, 0.14, 0.16, 0.14, 0.18),
    "Dynamic-Random": (0.17, 0.14, 0.20, 0.19, 0.16, 0.14),
    "Dynamic-Size": (0.17, 0.16, 0.17, 0.18, 0.16, 0.16),
}
"""Table 1 of paper 001: the work of each of six C-procs, by method; 30 sites and 98,585 pages, one crawl each."""


def crawl_draw(draw: Draw, method: Method, agents: Sequence[Agent]) -> Outcome:
    """One crawl of these sites by these agents, divided in this way."""
    sites, giver = method.divide(draw, len(agents))
    return crawl(sites, agents, giver, WorkConf().MaxSize)


def deviation(work: Sequence[float]) -> float:
    """The sample standard deviation of the shares of all work, in percent, as in the paper's Table 1."""
    total = sum(work)
    return 100 * statistics.stdev(one / total for one in work)


def work_deviation(draw: Draw, method: Method, count: int) -> float:
    """The same of one crawl by so many equal agents. Work is the time that an agent is busy (statement G21)."""
    return deviation([work.busy for work in crawl_draw(draw, method, (Agent(),) * count).work])


def least_deviation(truth: Iterable[int], agents: int) -> float:
    """A bound that no division of whole sites can pass, whatever it knows.

    A site that is larger than the mean of what is left has an agent for itself, and the others have equal work.
    """
    left = sorted(truth, reverse=True)
    alone: list[float] = []
    while left and len(alone) < agents - 1 and left[0] > sum(left) / (agents - len(alone)):
        alone.append(left.pop(0))
    rest = agents - len(alone)
    return deviation([*alone, *[sum(left) / rest] * rest])


def least_time(draw: Draw, agents: Sequence[Agent]) -> float:
    """No crawl ends earlier: all agents are busy all the time, and the largest site takes its pages times the delay."""
    largest = max(draw.truth.values()) / max(agent.speed for agent in agents)
    left, now = float(sum(draw.truth.values())), 0.0
    for until in sorted({agent.joins for agent in agents} | {agent.fails for agent in agents} | {inf}):
        speed = sum(agent.speed * agent.at_once for agent in agents if agent.joins <= now < agent.fails)
        if speed and now + left / speed <= until:
            return max(now + left / speed, largest)
        left, now = left - speed * (until - now), until
    return inf
