"""The Document and URL Buffer (P18): three queues between the Crawl Workers and Update Database.

| queue | filled with | by |
|---|---|---|
| ExternLQ | links to other sites | workers |
| DocURLQ | documents with their URL and links, confirmations, facts about sites | workers |
| BadURLQ | URLs that failed, are refused or gone | workers, and the coordinator for hosts without an address |

Update Database empties all three. The buffer never refuses a record: workers send only what they have credit for, and get the
credit back when the record is committed. So BufferBytes bounds the size of the buffer. Each record costs its bytes and a fixed
amount, which bounds the number of records too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from parcahyd.core.messages import BufferedRecord, BufferQueue, BufferRecord
from parcahyd.core.records import BadRecord, ExternRecord, VisitOver

__all__ = ["DocumentBuffer"]

Item = TypeVar("Item")


class DocumentBuffer(Generic[Item]):
    """Three queues and, for each visit, how many of its records are not committed yet.

    `prepare` turns a record into an item of a queue: the compression of a document begins while it waits.
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
        """Add a record. The last record of a visit is kept apart until the others are committed."""
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
        """The worker of these visits has ended: release those whose last record did not arrive.

        A visit that was released before may be among them; the database ignores it.
        """
        self._abandoned.update(visit for visit in visits if visit not in self._last_records)

    def waiting(self, queue: BufferQueue) -> int:
        return len(self._queues[queue])

    def take(self, queue: BufferQueue, most: int) -> list[BufferedRecord[Item]]:
        """A batch from the head of the queue. It counts in `records` and `size` until it is committed."""
        waiting = self._queues[queue]
        return [waiting.popleft() for _ in range(min(most, len(waiting)))]

    def put_back(self, queue: BufferQueue, batch: Sequence[BufferedRecord[Item]]) -> None:
        """Return a batch that was not written to the head of its own queue, in its order."""
        self._queues[queue].extendleft(reversed(batch))

    def committed(self, batch: Sequence[BufferedRecord[Item]]) -> dict[int, int]:
        """The batch is in the database; returns the credit to grant, by sender."""
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
        """Take the visits whose other records are all committed: last records, abandoned visits, and the credit by sender."""
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
        """Whether a visit is over or abandoned: its site, host and address are free when it is released."""
        return bool(self._last_records or self._abandoned)

    @property
    def is_empty(self) -> bool:
        return not self.records and not self._abandoned
