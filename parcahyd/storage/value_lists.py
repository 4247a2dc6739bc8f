"""A list of values as one parameter of a prepared statement: JSON on SQLite, an array on PostgreSQL.

One statement then serves lists of every length, is compiled once, and asks for a whole batch in one round trip.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
from sqlalchemy import BigInteger, FromClause, Select, Text, bindparam, cast, func, literal_column, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeEngine

__all__ = ["ValueLists", "value_lists"]


class ValueLists(Protocol):
    """How one kind of database takes lists."""

    def numbers(self, name: str) -> Select[tuple[int]]:
        """The values of the list that is bound to `name`, as a subquery for IN."""

    def words(self, name: str) -> Select[tuple[str]]:
        """The same for text."""

    def pairs(self) -> FromClause:
        """A table of two number columns, `site_id` and `key`; its parameters are what `bind_pairs` gives."""

    def bind(self, values: Sequence[int] | Sequence[str]) -> Any: ...

    def bind_pairs(self, pairs: Sequence[tuple[int, int]]) -> tuple[Any, ...]: ...


class _Json:
    def numbers(self, name: str) -> Select[tuple[int]]:
        return select(func.json_each(bindparam(name)).table_valued("value", name=f"each_{name}").c.value)

    def words(self, name: str) -> Select[tuple[str]]:
        return select(func.json_each(bindparam(name)).table_valued("value", name=f"each_{name}").c.value)

    def pairs(self) -> FromClause:
        each = func.json_each(bindparam("pairs")).table_valued("value", name="each_pair")
        first, second = (func.json_extract(each.c.value, literal_column(place)) for place in ("'$[0]'", "'$[1]'"))
        return select(first.label("site_id"), second.label("key")).subquery("pair")

    def bind(self, values: Sequence[int] | Sequence[str]) -> str:
        return msgspec.json.encode(values).decode()

    def bind_pairs(self, pairs: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        return (msgspec.json.encode(pairs).decode(),)


class _Arrays:
    def numbers(self, name: str) -> Select[tuple[int]]:
        return select(self._each(name, BigInteger()).c.value)

    def words(self, name: str) -> Select[tuple[str]]:
        return select(self._each(name, Text()).c.value)

    def _each(self, name: str, kind: TypeEngine[Any]) -> FromClause:
        return func.unnest(cast(bindparam(name), ARRAY(kind))).table_valued("value", name=f"each_{name}").render_derived()

    def pairs(self) -> FromClause:
        columns = (cast(bindparam(name), ARRAY(BigInteger)) for name in ("firsts", "seconds"))
        return func.unnest(*columns).table_valued("site_id", "key", name="pair").render_derived()

    def bind(self, values: Sequence[int] | Sequence[str]) -> list[int] | list[str]:
        return list(values)  # type: ignore[return-value]  # a list of whichever kind came in

    def bind_pairs(self, pairs: Sequence[tuple[int, int]]) -> tuple[list[int], ...]:
        return [first for first, _ in pairs], [second for _, second in pairs]


def value_lists(dialect: Dialect) -> ValueLists:
    """The way of the given database."""
    return _Json() if dialect.name == "sqlite" else _Arrays()
