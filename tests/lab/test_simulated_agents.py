from __future__ import annotations

from collections.abc import Sequence

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import Routing, Seen
from parcahyd.lab.simulated_agents import Agent, Outcome, Site, crawl
from parcahyd.partition.by_dynamic_size import ByDynamicSize


class Recorded(ByDynamicSize):
    """Remembers who was given what."""

    def __init__(self) -> None:
        super().__init__(WorkConf(), Routing(2))
        self.given: list[tuple[int, str, bool]] = []

    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:
        found = super().next_for(partition, waiting, room)
        failed = {seen.host: seen.failed for seen in waiting}
        self.given += [(partition, name, failed[name]) for name in found]
        return found


def _crawl(sites: Sequence[Site], agents: Sequence[Agent], batch: int = 10) -> tuple[Outcome, list[tuple[int, str, bool]]]:
    strategy = Recorded()
    return crawl(sites, agents, strategy, batch), strategy.given


def _sites(**pages: int) -> list[Site]:
    return [Site(name, size, (size,)) for name, size in pages.items()]


def test_whoever_is_done_gets_the_largest_site_that_waits() -> None:
    outcome, given = _crawl(_sites(a=30, b=100, c=50, d=10), [Agent(), Agent()])
    assert [name for _, name, _ in given] == ["b", "c", "a", "d"]
    assert [who for who, *_ in given] == [0, 1, 1, 1]
    assert [work.busy for work in outcome.work] == [100, 90]
    assert (outcome.end, outcome.fetched, outcome.stored) == (100, 190, 190)


def test_the_site_of_a_failed_agent_comes_first_and_only_what_was_in_flight_is_fetched_again() -> None:
    outcome, given = _crawl(_sites(a=100, b=90, c=80), [Agent(fails=27), Agent()], batch=10)
    assert given == [(0, "a", False), (1, "b", False), (1, "a", True), (1, "c", False)]
    assert outcome.fetched - outcome.stored == 7
    assert outcome.stored == 270
    assert outcome.end == 90 + 80 + 80


def test_nothing_is_lost_when_an_agent_fails_between_two_sites_or_at_the_end_of_one() -> None:
    for when in (0.5, 30, 30.5, 89.9, 90):
        outcome, _ = _crawl(_sites(a=30, b=60, c=20, d=20), [Agent(fails=when), Agent()])
        assert outcome.stored == 130, when


def test_what_all_agents_left_is_not_called_covered() -> None:
    outcome, _ = _crawl(_sites(a=30, b=60, c=20), [Agent(fails=5), Agent(fails=25)])
    assert outcome.stored == 20


def test_an_agent_that_joins_gets_its_part() -> None:
    outcome, _ = _crawl(_sites(a=40, b=40, c=40, d=40), [Agent(), Agent(joins=10)])
    assert [work.busy for work in outcome.work] == [80, 80]
    assert outcome.end == 90


def test_a_divided_host_is_at_one_agent_at_a_time_so_that_it_takes_as_long_as_before() -> None:
    whole, _ = _crawl([Site("a", 100, (100,))], [Agent(), Agent()])
    split, given = _crawl([Site("a", 100, (10,) * 10)], [Agent(), Agent()])
    assert whole.end == split.end == 100
    assert [work.busy for work in whole.work] == [100, 0]
    assert [work.busy for work in split.work] == [50, 50]
    assert [who for who, *_ in given] == [0, 1] * 5
    assert sum(work.hand_overs for work in split.work) == 9


def test_a_slow_agent_takes_longer_for_as_many_pages() -> None:
    outcome, given = _crawl(_sites(a=40, b=30), [Agent(speed=0.5), Agent()])
    assert given[0][:2] == (1, "a")
    assert [work.busy for work in outcome.work] == pytest.approx([60, 40])


def test_an_agent_may_crawl_several_sites_at_once_and_asks_when_it_has_room() -> None:
    agents = [Agent(at_once=2), Agent(at_once=2, fails=15)]
    outcome, given = _crawl(_sites(a=40, b=30, c=20, d=10, e=5), agents, batch=1)
    assert given[:4] == [(0, "a", False), (1, "b", False), (0, "c", False), (1, "d", False)]
    assert given[4:] == [(1, "e", False), (0, "b", True)]
    assert [work.busy for work in outcome.work] == [40 + 20 + 15, 15 + 10 + 5]
    assert (outcome.end, outcome.fetched, outcome.stored) == (40, 105, 105)
