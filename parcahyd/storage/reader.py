"""A database opened to be read: short transactions that each see one moment, and pages by key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, tuple_
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from parcahyd.core.errors import DatabaseMistake
from parcahyd.storage.migrations import check_version
from parcahyd.storage.opening import Database, database_of, first_line
from parcahyd.storage.sql_texts import sql_texts

__all__ = ["Reader"]


class Reader:
    """Reads, and never writes: the connection itself refuses to. Used from one thread."""

    def __init__(self, url: str) -> None:
        """Opens the database; one that is not there, or of another version, is a DatabaseMistake."""
        database = database_of(url, create=False, read_only=True)
        database.open().close()
        self.is_sqlite = database.kind == "sqlite"
        self._engine = _engine(database)
        self._connection = self._engine.connect()
        try:
            with self.moment() as connection:
                check_version(sql_texts(database.kind), lambda sql: connection.exec_driver_sql(sql).all())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()
        self._engine.dispose()

    @contextmanager
    def moment(self) -> Iterator[Connection]:
        """One transaction: everything that is read in it is of the same moment."""
        try:
            with self._connection.begin():
                yield self._connection
        except SQLAlchemyError as error:
            raise DatabaseMistake(f"the database cannot be read: {first_line(error)}", "restore it from a copy") from error

    def rows(self, statement: Any) -> list[Any]:
        with self.moment() as connection:
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


def _engine(database: Database) -> Engine:
    """SQLAlchemy on connections of ours."""
    driver = "sqlite+pysqlite" if database.kind == "sqlite" else "postgresql+psycopg"
    engine = create_engine(f"{driver}://", creator=database.connect, poolclass=NullPool)
    if database.kind == "sqlite":  # whose driver would begin when it likes, if it had not been told not to
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine
