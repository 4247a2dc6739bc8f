"""Lists as one parameter, and text from the web.

A list is JSON on SQLite and an array on PostgreSQL. One statement then serves lists of every length, and reads a whole batch in
one query. `numbers`, `words` and `pairs` stand in statements; `ValueLists` binds the values.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

import msgspec
from sqlalchemy import FromClause, Select, bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

__all__ = ["ValueLists", "numbers", "pairs", "plain", "value_lists", "words"]

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
