"""Runs: begun once for all machines, joined by every tree, and steered by a state that its user wants.

Pause, stop and blocked hosts are wanted states with a version, not events. Each renewal tells the newest version, and a
pipeline confirms it once it obeys. What brings work from outside locks the run's row first, and is told if the run is over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec
from sqlalchemy import Double, bindparam, delete, extract, func, null, select, update

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.quotas import fill
from parcahyd.cluster.tables import chunks, cluster, partitions, quotas, runs, states
from parcahyd.core.errors import UserError
from parcahyd.storage.expressions import inserting, same
from parcahyd.storage.writer import Writer

__all__ = ["PAUSED", "RUNNING", "STOPPED", "Run", "Runs", "begin_run", "confirm", "hold_last_run", "hold_run", "stop_if_late"]

RUNNING, PAUSED, STOPPED = "running", "paused", "stopped"

_HUB_NOW = extract("epoch", func.clock_timestamp())
_ALONE = select(cluster.c.id).with_for_update()
_UNDER_WAY = runs.c.outcome.is_(None)
_CURRENT = select(runs.c.id, runs.c.wanted, runs.c.blocked, runs.c.version).where(_UNDER_WAY)
_HOLD = _CURRENT.with_for_update()
_HOLD_LAST = select(runs.c.id).order_by(runs.c.id.desc()).limit(1).with_for_update()
_LAST = select(func.coalesce(func.max(runs.c.id), 0))
_BEGIN = inserting(runs, "id", "wanted", "settings").values(started_at=_HUB_NOW)
_OLD_NUMBERS = (delete(chunks), delete(quotas))
_SETTINGS = select(runs.c.settings).order_by(runs.c.id.desc()).limit(1)
_OUTCOME = select(runs.c.outcome).where(*same(runs, "id"))
_START_ANEW = update(states).values(idle_since=null(), pages=0, wanting=False, confirmed=0)
_WANT = (
    update(runs)
    .where(runs.c.id == bindparam("run"))
    .values(wanted=bindparam("wanted"), blocked=bindparam("blocked"), version=runs.c.version + 1)
    .returning(runs.c.version)
)
_CONFIRM = update(states).where(*same(states, "partition")).values(confirmed=bindparam("version"))
_OPEN_ONES = (
    select(partitions.c.id)
    .select_from(partitions.join(states, states.c.partition == partitions.c.id))
    .where(partitions.c.token.is_not(None), states.c.confirmed < bindparam("version"))
    .order_by(partitions.c.id)
)


_STOP_LATE = (
    update(runs)
    .where(runs.c.id == bindparam("run"), _UNDER_WAY, runs.c.wanted != STOPPED)
    .where(_HUB_NOW - runs.c.started_at >= bindparam("seconds", type_=Double))
    .values(wanted=STOPPED, version=runs.c.version + 1)
)


class Run(msgspec.Struct, frozen=True):
    """The run under way, as its user wants it."""

    id: int
    wanted: str
    blocked: frozenset[str]
    version: int


class Runs:
    """Runs as commands see them."""

    def __init__(self, hub: HubConnection) -> None:
        self._hub = hub

    def begin(self, settings: str, totals: Mapping[str, int]) -> int:
        """Begins a run with these quotas, or joins the one that is under way; returns its number."""
        with self._hub.transaction():
            return begin_run(self._hub, settings, totals)[0].id

    def last_settings(self) -> str | None:
        """The settings of the run under way, or else of the last one; None where none was ever begun."""
        with self._hub.transaction():
            text: str | None = self._hub.value(_SETTINGS)
        return text

    def outcome(self, number: int) -> str | None:
        """How a run ended; None: it is under way."""
        with self._hub.transaction():
            found: str | None = self._hub.value(_OUTCOME, id=number)
        return found

    def current(self) -> Run | None:
        with self._hub.transaction():
            rows = self._hub.rows(_CURRENT)
        return _run(rows[0]) if rows else None

    def want(self, wanted: str, blocked: Collection[str] = ()) -> int:
        """Says how the run is to be from now on; returns the version that pipelines confirm."""
        with self._hub.transaction():
            run = hold_run(self._hub)
            return int(self._hub.value(_WANT, run=run.id, wanted=wanted, blocked="\n".join(sorted(blocked))))

    def change(self, wanted: str | None = None, block: Collection[str] = (), unblock: Collection[str] = ()) -> Run:
        """Changes what is named and nothing else; returns the run with the version that pipelines confirm."""
        with self._hub.transaction():
            run = hold_run(self._hub)
            state = wanted or run.wanted
            blocked = run.blocked.union(block).difference(unblock)
            version = self._hub.value(_WANT, run=run.id, wanted=state, blocked="\n".join(sorted(blocked)))
        return Run(run.id, state, blocked, int(version))

    def not_confirmed(self, version: int) -> list[int]:
        """The partitions that are held and do not obey this version yet. A silent one has to be ended first."""
        with self._hub.transaction():
            return [row[0] for row in self._hub.rows(_OPEN_ONES, version=version)]


def begin_run(writer: Writer, settings: str, totals: Mapping[str, int]) -> tuple[Run, bool]:
    """Begins a run with these quotas, or joins the one that is under way; returns it, and whether it is new.

    Used inside a transaction.
    """
    writer.rows(_ALONE)
    if found := writer.rows(_HOLD):
        return _run(found[0]), False
    number = int(writer.value(_LAST)) + 1
    writer.run(_BEGIN, id=number, wanted=RUNNING, settings=settings)
    for statement in _OLD_NUMBERS:
        writer.run(statement)
    for quota, total in totals.items():
        fill(writer, quota, total)
    writer.run(_START_ANEW)
    return Run(number, RUNNING, frozenset(), 0), True


def hold_run(writer: Writer) -> Run:
    """Locks the row of the run under way until the end of the transaction. A run that is over is a UserError."""
    rows = writer.rows(_HOLD)
    if not rows:
        raise UserError("the run is over", "begin another with: parcahyd cluster start")
    return _run(rows[0])


def hold_last_run(writer: Writer) -> None:
    """Locks the row of the newest run until the end of the transaction, whether or not it is over."""
    writer.rows(_HOLD_LAST)


def stop_if_late(fence: Fence, run: int, seconds: float) -> None:
    """Has the run stopped if it was begun so many seconds ago (MaxSeconds)."""
    with fence.transaction():
        fence.writer.run(_STOP_LATE, run=run, seconds=seconds)


def confirm(fence: Fence, version: int) -> None:
    """The pipeline of a partition obeys this version."""
    with fence.transaction():
        fence.writer.run(_CONFIRM, partition=fence.holding.partition, version=version)


def _run(row: tuple[int, str, str, int]) -> Run:
    number, wanted, blocked, version = row
    return Run(number, wanted, frozenset(blocked.split("\n")) - {""}, version)
