"""Parts of statements that many modules share, and values in a form that each database takes.

In an INSERT or UPDATE a parameter has the name of its column, so one row of named columns serves both.

Tested in tests/storage/test_writer.py.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Insert,
    Integer,
    Table,
    Update,
    bindparam,
    case,
    func,
    insert,
    literal_column,
    update,
)

from parcahyd.core.states import Reason

__all__ = ["MOST", "ONE", "ZERO", "bound", "filled", "inserting", "later", "same", "time_bound", "updating", "word"]

ONE: ColumnElement[int] = literal_column("1", Integer)
ZERO: ColumnElement[int] = literal_column("0", Integer)

MOST: BindParameter[int] = bindparam("most", type_=Integer)
"""The parameter of a limit."""


def bound(*names: str) -> dict[str, Any]:
    """The parameters of columns."""
    return {name: bindparam(name) for name in names}


def filled(name: str) -> ColumnElement[str | None]:
    """A text parameter that is empty where the column is NULL. Python's sqlite3 takes twice as long for None as for text."""
    return func.nullif(bindparam(name), literal_column("''"))


def inserting(table: Table, *names: str) -> Insert:
    """An INSERT of the named columns; the others get their defaults."""
    return insert(table).values(bound(*names))


def updating(table: Table, key: tuple[str, ...], *names: str) -> Update:
    """An UPDATE of the named columns in the row that has the key."""
    return update(table).where(*same(table, *key)).values(bound(*names))


def same(table: Table, *names: str) -> tuple[ColumnElement[bool], ...]:
    """The condition that columns have the values of the parameters of their names."""
    return tuple(table.c[name] == bindparam(name) for name in names)


def time_bound(name: str, column: ColumnElement[float]) -> BindParameter[float]:
    """A parameter that is compared with a column of times."""
    return bindparam(name, type_=column.type)


def later(first: ColumnElement[float], second: ColumnElement[float]) -> ColumnElement[float]:
    """The greater of two. The two databases have no common function for it."""
    return case((first > second, first), else_=second)


def word(reason: Reason) -> ColumnElement[str]:
    """A reason as it is stored."""
    return literal_column(f"'{reason.word}'")
