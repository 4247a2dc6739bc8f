"""Makes a database stand still: readers read, writers wait."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator

from tests.support.processes import TEST_TIMEOUT, wait_until

__all__ = ["hold_writes"]


@contextlib.contextmanager
def hold_writes(database: str, when: Callable[[], bool]) -> Iterator[None]:
    """Blocks every writer from the time at which `when` becomes true to the end of the block."""
    hold = _hold_sqlite if database.startswith("sqlite:///") else _hold_postgres
    with hold(database, when):
        yield


@contextlib.contextmanager
def _hold_sqlite(database: str, when: Callable[[], bool]) -> Iterator[None]:
    connection = sqlite3.connect(database.removeprefix("sqlite:///"), timeout=TEST_TIMEOUT, isolation_level=None)
    try:
        assert wait_until(when, pause=0.002)
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
    finally:
        connection.close()


@contextlib.contextmanager
def _hold_postgres(database: str, when: Callable[[], bool]) -> Iterator[None]:
    import psycopg

    def locked() -> bool:
        """All tables or none: to wait for one while holding another could be a deadlock."""
        try:
            connection.execute("LOCK TABLE urls, documents, sites IN EXCLUSIVE MODE NOWAIT")
        except psycopg.errors.LockNotAvailable:
            connection.rollback()
            return False
        return True

    with psycopg.connect(database) as connection:
        assert wait_until(when, pause=0.002)
        assert wait_until(locked, pause=0.001)
        yield
        connection.rollback()
