"""Whether every pipeline obeys what the user wants of the run, for commands that wait for it.

A partition whose holder fell silent will never confirm anything. So who waits ends it as agents do: after one lease of its own
clock without a beat.
"""

from __future__ import annotations

from collections.abc import Collection

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import BootClock
from parcahyd.cluster.identity import ClusterIdentity, Settling
from parcahyd.cluster.records import PartitionSeen
from parcahyd.cluster.runs import Runs
from parcahyd.cluster.taking import Taker, Watch

__all__ = ["Obeying"]


class Obeying:
    """What one command saw of the partitions. Each call looks once; the caller waits between them."""

    def __init__(self, hub: HubConnection, clock: BootClock) -> None:
        self._hub = hub
        self._clock = clock
        self._identity = ClusterIdentity(hub)
        self._settling = Settling(clock)
        self._watch = Watch(clock)
        self._first: dict[int, PartitionSeen] = {}
        self._rows: dict[int, PartitionSeen] = {}

    def missing(self, version: int) -> list[int]:
        """The partitions that are held and do not obey this version yet. One that was silent for a lease is ended."""
        runs = Runs(self._hub)
        self._look(runs.not_confirmed(version))
        return runs.not_confirmed(version)

    def held_by(self, node: str) -> list[int]:
        """The partitions that a node holds. One that was silent for a lease is ended."""
        self._look([number for number, row in self._rows.items() if row.node == node])
        return sorted(number for number, row in self._rows.items() if row.node == node and not row.is_free)

    def alive(self) -> list[int]:
        """The partitions that are held by the same tree as at the first look, which has renewed since."""
        return [
            number
            for number, row in self._rows.items()
            if (first := self._first[number]).token == row.token is not None and first.beat != row.beat
        ]

    def _look(self, candidates: Collection[int]) -> None:
        """Looks at all partitions, and ends those of the candidates that are silent."""
        facts = self._identity.read()
        is_settled = self._settling.see(facts, self._identity)
        taker = Taker(self._hub, self._clock, facts)
        rows = taker.look()
        self._watch.see(facts.identity, rows)
        silent = [row for row in self._watch.silent(facts.lease) if row.id in candidates] if is_settled else []
        for row in silent:
            taker.end(row)
        if silent:
            rows = taker.look()
        self._rows = {row.id: row for row in rows}
        for row in rows:
            self._first.setdefault(row.id, row)
