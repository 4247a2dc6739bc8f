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
