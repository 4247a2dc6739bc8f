"""The one connection that writes, and what everything that uses it shares.

A transaction either happens or leaves no trace: when it fails, whatever was learned in it (ids given out, sites looked up,
the scope) is forgotten too, so that the next try starts from what the database holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from parcahyd.core.errors import StoreFailed
from parcahyd.storage.claim import claim, claim_again
from parcahyd.storage.opening import Connection, Cursor, Database, first_line
from parcahyd.storage.sql_texts import sql_texts
from parcahyd.storage.value_lists import value_lists

__all__ = ["Writer"]


class Writer:
    """Runs statements and transactions on one connection, from one thread. A connection that was lost is made anew."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.kind = database.kind
        self.statements = sql_texts(database.kind)
        """Their texts by name; `storage.statements` has the order of their parameters."""
        self.lists = value_lists(database.kind)
        # The drivers raise the last two themselves, for values that no column can hold.
        self._failures = (database.failures, OverflowError, UnicodeError)
        self._connection: Connection | None = database.open()
        self._cursor: Cursor = self._connection.cursor()
        self._is_claimed = False
        self._next_ids: dict[str, int] = {}
        self._forgetful: list[Callable[[], None]] = [self._next_ids.clear]

    def on_failure(self, forget: Callable[[], None]) -> None:
        """Registers what must be forgotten when a transaction fails."""
        self._forgetful.append(forget)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One transaction; a database that does not take it is StoreFailed, and everything is as before."""
        try:
            connection = self._connected()
            self._cursor.execute(self._database.begin)
            yield
            connection.commit()
        except BaseException as error:
            self._roll_back()
            self.forget()
            if isinstance(error, self._failures):
                raise StoreFailed(first_line(error)) from error
            raise

    def _connected(self) -> Connection:
        if self._connection is None:
            connection = self._database.connect()
            self._cursor = connection.cursor()
            if self._is_claimed:
                try:
                    claim_again(self._cursor)
                except BaseException:
                    connection.close()
                    raise
            self._connection = connection
        return self._connection

    def _roll_back(self) -> None:
        if self._connection is None:
            return
        try:
            self._connection.rollback()
        except self._database.failures:  # the connection is gone, and the transaction with it
            self._connection.close()
            self._connection = None

    def forget(self) -> None:
        """Drops whatever is remembered of the database's content, so that it is read again."""
        for forget in self._forgetful:
            forget()

    def many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Runs a statement once for each row."""
        if rows:
            self._cursor.executemany(sql, rows)

    def changed(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> int:
        """The same; gives how many rows of the database it changed in all."""
        self.many(sql, rows)
        return self._cursor.rowcount if rows else 0

    def run(self, sql: str, *parameters: Any) -> None:
        """Runs a statement that gives no rows."""
        self._cursor.execute(sql, parameters)

    def rows(self, sql: str, *parameters: Any) -> list[Any]:
        return self._cursor.execute(sql, parameters).fetchall()

    def value(self, sql: str, *parameters: Any) -> Any:
        """The first value of the first row; None where there is no row."""
        rows = self.rows(sql, *parameters)
        return rows[0][0] if rows else None

    def new_id(self, table: str) -> int:
        """The next free id of a table; there is no other writer."""
        found = self._next_ids.get(table)
        if found is None:
            found = (self.value(self.statements[f"writer.last_of_{table}"]) or 0) + 1
        self._next_ids[table] = found + 1
        return found

    def claim(self, wait: float) -> None:
        """One run at a time: see `storage.claim`."""
        if self._database.kind == "postgresql":
            claim(self._cursor, wait)
            self._is_claimed = True

    def close(self) -> None:
        if self._connection is not None:
            self._cursor.close()  # SQLite keeps a database open, and its log beside it, for as long as a statement has it.
            self._connection.close()
            self._connection = None
