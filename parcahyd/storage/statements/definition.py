"""A statement and the order of its parameters, and the small expressions that many statements share."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Executable, Integer, Select, Table, bindparam, case, insert, literal_column

from parcahyd.core.life_cycle import Reason

__all__ = ["ONE", "ZERO", "Definition", "inserting", "later", "limited", "most", "word"]

ONE: ColumnElement[int] = literal_column("1", Integer)
ZERO: ColumnElement[int] = literal_column("0", Integer)


class Definition:
    """A statement, and its parameters in the order in which the store gives them, one name for each place."""

    def __init__(self, statement: Executable, *parameters: str) -> None:
        self.statement: Any = statement
        self.parameters = parameters


def inserting(table: Table, *names: str) -> Definition:
    """An INSERT that takes the named columns, or all, in the order in which the table has them."""
    wanted = names or tuple(table.c.keys())
    return Definition(insert(table).values({name: bindparam(name) for name in wanted}), *wanted)


def limited(statement: Select[Any], most: ColumnElement[int]) -> Select[Any]:
    """The first rows of a query. SQLAlchemy writes an offset on SQLite in any case: here it is no parameter."""
    return statement.limit(most).offset(ZERO)


def most() -> ColumnElement[int]:
    """The parameter of a limit."""
    return bindparam("most", type_=Integer)


def later(first: ColumnElement[float], second: ColumnElement[float]) -> ColumnElement[float]:
    """The greater of two; the databases do not agree on a function for it."""
    return case((first > second, first), else_=second)


def word(reason: Reason) -> ColumnElement[str]:
    """A reason as it stands in the tables."""
    return literal_column(f"'{reason.word}'")
