"""The Document and URL Buffer: three queues, credit, and a visit's last record last."""

from __future__ import annotations

from parcahyd.core.messages import BufferQueue, BufferRecord
from parcahyd.core.records import BadRecord, ExternRecord, UnchangedRecord, VisitOver
from parcahyd.pipeline.document_buffer import DocumentBuffer


def buffer() -> DocumentBuffer[BufferRecord]:
    return DocumentBuffer(lambda record: record)


def unchanged(visit: int, key: int) -> UnchangedRecord:
    return UnchangedRecord(visit, 1, key, "/", 0.0, 304)


def bad(visit: int) -> BadRecord:
    return BadRecord(visit, 1, 1, "/", 0, 0, False, 0.0, 4, "missing", 0.0, 0)


def over(visit: int) -> VisitOver:
    return VisitOver(visit, 1, 0.0, 0.0)


def test_each_record_goes_to_its_queue_and_gives_its_credit_back() -> None:
    three = buffer()
    three.put(ExternRecord(7, 1, ("http://x.example/",)), 10, sender=0)
    three.put(unchanged(7, 1), 20, sender=0)
    three.put(bad(7), 30, sender=1)
    assert [three.waiting(queue) for queue in BufferQueue] == [1, 1, 1]
    assert (three.records, three.size) == (3, 60)
    credit = {sender: cost for queue in BufferQueue for sender, cost in three.committed(three.take(queue, 5)).items()}
    assert credit == {0: 20, 1: 30}
    assert three.is_empty
    assert three.size == 0


def test_a_failed_batch_goes_back_to_the_head_in_its_order() -> None:
    three = buffer()
    for key in range(5):
        three.put(unchanged(7, key), 1, sender=0)
    batch = three.take(BufferQueue.DOC, 3)
    three.put_back(BufferQueue.DOC, batch)
    keys = [one.item.key for one in three.take(BufferQueue.DOC, 5) if isinstance(one.item, UnchangedRecord)]
    assert keys == [0, 1, 2, 3, 4]


def test_a_visit_is_released_only_after_its_records_are_committed_in_whatever_queue() -> None:
    three = buffer()
    three.put(unchanged(7, 1), 1, sender=0)
    three.put(bad(7), 1, sender=0)
    three.put(over(7), 5, sender=0)
    assert three.take_finished() == ([], [], {})
    three.committed(three.take(BufferQueue.DOC, 5))
    assert three.take_finished() == ([], [], {})
    three.committed(three.take(BufferQueue.BAD, 5))
    assert three.take_finished() == ([over(7)], [], {0: 5})
    assert three.is_empty


def test_visits_of_a_dead_worker_are_abandoned_unless_their_last_record_came() -> None:
    three = buffer()
    three.put(over(7), 1, sender=0)
    three.put(unchanged(8, 1), 1, sender=0)
    three.abandon([7, 8])
    assert three.take_finished() == ([over(7)], [], {0: 1})
    three.committed(three.take(BufferQueue.DOC, 5))
    assert three.take_finished() == ([], [8], {})
    assert three.is_empty


def keys_of(three: DocumentBuffer[BufferRecord], most: int) -> list[tuple[int, int]]:
    batch = three.take(BufferQueue.DOC, most)
    return [(one.item.visit, one.item.key) for one in batch if isinstance(one.item, UnchangedRecord)]


def test_visits_take_turns_and_each_keeps_its_order() -> None:
    three = buffer()
    for key in range(3):
        three.put(unchanged(7, key), 1, sender=0)
    three.put(unchanged(8, 10), 1, sender=0)
    three.put(unchanged(9, 20), 1, sender=0)
    assert keys_of(three, 4) == [(7, 0), (8, 10), (9, 20), (7, 1)]
    assert keys_of(three, 4) == [(7, 2)]


def test_a_batch_is_bounded_in_rows_however_few_its_records_are() -> None:
    three = buffer()
    for key in range(4):
        three.put(unchanged(7, key), 1, sender=0, rows=2000)
    three.put(unchanged(8, 10), 1, sender=0, rows=9000)
    assert keys_of(three, 100) == [(7, 0)]
    assert keys_of(three, 100) == [(8, 10)], "a record that is too large goes alone"
    assert keys_of(three, 100) == [(7, 1), (7, 2)]


def test_a_flood_of_one_visit_leaves_half_of_a_batch_to_the_others() -> None:
    three = buffer()
    for key in range(20):
        three.put(unchanged(7, key), 1, sender=0, rows=500)
    for key in range(100):
        three.put(unchanged(8, key), 1, sender=0, rows=20)
    batch = keys_of(three, 500)
    assert [key for visit, key in batch if visit == 7] == [0, 1, 2, 3, 4]
    assert [key for visit, key in batch if visit == 8] == list(range(100))
    assert len(keys_of(three, 500)) == 10, "alone it has the whole batch"
    assert [three.waiting(queue) for queue in BufferQueue] == [0, 5, 0]


def test_a_failed_batch_of_several_visits_begins_with_the_same_records_again() -> None:
    three = buffer()
    for key in range(6):
        three.put(unchanged(7, key), 1, sender=0, rows=1000)
        three.put(unchanged(8, key), 1, sender=0)
    batch = three.take(BufferQueue.DOC, 7)
    three.put_back(BufferQueue.DOC, batch)
    again = three.take(BufferQueue.DOC, 3)
    assert again == batch[:3]
    three.put_back(BufferQueue.DOC, again)
    assert three.take(BufferQueue.DOC, 7) == batch


def test_external_links_take_turns_and_no_end_of_a_visit_waits_for_them() -> None:
    three = buffer()
    for number in range(2):
        three.put(ExternRecord(7, number, ()), 1, sender=0)
    three.put(ExternRecord(8, 5, ()), 1, sender=0)
    three.put(over(7), 1, sender=0)
    batch = three.take(BufferQueue.EXTERN, 2)
    assert [one.item.visit for one in batch if isinstance(one.item, ExternRecord)] == [7, 8]
    assert three.take_finished()[0] == [over(7)]
