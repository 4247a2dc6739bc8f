"""The one connection that writes, and what everything that uses it shares.

A transaction either happens or leaves no trace: when it fails, whatever was learned in it (ids given out, sites looked up,
the scope) is forgotten too, so that the next try starts from what the database holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Engine,
    Executable,
    Integer,
    Select,
    Table,
    bindparam,
    func,
    insert,
    literal_column,
    select,
)
from sqlalchemy.exc import SQLAlchemyError

from parcahyd.core.errors import StoreFailed
from parcahyd.storage.claim import claim, keep_claim
from parcahyd.storage.opening import first_line
from parcahyd.storage.value_lists import value_lists

__all__ = ["ONE", "Writer", "limited", "prepare"]

ONE: ColumnElement[int] = literal_column("1", Integer)
_ZERO: ColumnElement[int] = literal_column("0", Integer)


def limited(statement: Select[Any], most: ColumnElement[int]) -> Select[Any]:
    """The first rows of a query. SQLAlchemy writes an offset on SQLite in any case: here it is no parameter."""
    return statement.limit(most).offset(_ZERO)


def prepare(engine: Engine, statement: Any, *names: str) -> str:
    """A statement as text for the driver, which takes its parameters as tuples in the order of `names`.

    Compiled once; SQLAlchemy's work per row is then none. The order is checked here, at the start of the program.
    """
    compiled = statement.compile(dialect=engine.dialect)
    order = tuple(compiled.positiontup or ())
    if order != names:
        raise AssertionError(f"parameters come in the order {order}, not {names}, in: {compiled}")
    return str(compiled)


class Writer:
    """Runs prepared statements and transactions on one connection, from one thread."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.lists = value_lists(engine.dialect)
        self._connection = engine.connect()
        self._is_claimed = False
        self._next_ids: dict[str, int] = {}
        self._forgetful: list[Callable[[], None]] = [self._next_ids.clear]

    def prepare(self, statement: Any, *names: str) -> str:
        return prepare(self.engine, statement, *names)

    def prepare_insert(self, table: Table, *names: str) -> str:
        """An INSERT that takes the named columns, in the order in which the table has them."""
        return self.prepare(insert(table).values({name: bindparam(name) for name in names}), *names)

    def on_failure(self, forget: Callable[[], None]) -> None:
        """Registers what must be forgotten when a transaction fails."""
        self._forgetful.append(forget)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One transaction; a database that does not take it is StoreFailed, and everything is as before."""
        try:
            with self._connection.begin():
                yield
        # The drivers raise the last two themselves, for values that no column can hold.
        except (SQLAlchemyError, OverflowError, UnicodeError) as error:
            self.forget()
            raise StoreFailed(first_line(error)) from error
        except BaseException:
            self.forget()
            raise

    def forget(self) -> None:
        """Drops whatever is remembered of the database's content, so that it is read again."""
        for forget in self._forgetful:
            forget()

    def many(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Runs a prepared statement once for each row."""
        if rows:
            self._connection.exec_driver_sql(sql, rows)

    def rows(self, sql: str, *parameters: Any) -> Sequence[Any]:
        return self._connection.exec_driver_sql(sql, parameters).all()

    def execute(self, statement: Executable) -> Any:
        """Runs a statement that is not worth preparing."""
        return self._connection.execute(statement)

    def new_id(self, table: Table) -> int:
        """The next free id of a table; there is no other writer."""
        found = self._next_ids.get(table.name)
        if found is None:
            found = (self._connection.scalar(select(func.max(table.c.id))) or 0) + 1
        self._next_ids[table.name] = found + 1
        return found

    def claim(self, wait: float) -> None:
        """One run at a time: see `storage.claim`."""
        claim(self._connection, wait)
        self._is_claimed = True

    def keep_claim(self) -> None:
        if self._is_claimed:
            keep_claim(self._connection)

    def close(self) -> None:
        self._connection.close()
        self.engine.dispose()
