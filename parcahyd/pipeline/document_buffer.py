"""The Document and URL Buffer (P18): three queues between the Crawl Workers and Update Database.

| queue | filled with | by |
|---|---|---|
| ExternLQ | links to other sites | workers |
| DocURLQ | documents with their URL and links, confirmations, facts about sites | workers |
| BadURLQ | URLs that failed, are refused or gone | workers, and the coordinator for hosts without an address |

Update Database empties all three. The buffer never refuses a record: workers send only what they have credit for, and get the
credit back when the record is committed. So BufferBytes bounds the size of the buffer. Each record costs its bytes and a fixed
amount, which bounds the number of records too.

In each queue visits take turns, and a batch is bounded in rows of the database: a visit that brings very many links delays the
records of others by one batch.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from parcahyd.core.messages import BufferedRecord, BufferQueue, BufferRecord
from parcahyd.core.records import BadRecord, ExternRecord, VisitOver

__all__ = ["DocumentBuffer"]

Item = TypeVar("Item")

_MOST_ROWS = 5000
"""Rows of one batch: a few tenths of a second of the writer's time. Records of workers are smaller (`record_writer`)."""
_MOST_OF_A_VISIT = 2500
"""Rows that one visit brings into a batch, at most, while others wait."""


class _VisitQueue(Generic[Item]):
    """A queue in which visits take turns, a record each. The records of one visit keep their order."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[int, deque[BufferedRecord[Item]]] = OrderedDict()
        """By visit, the next one first; none is empty."""
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(self, buffered: BufferedRecord[Item]) -> None:
        self._length += 1
        self._waiting.setdefault(buffered.source, deque()).append(buffered)

    def take(self, most: int) -> list[BufferedRecord[Item]]:
        """At most so many records, with at most _MOST_ROWS rows together unless the first alone has more."""
        batch: list[BufferedRecord[Item]] = []
        waiting, rows = self._waiting, 0
        brought: Counter[int] = Counter()
        sated: dict[int, deque[BufferedRecord[Item]]] = {}
        while waiting and len(batch) < most:
            source, records = next(iter(waiting.items()))
            rows += records[0].rows
            if batch and rows > _MOST_ROWS:
                break
            brought[source] += records[0].rows
            batch.append(records.popleft())
            if not records:
                del waiting[source]
            elif brought[source] < _MOST_OF_A_VISIT or len(waiting) == 1:
                waiting.move_to_end(source)
            else:
                sated[source] = waiting.pop(source)
        waiting.update(sated)
        self._length -= len(batch)
        return batch

    def put_back(self, batch: Sequence[BufferedRecord[Item]]) -> None:
        """Undo `take`: the next batch begins with the same records in the same order."""
        for buffered in reversed(batch):
            self._waiting.setdefault(buffered.source, deque()).appendleft(buffered)
            self._waiting.move_to_end(buffered.source, last=False)
        self._length += len(batch)


class DocumentBuffer(Generic[Item]):
    """Three queues and, for each visit, how many of its records are not committed yet.

    `prepare` turns a record into an item of a queue: the compression of a document begins while it waits.
    """

    def __init__(self, prepare: Callable[[BufferRecord], Item]) -> None:
        self._prepare = prepare
        self._extern: _VisitQueue[Item] = _VisitQueue()
        self._doc: _VisitQueue[Item] = _VisitQueue()
        self._bad: _VisitQueue[Item] = _VisitQueue()
        self._queues = {BufferQueue.EXTERN: self._extern, BufferQueue.DOC: self._doc, BufferQueue.BAD: self._bad}
        self._uncommitted: dict[int, int] = {}
        self._last_records: dict[int, tuple[VisitOver, int, int]] = {}
        self._abandoned: set[int] = set()
        self.records = 0
        self.size = 0

    def put(self, record: BufferRecord, cost: int, sender: int, rows: int = 1) -> None:
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
        queue.append(BufferedRecord(self._prepare(record), cost, sender, visit, record.visit, rows))

    def abandon(self, visits: Sequence[int]) -> None:
        """The worker of these visits has ended: release those whose last record did not arrive.

        A visit that was released before may be among them; the database ignores it.
        """
        self._abandoned.update(visit for visit in visits if visit not in self._last_records)

    def waiting(self, queue: BufferQueue) -> int:
        return len(self._queues[queue])

    def take(self, queue: BufferQueue, most: int) -> list[BufferedRecord[Item]]:
        """A batch from the head of the queue. It counts in `records` and `size` until it is committed."""
        return self._queues[queue].take(most)

    def put_back(self, queue: BufferQueue, batch: Sequence[BufferedRecord[Item]]) -> None:
        """Return a batch that was not written to the head of its own queue, in its order."""
        self._queues[queue].put_back(batch)

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
