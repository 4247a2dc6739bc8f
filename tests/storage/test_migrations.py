"""From an older version of the tables to this one, and not from a newer one."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, insert, inspect, select, text

from parcahyd.core.errors import DatabaseUnusable
from parcahyd.storage.connection import open_database
from parcahyd.storage.migrations import MIGRATIONS, check_version, migrate
from parcahyd.storage.reports import Reports
from parcahyd.storage.schema import documents, fetches, metadata, runs, schema_version, urls
from parcahyd.storage.writer import Writer
from tests.storage.desk import Desk
from tests.support.rows import open_engine

A = "http://a.example/"

_NEWEST = len(MIGRATIONS) + 1
_OLDER = Path(__file__).parent / "older_tables"


def _add_topic(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE urls ADD COLUMN topic TEXT")


def _name_topics(connection: Connection) -> None:
    connection.exec_driver_sql("UPDATE urls SET topic = 'sports'")


def _stumble(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE urls ADD COLUMN half TEXT")
    connection.exec_driver_sql("UPDATE nowhere SET topic = 'sports'")


@contextmanager
def _writer(url: str) -> Iterator[Writer]:
    writer = Writer(open_database(url, create=True))
    yield writer
    writer.close()


def _version(writer: Writer) -> int:
    with writer.transaction():
        version: int = writer.value(select(schema_version.c.version))
    return version


def _tables(url: str) -> dict[str, set[str]]:
    """The columns of every table."""
    engine = open_engine(url)
    with engine.connect() as connection:
        look = inspect(connection)
        found = {table: {column["name"] for column in look.get_columns(table)} for table in look.get_table_names()}
    engine.dispose()
    return found


def _description(url: str) -> dict[str, object]:
    """Columns with their types and defaults, and indexes, of every table, in no particular order."""
    engine = open_engine(url)
    with engine.connect() as connection:
        look = inspect(connection)
        found = {
            table: (
                sorted(
                    (str(one["name"]), str(one["type"]), one["nullable"], one["default"]) for one in look.get_columns(table)
                ),
                sorted((str(one["name"]), one["column_names"], one["unique"]) for one in look.get_indexes(table)),
            )
            for table in look.get_table_names()
        }
    engine.dispose()
    return dict(found)


@pytest.fixture
def crawled(empty_database: str) -> str:
    """A database of the newest version with one URL."""
    desk = Desk(empty_database)
    desk.begin()
    desk.seed(A)
    desk.close()
    return empty_database


def test_a_new_database_has_every_table_and_the_newest_version(empty_database: str) -> None:
    with _writer(empty_database) as writer:
        migrate(writer, (*MIGRATIONS, _add_topic, _name_topics))
        assert _version(writer) == _NEWEST + 2
    assert _tables(empty_database) == {name: set(table.c.keys()) for name, table in metadata.tables.items()}


def test_an_older_database_is_brought_up_to_date_with_its_rows(crawled: str) -> None:
    with _writer(crawled) as writer:
        for steps in ((_add_topic,), (_add_topic, _name_topics), (_add_topic, _name_topics)):
            migrate(writer, (*MIGRATIONS, *steps))
        assert _version(writer) == _NEWEST + 2
        with writer.transaction():
            assert writer.rows(text("SELECT path, topic FROM urls")) == [("/", "sports")]


@pytest.mark.parametrize("version", range(1, _NEWEST))
def test_tables_of_every_older_version_become_those_of_a_new_database(
    empty_database: str, another_database: str, version: int
) -> None:
    with _writer(empty_database) as writer:
        with writer.transaction() as connection:
            for sql in (_OLDER / f"version-{version}-{writer.kind}.sql").read_text().split(";\n"):
                if sql.strip():
                    connection.exec_driver_sql(sql)
            writer.run(insert(schema_version), version=version)
        migrate(writer)
    with _writer(another_database) as writer:
        migrate(writer)
    assert _description(empty_database) == _description(another_database)


def test_a_migration_that_fails_leaves_the_older_version(crawled: str) -> None:
    with _writer(crawled) as writer:
        with pytest.raises(DatabaseUnusable, match="nowhere"):
            migrate(writer, (*MIGRATIONS, _add_topic, _stumble))
        assert _version(writer) == _NEWEST
    assert _tables(crawled)["urls"] == set(urls.c.keys())


def test_a_newer_database_is_not_touched(crawled: str) -> None:
    with _writer(crawled) as writer:
        migrate(writer, (*MIGRATIONS, _add_topic))
    desk = Desk(crawled)
    with pytest.raises(DatabaseUnusable, match=f"version {_NEWEST + 1}") as mistake:
        desk.begin()
    assert mistake.value.remedy == "use a newer parcahyd"
    assert len(desk.rows(runs)) == 1
    desk.close()
    with pytest.raises(DatabaseUnusable, match=f"version {_NEWEST + 1}"):
        Reports.open(crawled)


def test_a_reader_asks_for_a_run_where_the_tables_are_older(crawled: str) -> None:
    connection = open_database(crawled, create=False, read_only=True).connect()
    with pytest.raises(DatabaseUnusable, match="older") as mistake:
        check_version(connection, (*MIGRATIONS, _add_topic))
    connection.close()
    assert "parcahyd run" in mistake.value.remedy


def test_tables_of_another_program_are_not_touched(empty_database: str) -> None:
    with _writer(empty_database) as writer:
        with writer.transaction():
            writer.run(text("CREATE TABLE documents (title TEXT)"))
        with pytest.raises(DatabaseUnusable, match='"documents"'):
            migrate(writer)
    assert _tables(empty_database) == {"documents": {"title"}}


def test_a_reader_finds_no_crawl_in_an_empty_database(empty_database: str) -> None:
    Writer(open_database(empty_database, create=True)).close()
    with pytest.raises(DatabaseUnusable) as mistake:
        Reports.open(empty_database)
    assert "parcahyd run" in mistake.value.remedy


def test_an_empty_version_is_not_guessed(crawled: str) -> None:
    with _writer(crawled) as writer:
        with writer.transaction():
            writer.run(delete(schema_version))
        with pytest.raises(DatabaseUnusable, match="schema_version"):
            migrate(writer)


# --- crawls that older versions made ------------------------------------------------------------------------------------
# `older_crawls` has dumps of databases that the program of that time wrote: a small site was crawled twice, with one page that
# was sent with gzip, a twin of it that was not, one that changed, a redirect, and one that is gone.

_HOST = "http://127.0.0.1:8080"
_ZIPPED = b"<title>Zipped</title>" + b"<p>A page that was sent compressed.</p>" * 20


@pytest.fixture(params=[3, 4])
def older_crawl(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that the program wrote when its tables were of that version."""
    file = tmp_path / "older.db"
    connection = sqlite3.connect(file)
    connection.executescript((Path(__file__).parent / "older_crawls" / f"version-{request.param}.sql").read_text())
    connection.close()
    return f"sqlite:///{file}"


def test_a_crawl_of_an_older_version_is_read_as_before(older_crawl: str) -> None:
    with pytest.raises(DatabaseUnusable, match="older version"):
        Reports.open(older_crawl)
    desk = Desk(older_crawl)
    desk.begin()
    found = {path: desk.reports.document(f"{_HOST}{path}") for path in ("/zipped", "/twin", "/news")}
    assert {path: document and document.body for path, document in found.items()} == {
        "/zipped": _ZIPPED,
        "/twin": _ZIPPED,
        "/news": b"<title>News</title><p>two",
    }
    assert found["/zipped"] is not None
    head = found["/zipped"].head
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert head.endswith(b"\r\n\r\n")
    assert b"\r\nX-Odd: 1\r\nContent-Encoding: gzip\r\n" in head
    assert all(row["head"] is None and row["coding"] == "" for row in desk.rows(fetches))
    assert desk.findings() == []
    desk.close()


def test_a_crawl_of_an_older_version_goes_on(older_crawl: str) -> None:
    desk = Desk(older_crawl)
    desk.now = 2e9
    desk.begin()
    pair = desk.visit()
    coded, other = gzip.compress(_ZIPPED), gzip.compress(b"<p>new")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    same = desk.page(pair, "/again", coded, coding="gzip", decoded_length=len(_ZIPPED), head=head)
    new = desk.page(pair, "/news", other, coding="gzip", decoded_length=6, head=head)
    desk.write(same, new)
    desk.over(pair)
    rows = {row["id"]: row for row in desk.rows(documents)}
    again, news = desk.rows(fetches)[-2:]
    assert rows[again["document_id"]]["coding"] == "", "it shares the document that is there"
    assert again["coded_sha256"] == sha256(coded).digest()
    assert (rows[news["document_id"]]["coding"], rows[news["document_id"]]["body"]) == ("gzip", other)
    document = desk.reports.document(f"{_HOST}/news")
    assert document is not None
    assert (document.body, document.head) == (b"<p>new", head)
    assert desk.findings() == []
    desk.close()
