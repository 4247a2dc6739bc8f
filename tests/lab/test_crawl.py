"""Simulated crawls: nothing is lost, also where an agent fails, and the figures are what happened."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from parcahyd.builtin_plugins import parcahyd_partitioners
from parcahyd.core.partitions import Seen
from parcahyd.lab.crawl import crawl_table, quality
from parcahyd.lab.link_graph import LinkGraph, synthetic_graph
from parcahyd.lab.simulated_crawl import Outcome, Pace, SimulatedCrawl
from parcahyd.partition.by_hash import ByHash

GRAPH = synthetic_graph(5, 2400)
OFFERED = parcahyd_partitioners()


class Waiting(ByHash):
    """Its hosts wait to be given away."""

    def home(self, seen: Seen) -> None:  # noqa: ARG002 - the port's signature
        return None

    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:  # noqa: ARG002
        return tuple(sorted(seen.host for seen in waiting)[:room])


def _run(name: str, agents: int = 4, pace: Pace | None = None) -> Outcome:
    return SimulatedCrawl(GRAPH, Waiting if name == "waiting" else OFFERED[name], agents, 1, pace).run()


@pytest.mark.parametrize("name", ["hash", "superpage", "waiting"])
def test_every_page_is_fetched_once(name: str) -> None:
    outcome = _run(name)
    assert sorted(outcome.order) == list(range(len(GRAPH)))
    assert (outcome.coverage, outcome.overlap, outcome.refetched) == (1.0, 0.0, 0)


@pytest.mark.parametrize("name", ["hash", "superpage", "waiting"])
def test_an_agent_that_fails_loses_nothing_but_what_was_in_flight(name: str) -> None:
    outcome = _run(name, pace=Pace(fails_at=1200, in_flight=16))
    assert sorted(outcome.order) == list(range(len(GRAPH)))
    assert outcome.refetched <= 16


def test_one_agent_alone_posts_nothing_and_is_never_idle() -> None:
    outcome = _run("hash", 1)
    assert (outcome.cut, outcome.posts, outcome.efficiency, outcome.balance) == (0.0, 0.0, 1.0, 1.0)


def test_efficiency_is_that_of_the_longest_queue() -> None:
    sites = tuple((f"host-{number}.example", "/") for number in range(20))
    chain = LinkGraph("chain", sites, (*((number + 1,) for number in range(19)), ()))
    # Every page leads to one other: two agents are no faster than one.
    assert SimulatedCrawl(chain, OFFERED["hash"], 2, 1).run().efficiency == pytest.approx(0.5)


def test_a_crawl_is_the_same_for_the_same_seed() -> None:
    assert _run("superpage") == _run("superpage")


def test_what_moves_is_counted() -> None:
    outcome = _run("superpage")
    assert outcome.plans > 0
    assert outcome.moved > 0
    assert _run("hash").moved == 0


def test_quality_is_the_share_of_top_pages_among_the_first() -> None:
    ranks = [float(-number) for number in range(20)]
    assert quality(list(range(20)), ranks) == 1.0
    assert quality([1, 5, *range(2, 5)], ranks) == 0.5


def test_the_table_has_two_rows_for_each_strategy() -> None:
    table = crawl_table(synthetic_graph(1, 600), 3, 1, 1, "command", {"hash": OFFERED["hash"]})
    assert [row.name for row in table.rows[:2]] == ["hash", "hash, one agent fails"]
    assert table.rows[1].figures["refetched"] <= Pace().in_flight
