"""Taking a partition, renewing it, giving it back, and ending one whose holder fell silent.

Nothing here compares times with the hub's clock. An agent takes what it has itself seen unchanged for one whole lease of its
own clock. Its update names what it saw, so of two takers one wins, and a holder that renewed in between keeps the partition.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import Numeric, Text, bindparam, cast, column, exists, extract, func, null, select, table, update

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import BootClock, Deadline
from parcahyd.cluster.identity import ClusterFacts, random_bits
from parcahyd.cluster.records import Holding, Identity, PartitionSeen, Renewal, session_name
from parcahyd.cluster.tables import PLANNING, cluster, partitions, routing, runs, scope, states, wishes
from parcahyd.core.errors import HubWentBack, LeaseLost, StoreFailure
from parcahyd.storage.expressions import same

__all__ = ["Renewer", "Taker", "Taking", "Watch"]

_PAUSE = 0.01

_LOOK = select(
    partitions.c.id, partitions.c.node, partitions.c.epoch, partitions.c.token, partitions.c.beat, wishes.c.node
).select_from(partitions.outerjoin(wishes, wishes.c.partition == partitions.c.id))
_AS_SEEN = (
    *same(partitions, "id"),
    partitions.c.epoch == bindparam("seen_epoch"),
    partitions.c.token.is_not_distinct_from(bindparam("seen_token", type_=partitions.c.token.type)),
    partitions.c.beat == bindparam("seen_beat"),
)
# The hub may have gone back since the agent looked.
_IDENTITY = (cluster.c.incarnation == bindparam("incarnation"), cluster.c.settled == bindparam("identity"))
# One statement, and no transaction around it: an agent that is stopped in the middle would lock the partition for good. What
# else the former holder has, its subjects, tickets and chunks, is known by its token, and is free with this.
_TAKE = (
    update(partitions)
    .where(*_AS_SEEN, *_IDENTITY)
    .values(
        node=bindparam("to_node", type_=partitions.c.node.type),
        token=bindparam("to_token", type_=partitions.c.token.type),
        epoch=partitions.c.epoch + 1,
        beat=0,
    )
    .returning(partitions.c.epoch)
)
_sessions = table("pg_stat_activity", column("pid"), column("application_name"))
# A holder that has renewed meanwhile keeps its sessions.
_END_SESSIONS = select(func.pg_terminate_backend(_sessions.c.pid)).where(
    _sessions.c.application_name == bindparam("name", type_=Text), exists().where(*_AS_SEEN)
)

_UNDER_WAY = runs.c.outcome.is_(None)
_HUB_TIME = cast(extract("epoch", func.clock_timestamp()), Numeric)
_OWN = same(partitions, "id", "epoch", "token")
_BEAT = (
    update(partitions)
    .where(*_OWN, partitions.c.beat.between(bindparam("least"), bindparam("most")))
    .where(_IDENTITY[0])
    .values(beat=partitions.c.beat + 1)
    .returning(
        partitions.c.beat,
        _HUB_TIME,
        select(wishes.c.node).where(wishes.c.partition == partitions.c.id).scalar_subquery(),
        select(func.max(scope.c.version)).scalar_subquery(),
        select(func.max(routing.c.version)).scalar_subquery(),
        select(runs.c.id).where(_UNDER_WAY).scalar_subquery(),
        select(runs.c.wanted).where(_UNDER_WAY).scalar_subquery(),
        select(runs.c.version).where(_UNDER_WAY).scalar_subquery(),
        func.coalesce(select(states.c.clock).where(states.c.partition == partitions.c.id).scalar_subquery(), 0.0),
    )
)
_IS_OWN = select(partitions.c.beat).where(*_OWN)
_GIVE_BACK = update(partitions).where(*_OWN).values(node=null(), token=null(), epoch=partitions.c.epoch + 1, beat=0)


class Watch:
    """What one agent saw of the partitions, and since when it has not changed on the agent's clock."""

    def __init__(self, clock: BootClock) -> None:
        self._clock = clock
        self._identity: Identity | None = None
        self._seen: dict[int, tuple[PartitionSeen, float]] = {}

    def see(self, identity: Identity, rows: Iterable[PartitionSeen]) -> None:
        """Called after the answer: a beat that was committed while the hub was asked is not older than this moment."""
        now = self._clock()
        if identity != self._identity:  # A hub that went back shows old beats again. They were not unchanged meanwhile.
            self._identity = identity
            self._seen.clear()
        for row in rows:
            before = self._seen.get(row.id)
            is_same = before is not None and _turn_of(before[0]) == _turn_of(row)
            self._seen[row.id] = (row, before[1] if is_same and before is not None else now)

    def unchanged_for(self, partition: int) -> float:
        """Seconds for which it is known that nobody took, renewed or gave it back."""
        return self._clock() - self._seen[partition][1]

    def takeable(self, node: str, lease: float) -> list[PartitionSeen]:
        """What the agent of a node may take now: silent for a lease, or free for one, or free and wanted on this node.

        Nobody is wanted to make the plans, so whoever comes first may.
        """
        return [
            row
            for row, since in self._seen.values()
            if self._clock() - since >= lease or (row.is_free and (row.wish == node or row.id == PLANNING))
        ]

    def silent(self, lease: float) -> list[PartitionSeen]:
        """Held partitions without a beat for a whole lease: any agent may end them."""
        return [row for row, since in self._seen.values() if not row.is_free and self._clock() - since >= lease]


def _turn_of(row: PartitionSeen) -> tuple[int, int | None, int]:
    return row.epoch, row.token, row.beat


class Taking(msgspec.Struct, frozen=True):
    """A partition that was taken, and the agent's clock before it was asked for: the deadline counts from there."""

    holding: Holding
    noted: float


class Taker:
    """Takes and ends partitions through the connection of an agent, whose statements wait a second at most for a lock."""

    def __init__(self, hub: HubConnection, clock: BootClock, facts: ClusterFacts) -> None:
        self._hub = hub
        self._clock = clock
        self._facts = facts

    def look(self) -> list[PartitionSeen]:
        """Every partition as it is now."""
        with self._hub.transaction():
            return [PartitionSeen(*row) for row in self._hub.rows(_LOOK)]

    def take(self, seen: PartitionSeen, node: str) -> Taking | None:
        """Takes a partition as it was seen; None: it has changed, or another took it."""
        noted = self._clock()
        token = random_bits()
        epoch = self._win(seen, node, token)
        if epoch is None:
            return None
        return Taking(Holding(self._facts.id, self._facts.identity, seen.id, epoch, token), noted)

    def end(self, seen: PartitionSeen) -> bool:
        """Takes a silent partition and gives it back in one transaction: its hosts and addresses are free."""
        return self._win(seen, None, None) is not None

    def _win(self, seen: PartitionSeen, node: str | None, token: int | None) -> int | None:
        while True:
            try:
                if seen.token is not None:
                    self._end_sessions(seen)
                return self._compare_and_set(seen, node, token)
            except StoreFailure:
                # A session of the holder has a transaction open, or the answer was lost.
                row = next(row for row in self.look() if row.id == seen.id)
            if _turn_of(row) != _turn_of(seen):
                is_won = (row.epoch, row.token, row.node) == (seen.epoch + 1, token, node)
                return row.epoch if is_won else None
            time.sleep(_PAUSE)

    def _end_sessions(self, seen: PartitionSeen) -> None:
        assert seen.token is not None  # noqa: S101 (for mypy)
        with self._hub.at_once():
            name = session_name(self._facts.id, seen.id, seen.epoch, seen.token)
            self._hub.rows(_END_SESSIONS, name=name, **_as_seen(seen))

    def _compare_and_set(self, seen: PartitionSeen, node: str | None, token: int | None) -> int | None:
        identity = self._facts.identity
        with self._hub.at_once():
            won = self._hub.rows(
                _TAKE,
                **_as_seen(seen),
                to_node=node,
                to_token=token,
                incarnation=identity.incarnation,
                identity=str(identity),
            )
        return won[0][0] if won else None


def _as_seen(seen: PartitionSeen) -> dict[str, Any]:
    return {"id": seen.id, "seen_epoch": seen.epoch, "seen_token": seen.token, "seen_beat": seen.beat}


class Renewer:
    """Renews a partition through a connection on which nothing else runs, and moves the deadline of its tree."""

    def __init__(self, hub: HubConnection, holding: Holding, deadline: Deadline) -> None:
        self._hub = hub
        self._holding = holding
        self._deadline = deadline
        self._beat = 0
        self._is_doubtful = False
        self._row = {"id": holding.partition, "epoch": holding.epoch, "token": holding.token}

    def renew(self) -> Renewal:
        """One beat more; tells what the pipeline is to obey. LeaseLost: the tree ends."""
        incarnation = self._holding.identity.incarnation
        noted = self._deadline.note()  # Before the question: the answer may take longer than the lease.
        # After a failure nobody knows whether the beat was committed. No other than this holder could have done it.
        most = self._beat + self._is_doubtful
        self._is_doubtful = True
        with self._hub.at_once():
            found = self._hub.rows(_BEAT, **self._row, least=self._beat, most=most, incarnation=incarnation)
            if not found:
                self._refuse()
        self._is_doubtful = False
        beat, hub_time, *rest = found[0]
        self._beat = beat
        if not self._deadline.move(noted):
            raise LeaseLost(f"the renewal of partition {self._holding.partition} came too late")
        return Renewal(beat, float(hub_time), *rest)

    def _refuse(self) -> None:
        if self._hub.rows(_IS_OWN, **self._row):
            raise HubWentBack("the hub has another incarnation, or a beat that is older than the last one")
        raise LeaseLost(f"partition {self._holding.partition} was taken")

    def give_back(self) -> None:
        """Frees the partition. Nothing of the tree is on the wire any more; hosts and addresses that it still has are stale.

        The deadline passes first: another agent may take the partition before the answer is here.
        """
        self._deadline.end()
        with self._hub.at_once():
            self._hub.run(_GIVE_BACK, **self._row)
