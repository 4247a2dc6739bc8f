"""Machines join, partitions are wished for, and one planner at a time makes the routing."""

from __future__ import annotations

import msgspec
import pytest

from parcahyd.cluster.planning import (
    drain,
    join,
    nodes_of,
    note_node,
    pin,
    plan,
    publish,
    read_routing,
    remove_node,
    wish,
)
from parcahyd.cluster.tables import PLANNING
from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import LeaseLost, StoreFailure, UserError
from parcahyd.core.partitions import ClusterNode, ClusterView, Plan, Routing
from parcahyd.partition.by_hash import ByHash
from tests.cluster.hub_desk import HubDesk, retried


def test_machines_join(desk: HubDesk) -> None:
    join(desk.hub, "n1", "192.0.2.1", '{"cores": 2}')
    join(desk.hub, "n2", "192.0.2.2", "{}")
    join(desk.hub, "n1", "192.0.2.1", '{"cores": 4}')
    assert [(node.id, node.capacity) for node in nodes_of(desk.hub)] == [("n1", '{"cores": 4}'), ("n2", "{}")]


def test_a_wish_is_told_with_the_next_renewal(desk: HubDesk) -> None:
    tree = desk.take(0, "n1")
    wish(desk.hub, 0, "n1")
    wish(desk.hub, 0, "n2")
    assert tree.renewer.renew().wish == "n2"


def test_a_planner_that_was_replaced_plans_no_more(desk: HubDesk) -> None:
    taker = desk.taker()
    planner = desk.planner()
    assert publish(planner, "hash", b"one") == 1
    (seen,) = [row for row in taker.look() if row.id == PLANNING]
    assert taker.take(seen, "n2") is not None
    with pytest.raises(StoreFailure):
        publish(planner, "hash", b"zombie")
    with pytest.raises(LeaseLost):
        retried(lambda: publish(planner, "hash", b"zombie"))
    assert read_routing(desk.hub) == (1, "hash", b"one")


def wishes(desk: HubDesk) -> list[tuple[int, str]]:
    return desk.rows("SELECT partition, node FROM parcahyd_hub.wishes ORDER BY partition")


def by_hash(desk: HubDesk) -> tuple[ByHash, Routing]:
    routing = Routing(desk.facts.partitions, secret=desk.facts.secret)
    return ByHash(WorkConf(), routing), routing


def two_nodes(desk: HubDesk) -> None:
    for name in ("n1", "n2"):
        join(desk.hub, name, "192.0.2.1", msgspec.json.encode(ClusterNode(name, cores=2.0)).decode())


def test_partitions_are_spread_over_the_nodes_that_are_alive(desk: HubDesk) -> None:
    two_nodes(desk)
    join(desk.hub, "n3", "192.0.2.3", "not JSON")
    plan(desk.planner(), *by_hash(desk), alive={"n1", "n2"})
    assert {node for _, node in wishes(desk)} == {"n1", "n2"}
    plan(desk.planner(), *by_hash(desk), alive={"n3"})
    assert wishes(desk) == [(0, "n3"), (1, "n3")]


def test_a_plan_writes_nothing_where_nothing_has_changed(desk: HubDesk) -> None:
    two_nodes(desk)
    planner = desk.planner()
    plan(planner, *by_hash(desk), alive={"n1", "n2"})
    before = desk.rows("SELECT xmin::text, partition FROM parcahyd_hub.wishes")
    plan(planner, *by_hash(desk), alive={"n1", "n2"})
    assert desk.rows("SELECT xmin::text, partition FROM parcahyd_hub.wishes") == before


def test_a_partition_stays_where_it_runs(desk: HubDesk) -> None:
    two_nodes(desk)
    desk.take(0, "n2")
    desk.take(1, "n1")
    plan(desk.planner(), *by_hash(desk), alive={"n1", "n2"})
    assert wishes(desk) == [(0, "n2"), (1, "n1")]


def test_a_drained_node_gets_nothing_and_is_told(desk: HubDesk) -> None:
    two_nodes(desk)
    plan(desk.planner(), *by_hash(desk), alive={"n1", "n2"})
    drain(desk.hub, "n1", is_draining=True)
    assert note_node(desk.hub, "n1", "{}") is False
    plan(desk.planner(), *by_hash(desk), alive={"n1", "n2"})
    assert wishes(desk) == [(0, "n2"), (1, "n2")]
    drain(desk.hub, "n1", is_draining=False)
    assert note_node(desk.hub, "n1", "{}") is True
    drain(desk.hub, "n2", is_draining=True)
    plan(desk.planner(), *by_hash(desk), alive={"n2"})
    assert wishes(desk) == [], "there is no node that could be wished for"


def test_plans_keep_a_pinned_partition_while_its_node_can_take_it(desk: HubDesk) -> None:
    two_nodes(desk)
    pin(desk.hub, 0, "n2")
    pin(desk.hub, 1, "n2")
    plan(desk.planner(), *by_hash(desk), alive={"n1", "n2"})
    assert wishes(desk) == [(0, "n2"), (1, "n2")]
    plan(desk.planner(), *by_hash(desk), alive={"n1"})
    assert wishes(desk) == [(0, "n1"), (1, "n1")]
    plan(desk.planner(), *by_hash(desk), alive={"n1", "n2"})
    assert {node for _, node in wishes(desk)} == {"n1", "n2"}, "it is the user's wish no longer"


class PinsMeanwhile(ByHash):
    """A strategy during whose plan the user moves a partition."""

    desk: HubDesk

    def plan(self, view: ClusterView) -> Plan:  # noqa: ARG002 - the port's signature
        pin(self.desk.hub, 0, "n2")
        return Plan(("n1", "n1"), state=b"next")


def test_a_partition_that_is_moved_while_a_plan_is_made_stays_moved(desk: HubDesk) -> None:
    two_nodes(desk)
    wish(desk.hub, 0, "n1")
    drain(desk.hub, "n2", is_draining=False)
    strategy = PinsMeanwhile(WorkConf(), by_hash(desk)[1])
    strategy.desk = desk
    desk.change("UPDATE parcahyd_hub.wishes SET node = 'n3'")
    plan(desk.planner(), strategy, by_hash(desk)[1], alive={"n1", "n2"})
    assert wishes(desk) == [(0, "n2"), (1, "n1")]
    assert read_routing(desk.hub) == (0, "", b""), "whose a site is changes by a command only: it waits until nobody works"


def test_a_node_that_left_is_told_and_not_wished_for(desk: HubDesk) -> None:
    two_nodes(desk)
    pin(desk.hub, 0, "n2")
    wish(desk.hub, 1, "n1")
    remove_node(desk.hub, "n2")
    assert wishes(desk) == [(1, "n1")]
    assert note_node(desk.hub, "n2", "{}") is None
    assert [node.id for node in nodes_of(desk.hub)] == ["n1"]


def test_what_does_not_exist_is_named(desk: HubDesk) -> None:
    with pytest.raises(UserError, match="no node has joined yet"):
        drain(desk.hub, "n1", is_draining=True)
    two_nodes(desk)
    with pytest.raises(UserError, match=r'no node "n9" \(the nodes are n1, n2\)'):
        remove_node(desk.hub, "n9")
    with pytest.raises(UserError, match=r"no partition 7 \(they are numbered from 0 to 1\)"):
        pin(desk.hub, 7, "n1")
    with pytest.raises(UserError, match="no partition -1"):
        pin(desk.hub, PLANNING, "n1")
    with pytest.raises(UserError, match="no node"):
        pin(desk.hub, 0, "n9")
    drain(desk.hub, "n2", is_draining=True)
    with pytest.raises(UserError, match="parcahyd cluster drain n2 --undo"):
        pin(desk.hub, 0, "n2")
