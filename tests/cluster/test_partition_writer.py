"""Every transaction of a partition's writer is fenced and numbered, and a lost answer is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from parcahyd.cluster.partition_writer import PartitionWriter
from parcahyd.core.errors import LeaseLost, StoreFailure
from parcahyd.storage.cluster_schemas import IDS_OF_A_PARTITION
from parcahyd.storage.expressions import inserting
from parcahyd.storage.migrations import migrate
from parcahyd.storage.schema import documents, fetches, metadata, pauses, runs, sites
from tests.cluster.hub_desk import HubDesk, Tree, lose_commit, retried
from tests.cluster.partition_pair import held

_PAUSE = inserting(pauses, "subject", "not_before")


class Writing:
    """A writer, what it was told to forget, and what it heard of commits."""

    def __init__(self, desk: HubDesk, partition: int = 0, node: str = "n1") -> None:
        self.desk, self.partition = desk, partition
        self.tree: Tree = desk.take(partition, node)
        self.now = 1000.0
        self.has_passed = False
        self.writer = PartitionWriter(desk.url, held(desk, self.tree.holding), lambda: self.has_passed, lambda: self.now)
        self.heard: list[str] = []
        self.writer.after_commit(lambda: self.heard.append("committed"))
        self.writer.on_failure(lambda: self.heard.append("forget"))

    def write(self, subject: str = "host a") -> None:
        with self.writer.transaction():
            self.writer.many(_PAUSE, [{"subject": subject, "not_before": 1.0}])

    def written(self) -> list[str]:
        return [row[0] for row in self.desk.rows(f"SELECT subject FROM parcahyd_p{self.partition}.pauses ORDER BY subject")]  # noqa: S608

    def noted(self, column: str) -> float:
        ((found,),) = self.desk.rows(f"SELECT {column} FROM parcahyd_hub.states WHERE partition = {self.partition}")  # noqa: S608
        return float(found)


@pytest.fixture
def writing(desk: HubDesk) -> Iterator[Writing]:
    writing = Writing(desk)
    yield writing
    writing.writer.close()


def test_the_tables_of_a_partition_are_in_its_schema(desk: HubDesk, writing: Writing) -> None:
    writing.write()
    assert writing.written() == ["host a"]
    assert desk.rows("SELECT count(*) FROM parcahyd_p1.pauses") == [(0,)]
    migrate(writing.writer)
    found = {name for (name,) in desk.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'parcahyd_p0'")}
    assert found == set(metadata.tables)
    assert desk.rows("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


def test_each_transaction_has_a_number_and_a_time(writing: Writing) -> None:
    before = writing.noted("batch")
    writing.now = 2000.5
    writing.write()
    assert (writing.noted("batch"), writing.noted("clock")) == (before + 1, 2000.5)
    assert writing.heard == ["committed"]
    writing.now = 3.0
    writing.write("host b")
    assert writing.noted("clock") == 2000.5, "a clock that was set back changes nothing"


def test_the_next_holder_learns_the_latest_time(desk: HubDesk, writing: Writing) -> None:
    writing.now = 5e9
    writing.write()
    other = Writing(desk, node="n2")
    assert other.writer.batches.last_time == 5e9
    other.writer.close()


def test_what_was_committed_without_an_answer_is_done(writing: Writing) -> None:
    lose_commit(writing.writer, commits=True)
    writing.write()
    assert writing.written() == ["host a"]
    assert writing.heard == ["committed"], "what was remembered in it holds"
    writing.write("host b")
    assert writing.written() == ["host a", "host b"]


def test_what_was_not_committed_may_be_repeated(writing: Writing) -> None:
    before = writing.noted("batch")
    lose_commit(writing.writer, commits=False)
    with pytest.raises(StoreFailure):
        writing.write()
    assert writing.heard == ["forget"]
    assert (writing.written(), writing.noted("batch")) == ([], before)
    writing.write()
    assert (writing.written(), writing.noted("batch")) == (["host a"], before + 1)


def test_what_fails_half_way_is_forgotten_and_nothing_is_asked(writing: Writing) -> None:
    with pytest.raises(KeyError), writing.writer.transaction():  # noqa: PT012 (it fails after it has written)
        writing.writer.many(_PAUSE, [{"subject": "host a", "not_before": 1.0}])
        raise KeyError
    assert writing.heard == ["forget"]
    writing.write("host b")
    assert writing.written() == ["host b"]


def test_nobody_asks_longer_than_the_deadline(writing: Writing) -> None:
    lose_commit(writing.writer, commits=True)
    writing.has_passed = True
    for _ in range(2):
        with pytest.raises(LeaseLost, match="deadline"):
            writing.write()


def test_the_answer_is_asked_for_until_the_server_is_there(writing: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = writing.writer.batches
    right, failures = batches.was_committed, [StoreFailure("the server is away"), StoreFailure("still")]

    def was_committed() -> bool:
        if failures:
            raise failures.pop()
        return right()

    monkeypatch.setattr(batches, "was_committed", was_committed)
    lose_commit(writing.writer, commits=True)
    writing.write()
    assert (failures, writing.heard) == ([], ["committed"])


def test_who_lost_the_partition_writes_nothing(desk: HubDesk, writing: Writing) -> None:
    desk.take(0, "n2")
    with pytest.raises(LeaseLost):
        retried(writing.write)
    assert writing.written() == []


def test_who_is_replaced_while_a_commit_is_on_its_way_ends(desk: HubDesk, writing: Writing) -> None:
    lose_commit(writing.writer, commits=False)
    writing.desk.change("UPDATE parcahyd_hub.partitions SET epoch = epoch + 1 WHERE id = 0")
    with pytest.raises(LeaseLost):
        writing.write()


def test_looking_leaves_no_trace(desk: HubDesk, writing: Writing) -> None:
    """Neither row is written or locked: a lock of the fence, too, would be a flush of the server's log."""
    traces = "SELECT p.xmax::text, s.xmin::text, s.xmax::text, s.batch FROM parcahyd_hub.partitions p"
    traces += " JOIN parcahyd_hub.states s ON s.partition = p.id WHERE p.id = 0"
    before = desk.rows(traces)
    with writing.writer.looking() as connection:
        assert connection.exec_driver_sql("SELECT pg_current_xact_id_if_assigned() IS NULL").scalar()
    assert desk.rows(traces) == before
    assert writing.heard == []
    writing.write()
    assert desk.rows(traces) != before


def test_pages_count_once_when_a_batch_is_repeated(writing: Writing) -> None:
    def write() -> None:
        with writing.writer.transaction():
            writing.writer.batches.count_pages(2)
            writing.writer.batches.count_pages(1)

    lose_commit(writing.writer, commits=False)
    with pytest.raises(StoreFailure):
        write()
    write()
    assert writing.noted("pages") == 3


def test_rows_are_numbered_from_the_partition_s_own_beginning(desk: HubDesk, writing: Writing) -> None:
    other = Writing(desk, partition=1)
    tables = (sites, documents, fetches, runs)
    with writing.writer.transaction():
        assert [writing.writer.new_id(table) for table in tables] == [1] * 4
    with other.writer.transaction():
        assert [other.writer.new_id(table) for table in tables] == [IDS_OF_A_PARTITION + 1] * 4
        assert other.writer.new_id(sites) == IDS_OF_A_PARTITION + 2
    other.writer.close()
