"""What agents of machines see, take, end and plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.identity import ClusterFacts
from parcahyd.cluster.machine import Looked, MachineAtHub, NodeWatch
from parcahyd.cluster.planning import drain, pin, remove_node, wish
from parcahyd.cluster.records import Holding
from parcahyd.cluster.runs import PAUSED, RUNNING, STOPPED, Runs
from parcahyd.cluster.tables import PLANNING
from parcahyd.core.errors import UserError
from tests.cluster.hub_desk import LEASE, HubDesk

CALM = 3.0


class Machine:
    """A machine with a simulated boot clock, and the plans that it was asked for."""

    def __init__(self, desk: HubDesk, name: str) -> None:
        self.desk, self.name, self.now = desk, name, 500.0
        self.plans: list[frozenset[str]] = []
        self.holdings: dict[int, Holding] = {}
        self.machine = MachineAtHub(
            desk.connect(f"agent {name}"),
            self._connect_as,
            lambda: self.now,
            name=name,
            address="192.0.2.1",
            capacity=lambda: '{"name": "", "cores": 2.0}',
            plan=self._plan,
        )

    def _connect_as(self, holding: Holding, _: float) -> HubConnection:
        return self.desk.connect(holding.session_name, expected=holding.identity)

    def _plan(self, planner: Fence, _: ClusterFacts, alive: Collection[str]) -> None:
        with planner.transaction():
            self.plans.append(frozenset(alive))

    def look(self, seconds: float = 1.0, left_behind: Collection[int] = (), may_take: Collection[int] = (0, 1)) -> Looked:
        """The next look, so many seconds after the last one."""
        self.now += seconds
        looked = self.machine.look([self.holdings[one] for one in left_behind], lambda one: one in may_take)
        self.holdings.update((taking.holding.partition, taking.holding) for taking in looked.taken)
        return looked

    def taken(self, looked: Looked) -> list[int]:
        return sorted(taking.holding.partition for taking in looked.taken)

    def wait_for_a_lease(self) -> Looked:
        for _ in range(int(LEASE)):
            self.look(1.0, may_take=())
        return self.look(1.0)


@pytest.fixture
def first(desk: HubDesk) -> Iterator[Machine]:
    machine = Machine(desk, "n1")
    yield machine
    machine.machine.close()


def test_it_takes_nothing_without_a_run(first: Machine) -> None:
    wish(first.desk.hub, 0, "n1")
    assert first.taken(first.look()) == []
    Runs(first.desk.hub).begin("{}", {})
    assert first.taken(first.look()) == [0], "what is wanted here at once"


def test_what_nobody_wants_is_taken_a_lease_after_it_was_seen_free(first: Machine) -> None:
    Runs(first.desk.hub).begin("{}", {})
    assert first.taken(first.look()) == []
    assert first.taken(first.wait_for_a_lease()) == [0, 1]


def test_what_is_wanted_on_a_machine_that_is_there_is_left_to_it(desk: HubDesk, first: Machine) -> None:
    Runs(desk.hub).begin("{}", {})
    other = Machine(desk, "n2")
    wish(desk.hub, 0, "n2")
    wish(desk.hub, 1, "gone")
    for _ in range(int(LEASE) + 2):
        other.look(may_take=())
        taken = first.taken(first.look())
    assert taken == [], "partition 1 was taken before"
    assert set(first.holdings) == {1}


def test_nothing_is_taken_while_the_run_is_paused(first: Machine) -> None:
    runs = Runs(first.desk.hub)
    runs.begin("{}", {})
    wish(first.desk.hub, 0, "n1")
    runs.want(PAUSED)
    assert first.taken(first.look()) == []
    runs.want(RUNNING)
    assert first.taken(first.look()) == [0]


def test_a_stopped_run_ends_although_nobody_waits_for_it(first: Machine) -> None:
    runs = Runs(first.desk.hub)
    number = runs.begin("{}", {})
    first.look()
    runs.want(STOPPED)
    first.look()
    assert runs.outcome(number) == "stopped"


def test_a_drained_machine_takes_nothing_and_one_off_the_list_ends(first: Machine) -> None:
    Runs(first.desk.hub).begin("{}", {})
    first.look()
    wish(first.desk.hub, 0, "n1")
    drain(first.desk.hub, "n1", is_draining=True)
    assert first.taken(first.look()) == []
    drain(first.desk.hub, "n1", is_draining=False)
    pin(first.desk.hub, 1, "n1")
    assert first.taken(first.look()) == [0, 1]
    remove_node(first.desk.hub, "n1")
    with pytest.raises(UserError, match="was taken off the list"):
        first.look()


def test_a_silent_partition_is_ended_where_it_is_not_taken(desk: HubDesk, first: Machine) -> None:
    """Also while nothing is crawled: somebody may wait for what its holder has."""
    desk.take(0, "n9")
    ended = [first.look().ended for _ in range(int(LEASE) + 1)]
    assert ended == [()] * int(LEASE) + [(0,)], "it was first seen at the first look"
    assert desk.rows("SELECT token FROM parcahyd_hub.partitions WHERE id = 0") == [(None,)]


def test_what_a_pipeline_of_its_own_left_behind_is_free_at_once(first: Machine) -> None:
    Runs(first.desk.hub).begin("{}", {})
    wish(first.desk.hub, 0, "n1")
    first.look()
    looked = first.look(left_behind=[0], may_take=())
    assert (looked.ended, looked.given_back) == ((0,), ())
    assert looked.is_free is False, "as it was seen before"
    assert first.look(may_take=()).is_free


def test_a_pipeline_that_gave_its_partition_back_leaves_nothing(first: Machine) -> None:
    Runs(first.desk.hub).begin("{}", {})
    wish(first.desk.hub, 0, "n1")
    first.look()
    first.desk.end(0)
    looked = first.look(left_behind=[0], may_take=())
    assert (looked.ended, looked.given_back) == ((), (0,)), "the machine may take it again"


def test_one_machine_makes_the_plans_when_it_is_calm(desk: HubDesk, first: Machine) -> None:
    second = Machine(desk, "n2")
    for _ in range(6):
        first.look()
        second.look()
    assert second.plans == []
    assert first.plans
    assert set(first.plans) == {frozenset({"n1", "n2"})}, "not for the one that came first alone"
    first.machine.close()
    for _ in range(6):
        second.look()
    assert second.plans
    second.machine.close()


def test_plans_are_made_by_another_when_the_planner_is_silent(desk: HubDesk, first: Machine) -> None:
    second = Machine(desk, "n2")
    first.look()
    for _ in range(int(LEASE) + 5):
        second.look()
    assert second.plans
    assert second.plans[-1] == frozenset({"n2"}), "the other has not shown itself for a lease"
    assert (PLANNING, "n2") in desk.rows("SELECT id, node FROM parcahyd_hub.partitions")
    second.machine.close()


def test_machines_are_there_while_they_write_whatever_their_clocks_say() -> None:
    now = [0.0]
    watch = NodeWatch(lambda: now[0])
    watch.see({"a": 7000.0, "b": -50.0})
    now[0] = 15.0
    watch.see({"a": 3.0, "b": -50.0})
    now[0] = 21.0
    assert watch.alive(20.0) == {"a"}
