"""What SQLite and PostgreSQL say in different words.

A list of values is one parameter: JSON on SQLite, an array on PostgreSQL. One statement then serves lists of every length, and
asks for a whole batch in one round trip. `storage.value_lists` binds the values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from sqlalchemy import (
    BigInteger,
    FromClause,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
    table,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeEngine

__all__ = ["IDIOMS", "Idiom"]


class Idiom(Protocol):
    """The ways of one kind of database."""

    dialect: Dialect

    pair_parameters: tuple[str, ...]
    """The parameters of `pairs`."""

    insert: Callable[[Table], Any]
    """An INSERT that can say what happens to a row that is there already."""

    def numbers(self, name: str) -> Select[tuple[int]]:
        """The values of the list that is bound to `name`, as a subquery for IN."""

    def words(self, name: str) -> Select[tuple[str]]:
        """The same for text."""

    def pairs(self) -> FromClause:
        """A table of two number columns, `site_id` and `key`."""

    def table_names(self) -> Select[tuple[str]]:
        """The tables of the database, as a query with a column `name`."""


class _Sqlite:
    dialect: Dialect = SQLiteDialect_pysqlite()
    pair_parameters: tuple[str, ...] = ("pairs",)
    insert: Callable[[Table], Any] = staticmethod(sqlite.insert)

    def numbers(self, name: str) -> Select[tuple[int]]:
        return select(func.json_each(bindparam(name)).table_valued("value", name=f"each_{name}").c.value)

    def words(self, name: str) -> Select[tuple[str]]:
        return select(func.json_each(bindparam(name)).table_valued("value", name=f"each_{name}").c.value)

    def pairs(self) -> FromClause:
        each = func.json_each(bindparam("pairs")).table_valued("value", name="each_pair")
        first, second = (func.json_extract(each.c.value, literal_column(place)) for place in ("'$[0]'", "'$[1]'"))
        return select(first.label("site_id"), second.label("key")).subquery("pair")

    def table_names(self) -> Select[tuple[str]]:
        master = table("sqlite_master", column("name", Text), column("type", Text))
        return select(master.c.name).where(master.c.type == literal_column("'table'"))


class _Postgresql:
    dialect: Dialect = PGDialect_psycopg(paramstyle="format")  # type: ignore[no-untyped-call]  # SQLAlchemy's own
    pair_parameters: tuple[str, ...] = ("firsts", "seconds")
    insert: Callable[[Table], Any] = staticmethod(postgresql.insert)

    def numbers(self, name: str) -> Select[tuple[int]]:
        return select(self._each(name, BigInteger()).c.value)

    def words(self, name: str) -> Select[tuple[str]]:
        return select(self._each(name, Text()).c.value)

    def _each(self, name: str, kind: TypeEngine[Any]) -> FromClause:
        values = cast(bindparam(name), postgresql.ARRAY(kind))
        return func.unnest(values).table_valued("value").render_derived(name=f"each_{name}")

    def pairs(self) -> FromClause:
        columns = (cast(bindparam(name), postgresql.ARRAY(BigInteger)) for name in self.pair_parameters)
        return func.unnest(*columns).table_valued("site_id", "key").render_derived(name="pair")

    def table_names(self) -> Select[tuple[str]]:
        present = table("pg_tables", column("tablename", Text), column("schemaname", Text))
        return select(present.c.tablename.label("name")).where(present.c.schemaname == func.current_schema())


IDIOMS: dict[str, Idiom] = {"sqlite": _Sqlite(), "postgresql": _Postgresql()}
