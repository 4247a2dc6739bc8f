"""Hosts that wait to be given away, where the strategy knows no home for a host that it never met (statement G11).

Whoever finds such a host keeps its URLs and visits nothing. A partition that has little to do takes some; their rows then move
to it like those of every site that moves.

Tested in tests/cluster/test_given_hosts.py.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import bindparam, extract, false, func, null, select, update

from parcahyd.cluster.fence import Fence
from parcahyd.cluster.planning import routing_now
from parcahyd.cluster.tables import homes, moves, states
from parcahyd.core.partitions import Partitioner, Routing, Seen
from parcahyd.storage.expressions import inserting, same

__all__ = ["GivenHosts"]

_OFFERED = 256
_WAITING = (
    select(homes.c.site, homes.c.partition, homes.c.size, homes.c.failed)
    .where(homes.c.waits, homes.c.moving.is_(None))
    .order_by(homes.c.failed.desc(), homes.c.size.desc().nulls_last(), homes.c.since, homes.c.site)
    .limit(_OFFERED)
    .with_for_update(skip_locked=True)
)
_GIVE = (
    update(homes)
    .where(*same(homes, "site"))
    .values(waits=false(), rule=bindparam("rule"), since=extract("epoch", func.clock_timestamp()))
)
_BUSY = update(states).where(*same(states, "partition")).values(idle_since=null())
_MOVE = inserting(moves, "site", "source", "target", "rule")


class GivenHosts:
    """What one partition takes; used in the thread of its pipeline that talks to the hub."""

    def __init__(
        self, fence: Fence, make_partitioner: Callable[[Routing], Partitioner], partitions: int, secret: bytes
    ) -> None:
        self._fence = fence
        self._make_partitioner = make_partitioner
        self._routing = Routing(partitions, secret=secret)
        self._partitioner = make_partitioner(self._routing)
        self.may_wait = self._partitioner.home_may_change
        """Whether the strategy has hosts wait at all."""

    def take(self, room: int) -> int:
        """Takes up to so many of the hosts that wait; returns how many. Others may take at the same time."""
        writer, here = self._fence.writer, self._fence.holding.partition
        with self._fence.transaction():
            version, strategy, state = routing_now(writer)
            if version != self._routing.version:
                self._routing = Routing(self._routing.partitions, version, state, self._routing.secret)
                self._partitioner = self._make_partitioner(self._routing)
            rows = writer.rows(_WAITING)
            keepers = {site: keeper for site, keeper, *_ in rows}
            waiting = [Seen(site, finder=keeper, size=size, failed=failed) for site, keeper, size, failed in rows]
            chosen = self._partitioner.next_for(here, waiting, room) if waiting else ()
            rule = f"{strategy}: given to partition {here}, which had little to do"
            writer.many(_GIVE, [{"site": site, "rule": rule} for site in chosen])
            elsewhere = [site for site in chosen if keepers[site] != here]
            if chosen:  # Before its writer has seen them, nobody must take the partition for idle.
                writer.run(_BUSY, partition=here)
            writer.many(_MOVE, [{"site": site, "source": keepers[site], "target": here, "rule": rule} for site in elsewhere])
        return len(chosen)
