"""Numbers that the whole crawl shares, as MaxPages: drawn in chunks, counted with each page, and exact.

What is left of a quota, what is left of all chunks and what is stored are always the total together. A page is reserved from
the chunk before its request is sent, in memory, and taken from it in the transaction that stores the page. What a dead
tree had and did not store is known by its token: once its partition is taken or ended, the next draw returns it.
"""

from __future__ import annotations

from sqlalchemy import bindparam, delete, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.fence import Fence
from parcahyd.cluster.tables import chunks, partitions, quotas, states
from parcahyd.core.errors import LeaseLost
from parcahyd.storage.expressions import bound, same
from parcahyd.storage.writer import Writer

__all__ = ["MAX_PAGES", "Chunk", "fill"]

MAX_PAGES = "MaxPages"

_current = exists().where(
    partitions.c.id == chunks.c.partition, partitions.c.epoch == chunks.c.epoch, partitions.c.token == chunks.c.token
)
_stale = delete(chunks).where(*same(chunks, "quota"), ~_current).returning(chunks.c.left).cte("stale")
_RETURN_STALE = (
    update(quotas)
    .where(*same(quotas, "name"))
    .values(left=quotas.c.left + select(func.coalesce(func.sum(_stale.c.left), 0)).scalar_subquery())
    .returning(quotas.c.left)
)
_fill = insert(quotas).values(name=bindparam("name"), total=bindparam("total"), left=bindparam("total"))
_FILL = _fill.on_conflict_do_update(index_elements=["name"], set_={"total": _fill.excluded.total, "left": _fill.excluded.left})
_EMPTY = delete(chunks).where(*same(chunks, "quota"))
_OWN = same(chunks, "quota", "partition", "epoch", "token")
_OPEN = insert(chunks).values(bound("quota", "partition", "epoch", "token")).on_conflict_do_nothing()
_HOLD = select(chunks.c.left).where(*_OWN).with_for_update()
_HOLD_QUOTA = select(quotas.c.left).where(*same(quotas, "name")).with_for_update()
_PARTITIONS = select(func.count()).select_from(partitions).where(partitions.c.id >= 0)
_SHRINK = update(quotas).where(*same(quotas, "name")).values(left=quotas.c.left - bindparam("less"))
_GROW = update(quotas).where(*same(quotas, "name")).values(left=quotas.c.left + bindparam("more"))
_GROW_CHUNK = (
    update(chunks)
    .where(*_OWN)
    .values(left=chunks.c.left + bindparam("more"), drawn=chunks.c.drawn + bindparam("more"))
    .returning(chunks.c.drawn)
)
_EMPTY_OWN = update(chunks).where(*_OWN).values(left=0, drawn=chunks.c.drawn - chunks.c.left)
_STORE = (
    update(chunks)
    .where(*_OWN, chunks.c.left >= bindparam("less"))
    .values(left=chunks.c.left - bindparam("less"))
    .returning(chunks.c.left)
)
_WANTING = (
    update(states)
    .where(*same(states, "partition"), states.c.wanting != bindparam("is_wanting"))
    .values(wanting=bindparam("is_wanting"))
)


def fill(writer: Writer, quota: str, total: int) -> None:
    """Sets a quota anew, for a new run; used inside a transaction that holds the run's row."""
    writer.run(_EMPTY, quota=quota)
    writer.run(_FILL, name=quota, total=total)


class Chunk:
    """What one tree has drawn of a quota.

    `draw` is a transaction of its own on the connection for claims. `store` and `give_back` run inside transactions of the
    writer, which may be another process. So the caller counts for itself how many are stored, reserved and on their way, and
    compares that with what was drawn in all. A draw whose answer was lost is simply repeated: it tells the whole number, so
    nothing is counted twice.
    """

    def __init__(self, fence: Fence, quota: str = MAX_PAGES) -> None:
        self._fence = fence
        self._quota = quota
        self._row = {"quota": quota, **fence.owner}

    def draw(self, most: int) -> int:
        """Draws up to `most`; returns how many this tree has drawn in all, less what it gave back.

        Where nothing was drawn and nothing is left, the partition is wanting. Near the end a chunk is one page, so that nobody
        waits for what another has and does not use.
        """
        writer = self._fence.writer
        with self._fence.transaction():
            writer.run(_OPEN, **self._row)
            # Its own row comes first: the writer may hold it, and others must not wait for the quota meanwhile.
            left = writer.value(_HOLD, **self._row)
            writer.run(_HOLD_QUOTA, name=self._quota)
            available = writer.value(_RETURN_STALE, name=self._quota, quota=self._quota)
            size = min(most, available, max(1, available // (2 * writer.value(_PARTITIONS))))
            writer.run(_SHRINK, name=self._quota, less=size)
            drawn = int(writer.value(_GROW_CHUNK, **self._row, more=size))
            writer.run(_WANTING, partition=self._row["partition"], is_wanting=left + size == 0)
        return drawn

    def store(self, pages: int) -> None:
        """Takes stored pages from the chunk, in their transaction. A page that was never drawn is a LeaseLost."""
        if pages and not self._fence.writer.rows(_STORE, **self._row, less=pages):
            raise LeaseLost(f"more pages would be stored than partition {self._row['partition']} has drawn")

    def give_back(self) -> None:
        """Returns what is left, in the transaction that finds nothing to do. No page is reserved any more."""
        writer = self._fence.writer
        if left := writer.value(_HOLD, **self._row):
            writer.run(_EMPTY_OWN, **self._row)
            writer.run(_GROW, name=self._quota, more=left)
