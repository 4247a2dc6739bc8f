"""A hub on a real PostgreSQL server; skipped, with a reason, where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.hub_desk import HubDesk
from tests.support.postgres import fresh_database


@pytest.fixture
def hub_database(postgres: str) -> Iterator[str]:
    """The URL of a PostgreSQL database without tables."""
    with fresh_database(postgres) as url:
        yield url


@pytest.fixture(scope="session")
def shared_database(postgres: str) -> Iterator[str]:
    """The URL of a database in which each test makes its hub anew."""
    with fresh_database(postgres) as url:
        yield url


@pytest.fixture
def desk(shared_database: str) -> Iterator[HubDesk]:
    import psycopg

    with psycopg.connect(shared_database) as connection:
        made = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'parcahyd%'").fetchall()
        for (schema,) in made:
            connection.execute(f"DROP SCHEMA {schema} CASCADE".encode())
    desk = HubDesk(shared_database)
    yield desk
    desk.close()
