"""A desk on each kind of database. Whatever a test does with it, `verify` finds nothing in the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from parcahyd.storage.tables import metadata
from tests.storage.desk import Desk
from tests.support.postgres import fresh_database


@pytest.fixture(scope="session")
def shared_database(postgres: str) -> Iterator[str]:
    """One PostgreSQL database for many tests: emptying its tables takes a tenth of the time of making them."""
    with fresh_database(postgres) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without rows, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'crawl.db'}"
    url: str = request.getfixturevalue("shared_database")
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        present = inspect(connection).get_table_names()
        for table in metadata.sorted_tables:
            if table.name in present and table.name != "schema_version":
                connection.execute(table.delete())
    engine.dispose()
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without tables, once of each kind; a test may do to it what it likes."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'crawl.db'}"
        return
    with fresh_database(request.getfixturevalue("postgres")) as url:
        yield url


@pytest.fixture
def desk(database: str) -> Iterator[Desk]:
    """A store on a database without rows; the test begins the first run."""
    desk = Desk(database)
    yield desk
    desk.close()
    assert desk.findings() == []


@pytest.fixture
def doomed_desk(empty_database: str) -> Iterator[Desk]:
    """A store whose database the test will damage."""
    desk = Desk(empty_database)
    yield desk
    desk.close()
