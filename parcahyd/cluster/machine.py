"""A machine at the hub: what its agent sees, takes, ends and plans, look by look. Used from one thread, on one connection.

An agent takes a partition that is wanted on its machine or on none that is there, while a run is to go on. It ends every
silent partition that it does not take: nobody else may use the hosts and addresses of a holder that fell silent.

Tested in tests/cluster/test_machine.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

import msgspec

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import BootClock, Deadline
from parcahyd.cluster.ending import end_if_done
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.identity import ClusterFacts, ClusterIdentity, Settling
from parcahyd.cluster.planning import join, nodes_of, note_node
from parcahyd.cluster.records import Holding, PartitionSeen
from parcahyd.cluster.runs import RUNNING, STOPPED, Run, Runs
from parcahyd.cluster.tables import PLANNING
from parcahyd.cluster.taking import Renewer, Taker, Taking, Watch
from parcahyd.core.errors import LeaseLost, StoreFailure, UserError

__all__ = ["Looked", "MachineAtHub", "NodeWatch"]

_CALM = 3.0
"""Seconds for which the same machines have been there before plans are made: those that start together are counted together."""


class Looked(msgspec.Struct, frozen=True):
    """What one look brought."""

    facts: ClusterFacts
    run: Run | None
    """The run under way."""
    taken: tuple[Taking, ...]
    """Partitions that are this machine's from now on: each gets a pipeline."""
    ended: tuple[int, ...]
    """Silent partitions that were ended, and those that a pipeline of this machine left behind."""
    given_back: tuple[int, ...]
    """Partitions that were said to be left behind, and are not: their pipelines gave them back, or others ended them."""
    is_free: bool
    """Nobody holds a partition."""
    wanted_here: int
    """How many partitions are wanted on this machine."""
    alive: frozenset[str]
    """The machines that have lately shown themselves."""
    is_to_work: bool
    """False: this machine is drained, and gives back what it has."""


class NodeWatch:
    """Which machines show themselves, on the clock of who looks."""

    def __init__(self, clock: BootClock) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[float, float]] = {}

    def see(self, seen_at: Mapping[str, float]) -> None:
        """Called with what each machine last wrote, whatever its clock says."""
        now = self._clock()
        before, self._seen = self._seen, {}
        for name, at in seen_at.items():
            known = before.get(name)
            self._seen[name] = known if known is not None and known[0] == at else (at, now)

    def alive(self, lease: float) -> frozenset[str]:
        """Those that have written within a lease."""
        now = self._clock()
        return frozenset(name for name, (_, since) in self._seen.items() if now - since < lease)


class MachineAtHub:
    """The hub as the agent of one machine sees it. `look` is called about once a second."""

    def __init__(
        self,
        hub: HubConnection,
        connect_as: Callable[[Holding, float], HubConnection],
        clock: BootClock,
        *,
        name: str,
        address: str,
        capacity: Callable[[], str],
        plan: Callable[[Fence, ClusterFacts, Collection[str]], None],
    ) -> None:
        """`connect_as` opens a connection of a holder, `capacity` says what this machine can bear, and `plan` makes the plans
        when this machine is to make them."""
        self._hub = hub
        self._connect_as = connect_as
        self._clock = clock
        self._name = name
        self._address = address
        self._capacity = capacity
        self._plan = plan
        self._identity = ClusterIdentity(hub)
        self._settling = Settling(clock)
        self._watch = Watch(clock)
        self._nodes = NodeWatch(clock)
        self._planner: _Planner | None = None
        self._planned_for: frozenset[str] = frozenset()
        self._planned_since = clock()
        self._has_joined = False

    def look(self, left_behind: Collection[Holding], may_take: Callable[[int], bool]) -> Looked:
        """Shows itself, and does what is due. `left_behind` are partitions whose pipelines on this machine have ended."""
        facts = self._identity.read()
        is_settled = self._settling.see(facts, self._identity)
        is_to_work = self._show_itself()
        self._nodes.see({node.id: node.seen_at for node in nodes_of(self._hub)})
        run = Runs(self._hub).current()
        taker = Taker(self._hub, self._clock, facts)
        rows = taker.look()
        self._watch.see(facts.identity, rows)
        alive = self._nodes.alive(facts.lease)
        ended = [row.id for row in rows if _is_of(row, left_behind) and taker.end(row)]
        given_back = tuple(one.partition for one in left_behind if not any(_is_of(row, (one,)) for row in rows))
        taken: list[Taking] = []
        if is_settled:
            takes = is_to_work and run is not None and run.wanted == RUNNING
            takeable = {row.id: row for row in self._watch.takeable(self._name, facts.lease) if self._is_for_us(row, alive)}
            for row in self._watch.silent(facts.lease):
                if row.id not in takeable or not (takes and may_take(row.id)):
                    ended += [row.id] if taker.end(row) else []
            for row in takeable.values():
                if row.id == PLANNING:
                    self._become_planner(taker, row, facts)
                elif takes and may_take(row.id) and row.id not in ended and (taking := taker.take(row, self._name)) is not None:
                    taken.append(taking)
        if run is not None and run.wanted == STOPPED:
            end_if_done(self._hub, run.id)
        self._make_plans(facts, alive)
        parts = [row for row in rows if row.id != PLANNING]
        wanted_here = sum(row.wish == self._name for row in parts)
        is_free = not taken and all(row.is_free for row in parts)
        return Looked(facts, run, tuple(taken), tuple(ended), given_back, is_free, wanted_here, alive, is_to_work)

    def _show_itself(self) -> bool:
        """Returns whether this machine is to take partitions."""
        if not self._has_joined:
            join(self._hub, self._name, self._address, self._capacity())
            self._has_joined = True
        is_to_work = note_node(self._hub, self._name, self._capacity())
        if is_to_work is None:
            raise UserError(f'the node "{self._name}" was taken off the list', "start its agent again to have it take part")
        return is_to_work

    def _is_for_us(self, row: PartitionSeen, alive: Collection[str]) -> bool:
        return row.wish is None or row.wish == self._name or row.wish not in alive

    def settings(self) -> str | None:
        """The settings of the run under way, or of the last one."""
        return Runs(self._hub).last_settings()

    # --- planning -------------------------------------------------------------------------------------------------------

    def _become_planner(self, taker: Taker, row: PartitionSeen, facts: ClusterFacts) -> None:
        if self._planner is None and (taking := taker.take(row, self._name)) is not None:
            self._planner = _Planner(self._connect_as(taking.holding, facts.lease), taking, self._clock, facts.lease)

    def _make_plans(self, facts: ClusterFacts, alive: frozenset[str]) -> None:
        planner = self._planner
        if planner is None:
            return
        if alive != self._planned_for:
            self._planned_for, self._planned_since = alive, self._clock()
        try:
            planner.renewer.renew()
            if self._clock() - self._planned_since >= _CALM:
                self._plan(planner.fence, facts, alive)
        except StoreFailure:
            return  # The next look tries again.
        except LeaseLost:
            self._drop_planner()

    def cut_off(self) -> None:
        """Called from another thread, when a look gets no answer: it fails, and the next one connects again."""
        self._hub.cut_off()
        planner = self._planner
        if planner is not None:
            planner.connection.cut_off()

    def close(self) -> None:
        """The agent ends: another machine may make the plans at once."""
        if self._planner is not None:
            with suppress(StoreFailure, LeaseLost):  # Others take its place when the lease is over, or have done so.
                self._planner.renewer.give_back()
            self._drop_planner()

    def _drop_planner(self) -> None:
        if self._planner is not None:
            self._planner.fence.writer.close()
            self._planner = None


class _Planner:
    """What the machine has that makes the plans."""

    def __init__(self, connection: HubConnection, taking: Taking, clock: BootClock, lease: float) -> None:
        self.connection = connection
        deadline = Deadline(clock, lease)
        deadline.start(taking.noted)
        self.renewer = Renewer(connection, taking.holding, deadline)
        self.fence = Fence(connection, taking.holding)


def _is_of(row: PartitionSeen, holdings: Collection[Holding]) -> bool:
    return any((row.id, row.epoch, row.token) == (one.partition, one.epoch, one.token) for one in holdings)
