"""The one connection that writes, with its transactions and statements.

A transaction is committed as a whole or leaves no trace. When it fails, what was remembered in it (ids given out, sites looked
up, the scope) is dropped too, so that the next try starts from what the database holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Dialect, Executable, Table, func, select
from sqlalchemy.exc import DBAPIError

from parcahyd.storage.claimed_file import ClaimedFile
from parcahyd.storage.cluster_schemas import refuse_cluster
from parcahyd.storage.connection import Database, take_lock, take_lock_again
from parcahyd.storage.database_errors import failure_of
from parcahyd.storage.expressions import value_lists
from parcahyd.storage.schema import metadata

__all__ = ["Writer", "compiled"]

Row = Mapping[str, Any]
"""The parameters of a statement by name."""

_LAST_IDS = {name: select(func.max(table.c.id)) for name, table in metadata.tables.items() if "id" in table.c}


class _Compiled(NamedTuple):
    """A statement as the driver takes it."""

    text: str
    bind: Callable[[Row], tuple[Any, ...]]
    """Puts the values of a row into the order of their places in the text; a missing name is a KeyError."""


class Writer:
    """Runs statements and transactions on one connection, from one thread. A lost connection is opened again.

    A statement is a Core expression, written as a constant beside the code that runs it. It is compiled when it first runs,
    once for as long as the writer is open, and runs on a cursor of the driver. SQLAlchemy's own way, `Connection.execute`, asks
    for the types of every value of every row again. That costs 5 µs a row, which is more than SQLite needs to write it.
    """

    def __init__(self, database: Database, first_id: int = 0) -> None:
        """Rows that it numbers itself have numbers above `first_id`."""
        self._database = database
        self._first_id = first_id
        self.kind = database.kind
        self.lists = value_lists(database.kind)
        # SQLAlchemy raises the first, where it opens and ends transactions. The drivers raise the last two for values that no
        # column can hold.
        self._failures = (DBAPIError, database.driver_error, OverflowError, UnicodeError)
        self._compiled: dict[Executable, _Compiled] = {}
        self._connection: Connection | None = database.connect()
        self._is_locked = False
        self._file: ClaimedFile | None = None
        self._next_ids: dict[str, int] = {}
        self._forgetful: list[Callable[[], None]] = [self._next_ids.clear]

    def on_failure(self, forget: Callable[[], None]) -> None:
        """Registers what must be forgotten when a transaction fails."""
        self._forgetful.append(forget)

    # --- transactions ---------------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """One transaction. If the database does not take it, a StoreFailure is raised and nothing is changed.

        If the file of a claimed database was taken away meanwhile, that is a RunFailure.
        """
        try:
            connection = self._connected()
            connection.begin()
            yield connection
            connection.commit()
        except BaseException as error:
            self._roll_back()
            self.forget()
            if isinstance(error, self._failures):
                self._check_file()
                raise failure_of(error, self._database.engine.dialect.loaded_dbapi) from error
            raise
        self._check_file()

    def _check_file(self) -> None:
        if self._file is not None:
            self._file.check()

    def _connected(self) -> Connection:
        if self._connection is None:
            connection = self._database.engine.connect()
            if self._is_locked:
                try:
                    take_lock_again(connection)
                except BaseException:
                    connection.close()
                    raise
            self._connection = connection
        return self._connection

    def _roll_back(self) -> None:
        """Rolls back, or drops the connection, which rolls back too.

        SQLAlchemy regards a transaction whose COMMIT failed as ended. In the database it may still be open.
        """
        connection = self._connection
        if connection is None:
            return
        is_usable = connection.in_transaction()
        try:
            connection.rollback()
        except DBAPIError:
            is_usable = False
        if not is_usable or connection.invalidated:
            connection.invalidate()
            connection.close()
            self._connection = None

    def forget(self) -> None:
        """Drops what is remembered of the database's content, so that it is read again."""
        for forget in self._forgetful:
            forget()

    # --- statements -----------------------------------------------------------------------------------------------------

    def many(self, statement: Executable, rows: Sequence[Row]) -> int:
        """Runs a statement once for each row; returns how many rows of the database it changed in all."""
        if not rows:
            return 0
        text, bind = self._compiled.get(statement) or self._compile(statement)
        count: int = self._execute(text, list(map(bind, rows))).rowcount
        return count

    def run(self, statement: Executable, **parameters: Any) -> None:
        """Runs a statement that gives no rows."""
        text, bind = self._compiled.get(statement) or self._compile(statement)
        self._execute(text, bind(parameters))

    def rows(self, statement: Executable, **parameters: Any) -> list[Any]:
        """The rows that a statement gives, as tuples."""
        text, bind = self._compiled.get(statement) or self._compile(statement)
        found: list[Any] = self._execute(text, bind(parameters)).fetchall()
        return found

    def value(self, statement: Executable, **parameters: Any) -> Any:
        """The first value of the first row; None where there is no row."""
        rows = self.rows(statement, **parameters)
        return rows[0][0] if rows else None

    def new_id(self, table: Table) -> int:
        """The next free id of a table; there is no other writer."""
        found = self._next_ids.get(table.name)
        if found is None:
            found = max(self.value(_LAST_IDS[table.name]) or 0, self._first_id) + 1
        self._next_ids[table.name] = found + 1
        return found

    def _compile(self, statement: Executable) -> _Compiled:
        self._compiled[statement] = made = compiled(statement, self._database.engine.dialect)
        return made

    def _execute(self, text: str, parameters: tuple[Any, ...] | list[tuple[Any, ...]]) -> Any:
        assert self._connection is not None, "a statement runs inside a transaction"  # noqa: S101 (for mypy)
        cursor = self._connection.connection.cursor()
        if isinstance(parameters, list):
            cursor.executemany(text, parameters)
        else:
            cursor.execute(text, parameters)
        return cursor

    # --- the end --------------------------------------------------------------------------------------------------------

    def lock(self, wait: float) -> None:
        """Makes this the only writer of the database: see `take_lock` and `ClaimedFile`.

        It comes before anything is changed. The database of a cluster has writers of its own, so it is a UserError.
        """
        if self.kind == "postgresql":
            with self.transaction() as connection:
                refuse_cluster(connection)
            take_lock(self._connected(), wait)
            self._is_locked = True
        else:
            self._file = ClaimedFile(self._database.place, wait)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._file is not None:
            self._file.close()
            self._file = None


def compiled(statement: Executable, dialect: Dialect) -> _Compiled:
    """A statement for a dialect whose parameters have places."""
    done = statement.compile(dialect=dialect)  # type: ignore[attr-defined]  # every statement has it
    order = tuple(done.positiontup or ())
    constants = {name: value for name, value in done.params.items() if value is not None}
    values = _values(order)
    if constants:
        return _Compiled(str(done), lambda row: values({**constants, **row}))
    return _Compiled(str(done), values)


def _values(order: tuple[str, ...]) -> Callable[[Row], tuple[Any, ...]]:
    match order:
        case ():
            return lambda _: ()
        case (name,):
            return lambda row: (row[name],)
        case _:
            return itemgetter(*order)
