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
from parcahyd.storage.cluster_schemas import WHOLE_CRAWL, has_hub, partition_schema, use_schema
from parcahyd.storage.connection import first_line, open_database
from parcahyd.storage.migrations import check_partitions, check_version

__all__ = ["Reader"]


class Reader:
    """Reads, and never writes: the connection refuses to. Used from one thread.

    The database of a cluster is read through its views over all partitions, as if it were one crawl.
    """

    partitions = 0
    """How many partitions are read together; 0: a crawl of one machine, or one partition."""

    def __init__(self, url: str, schema: str = "") -> None:
        """Opens the database; one that is not there, or of another version, is a DatabaseUnusable.

        `schema` is that of one partition, for the reader of the whole.
        """
        self._url = url
        database = open_database(url, create=False, read_only=True, schema=schema)
        self.is_sqlite = database.kind == "sqlite"
        self._connection = database.connect()
        try:
            with self.transaction() as connection:
                if schema or not has_hub(connection):
                    check_version(connection)
                else:
                    use_schema(connection, WHOLE_CRAWL)
                    self.partitions = check_partitions(connection)
        except BaseException:
            self.close()
            raise

    def partition(self, number: int) -> Reader:
        """A reader of one partition alone, to be closed."""
        return Reader(self._url, partition_schema(number))

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

    def rows(self, statement: Any, partition: int | None = None) -> list[Any]:
        """The rows of a statement, in a transaction of its own; with a number, those of that partition alone."""
        with self.transaction() as connection:
            if partition is not None:
                use_schema(connection, partition_schema(partition), in_this_transaction=True)
            return list(connection.execute(statement))

    def pages(self, table: Table, statement: Any, size: int) -> Iterator[list[Any]]:
        """The rows of a statement some at a time, in the order of the table's primary key, which it must select.

        Partitions are read one after the other, which is that order, too, where the key is a number of ours. No row refers to
        one of another partition. PostgreSQL has no statistics of views: it would look at all rows of one table for each row of
        another.
        """
        if not self.partitions:
            yield from self._pages(table, statement, size)
        for number in range(self.partitions):
            yield from self._pages(table, statement, size, number)

    def _pages(self, table: Table, statement: Any, size: int, partition: int | None = None) -> Iterator[list[Any]]:
        key = tuple(table.primary_key.columns)
        following = statement
        while page := self.rows(following.order_by(*key).limit(size), partition):
            yield page
            if len(page) < size:
                return
            last = page[-1]._mapping
            following = statement.where(tuple_(*key) > tuple_(*(last[column] for column in key)))
