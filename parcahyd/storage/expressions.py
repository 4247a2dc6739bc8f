"""Parts of statements that many modules share, and values in a form that each database takes.

In an INSERT or UPDATE a parameter has the name of its column, so one row of named columns serves both.

Tested in tests/storage/test_expressions.py and tests/storage/test_writer.py.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Insert,
    Integer,
    Select,
    Table,
    Update,
    bindparam,
    case,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from parcahyd.core.states import Reason

__all__ = [
    "MOST",
    "ONE",
    "ZERO",
    "ValueLists",
    "bound",
    "filled",
    "inserting",
    "later",
    "numbers",
    "pairs",
    "plain",
    "present",
    "same",
    "time_bound",
    "updating",
    "value_lists",
    "word",
    "words",
]

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


def present(rows: Select[Any]) -> ColumnElement[bool]:
    """Whether a subquery has a row, found through an index for each row of a page.

    PostgreSQL may answer EXISTS by reading the whole table first, for each page anew.
    """
    return rows.limit(1).scalar_subquery().is_not(None)


def word(reason: Reason) -> ColumnElement[str]:
    """A reason as it is stored."""
    return literal_column(f"'{reason.word}'")


# --- Lists as one parameter, and text from the web ----------------------------------------------------------------------
# A list is JSON on SQLite and an array on PostgreSQL. One statement then serves lists of every length, and reads a whole batch
# in
# one query. `numbers`, `words` and `pairs` stand in statements; `ValueLists` binds the values.


_DETAIL_LENGTH = 500


# --- lists in statements ------------------------------------------------------------------------------------------------


def numbers(name: str) -> Select[tuple[int]]:
    """The numbers of the list that is bound to `name`, as a subquery for IN."""
    return select(_Numbers(bindparam(name)).table_valued("value", name="value").c.value)


def words(name: str) -> Select[tuple[str]]:
    """The same for text."""
    return select(_Words(bindparam(name)).table_valued("value", name="value").c.value)


def pairs() -> FromClause:
    """A table of two number columns, `site_id` and `key`, from the parameters that `ValueLists.pairs` gives."""
    return _Pairs(bindparam("pairs"), bindparam("pair_sites"), bindparam("pair_keys")).table_valued(
        "site_id", "key", name="pair"
    )


class _Numbers(FunctionElement[Any]):
    inherit_cache = True
    name = "numbers"
    kind = "BIGINT"


class _Words(FunctionElement[Any]):
    inherit_cache = True
    name = "words"
    kind = "TEXT"


class _Pairs(FunctionElement[Any]):
    inherit_cache = True
    name = "pairs"


@compiles(_Numbers, "sqlite")
@compiles(_Words, "sqlite")
def _each_of_json(element: FunctionElement[Any], compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_Numbers, "postgresql")
@compiles(_Words, "postgresql")
def _each_of_array(element: _Numbers | _Words, compiler: SQLCompiler, **options: Any) -> str:
    return f"unnest(CAST({compiler.process(element.clauses, **options)} AS {element.kind}[]))"


@compiles(_Pairs, "sqlite")
def _pairs_of_json(element: _Pairs, compiler: SQLCompiler, **options: Any) -> str:
    both, _, _ = element.clauses
    columns = "json_extract(value, '$[0]') AS site_id, json_extract(value, '$[1]') AS key"
    return f"(SELECT {columns} FROM json_each({compiler.process(both, **options)}))"  # noqa: S608 (parameters, no values)


@compiles(_Pairs, "postgresql")
def _pairs_of_arrays(element: _Pairs, compiler: SQLCompiler, **options: Any) -> str:
    _, *columns = element.clauses
    arrays = ", ".join(f"CAST({compiler.process(column, **options)} AS BIGINT[])" for column in columns)
    return f"(SELECT * FROM unnest({arrays}) AS each (site_id, key))"  # noqa: S608 (the same)


# --- lists as parameters ------------------------------------------------------------------------------------------------


class ValueLists(Protocol):
    """How one kind of database takes lists."""

    def bind(self, values: Collection[int] | Collection[str]) -> Any: ...

    def pairs(self, pairs: Collection[tuple[int, int]]) -> dict[str, Any]:
        """The parameters of a statement with `pairs`."""


class _Json:
    def bind(self, values: Collection[int] | Collection[str]) -> str:
        return msgspec.json.encode(values).decode()

    def pairs(self, pairs: Collection[tuple[int, int]]) -> dict[str, Any]:
        return {"pairs": msgspec.json.encode(pairs).decode()}


class _Arrays:
    def bind(self, values: Collection[int] | Collection[str]) -> list[Any]:
        return list(values)

    def pairs(self, pairs: Collection[tuple[int, int]]) -> dict[str, Any]:
        return {"pair_sites": [site for site, _ in pairs], "pair_keys": [key for _, key in pairs]}


def value_lists(kind: str) -> ValueLists:
    """The lists of a kind of database."""
    return _Json() if kind == "sqlite" else _Arrays()


# --- text ---------------------------------------------------------------------------------------------------------------


def plain(text: str, length: int = _DETAIL_LENGTH) -> str:
    """The text without what UTF-8 or PostgreSQL cannot hold (lone surrogates, NUL), cut to a length."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    if "\0" in text:
        text = text.replace("\0", "")
    return text[:length]
