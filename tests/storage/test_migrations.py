"""From an older version of the tables to this one, and not from a newer one."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, inspect, select

from parcahyd.core.errors import DatabaseMistake
from parcahyd.storage.migrations import check_version, migrate
from parcahyd.storage.opening import open_engine
from parcahyd.storage.reports import Reports
from parcahyd.storage.tables import metadata, runs, schema_version, urls
from tests.storage.desk import Desk

A = "http://a.example/"


def _add_topic(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE urls ADD COLUMN topic TEXT")


def _name_topics(connection: Connection) -> None:
    connection.exec_driver_sql("UPDATE urls SET topic = 'sports'")


def _stumble(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE urls ADD COLUMN half TEXT")
    connection.exec_driver_sql("UPDATE nowhere SET topic = 'sports'")


@pytest.fixture
def crawled(empty_database: str) -> str:
    """A database of the first version with one URL."""
    desk = Desk(empty_database)
    desk.begin()
    desk.seed(A)
    desk.close()
    return empty_database


def test_a_new_database_has_every_table_and_the_newest_version(empty_database: str) -> None:
    engine = open_engine(empty_database, create=True)
    migrate(engine, (_add_topic, _name_topics))
    with engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) == set(metadata.tables)
        assert connection.scalar(select(schema_version.c.version)) == 3
    engine.dispose()


def test_an_older_database_is_brought_up_to_date_with_its_rows(crawled: str) -> None:
    engine = open_engine(crawled, create=False)
    for steps in ((_add_topic,), (_add_topic, _name_topics), (_add_topic, _name_topics)):
        migrate(engine, steps)
    with engine.connect() as connection:
        assert connection.scalar(select(schema_version.c.version)) == 3
        assert connection.exec_driver_sql("SELECT path, topic FROM urls").all() == [("/", "sports")]
    engine.dispose()


def test_a_migration_that_fails_leaves_the_older_version(crawled: str) -> None:
    engine = open_engine(crawled, create=False)
    with pytest.raises(DatabaseMistake, match="nowhere"):
        migrate(engine, (_add_topic, _stumble))
    with engine.connect() as connection:
        assert connection.scalar(select(schema_version.c.version)) == 1
        assert {column["name"] for column in inspect(connection).get_columns("urls")} == set(urls.c.keys())
    engine.dispose()


def test_a_newer_database_is_not_touched(crawled: str) -> None:
    engine = open_engine(crawled, create=False)
    migrate(engine, (_add_topic,))
    engine.dispose()
    desk = Desk(crawled)
    with pytest.raises(DatabaseMistake, match="version 2") as mistake:
        desk.begin()
    assert mistake.value.remedy == "use a newer parcahyd"
    assert len(desk.rows(runs)) == 1
    desk.close()
    with pytest.raises(DatabaseMistake, match="version 2"):
        Reports.open(crawled)


def test_a_reader_asks_for_a_run_where_the_tables_are_older(crawled: str) -> None:
    engine = open_engine(crawled, create=False)
    with engine.connect() as connection, pytest.raises(DatabaseMistake, match="older") as mistake:
        check_version(connection, (_add_topic,))
    assert "parcahyd run" in mistake.value.remedy
    engine.dispose()


def test_somebody_elses_tables_are_not_touched(empty_database: str) -> None:
    engine = open_engine(empty_database, create=True)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE documents (title TEXT)")
    with pytest.raises(DatabaseMistake, match='"documents"'):
        migrate(engine)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["documents"]
    engine.dispose()


def test_a_reader_finds_no_crawl_in_an_empty_database(empty_database: str) -> None:
    open_engine(empty_database, create=True).dispose()
    with pytest.raises(DatabaseMistake) as mistake:
        Reports.open(empty_database)
    assert "parcahyd run" in mistake.value.remedy


def test_an_empty_version_is_not_guessed(crawled: str) -> None:
    engine = open_engine(crawled, create=False)
    with engine.begin() as connection:
        connection.execute(schema_version.delete())
    with pytest.raises(DatabaseMistake, match="schema_version"):
        migrate(engine)
    engine.dispose()
