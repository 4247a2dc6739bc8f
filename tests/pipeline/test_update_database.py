"""Update Database: the order of a pass, back-off, halving down to the poison record, and a database that is out of reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from parcahyd.core.errors import RecordRefusal, StoreFailure
from parcahyd.core.messages import BufferQueue, BufferRecord, Written
from parcahyd.core.records import BadRecord, ExternRecord, UnchangedRecord, VisitOver
from parcahyd.core.states import State
from parcahyd.pipeline.document_buffer import DocumentBuffer
from parcahyd.pipeline.update_database import UpdateDatabase

Done = Callable[[Written | Exception], None]


class Item:
    def __init__(self, record: BufferRecord) -> None:
        self.record = record


class Database:
    """An in-memory writer: refuses batches with a poisoned key, or everything while it is down."""

    def __init__(self) -> None:
        self.poison: set[int] = set()
        self.down = False
        self.refuses_batches = False
        self.sizes: set[int] = set()
        self.batches: list[tuple[BufferQueue, list[BufferRecord]]] = []
        self.attempts = 0
        self.poisoned: list[BufferRecord] = []
        self.instead: BadRecord | None = None
        self.released: list[int] = []
        self.rests: list[float] = []
        self._pending: list[Callable[[], None]] = []

    def write(self, queue: BufferQueue, items: Sequence[Item], done: Done) -> None:
        self.attempts += 1
        self.sizes.add(len(items))
        records = [item.record for item in items]
        answer: Written | Exception = Written(unchanged=sum(isinstance(record, UnchangedRecord) for record in records))
        if self.down or self.refuses_batches:
            answer = StoreFailure("down")
        elif any(isinstance(record, UnchangedRecord) and record.key in self.poison for record in records):
            answer = RecordRefusal("no")
        else:
            self.batches.append((queue, records))
        self._pending.append(lambda: done(answer))

    def write_as_failed(self, _queue: BufferQueue, item: Item, done: Done) -> None:
        if not self.down:
            self.poisoned.append(item.record)
        down, instead = self.down, self.instead
        self._pending.append(lambda: done(StoreFailure("down") if down else Written(instead=instead)))

    def release(self, over: Sequence[VisitOver], abandoned: Sequence[int], done: Done) -> None:
        down = self.down
        if not down:
            self.released.extend([one.visit for one in over] + list(abandoned))
        self._pending.append(lambda: done(StoreFailure("down") if down else Written()))

    def settle(self) -> None:
        while self._pending:
            self._pending.pop(0)()


class Bench:
    def __init__(self, max_size: int = 8) -> None:
        self.database = Database()
        self.buffer: DocumentBuffer[Item] = DocumentBuffer(Item)
        self.credit: dict[int, int] = {}
        self.notices: list[str] = []
        self.alarms: list[tuple[float, Callable[[], None]]] = []
        self.released: list[int] = []
        self.rests: list[float] = []
        self.box: UpdateDatabase[Item] = UpdateDatabase(
            self.buffer,
            self.database,
            max_size,
            grant=self._grant,
            released=self._release,
            report_failure=self.notices.append,
            later=lambda seconds, then: self.alarms.append((seconds, then)),
        )

    def _grant(self, credit: dict[int, int]) -> None:
        for sender, size in credit.items():
            self.credit[sender] = self.credit.get(sender, 0) + size

    def _release(self, visits: list[int], _new_work: bool, rests_until: float) -> None:
        self.released.extend(visits)
        self.rests.append(rests_until)

    def settle(self, alarms: int = 1000) -> None:
        self.box.run()
        self.database.settle()
        while self.alarms and alarms:
            alarms -= 1
            self.alarms.pop(0)[1]()
            self.database.settle()

    def put(self, key: int) -> None:
        self.buffer.put(UnchangedRecord(7, 1, key, "/", 0.0, 304), 10, sender=3)


def keys(batches: list[tuple[BufferQueue, list[BufferRecord]]]) -> list[int]:
    return [record.key for _, batch in batches for record in batch if isinstance(record, UnchangedRecord)]


def test_a_pass_is_extern_doc_bad_and_then_the_release() -> None:
    bench = Bench()
    bench.buffer.put(BadRecord(7, 1, 1, "/", 0, 0, False, 0.0, 4, "missing", 0.0, 0), 1, sender=0)
    bench.put(1)
    bench.buffer.put(ExternRecord(7, 1, ("http://x.example/",)), 1, sender=0)
    bench.buffer.put(VisitOver(7, 1, 0.0, 0.0, rests_until=12.5), 1, sender=0)
    bench.settle()
    assert [queue for queue, _ in bench.database.batches] == list(BufferQueue)
    assert (bench.released, bench.rests) == ([7], [12.5])
    assert bench.buffer.is_empty
    assert (bench.box.committed_counts.unchanged, dict(bench.box.committed_counts.reasons)) == (1, {"missing": 1})


def test_batches_hold_at_most_max_size_and_everything_is_written() -> None:
    bench = Bench(max_size=8)
    for key in range(20):
        bench.put(key)
    bench.settle()
    assert [len(batch) for _, batch in bench.database.batches] == [8, 8, 4]
    assert keys(bench.database.batches) == list(range(20))
    assert bench.credit == {3: 200}


def test_a_poison_record_is_isolated_and_the_rest_is_stored_once() -> None:
    bench = Bench(max_size=8)
    bench.database.poison = {5}
    for key in range(8):
        bench.put(key)
    bench.settle()
    assert sorted(keys(bench.database.batches)) == [0, 1, 2, 3, 4, 6, 7]
    assert [record.key for record in bench.database.poisoned if isinstance(record, UnchangedRecord)] == [5]
    assert bench.credit == {3: 80}
    assert bench.buffer.is_empty


def test_what_is_stored_as_failed_is_counted_with_its_reason() -> None:
    bench = Bench(max_size=8)
    bench.database.poison = {5}
    bench.database.instead = BadRecord(7, 1, 5, "/", 0, 0, False, 0.0, State.FAILED, "store", 0.0, 1)
    for key in range(8):
        bench.put(key)
    bench.settle()
    counts = bench.box.committed_counts
    assert (counts.unchanged, dict(counts.by_state), dict(counts.reasons)) == (7, {State.FAILED: 1}, {"store": 1})


def test_nothing_is_called_poison_while_the_database_is_down() -> None:
    bench = Bench(max_size=4)
    bench.database.down = True
    for key in range(4):
        bench.put(key)
    bench.settle(alarms=20)
    assert bench.credit == {}
    assert bench.buffer.records == 4
    assert bench.notices
    assert bench.box.is_held_up
    bench.database.down = False
    bench.settle()
    assert not bench.box.is_held_up
    assert keys(bench.database.batches) == [0, 1, 2, 3]
    assert bench.database.poisoned == []
    assert bench.buffer.is_empty


def test_a_failure_that_passes_makes_no_record_poison() -> None:
    """A disk that has room for a short record only: batches fail, and the note that one failed would be taken."""
    bench = Bench(max_size=4)
    bench.database.refuses_batches = True
    for key in range(4):
        bench.put(key)
    bench.settle(alarms=20)
    assert bench.database.poisoned == []
    assert bench.buffer.records == 4
    assert bench.database.sizes == {4}, "a batch of a database that takes nothing is not halved"
    assert "4 records wait" in bench.notices[-1]
    bench.database.refuses_batches = False
    bench.settle()
    assert keys(bench.database.batches) == [0, 1, 2, 3]
    assert bench.credit == {3: 40}


def test_a_database_that_is_away_while_poison_is_isolated_costs_no_other_record() -> None:
    bench = Bench(max_size=8)
    bench.database.poison = {5}
    for key in range(8):
        bench.put(key)
    bench.settle(alarms=4)
    bench.database.down = True
    bench.settle(alarms=10)
    assert bench.database.poisoned == []
    bench.database.down = False
    bench.settle()
    assert sorted(keys(bench.database.batches)) == [0, 1, 2, 3, 4, 6, 7]
    assert [record.key for record in bench.database.poisoned if isinstance(record, UnchangedRecord)] == [5]


def test_the_pause_grows_and_is_bounded() -> None:
    bench = Bench(max_size=1)
    bench.database.down = True
    bench.put(1)
    pauses = []
    bench.box.run()
    for _ in range(12):
        bench.database.settle()
        seconds, then = bench.alarms.pop(0)
        pauses.append(seconds)
        then()
    assert pauses == sorted(pauses)
    assert pauses[-1] == 10.0


def test_a_few_records_wait_for_more_and_a_visit_that_is_over_does_not() -> None:
    bench = Bench(max_size=40)
    bench.put(1)
    bench.box.run()
    assert bench.database.attempts == 0
    assert len(bench.alarms) == 1
    bench.put(2)
    bench.box.run()
    assert len(bench.alarms) == 1
    bench.settle()
    assert keys(bench.database.batches) == [1, 2]
    assert len(bench.database.batches) == 1
    bench.put(3)
    bench.buffer.put(VisitOver(7, 1, 0.0, 0.0), 1, sender=0)
    bench.box.run()
    bench.database.settle()
    assert bench.released == [7]


def test_a_release_that_fails_is_tried_again() -> None:
    bench = Bench()
    bench.database.down = True
    bench.buffer.put(VisitOver(7, 1, 0.0, 0.0), 1, sender=0)
    bench.settle(alarms=3)
    assert bench.released == []
    bench.database.down = False
    bench.settle()
    assert bench.released == [7]
    assert bench.database.released == [7]
