"""Where a host is to live once its address is known: with other hosts of that address, as far as the strategy wants it.

The hub counts the hosts of each address by partition. The figures serve a choice and nothing else: a host that is counted
twice, because its pipeline died before the first visit, does no harm.

Tested in tests/cluster/test_neighbourhood.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import bindparam, func, select
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.fence import Fence
from parcahyd.cluster.tables import homes, moves, neighbours
from parcahyd.core.partitions import Neighbours, Partitioner, Seen
from parcahyd.storage.expressions import bound, words

__all__ = ["Neighbourhood"]

_ALL = ""
"""The address under which all hosts of a partition are counted."""
_KIND = 0x70617263
"""Of the advisory locks."""
_LOCK = select(func.pg_advisory_xact_lock(_KIND, func.hashtext(bindparam("address"))))
_ON_RECORD = select(homes.c.site).where(homes.c.site.in_(words("names")))
_LEAVING = select(moves.c.site).where(moves.c.source == bindparam("here"), moves.c.site.in_(words("names")))
_COUNTS = select(neighbours).where(neighbours.c.address.in_(words("names")))
_count = insert(neighbours).values(**bound("address", "partition", "hosts"))
_COUNT = _count.on_conflict_do_update(
    index_elements=["address", "partition"], set_={"hosts": neighbours.c.hosts + _count.excluded.hosts}
)
_MOVE = insert(moves).values(**bound("site", "source", "target", "rule")).on_conflict_do_nothing()


class Neighbourhood:
    """The second question to a strategy, for a pipeline that is about to visit hosts for the first time."""

    def __init__(self, fence: Fence, partitioner: Partitioner) -> None:
        self._fence = fence
        self._partitioner = partitioner
        self.is_asked = partitioner.one_home and not partitioner.home_may_change
        """Where the home of a host is written down when it is found, it is decided already."""

    def settle(self, found: Mapping[str, str]) -> set[str]:
        """Gets hosts with their addresses. Returns those that are to live elsewhere: their move is written down."""
        writer, here = self._fence.writer, self._fence.holding.partition
        with self._fence.transaction():
            # Of two pipelines that meet an address at the same time, the second sees what the first has decided.
            for address in sorted(set(found.values())):
                writer.rows(_LOCK, address=address)
            decided = {row[0] for row in writer.rows(_ON_RECORD, names=writer.lists.bind(sorted(found)))}
            names = writer.lists.bind(sorted({*found.values(), _ALL}))
            going = {row[0] for row in writer.rows(_LEAVING, here=here, names=writer.lists.bind(sorted(found)))}
            known: dict[str, Counter[int]] = {address: Counter() for address in (*found.values(), _ALL)}
            for address, partition, number in writer.rows(_COUNTS, names=names):
                known[address][partition] = number
            new: Counter[tuple[str, int]] = Counter()
            moved = []
            for host in sorted(found.keys() - decided - going):
                address = found[host]
                seen = Seen(host, finder=here, address=address, neighbours=Neighbours(known[address], known[_ALL]))
                home = self._partitioner.home(seen)
                target = home if isinstance(home, int) else here
                for where in (address, _ALL):
                    known[where][target] += 1
                    new[where, target] += 1
                if target != here:
                    rule = f"lives with other hosts of {address}"
                    moved.append({"site": host, "source": here, "target": target, "rule": rule})
            rows = [{"address": address, "partition": number, "hosts": more} for (address, number), more in sorted(new.items())]
            writer.many(_COUNT, rows)
            writer.many(_MOVE, moved)
        return going.union(str(row["site"]) for row in moved)
