"""The Document and URL Buffer (P18): three queues between the Crawl Workers and Update Database.

| queue | filled with | by |
|---|---|---|
| ExternLQ | links to other sites | workers |
| DocURLQ | documents with their URL and links, confirmations, facts about sites | workers |
| BadURLQ | URLs that failed, are refused or gone | workers, and the coordinator for hosts without an address |

All are emptied by Update Database. The buffer never refuses a record: workers send only what they have credit for, and
credit comes back when a record is committed, so BufferBytes bounds what can be in here (each record counts its bytes and a
fixed amount for itself, which bounds their number too).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from parcahyd.core.buffer import BufferedRecord, BufferQueue
from parcahyd.core.messages import BufferRecord
from parcahyd.core.records import BadRecord, ExternRecord, VisitOver

__all__ = ["DocumentBuffer"]

Item = TypeVar("Item")


class DocumentBuffer(Generic[Item]):
    """Three queues and, for each visit, how many of its records are not committed yet.

    `prepare` turns a record into what the queue holds (Update Database begins to compress a document while it waits).
    """

    def __init__(self, prepare: Callable[[BufferRecord], Item]) -> None:
        self._prepare = prepare
        self._extern: deque[BufferedRecord[Item]] = deque()
        self._doc: deque[BufferedRecord[Item]] = deque()
        self._bad: deque[BufferedRecord[Item]] = deque()
        self._queues = {BufferQueue.EXTERN: self._extern, BufferQueue.DOC: self._doc, BufferQueue.BAD: self._bad}
        self._uncommitted: dict[int, int] = {}
        self._last_records: dict[int, tuple[VisitOver, int, int]] = {}
        self._abandoned: set[int] = set()
        self.records = 0
        self.size = 0

    def put(self, record: BufferRecord, cost: int, sender: int) -> None:
        """Take a record in. A visit's last record waits aside until the others are committed."""
        self.records += 1
        self.size += cost
        if isinstance(record, VisitOver):
            self._last_records[record.visit] = record, cost, sender
            self._abandoned.discard(record.visit)
            return
        visit = 0
        if isinstance(record, ExternRecord):
            queue = self._extern
        else:
            queue = self._bad if isinstance(record, BadRecord) else self._doc
            visit = record.visit
            self._uncommitted[visit] = self._uncommitted.get(visit, 0) + 1
        queue.append(BufferedRecord(self._prepare(record), cost, sender, visit))

    def abandon(self, visits: Sequence[int]) -> None:
        """The worker of these visits is gone: release those whose last record never came. Of those that were released before,
        the database knows."""
        self._abandoned.update(visit for visit in visits if visit not in self._last_records)

    def waiting(self, queue: BufferQueue) -> int:
        return len(self._queues[queue])

    def take(self, queue: BufferQueue, most: int) -> list[BufferedRecord[Item]]:
        """A batch from the head. Its room stays reserved until it is committed or put back."""
        waiting = self._queues[queue]
        return [waiting.popleft() for _ in range(min(most, len(waiting)))]

    def put_back(self, queue: BufferQueue, batch: Sequence[BufferedRecord[Item]]) -> None:
        """A batch that was not written goes back to the head of its own queue, in its order."""
        self._queues[queue].extendleft(reversed(batch))

    def committed(self, batch: Sequence[BufferedRecord[Item]]) -> dict[int, int]:
        """The batch is in the database; returns the credit that goes back, by sender."""
        credit: dict[int, int] = {}
        for buffered in batch:
            credit[buffered.sender] = credit.get(buffered.sender, 0) + buffered.cost
            if buffered.visit:
                left = self._uncommitted[buffered.visit] - 1
                if left:
                    self._uncommitted[buffered.visit] = left
                else:
                    del self._uncommitted[buffered.visit]
        self.records -= len(batch)
        self.size -= sum(credit.values())
        return credit

    def take_finished(self) -> tuple[list[VisitOver], list[int], dict[int, int]]:
        """Visits whose every record is committed: their last records, the abandoned ones, and the credit that goes back."""
        ready = [visit for visit in self._last_records if visit not in self._uncommitted]
        records: list[VisitOver] = []
        credit: dict[int, int] = {}
        for visit in ready:
            record, cost, sender = self._last_records.pop(visit)
            records.append(record)
            credit[sender] = credit.get(sender, 0) + cost
            self.records -= 1
            self.size -= cost
        abandoned = [visit for visit in self._abandoned if visit not in self._uncommitted]
        self._abandoned.difference_update(abandoned)
        return records, abandoned, credit

    @property
    def is_urgent(self) -> bool:
        """A visit is over or lost: the sooner it is released, the sooner its site, host and address are free."""
        return bool(self._last_records or self._abandoned)

    @property
    def is_empty(self) -> bool:
        return not self.records and not self._abandoned
