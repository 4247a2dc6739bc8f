"""Update Database (P19): writes the buffer's queues to the database, batch by batch, in the order Extern, Doc, Bad.

One transaction per batch of at most MaxSize records. A batch that fails goes back to the head of its own queue and is tried
again with back-off. If the database refused a record, the batch is halved after four tries, until that record is alone in its
batch; its URL is then stored as `failed`. Any other failure is the database's (a full disk, a server that is away): no record
is to blame, and everything waits until the database takes the batch. Workers run out of credit and send no more requests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from parcahyd.core.errors import RecordRefusal
from parcahyd.core.messages import BufferedRecord, BufferQueue, BufferRecord, Written
from parcahyd.core.records import BadRecord, VisitOver
from parcahyd.core.states import State

__all__ = ["CommittedCounts", "UpdateDatabase"]

_TRIES_BEFORE_HALVING = 4
_TRIES_ALONE = 2
"""Once halving has begun, a part that fails is halved at once; only a single record gets a second try."""

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_LINGER = 0.05
"""Seconds for which a few records wait for more: a transaction costs as much as some dozen rows."""

_PASS: tuple[BufferQueue | None, ...] = (*BufferQueue, None)
"""One pass over the buffer; None stands for the release of visits that are over."""


_Done = Callable[[Written | Exception], None]


class _Item(Protocol):
    @property
    def record(self) -> BufferRecord: ...


Item = TypeVar("Item", bound=_Item)
_Written_contra = TypeVar("_Written_contra", contravariant=True)


class _Buffer(Protocol[Item]):
    records: int

    @property
    def is_urgent(self) -> bool: ...

    def waiting(self, queue: BufferQueue) -> int: ...

    def take(self, queue: BufferQueue, most: int) -> list[BufferedRecord[Item]]: ...

    def put_back(self, queue: BufferQueue, batch: Sequence[BufferedRecord[Item]]) -> None: ...

    def committed(self, batch: Sequence[BufferedRecord[Item]]) -> dict[int, int]: ...

    def take_finished(self) -> tuple[list[VisitOver], list[int], dict[int, int]]: ...


class _Writer(Protocol[_Written_contra]):
    """The database as this box sees it. Each call is one transaction in another thread; `done` is called on the event loop."""

    def write(self, queue: BufferQueue, items: Sequence[_Written_contra], done: _Done) -> None: ...

    def write_as_failed(self, _queue: BufferQueue, item: _Written_contra, done: _Done) -> None: ...

    def release(self, over: Sequence[VisitOver], abandoned: Sequence[int], done: _Done) -> None: ...


class CommittedCounts:
    """Counts what was committed in this run."""

    def __init__(self) -> None:
        self.stored = 0
        self.unchanged = 0
        self.pages = 0
        """What MaxPages counts."""
        self.by_state: Counter[State] = Counter()
        self.received = 0
        """Bytes on the wire."""
        self.saved: Counter[str] = Counter()
        """Bytes that were not sent, by what saved them."""
        self.reasons: Counter[str] = Counter()

    def add(self, record: BufferRecord) -> None:
        """Count a committed record by its state and reason."""
        if isinstance(record, BadRecord):
            self.by_state[State(record.state)] += 1
            self.reasons[record.reason] += 1

    def add_written(self, written: Written) -> None:
        """Count what only the database knows: whether a document was new."""
        self.stored += written.stored
        self.unchanged += written.unchanged
        self.pages += written.pages
        self.reasons.update(written.not_kept)
        self.received += written.received
        self.saved.update(written.saved)

    def add_visit(self, over: VisitOver) -> None:
        """Count what came with the end of a visit."""
        self.received += over.received
        if over.saved:
            self.saved["coding"] += over.saved


class UpdateDatabase(Generic[Item]):
    """Writes batches of the buffer, one at a time.

    `grant` returns credit to senders. `released` gets the visits that were released, whether there is new work for the URL
    Dispatcher, and until when the hosts of these visits rest. `report_failure` gets a sentence about a failure. `later` calls
    a function after so many seconds.
    """

    def __init__(
        self,
        buffer: _Buffer[Item],
        writer: _Writer[Item],
        max_size: int,
        *,
        grant: Callable[[dict[int, int]], None],
        released: Callable[[list[int], bool, float], None],
        report_failure: Callable[[str], None],
        later: Callable[[float, Callable[[], None]], None],
    ) -> None:
        self._buffer = buffer
        self._writer = writer
        self._max_size = max_size
        self._grant = grant
        self._released = released
        self._report_failure = report_failure
        self._later = later
        self._busy = False
        self._turn = 0
        self._refusals = 0
        """In a row, of the batch at the head of its queue."""
        self._waits = 0
        """In a row, for the database."""
        self._lingers = False
        self._enough = max(1, max_size // 4)
        self._batch_size = dict.fromkeys(BufferQueue, max_size)
        self.committed_counts = CommittedCounts()

    @property
    def is_held_up(self) -> bool:
        """Whether the database took nothing when it was last tried."""
        return self._waits > 0

    def run(self) -> None:
        """Woken by *Something to update*: write a batch, unless one is being written or a few records wait for more."""
        if self._busy:
            return
        if self._buffer.is_urgent or self._buffer.records >= self._enough:
            self._start_next()
        elif not self._lingers:
            self._lingers = True
            self._later(_LINGER, self._linger_is_over)

    def _linger_is_over(self) -> None:
        self._lingers = False
        if not self._busy:
            self._start_next()

    def _start_next(self) -> None:
        for step in range(len(_PASS)):
            at = (self._turn + step) % len(_PASS)
            queue = _PASS[at]
            if queue is None:
                started = self._release()
            else:
                started = self._buffer.waiting(queue) > 0
                if started:
                    self._write(queue)
            if started:
                self._turn = at + 1
                return

    def _write(self, queue: BufferQueue) -> None:
        batch = self._buffer.take(queue, self._batch_size[queue])
        self._busy = True
        self._writer.write(queue, [buffered.item for buffered in batch], lambda result: self._written(queue, batch, result))

    def _written(self, queue: BufferQueue, batch: list[BufferedRecord[Item]], result: Written | Exception) -> None:
        self._busy = False
        if isinstance(result, Written):
            self._refusals = self._waits = 0
            self._batch_size[queue] = min(self._max_size, self._batch_size[queue] * 2)
            self._commit(queue, batch, result)
            return
        if not isinstance(result, RecordRefusal):
            self._wait_for_database(queue, batch, result)
            return
        self._waits = 0
        self._refusals += 1
        is_halving = self._batch_size[queue] < self._max_size
        if len(batch) == 1 and self._refusals >= (_TRIES_ALONE if is_halving else _TRIES_BEFORE_HALVING):
            self._report_failure(f"a record in {queue.value} cannot be stored: {result}")
            self._busy = True
            self._writer.write_as_failed(queue, batch[0].item, lambda result: self._poison_written(queue, batch, result))
            return
        self._buffer.put_back(queue, batch)
        if len(batch) > 1 and (is_halving or self._refusals >= _TRIES_BEFORE_HALVING):
            self._batch_size[queue] = (len(batch) + 1) // 2
            self._refusals = 0
            self._run_again(queue)
            return
        self._report_failure(f"the database refused a batch of {len(batch)} from {queue.value}: {result}")
        self._pause(queue, self._refusals)

    def _wait_for_database(self, queue: BufferQueue, batch: list[BufferedRecord[Item]], failure: Exception) -> None:
        """Try the same batch again later, for as long as it takes."""
        self._waits += 1
        self._buffer.put_back(queue, batch)
        self._report_failure(f"the database takes nothing: {failure}; {self._buffer.records} records wait for it")
        self._pause(queue, self._waits)

    def _poison_written(self, queue: BufferQueue, batch: list[BufferedRecord[Item]], result: Written | Exception) -> None:
        self._busy = False
        if isinstance(result, Exception):
            self._wait_for_database(queue, batch, result)
            return
        self._refusals = self._waits = 0
        if result.instead is not None:
            self.committed_counts.add(result.instead)
        self._grant(self._buffer.committed(batch))
        self.run()

    def _run_again(self, queue: BufferQueue) -> None:
        """Write from this queue before all others: its failed batch is at its head."""
        if not self._busy:
            self._turn = _PASS.index(queue)
            self._start_next()

    def _pause(self, queue: BufferQueue, failures: int) -> None:
        self._busy = True  # Nothing else is written meanwhile, so that the records of a visit keep their order.

        def again() -> None:
            self._busy = False
            self._run_again(queue)

        self._later(_pause_after(failures), again)

    def _commit(self, queue: BufferQueue, batch: list[BufferedRecord[Item]], written: Written) -> None:
        if queue is BufferQueue.BAD:
            for buffered in batch:
                self.committed_counts.add(buffered.item.record)
        self.committed_counts.add_written(written)
        self._grant(self._buffer.committed(batch))
        if written.has_new_work:
            self._released([], True, 0.0)
        self.run()

    def _release(self) -> bool:
        over, abandoned, credit = self._buffer.take_finished()
        if not over and not abandoned:
            return False
        self._busy = True
        self._writer.release(over, abandoned, lambda result: self._release_done(over, abandoned, credit, result))
        return True

    def _release_done(
        self, over: list[VisitOver], abandoned: list[int], credit: dict[int, int], result: Written | Exception
    ) -> None:
        self._busy = False
        if isinstance(result, Exception):
            self._waits += 1
            self._report_failure(f"the database did not release {len(over) + len(abandoned)} visits: {result}")
            self._busy = True

            def again() -> None:
                self._writer.release(over, abandoned, lambda result: self._release_done(over, abandoned, credit, result))

            self._later(_pause_after(self._waits), again)
            return
        self._waits = 0
        self._grant(credit)
        for record in over:
            self.committed_counts.add_visit(record)
        rests_until = max((record.rests_until for record in over), default=0.0)
        self._released([record.visit for record in over] + abandoned, True, rests_until)
        self.run()


def _pause_after(failures: int) -> float:
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(failures, 16))
