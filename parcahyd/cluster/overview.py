"""A cluster as it is now: the run, the machines and the partitions, read from the hub for people and for programs.

Two looks tell more than one: how long a partition has not renewed, and how fast pages come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Executable, Table, and_, distinct, exists, extract, func, select
from sqlalchemy.sql.expression import FromClause

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import BootClock
from parcahyd.cluster.identity import ClusterIdentity
from parcahyd.cluster.planning import Node, nodes_of
from parcahyd.cluster.quotas import MAX_PAGES
from parcahyd.cluster.records import PartitionSeen
from parcahyd.cluster.tables import (
    PLANNING,
    homes,
    mail,
    moves,
    outbox,
    partitions,
    quotas,
    reports,
    runs,
    states,
    subjects,
    waiters,
    wishes,
)
from parcahyd.cluster.taking import Taker, Watch

__all__ = ["ClusterNow", "NodeNow", "Overview", "PartitionNow", "RunNow"]

_NOW = select(extract("epoch", func.clock_timestamp()).cast(states.c.idle_since.type))
_RUN = select(
    *(runs.c.id, runs.c.wanted, runs.c.version, runs.c.outcome, runs.c.started_at, runs.c.ended_at, runs.c.blocked)
).order_by(runs.c.id.desc())
_TOTAL = select(quotas.c.total).where(quotas.c.name == MAX_PAGES)
_STATES = select(
    *(states.c.partition, states.c.idle_since, states.c.wanting, states.c.confirmed, states.c.pages),
    *(wishes.c.is_pinned, reports.c.content, reports.c.written_at),
).select_from(
    states.outerjoin(wishes, wishes.c.partition == states.c.partition).outerjoin(
        reports, reports.c.partition == states.c.partition
    )
)


def _held(table: Table) -> ColumnElement[bool]:
    """Rows of a tree that holds its partition now."""
    return exists().where(
        and_(partitions.c.id == table.c.partition, partitions.c.epoch == table.c.epoch, partitions.c.token == table.c.token)
    )


def _counted(table: FromClause, whose: str, *conditions: ColumnElement[bool], what: Any = None) -> Executable:
    return select(table.c[whose], func.count(what)).where(*conditions).group_by(table.c[whose])


_COUNTS = {
    "mail": _counted(mail, "partition", what=mail.c.id),
    "outbox": _counted(outbox, "sender", what=outbox.c.id),
    "claims_waiting": _counted(waiters, "partition", _held(waiters), what=distinct(waiters.c.ticket)),
    "subjects": _counted(subjects, "partition", subjects.c.partition.is_not(None), _held(subjects), what=subjects.c.subject),
    "hosts": _counted(homes, "partition", homes.c.moving.is_(None), what=homes.c.site),
    "coming": _counted(homes, "partition", homes.c.moving.is_not(None), what=homes.c.site),
    "leaving": _counted(moves, "source", what=moves.c.site),
    "waiting": _counted(homes, "partition", homes.c.waits, what=homes.c.site),
}


class RunNow(msgspec.Struct, frozen=True):
    """The run under way, or the last one."""

    id: int
    wanted: str
    version: int
    outcome: str | None
    """None: it is under way."""
    started_at: float
    ended_at: float | None
    blocked: tuple[str, ...]
    pages: int
    """Stored in all partitions."""
    pages_per_second: float | None
    """None: only one look was taken."""
    max_pages: int | None
    max_pages_left: int | None


class NodeNow(msgspec.Struct, frozen=True):
    """A machine that takes part, or did."""

    name: str
    address: str
    cores: float | None
    memory: float | None
    load: float | None
    seen: float
    """Seconds since its agent last said that it is there, by the hub's clock."""
    draining: bool
    partitions: tuple[int, ...]
    """Those that it holds."""


class PartitionNow(msgspec.Struct, frozen=True):
    """A partition and how its pipeline is doing."""

    id: int
    node: str | None
    """None: nobody holds it."""
    wanted: str | None
    pinned: bool
    """Its user wants it on that node."""
    epoch: int
    beat: int
    silent: float
    """Seconds for which it was seen that nobody took, renewed or gave it back."""
    idle: bool
    wanting: bool
    """It has due URLs, and MaxPages leaves it none."""
    confirmed: int
    """The version of what is wanted of the run that it obeys."""
    pages: int
    pages_per_second: float | None
    mail: int
    outbox: int
    claims_waiting: int
    subjects: int
    """Hosts and addresses that it may send to now."""
    hosts: int
    """Those that were written down to live in it."""
    coming: int
    """Hosts whose rows come from other partitions."""
    leaving: int
    """Hosts that go to another partition when no visit of them is open."""
    waiting: int
    """Hosts that it keeps until they are given to a partition that has little to do."""
    report: dict[str, Any]
    """What its pipeline last said of itself."""
    reported: float | None
    """Seconds since then, by the hub's clock."""


class ClusterNow(msgspec.Struct, frozen=True):
    """All of it."""

    id: str
    lease: float
    incarnation: int
    settled: bool
    """Partitions may be taken. False: the hub was restored or replaced less than a lease ago."""
    planner: str | None
    """The node whose agent makes the plans."""
    at: float
    """Hub time."""
    run: RunNow | None
    nodes: tuple[NodeNow, ...]
    partitions: tuple[PartitionNow, ...]


class Overview:
    """Looks at a cluster, once or again and again."""

    def __init__(self, hub: HubConnection, clock: BootClock) -> None:
        self._hub = hub
        self._clock = clock
        self._identity = ClusterIdentity(hub)
        self._watch = Watch(clock)
        self._before: tuple[float, int | None, Mapping[int, int]] | None = None

    def look(self) -> ClusterNow:
        """The cluster as it is now. The parts are read one after the other, so they may differ by a moment."""
        hub = self._hub
        facts = self._identity.read()
        rows = Taker(hub, self._clock, facts).look()
        self._watch.see(facts.identity, rows)
        nodes = nodes_of(hub)
        with hub.transaction():
            now = float(hub.value(_NOW))
            found = hub.rows(_RUN.limit(1))
            total = hub.value(_TOTAL)
            details = {row[0]: row[1:] for row in hub.rows(_STATES)}
            counts = {name: dict(hub.rows(statement)) for name, statement in _COUNTS.items()}
        pages = {number: int(row[3]) for number, row in details.items()}
        rates = self._rates(found[0][0] if found else None, pages)
        return ClusterNow(
            *(facts.id, facts.lease, facts.identity.incarnation, facts.is_settled),
            planner=next((row.node for row in rows if row.id == PLANNING), None),
            at=now,
            run=_run(found[0], pages, rates, total) if found else None,
            nodes=tuple(_node(node, rows, now) for node in nodes),
            partitions=tuple(
                self._partition(row, details[row.id], counts, rates, now)
                for row in sorted(rows, key=lambda row: row.id)
                if row.id in details
            ),
        )

    def _rates(self, run: int | None, pages: Mapping[int, int]) -> dict[int, float]:
        """Pages per second by partition since the look before; empty at the first look, and where another run has begun."""
        now, before = self._clock(), self._before
        self._before = now, run, pages
        if before is None or before[1] != run or now <= before[0]:
            return {}
        return {number: (count - before[2].get(number, 0)) / (now - before[0]) for number, count in pages.items()}

    def _partition(
        self,
        row: PartitionSeen,
        details: Sequence[Any],
        counts: Mapping[str, Mapping[int, int]],
        rates: Mapping[int, float],
        now: float,
    ) -> PartitionNow:
        idle_since, wanting, confirmed, pages, is_pinned, content, written_at = details
        return PartitionNow(
            id=row.id,
            node=row.node,
            wanted=row.wish,
            pinned=bool(is_pinned),
            epoch=row.epoch,
            beat=row.beat,
            silent=round(self._watch.unchanged_for(row.id), 3),
            idle=idle_since is not None,
            wanting=wanting,
            confirmed=confirmed,
            pages=pages,
            pages_per_second=_rounded(rates.get(row.id)),
            **{name: count.get(row.id, 0) for name, count in counts.items()},
            report=_report(content),
            reported=_rounded(None if written_at is None else max(now - written_at, 0.0)),
        )


def _run(row: Sequence[Any], pages: Mapping[int, int], rates: Mapping[int, float], total: int | None) -> RunNow:
    number, wanted, version, outcome, started_at, ended_at, blocked = row
    stored = sum(pages.values())
    return RunNow(
        id=number,
        wanted=wanted,
        version=version,
        outcome=outcome,
        started_at=started_at,
        ended_at=ended_at,
        blocked=tuple(host for host in blocked.split("\n") if host),
        pages=stored,
        pages_per_second=_rounded(sum(rates.values())) if rates else None,
        max_pages=total,
        max_pages_left=None if total is None else max(total - stored, 0),
    )


def _node(node: Node, rows: Sequence[PartitionSeen], now: float) -> NodeNow:
    figures = node.figures
    return NodeNow(
        *(node.id, node.address, figures.cores, figures.memory, figures.load),
        seen=round(max(now - node.seen_at, 0.0), 3),
        draining=node.is_draining,
        partitions=tuple(sorted(row.id for row in rows if row.node == node.id and row.id >= 0)),
    )


def _report(content: str | None) -> dict[str, Any]:
    """What a pipeline wrote. Whatever is no JSON object tells nothing."""
    try:
        found = msgspec.json.decode(content or "{}")
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 3)
