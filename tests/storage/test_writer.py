"""Statements are compiled once, and take their values by the names of columns. Transactions that fail: see test_store.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import event, select, update

from parcahyd.core.errors import StoreFailure
from parcahyd.storage.connection import open_database
from parcahyd.storage.expressions import MOST, inserting, same, updating, words
from parcahyd.storage.migrations import migrate
from parcahyd.storage.schema import pauses, runs
from parcahyd.storage.writer import Writer

_INSERT = inserting(pauses, "subject", "not_before")
_RENAME = updating(pauses, ("subject",), "reason", "failures")
_ALL = select(pauses.c.subject, pauses.c.not_before, pauses.c.reason, pauses.c.failures).order_by(pauses.c.subject)


@pytest.fixture
def writer(empty_database: str) -> Iterator[Writer]:
    writer = Writer(open_database(empty_database, create=True))
    migrate(writer)
    yield writer
    writer.close()


def test_rows_have_named_columns_in_any_order(writer: Writer) -> None:
    with writer.transaction():
        writer.many(_INSERT, [{"subject": "host a", "not_before": 1.0}, {"not_before": 2.0, "subject": "host b"}])
        changed = writer.many(
            _RENAME, [{"failures": 3, "reason": "overload", "subject": name} for name in ("host b", "host c")]
        )
        assert changed == 1
        assert writer.many(_RENAME, []) == 0
        assert writer.rows(_ALL) == [("host a", 1.0, "", 0), ("host b", 2.0, "overload", 3)]


def test_a_column_that_is_missing_is_a_bug_and_nothing_happened(writer: Writer) -> None:
    def forget_a_column() -> None:
        with writer.transaction():
            writer.many(_INSERT, [{"subject": "host a", "not_before": 1.0}])
            writer.many(_INSERT, [{"subject": "host b"}])

    with pytest.raises(KeyError, match="not_before"):
        forget_a_column()
    with writer.transaction():
        assert writer.rows(_ALL) == []


def test_a_statement_may_have_values_of_its_own(writer: Writer) -> None:
    first = select(pauses.c.subject).order_by(pauses.c.subject).where(pauses.c.failures == 7).limit(MOST)
    with writer.transaction():
        writer.many(_INSERT, [{"subject": f"host {name}", "not_before": 1.0} for name in "abc"])
        writer.run(
            update(pauses).where(pauses.c.subject.in_(words("some"))).values(failures=7), some=writer.lists.bind(["host b"])
        )
        assert writer.rows(first, most=5) == [("host b",)]
        assert writer.value(first, most=5) == "host b"
        assert writer.value(select(pauses.c.reason).where(*same(pauses, "subject")), subject="host z") is None


def test_a_statement_is_compiled_once(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    with writer.transaction():
        writer.many(_INSERT, [{"subject": "host a", "not_before": 1.0}])

    def fail(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr("parcahyd.storage.writer.compiled", fail)
    with writer.transaction():
        writer.many(_INSERT, [{"subject": "host b", "not_before": 1.0}])


def test_ids_are_given_out_once_and_again_when_their_transaction_failed(writer: Writer) -> None:
    with writer.transaction():
        assert [writer.new_id(runs), writer.new_id(runs)] == [1, 2]
    writer.forget()
    with writer.transaction():
        assert writer.new_id(runs) == 1


def test_a_failing_commit_is_a_failure_of_the_store(empty_database: str) -> None:
    database = open_database(empty_database, create=True)
    writer = Writer(database)
    migrate(writer)

    def refuse(_: object) -> None:
        raise OverflowError("planted failure")

    event.listen(database.engine, "commit", refuse)
    with pytest.raises(StoreFailure, match="planted"), writer.transaction():
        writer.many(_INSERT, [{"subject": "host a", "not_before": 1.0}])
    event.remove(database.engine, "commit", refuse)
    with writer.transaction():
        assert writer.rows(_ALL) == []
    writer.close()
