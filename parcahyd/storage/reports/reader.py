"""A database opened to be read: short transactions that each see one state of it, and pages by key.

Tested in tests/storage/test_connection.py and tests/storage/reports/test_verification.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Table, tuple_
from sqlalchemy.exc import SQLAlchemyError

from parcahyd.core.errors import DatabaseUnusable
from parcahyd.storage.connection import first_line, open_database
from parcahyd.storage.migrations import check_version

__all__ = ["Reader"]


class Reader:
    """Reads, and never writes: the connection refuses to. Used from one thread."""

    def __init__(self, url: str) -> None:
        """Opens the database; one that is not there, or of another version, is a DatabaseUnusable."""
        database = open_database(url, create=False, read_only=True)
        self.is_sqlite = database.kind == "sqlite"
        self._connection = database.connect()
        try:
            with self.transaction() as connection:
                check_version(connection)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """One transaction: everything that is read in it is of the same state of the database."""
        try:
            with self._connection.begin():
                yield self._connection
        except SQLAlchemyError as error:
            raise DatabaseUnusable(f"the database cannot be read: {first_line(error)}", "restore it from a copy") from error

    def rows(self, statement: Any) -> list[Any]:
        """The rows of a statement, in a transaction of its own."""
        with self.transaction() as connection:
            return list(connection.execute(statement))

    def pages(self, table: Table, statement: Any, size: int) -> Iterator[list[Any]]:
        """The rows of a statement some at a time, in the order of the table's primary key, which it must select."""
        key = tuple(table.primary_key.columns)
        following = statement
        while page := self.rows(following.order_by(*key).limit(size)):
            yield page
            if len(page) < size:
                return
            last = page[-1]._mapping
            following = statement.where(tuple_(*key) > tuple_(*(last[column] for column in key)))
