"""A desk on each kind of database. Whatever a test does with it, `verify` finds nothing in the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.storage.desk import Desk


@pytest.fixture
def idle_desk(database: str) -> Iterator[Desk]:
    """A store on an empty database in which no run was ever begun."""
    desk = Desk(database)
    yield desk
    desk.close()


@pytest.fixture
def desk(idle_desk: Desk) -> Iterator[Desk]:
    """A store that may have runs; the test begins the first."""
    yield idle_desk
    assert idle_desk.findings() == []
