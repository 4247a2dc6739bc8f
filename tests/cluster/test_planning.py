"""Machines join, partitions are wished for, and one planner at a time makes the routing."""

from __future__ import annotations

import pytest

from parcahyd.cluster.planning import join, nodes_of, publish, read_routing, wish
from parcahyd.cluster.tables import PLANNING
from parcahyd.core.errors import LeaseLost, StoreFailure
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
