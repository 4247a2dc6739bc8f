"""A crawl is divided anew: what would move is told before, and nothing is lost when it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import pytest

from parcahyd.cluster.replanning import carry_out, plan_anew, want_move
from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.partitions import ClusterView, Observation, Observed, Partitioner, Plan, Routing, Seen, SiteMove
from parcahyd.partition.by_dynamic_size import ByDynamicSize
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.placement import placement
from tests.cluster.hub_desk import HubDesk
from tests.cluster.partition_pair import ByName, Pair, PartitionDesk

A, B, C = "a0.example", "b0.example", "c1.example"


class _Together(ByHash):
    """All hosts live in the partition that the state names."""

    home_may_change = True
    observes = frozenset({Observed.VISITS, Observed.LINKS})
    seen: ClassVar[list[Observation]] = []

    def home(self, seen: Seen) -> int:  # noqa: ARG002 - the port's signature
        return int(self.routing.state or b"0")

    def observe(self, facts: object) -> None:
        _Together.seen = list(facts)  # type: ignore[call-overload]  # it is iterable

    def plan(self, view: ClusterView) -> Plan:
        return Plan(placement(view), (), b"1")


def together(routing: Routing) -> Partitioner:
    return _Together(WorkConf(), routing)


@pytest.fixture
def pair(desk: HubDesk) -> Iterator[Pair]:
    pair = Pair(desk)
    first, second = pair
    first.give_seeds(f"http://{A}/", f"http://{B}/")
    for visit in first.lease():
        first.crawl(visit, "/", visit.host.encode(), external=(f"http://{C}/",), internal=("/more",))
    pair.exchange()
    second.crawl(second.visit(), "/", b"c")
    yield pair
    pair.close()


def facts(desk: HubDesk) -> Routing:
    return Routing(2, secret=desk.facts.secret)


def give_back(pair: Pair) -> None:
    for one in pair:
        one.tree.renewer.give_back()


def move_all(desk: HubDesk, trees: list[PartitionDesk]) -> None:
    for _ in range(20):
        for one in trees:
            one.partition.move_sites()
            one.exchange_all()
    assert not desk.rows("SELECT site FROM parcahyd_hub.moves")


def test_a_plan_is_made_from_what_is_stored(desk: HubDesk, pair: Pair) -> None:
    found = plan_anew(desk.hub, "together", together, facts(desk), [])
    assert [(move.host, move.source, move.target, move.urls, move.pages) for move in found.moves] == [
        (A, 0, 1, 2, 1),
        (B, 0, 1, 2, 1),
    ]
    assert (found.before, found.after, found.hosts) == ((2, 1), (0, 3), 3)
    told = {(one.what, one.subject, one.target): one.value for one in _Together.seen}
    assert told[Observed.VISITS, f"{A}/", ""] == 2
    assert {place for place in told if place[0] is Observed.LINKS} in (
        {(Observed.LINKS, f"{A}/", f"{C}/")},
        {(Observed.LINKS, f"{B}/", f"{C}/")},
    ), "the page that named it first"
    assert desk.rows("SELECT version FROM parcahyd_hub.routing") == [(0,)], "nothing is changed by it"


def test_it_is_carried_out_when_nobody_works(desk: HubDesk, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    found = plan_anew(desk.hub, "together", together, facts(desk), [])
    with pytest.raises(UserError, match="partitions are at work"):
        carry_out(desk.hub, found, writes_homes=True)
    states = {url: state for one in pair for url, state in one.states().items()}
    give_back(pair)
    carry_out(desk.hub, found, writes_homes=True)
    with pytest.raises(UserError, match="changed the routing"):
        carry_out(desk.hub, found, writes_homes=True)
    monkeypatch.setattr(PartitionDesk, "make_partitioner", staticmethod(together))
    trees = [one.take_over() for one in pair]
    for one in trees:
        one.begin_run(pair.run)
    move_all(desk, trees)
    assert trees[0].states() == {}
    assert trees[1].states() == states
    assert desk.rows("SELECT site, partition FROM parcahyd_hub.homes ORDER BY site") == [(A, 1), (B, 1), (C, 1)]
    for one in trees:
        assert one.findings() == []
        one.close()


def test_hosts_that_stay_need_no_row_where_names_decide(desk: HubDesk, pair: Pair) -> None:
    give_back(pair)
    found = plan_anew(desk.hub, "name", ByName, facts(desk), [])
    assert found.moves == ()
    carry_out(desk.hub, found, writes_homes=False)
    assert desk.rows("SELECT site FROM parcahyd_hub.homes") == []


def test_a_plan_that_names_sites_is_followed(desk: HubDesk, pair: Pair) -> None:
    class Moves(ByName):
        def plan(self, view: ClusterView) -> Plan:
            return Plan(placement(view), (SiteMove(C, 0), SiteMove("never.seen.example", 1)))

    found = plan_anew(desk.hub, "name", Moves, facts(desk), [])
    assert [(move.host, move.source, move.target) for move in found.moves] == [(C, 1, 0)]


def by_size(routing: Routing) -> Partitioner:
    return ByDynamicSize(WorkConf(), routing)


@pytest.mark.parametrize(("strategy", "homes"), [(ByName, {A: 0, B: 0, C: 1}), (together, {A: 1, B: 1, C: 1})])
def test_hosts_that_wait_get_their_homes_from_a_strategy_that_knows_them(
    desk: HubDesk, pair: Pair, strategy: Callable[[Routing], Partitioner], homes: dict[str, int]
) -> None:
    """Nobody would give them away any more, and the run would never end."""
    desk.change("INSERT INTO parcahyd_hub.homes (site, partition, waits) VALUES (%s, 0, true), (%s, 1, true)", A, C)
    give_back(pair)
    still = plan_anew(desk.hub, "dynamic_size", by_size, facts(desk), [])
    assert (still.moves, {name for name, *_ in still.pins}) == ((), {B}), "by size they go on waiting"
    found = plan_anew(desk.hub, "other", strategy, facts(desk), [])
    assert found.waited == {A, C}
    carry_out(desk.hub, found, writes_homes=strategy is together)
    assert desk.rows("SELECT site FROM parcahyd_hub.homes WHERE waits") == []
    targets = dict(desk.rows("SELECT site, target FROM parcahyd_hub.moves"))
    on_record = dict(desk.rows("SELECT site, partition FROM parcahyd_hub.homes"))
    assert (on_record | targets).items() <= homes.items()
    assert {A, C} <= on_record.keys()


@pytest.mark.parametrize("host", [A, C])
def test_one_host_is_placed_by_hand(desk: HubDesk, pair: Pair, host: str) -> None:
    home = int(host.partition(".")[0][-1])
    assert want_move(desk.hub, host, 1 - home, 2) == home
    assert desk.rows("SELECT site, source, target FROM parcahyd_hub.moves") == [(host, home, 1 - home)]
    assert want_move(desk.hub, host, home, 2) == home, "it may stay after all"
    assert desk.rows("SELECT site FROM parcahyd_hub.moves") == []


def test_a_host_that_nobody_knows_is_placed_nowhere(desk: HubDesk, pair: Pair) -> None:
    with pytest.raises(UserError, match=r"no URL of x\.example"):
        want_move(desk.hub, "x.example", 1, 2)
    pair.desks[0].partition.move_sites()
    desk.change("INSERT INTO parcahyd_hub.homes (site, partition, moving) VALUES (%s, 1, 0)", A)
    with pytest.raises(UserError, match="on its way"):
        want_move(desk.hub, A, 0, 2)
