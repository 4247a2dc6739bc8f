"""A desk on each kind of database. Whatever a test does with it, `verify` finds nothing in the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.desk import Desk
from tests.support.postgres import fresh_database


@pytest.fixture(scope="session")
def sqlite_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(f"sqlite:///{tmp_path_factory.mktemp('desk') / 'crawl.db'}")
    yield desk
    desk.close()


@pytest.fixture(scope="session")
def postgres_desk(postgres: str) -> Iterator[Desk]:
    with fresh_database(postgres) as url:
        desk = Desk(url)
        yield desk
        desk.close()


@pytest.fixture(params=["sqlite", "postgres"])
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A store on a database without rows; the test begins the first run."""
    desk: Desk = request.getfixturevalue(f"{request.param}_desk")
    desk.clear()
    yield desk
    assert desk.findings() == []


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without tables; a test may do to it what it likes."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'crawl.db'}"
        return
    with fresh_database(request.getfixturevalue("postgres")) as url:
        yield url


@pytest.fixture
def another_database(request: pytest.FixtureRequest, empty_database: str, tmp_path: Path) -> Iterator[str]:
    """The URL of a second database of the same kind, without tables."""
    if empty_database.startswith("sqlite"):
        yield f"sqlite:///{tmp_path / 'another.db'}"
        return
    with fresh_database(request.getfixturevalue("postgres")) as url:
        yield url


@pytest.fixture
def doomed_desk(empty_database: str) -> Iterator[Desk]:
    """A store whose database the test will damage."""
    desk = Desk(empty_database)
    yield desk
    desk.close()
