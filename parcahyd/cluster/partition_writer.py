"""The connection that writes a partition: every transaction is fenced and numbered, and no caller has to know."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import BigInteger, Connection, Select, Table, bindparam, column, func, select, table

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.fence import Batches, Fence
from parcahyd.cluster.records import HeldPartition
from parcahyd.core.errors import LeaseLost, StoreFailure
from parcahyd.storage.cluster_schemas import IDS_OF_A_PARTITION, WHOLE_CRAWL, partition_schema
from parcahyd.storage.schema import metadata, runs

__all__ = ["PartitionWriter"]

_ASK_AGAIN = 0.2


def _last_id(name: str) -> Select[tuple[int]]:
    of_all = table(name, column("id", BigInteger), schema=WHOLE_CRAWL)
    return select(func.max(of_all.c.id)).where(of_all.c.id.between(bindparam("first"), bindparam("last")))


_LAST_IDS = {name: _last_id(name) for name, one in metadata.tables.items() if "id" in one.c}


class PartitionWriter(HubConnection):
    """A Writer in the schema of a partition. LeaseLost, from any transaction: the process ends without writing.

    Where the answer to a COMMIT is lost, `transaction` asks until it knows whether the batch was committed. So a StoreFailure
    means here what it means on one machine: nothing was changed, and the same may be tried again.
    """

    _is_open = False

    def __init__(self, url: str, held: HeldPartition, passed: Callable[[], bool], now: Callable[[], float]) -> None:
        """`passed` says whether the deadline of the tree has passed, `now` is the pipeline's own time."""
        holding = held.holding
        super().__init__(
            url,
            holding.session_name,
            held.lock_seconds,
            holding.identity,
            schema=partition_schema(holding.partition),
            first_id=holding.partition * IDS_OF_A_PARTITION,
        )
        self._passed = passed
        self._after_commit: list[Callable[[], None]] = []
        self.fence = Fence(self, holding)
        self.batches = Batches(self.fence, now)
        self._is_open = True

    def after_commit(self, call: Callable[[], None]) -> None:
        """Registers what is called when a transaction is known to be committed."""
        self._after_commit.append(call)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        if self.batches.is_doubtful and not self._was_committed():
            self.forget()
        try:
            with self.batches.transaction():
                assert self._connection is not None  # noqa: S101 (for mypy)
                yield self._connection
        except StoreFailure:
            if not self.batches.is_doubtful:
                raise
            if not self._was_committed():
                self.forget()
                raise
        for call in self._after_commit:
            call()

    @contextmanager
    def looking(self) -> Iterator[Connection]:
        """A transaction that only reads. Without fence and number the server writes nothing, so it may come often."""
        with super().transaction() as connection:
            yield connection

    def forget(self) -> None:
        """As with every Writer; but as long as nobody knows whether a batch was committed, what it remembered stays."""
        if not (self._is_open and self.batches.is_doubtful):
            super().forget()

    def _was_committed(self) -> bool:
        while not self._passed():
            try:
                return self.batches.was_committed()
            except StoreFailure:
                time.sleep(_ASK_AGAIN)
        raise LeaseLost(f"the deadline of partition {self.fence.holding.partition} has passed")

    def new_id(self, of: Table) -> int:
        """Above every number that this partition gave out, also where its row has gone to another partition."""
        if of.name not in self._next_ids and of.name != runs.name:
            first = self.fence.holding.partition * IDS_OF_A_PARTITION
            found = self.value(_LAST_IDS[of.name], first=first, last=first + IDS_OF_A_PARTITION - 1)
            self._next_ids[of.name] = (found or first) + 1
        return super().new_id(of)

    def lock(self, wait: float) -> None:
        """Nothing to do: the fence keeps every other writer out."""
