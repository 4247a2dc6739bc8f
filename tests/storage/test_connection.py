"""Opening databases for the writer and for a Reader. One that cannot be opened is one line and a remedy."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete, event, text
from sqlalchemy.exc import DBAPIError

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import CrawlBusy, DatabaseUnusable, StoreFailure
from parcahyd.storage.connection import ReadonlyConnection, is_complete, open_database
from parcahyd.storage.reports import Reports
from parcahyd.storage.schema import urls
from parcahyd.storage.store import Store
from parcahyd.storage.writer import Writer
from tests.storage.desk import Desk
from tests.support.crawl import Finished, assert_user_error
from tests.support.postgres import fresh_database
from tests.support.privileges import command_without_privileges


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


CONFIGURATION = Configuration(MapConf(), WorkConf())


def test_a_second_run_finds_the_database_claimed_until_the_first_is_gone(postgres: str) -> None:
    with fresh_database(postgres) as url:
        first, second = Store.open(url), Store.open(url)
        first.claim(wait=0.0)
        first.begin_run(CONFIGURATION, 1.0)
        with pytest.raises(CrawlBusy, match="another run"):
            second.claim(wait=0.0)
        first.close()
        second.claim(wait=5.0)
        second.begin_run(CONFIGURATION, 2.0)
        second.close()


def test_a_writer_that_lost_its_connection_claims_the_database_again(postgres: str) -> None:
    with fresh_database(postgres) as url:
        first, second = Store.open(url), Store.open(url)
        first.claim(wait=0.0)
        first.begin_run(CONFIGURATION, 1.0)
        _end_other_sessions(url)
        with pytest.raises(StoreFailure):
            first.add_seeds(["http://a.example/"], 2.0)
        first.add_seeds(["http://a.example/"], 3.0)
        second = Store.open(url)
        with pytest.raises(CrawlBusy):
            second.claim(wait=0.0)
        first.close()
        second.close()


def _end_other_sessions(url: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
