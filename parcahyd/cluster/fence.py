"""The fence at the start of every transaction of a tree, and the numbers by which its writer knows what was committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Double, bindparam, func, select, true, update

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.records import Holding
from parcahyd.cluster.tables import cluster, partitions, states
from parcahyd.core.errors import HubWentBack, LeaseLost
from parcahyd.storage.expressions import same
from parcahyd.storage.writer import Writer

__all__ = ["Batches", "Fence"]

_FENCE = (
    select(cluster.c.life)
    .select_from(partitions.join(cluster, true()))
    .where(*same(partitions, "id", "epoch", "token"), *same(cluster, "incarnation"))
    # Renewing passes this lock, taking waits for it. FOR SHARE would hold up the renewer.
    .with_for_update(read=True, key_share=True, of=partitions)
)
_NUMBER = select(states.c.batch, states.c.clock).where(*same(states, "partition")).with_for_update()
_COUNT = (
    update(states)
    .where(*same(states, "partition"), states.c.batch == bindparam("before"))
    .values(
        batch=bindparam("number"),
        pages=states.c.pages + bindparam("more"),
        clock=func.greatest(states.c.clock, bindparam("now", type_=Double)),
    )
    .returning(states.c.batch)
)


class Fence:
    """Lets no transaction of a tree through whose partition is another's. One for each connection."""

    def __init__(self, writer: HubConnection, holding: Holding) -> None:
        self.writer = writer
        self.holding = holding
        self.owner = {"partition": holding.partition, "epoch": holding.epoch, "token": holding.token}
        """The columns of a row that belongs to this tree."""

    @contextmanager
    def transaction(self) -> Iterator[int]:
        """A transaction that begins with the fence; gives the life of the cluster."""
        # Not the transaction of a PartitionWriter, which begins with this fence itself.
        with Writer.transaction(self.writer):
            yield self.check()

    def check(self) -> int:
        """The first statement of a transaction. LeaseLost: nothing was written, and the process ends."""
        holding = self.holding
        found = self.writer.rows(
            _FENCE,
            id=holding.partition,
            epoch=holding.epoch,
            token=holding.token,
            incarnation=holding.identity.incarnation,
        )
        if not found:
            raise LeaseLost(f"partition {holding.partition} is no longer held by this tree")
        life: int = found[0][0]
        return life


class Batches:
    """Numbers the transactions of a partition's writer. After a lost connection the number tells whether it was committed."""

    def __init__(self, fence: Fence, now: Callable[[], float]) -> None:
        """`now` is the pipeline's own time, which each transaction notes."""
        self._fence = fence
        self._now = now
        self.is_doubtful = False
        """The answer to a COMMIT was lost: `was_committed` comes before the next transaction."""
        self._pages = 0
        with fence.transaction():
            number, clock = self._read()
        self._acknowledged = number
        self.last_time = clock
        """The latest time that was noted before, by whoever held the partition. No pipeline of it goes back behind that."""

    @contextmanager
    def transaction(self, pages: int = 0) -> Iterator[int]:
        """A fenced transaction with the next number, which stores that many pages, and those that `count_pages` adds.

        A transaction whose answer was lost is not repeated unasked.
        """
        assert not self.is_doubtful, "ask `was_committed` first"  # noqa: S101 (a mistake of the caller)
        self._pages = pages
        with self._fence.transaction() as life:
            yield life
            self._count()
            self.is_doubtful = True  # What failed before was never committed.
        self._acknowledge()

    def count_pages(self, pages: int) -> None:
        """The transaction under way stores so many pages more."""
        self._pages += pages

    def _count(self) -> None:
        owner, before = self._fence.holding.partition, self._acknowledged
        row = {"partition": owner, "before": before, "number": before + 1, "more": self._pages, "now": self._now()}
        if not self._fence.writer.rows(_COUNT, **row):
            raise HubWentBack("the number of the last batch in the database is not the one that was acknowledged")

    def was_committed(self) -> bool:
        """Whether the transaction that failed last was committed all the same. False: repeat it."""
        with self._fence.transaction():
            found, _ = self._read()
        self.is_doubtful = False
        if found == self._acknowledged:
            return False
        if found != self._acknowledged + 1:
            raise HubWentBack("the database does not have the batches that it acknowledged")
        self._acknowledged = found
        return True

    def _read(self) -> tuple[int, float]:
        """Number and time. It waits for a transaction of an older session that is still under way."""
        ((number, clock),) = self._fence.writer.rows(_NUMBER, partition=self._fence.holding.partition)
        return number, clock

    def _acknowledge(self) -> None:
        self._acknowledged += 1
        self.is_doubtful = False
