"""Who waits for the pipelines to obey ends those that are silent for a lease, and no others."""

from __future__ import annotations

import pytest

from parcahyd.cluster.obeying import Obeying
from parcahyd.cluster.runs import PAUSED, Runs, confirm
from parcahyd.core.errors import LeaseLost
from tests.cluster.hub_desk import LEASE, HubDesk, retried


def paused(desk: HubDesk) -> int:
    runs = Runs(desk.hub)
    runs.begin("{}", {})
    return runs.change(PAUSED).version


def test_it_is_over_when_all_have_confirmed_or_given_back(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    version = paused(desk)
    obeying = Obeying(desk.hub, desk.clock)
    assert obeying.missing(version) == [0, 1]
    confirm(first.claiming, version)
    assert obeying.missing(version) == [1]
    second.renewer.give_back()
    assert obeying.missing(version) == []


def test_a_silent_partition_is_ended_after_a_lease(desk: HubDesk) -> None:
    alive, silent = desk.take(0), desk.take(1)
    version = paused(desk)
    obeying = Obeying(desk.hub, desk.clock)
    obeying.missing(version)
    desk.now += LEASE / 2
    alive.renewer.renew()
    assert obeying.missing(version) == [0, 1]
    desk.now += LEASE / 2 - 0.1
    assert obeying.missing(version) == [0, 1]
    desk.now += 0.1
    assert obeying.missing(version) == [0]
    with pytest.raises(LeaseLost):
        retried(silent.renewer.renew)


def test_a_silent_partition_that_has_confirmed_is_left_alone(desk: HubDesk) -> None:
    tree = desk.take(0)
    version = paused(desk)
    confirm(tree.claiming, version)
    obeying = Obeying(desk.hub, desk.clock)
    obeying.missing(version)
    desk.now += LEASE
    assert obeying.missing(version) == []
    assert desk.rows("SELECT node FROM parcahyd_hub.partitions WHERE id = 0") == [("n1",)]


def test_nothing_is_ended_before_a_restored_hub_is_settled(desk: HubDesk) -> None:
    desk.take(0)
    version = paused(desk)
    desk.identity.restored()
    obeying = Obeying(desk.hub, desk.clock)
    assert obeying.missing(version) == [0]
    desk.now += LEASE
    assert obeying.missing(version) == [0], "this look settles it"
    assert obeying.missing(version) == []


def test_a_node_that_works_is_told_from_one_that_is_gone(desk: HubDesk) -> None:
    tree = desk.take(0, "n1")
    desk.take(1, "n1")
    obeying = Obeying(desk.hub, desk.clock)
    assert obeying.held_by("n1") == [0, 1]
    assert obeying.held_by("n2") == []
    assert obeying.alive() == []
    desk.now += LEASE / 2
    tree.renewer.renew()
    assert obeying.held_by("n1") == [0, 1]
    assert obeying.alive() == [0]
    desk.now += LEASE / 2
    assert obeying.held_by("n1") == [0]
    assert obeying.alive() == [0]
