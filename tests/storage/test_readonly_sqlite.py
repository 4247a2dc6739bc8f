"""Databases in folders that may not be written to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import DatabaseUnusable
from parcahyd.storage.readonly_sqlite import ReadonlyConnection, is_complete
from parcahyd.storage.store import Store
from tests.support.crawl import Finished, assert_user_error
from tests.support.privileges import command_without_privileges


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    """One that knows a URL and that no process works on, in a folder of its own."""
    path = tmp_path / "shelf" / "crawl.db"
    path.parent.mkdir()
    _at_work(path, "http://a.example/").close()
    yield path
    path.parent.chmod(0o755)


def _at_work(path: Path, seed: str) -> Store:
    store = Store.open(f"sqlite:///{path}")
    store.begin_run(Configuration(MapConf(), WorkConf()), 1_000_000.0)
    store.add_seeds([seed], 1_000_000.0)
    return store


def _read(path: Path, command: str = "urls") -> Finished:
    return command_without_privileges(command, "--set", f"Work.DbUrl=sqlite:///{path}")


@pytest.mark.parametrize("mode", [0o444, 0o644])
def test_a_database_at_rest_is_read_where_nothing_may_be_written(database: Path, mode: int) -> None:
    database.chmod(mode)
    database.parent.chmod(0o555)
    for command, expected in (("urls", "http://a.example/"), ("status", "1"), ("verify", "found")):
        finished = _read(database, command)
        assert (finished.code, finished.err) == (0, "")
        assert expected in finished.text
    assert [file.name for file in database.parent.iterdir()] == ["crawl.db"]


def test_a_database_at_work_is_read_there_with_its_log(database: Path) -> None:
    store = _at_work(database, "http://b.example/")
    assert not is_complete(str(database))
    database.parent.chmod(0o555)
    finished = _read(database)
    assert (finished.code, finished.text.count(".example/")) == (0, 2), finished.err
    database.parent.chmod(0o755)
    store.close()


def test_a_log_without_its_index_is_one_line(database: Path) -> None:
    store = _at_work(database, "http://b.example/")
    copy = database.parent.parent / "copy"
    copy.mkdir()
    for name in ("crawl.db", "crawl.db-wal"):
        (copy / name).write_bytes((database.parent / name).read_bytes())
    store.close()
    copy.chmod(0o555)
    assert_user_error(_read(copy / "crawl.db"), "may not be written to", "copy it to another folder", "crawl.db-wal")
    copy.chmod(0o755)


def test_a_database_that_may_not_be_read_is_one_line(database: Path) -> None:
    database.chmod(0)
    assert_user_error(_read(database), f"the database {database} may not be read", "ask its owner")
    database.parent.chmod(0)
    assert_user_error(_read(database), f"the folder {database.parent} may not be entered", "ask its owner")


def test_what_was_read_while_the_database_changed_is_refused(database: Path) -> None:
    connection = ReadonlyConnection(str(database), str(database))
    connection.execute("BEGIN")
    assert connection.execute("SELECT count(*) FROM urls").fetchone() == (1,)
    connection.commit()
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM urls")
    _at_work(database, "http://b.example/").close()  # The last one to leave writes the log into the file.
    connection.execute("BEGIN")
    with pytest.raises(DatabaseUnusable, match="was changed while it was read"):
        connection.commit()
    connection.close()
