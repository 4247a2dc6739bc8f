"""Opening databases for the writer and for a Reader. One that cannot be opened is one line and a remedy."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import delete, event, text
from sqlalchemy.exc import DBAPIError

from parcahyd.core.errors import DatabaseUnusable, StoreFailure
from parcahyd.storage.connection import open_database
from parcahyd.storage.reports import Reports
from parcahyd.storage.schema import urls
from parcahyd.storage.store import Store
from parcahyd.storage.writer import Writer
from tests.storage.desk import Desk


def _mistake(url: str, *, create: bool = True) -> DatabaseUnusable:
    with pytest.raises(DatabaseUnusable) as mistake:
        Store.open(url, create=create)
    assert "\n" not in str(mistake.value)
    assert mistake.value.remedy
    return mistake.value


@pytest.mark.parametrize("url", ["", "crawl.db", "mysql://localhost/crawl", "sqlite://", "sqlite:///:memory:"])
def test_urls_that_name_no_database_of_ours(url: str) -> None:
    _mistake(url)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    assert str(tmp_path / "nowhere") in _mistake(f"sqlite:///{tmp_path / 'nowhere' / 'crawl.db'}").message


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_text("<html>" * 1000)
    assert "not a database" in _mistake(f"sqlite:///{tmp_path / 'crawl.db'}").message


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    _mistake(f"sqlite:///{tmp_path}")


def test_a_missing_file_is_only_made_when_asked_for(tmp_path: Path) -> None:
    assert "parcahyd run" in _mistake(f"sqlite:///{tmp_path / 'crawl.db'}", create=False).remedy
    assert os.listdir(tmp_path) == []


def test_a_server_that_does_not_answer() -> None:
    pytest.importorskip("psycopg")
    # Nothing listens on port 1 of an address that nothing else uses.
    mistake = _mistake("postgresql://somebody:secret@127.9.9.9:1/crawl")
    assert "secret" not in str(mistake)
    assert "127.9.9.9" in mistake.message


def test_a_database_that_the_server_does_not_have(postgres: str) -> None:
    assert "nowhere" in _mistake(f"{postgres}nowhere").message


def test_a_file_whose_name_means_something_in_a_uri(tmp_path: Path) -> None:
    path = tmp_path / "a b#c&d%41?e.db"
    desk = Desk(f"sqlite:///{path}")
    desk.begin()
    desk.close()
    assert path.exists()
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_failed_transaction_takes_its_tables_back(empty_database: str) -> None:
    """Python's sqlite3 begins transactions by itself, unless `isolation_level` is None."""
    writer = Writer(open_database(empty_database, create=True))

    def stumble() -> None:
        with writer.transaction():
            writer.run(text("CREATE TABLE one (number INTEGER)"))
            writer.run(text("INSERT INTO one VALUES (1)"))
            writer.run(text("INSERT INTO nowhere VALUES (1)"))

    with pytest.raises(StoreFailure, match="nowhere"):
        stumble()
    with writer.transaction():
        writer.run(text("CREATE TABLE one (number INTEGER)"))
    writer.close()


def test_readers_cannot_write(desk: Desk) -> None:
    desk.begin()
    connection = open_database(desk.url, create=False, read_only=True).connect()
    with pytest.raises(DBAPIError, match=r"read-?\s?only"):
        connection.execute(delete(urls))
    connection.close()


def test_reading_while_a_writer_is_at_work(desk: Desk) -> None:
    desk.begin()
    desk.seed("http://a.example/")
    with Reports.open(desk.url) as reports, desk.look.begin() as connection:
        connection.exec_driver_sql("UPDATE sites SET failures = 5")
        assert reports.status(desk.now).states["known"] == 1


def test_a_second_writer_takes_no_lock_that_the_first_has(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'crawl.db'}"
    first, database = Writer(open_database(url, create=True)), open_database(url, create=True)
    event.listen(database.engine, "connect", lambda driver, _: driver.execute("PRAGMA busy_timeout = 0"))
    second = Writer(database)
    with first.transaction(), pytest.raises(StoreFailure, match="locked"), second.transaction():
        raise AssertionError("unreachable")
    first.close()
    second.close()
