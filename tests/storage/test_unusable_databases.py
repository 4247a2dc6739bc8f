"""A database of another program is not written into, and one that a server lacks is created with a command."""

from __future__ import annotations

import os
import shlex
import sqlite3
from pathlib import Path

import pytest

from parcahyd.core.errors import DatabaseUnusable
from parcahyd.storage.reports import Reports
from parcahyd.storage.store import Store


def _bookmarks(path: Path, table: str = "bookmarks") -> bytes:
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT)")
    connection.execute(f"INSERT INTO {table} (url) VALUES ('http://a.example/')")  # noqa: S608 (a constant)
    connection.commit()
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("table", ["bookmarks", "documents", "schema_version"])
def test_a_file_of_another_program_stays_as_it_is(tmp_path: Path, table: str) -> None:
    path = tmp_path / "places.db"
    before = _bookmarks(path, table)
    with pytest.raises(DatabaseUnusable) as refused:
        Store.open(f"sqlite:///{path}")
    assert refused.value.message == f'{path} is a database of another program (it has a table "{table}")'
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["places.db"]


def test_a_reader_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "places.db"
    _bookmarks(path)
    with pytest.raises(DatabaseUnusable, match="is a database of another program"):
        Reports.open(f"sqlite:///{path}")


def test_an_empty_file_becomes_a_database_with_large_pages(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    path.touch()
    Store.open(f"sqlite:///{path}").close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA page_size").fetchone() == (16384,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_database_that_the_server_lacks_is_created_with_the_command_that_the_message_names(postgres: str) -> None:
    import psycopg

    with pytest.raises(DatabaseUnusable) as refused:
        Store.open(f"{postgres}not%20yet")
    assert 'database "not yet" does not exist' in refused.value.message
    program, url, option, statement = shlex.split(refused.value.remedy.removeprefix("create it with: "))
    assert (program, url, option) == ("psql", f"{postgres}postgres", "-c")
    with psycopg.connect(url, autocommit=True) as connection:  # What psql does with them.
        connection.execute(statement.encode())
        try:
            Store.open(f"{postgres}not%20yet").close()
        finally:
            connection.execute(b'DROP DATABASE "not yet" WITH (FORCE)')


def test_the_command_has_no_password_in_it() -> None:
    from parcahyd.storage.unusable_databases import remedy_of_server

    remedy = remedy_of_server('FATAL:  database "crawl" does not exist', "postgresql+psycopg://me:***@db.example/crawl")
    assert remedy.startswith("create it with: psql postgresql://me@db.example/postgres -c ")
