"""Whom a failed transaction is blamed on: a record only where a value cannot be stored. The errors are the databases' own."""

from __future__ import annotations

import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from parcahyd.core.errors import RecordRefusal, StoreFailure
from parcahyd.storage.connection import open_database
from parcahyd.storage.expressions import inserting
from parcahyd.storage.migrations import migrate
from parcahyd.storage.schema import pauses
from parcahyd.storage.writer import Writer
from tests.support.postgres import fresh_database
from tests.support.processes import wait_until

_INSERT = inserting(pauses, "subject", "not_before", "failures")


@contextmanager
def _writer(url: str) -> Iterator[Writer]:
    writer = Writer(open_database(url, create=True))
    migrate(writer)
    yield writer
    writer.close()


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "crawl.db")


@pytest.fixture
def on_sqlite(file: str) -> Iterator[Writer]:
    with _writer(f"sqlite:///{file}") as writer:
        yield writer


@pytest.fixture
def on_postgres(postgres: str) -> Iterator[tuple[Writer, str]]:
    with fresh_database(postgres) as url, _writer(url) as writer:
        yield writer, url


def _failure(writer: Writer, work: Callable[[Any], object]) -> StoreFailure:
    with pytest.raises(StoreFailure) as caught, writer.transaction() as connection:
        work(connection)
    return caught.value


def _insert(writer: Writer, *subjects: str, failures: int = 0) -> Callable[[Any], object]:
    rows = [{"subject": subject, "not_before": 1.0, "failures": failures} for subject in subjects]
    return lambda _: writer.many(_INSERT, rows)


def test_a_value_that_cannot_be_stored_is_the_records_fault(empty_database: str) -> None:
    with _writer(empty_database) as writer:
        for work in (
            _insert(writer, "host a", "host a"),
            _insert(writer, "host a", failures=2**70),
            _insert(writer, "host \ud800"),
        ):
            assert type(_failure(writer, work)) is RecordRefusal
        with writer.transaction():
            _insert(writer, "host a")(None)


# --- SQLite -------------------------------------------------------------------------------------------------------------


def test_a_full_disk_is_not_the_records_fault(on_sqlite: Writer) -> None:
    def fill(connection: Any) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        _insert(on_sqlite, *(f"host {number} {'x' * 2000}" for number in range(50)))(None)

    failure = _failure(on_sqlite, fill)
    assert type(failure) is StoreFailure
    assert "full; make room" in str(failure)


def test_a_disk_that_cannot_be_written_to_is_not_the_records_fault(on_sqlite: Writer, file: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(f"{file}-wal"), hard))
    try:
        failure = _failure(on_sqlite, _insert(on_sqlite, "host a"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert type(failure) is StoreFailure
    assert "quota" in str(failure)
    with on_sqlite.transaction():
        _insert(on_sqlite, "host a")(None)


def test_a_database_that_may_only_be_read_is_not_the_records_fault(on_sqlite: Writer) -> None:
    def write(connection: Any) -> None:
        connection.exec_driver_sql("PRAGMA query_only = ON")
        _insert(on_sqlite, "host a")(None)

    failure = _failure(on_sqlite, write)
    assert type(failure) is StoreFailure
    assert "may only be read" in str(failure)


def test_a_second_writer_is_not_the_records_fault(on_sqlite: Writer, file: str) -> None:
    with on_sqlite.transaction() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout = 0")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        failure = _failure(on_sqlite, _insert(on_sqlite, "host a"))
    assert type(failure) is StoreFailure
    assert "another program is writing" in str(failure)


def test_a_damaged_file_is_not_the_records_fault(on_sqlite: Writer, file: str) -> None:
    with on_sqlite.transaction() as connection:
        _insert(on_sqlite, "host a")(None)
    with on_sqlite.transaction() as connection:
        root = connection.exec_driver_sql("SELECT rootpage FROM sqlite_master WHERE name = 'pauses'").scalar()
        page_size = connection.exec_driver_sql("PRAGMA page_size").scalar()
    on_sqlite.close()  # The last connection: the log is written back to the file.
    assert root is not None
    assert page_size is not None
    with open(file, "r+b") as damaged:
        damaged.seek((root - 1) * page_size)
        damaged.write(b"\xff" * page_size)
    failure = _failure(on_sqlite, _insert(on_sqlite, "host b"))
    assert type(failure) is StoreFailure
    assert "damaged" in str(failure)


# --- PostgreSQL ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "is_refusal"),
    [
        ("22003", True),  # numeric_value_out_of_range
        ("22021", True),  # character_not_in_repertoire
        ("23505", True),  # unique_violation
        ("54000", True),  # program_limit_exceeded
        ("P0001", True),  # raise_exception
        ("40001", False),  # serialization_failure
        ("40P01", False),  # deadlock_detected
        ("53100", False),  # disk_full
        ("53200", False),  # out_of_memory
        ("57P01", False),  # admin_shutdown
        ("57P03", False),  # cannot_connect_now
        ("58030", False),  # io_error
        ("25006", False),  # read_only_sql_transaction
        ("42501", False),  # insufficient_privilege
        ("42P01", False),  # undefined_table
        ("XX001", False),  # data_corrupted
    ],
)
def test_the_code_of_the_server_decides(on_postgres: tuple[Writer, str], code: str, is_refusal: bool) -> None:
    writer, _ = on_postgres
    raising = f"DO $$ BEGIN RAISE EXCEPTION 'planted failure' USING ERRCODE = '{code}'; END $$"
    failure = _failure(writer, lambda connection: connection.exec_driver_sql(raising))
    assert type(failure) is (RecordRefusal if is_refusal else StoreFailure)
    assert "planted failure" in str(failure)


def test_a_text_with_a_null_character_is_the_records_fault(on_postgres: tuple[Writer, str]) -> None:
    writer, _ = on_postgres
    assert type(_failure(writer, _insert(writer, "host \0"))) is RecordRefusal


def test_an_index_entry_that_is_too_large_is_the_records_fault(on_postgres: tuple[Writer, str]) -> None:
    writer, _ = on_postgres
    noise = "".join(f"{number * 2654435761 % 2**32:08x}" for number in range(4000))
    assert type(_failure(writer, _insert(writer, noise))) is RecordRefusal


def test_a_deadlock_is_not_the_records_fault_and_passes(on_postgres: tuple[Writer, str]) -> None:
    import psycopg

    writer, url = on_postgres
    with writer.transaction():
        _insert(writer, "host a", "host b")(None)
    take = "UPDATE pauses SET failures = failures + 1 WHERE subject = "
    waits = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
    with closing(psycopg.connect(url)) as other, psycopg.connect(url, autocommit=True) as third:
        # Only the writer looks for deadlocks, so it is the one that the server ends.
        other.execute("SET deadlock_timeout = '1h'")
        other.execute(f"{take} 'host a'".encode())

        def meet(connection: Any) -> None:
            connection.exec_driver_sql(f"{take} 'host b'")
            other.pgconn.send_query(f"{take} 'host b'".encode())
            assert wait_until(lambda: third.execute(waits, (other.info.backend_pid,)).fetchone() == (True,))
            connection.exec_driver_sql(f"{take} 'host a'")

        failure = _failure(writer, meet)
    assert type(failure) is StoreFailure
    assert "deadlock" in str(failure)


def test_a_lost_connection_is_not_the_records_fault_and_passes(on_postgres: tuple[Writer, str]) -> None:
    import psycopg

    writer, url = on_postgres
    with writer.transaction() as connection:
        backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", (backend,))
    failure = _failure(writer, _insert(writer, "host a"))
    assert type(failure) is StoreFailure
    assert "server" in str(failure)
    with writer.transaction():
        _insert(writer, "host a")(None)
