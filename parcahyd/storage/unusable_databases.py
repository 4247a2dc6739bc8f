"""Databases that a crawl cannot use: an SQLite file of another program, and a database that a server does not have."""

from __future__ import annotations

import re
import shlex
import sqlite3

from parcahyd.core.errors import DatabaseUnusable
from parcahyd.storage.schema import schema_version, urls

__all__ = ["refuse_foreign", "remedy_of_server"]

_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'"
_OF_A_CRAWL = frozenset({schema_version.name, urls.name})
_NO_SUCH_DATABASE = re.compile(r'database "(.*)" does not exist')


def refuse_foreign(connection: sqlite3.Connection, path: str) -> None:
    """Raises DatabaseUnusable for a database of another program; sqlite3's own error for a file that is no database.

    A server's database is not judged by its other tables: its extensions have some, and schemas keep programs apart.
    """
    tables = {name for (name,) in connection.execute(_TABLES)}
    if tables and not tables >= _OF_A_CRAWL:
        some = ", ".join(f'"{name}"' for name in sorted(tables)[:3])
        raise DatabaseUnusable(
            f"{path} is a database of another program (it has {'a table' if len(tables) == 1 else 'tables'} {some})",
            "give the crawl a file of its own, with --db FILE or DbUrl",
        )


def remedy_of_server(message: str, place: str) -> str:
    """What to do where a PostgreSQL server gave no connection. `place` is the URL with its password hidden."""
    missing = _NO_SUCH_DATABASE.search(message)
    if missing is None:
        return "check DbUrl, DbUser, DbPassword and that the server runs"
    server = place.replace("postgresql+psycopg", "postgresql").replace(":***@", "@").rpartition("/")[0]
    name = missing[1].replace('"', '""')
    create = f"CREATE DATABASE \"{name}\" ENCODING 'UTF8' TEMPLATE template0"
    return f"create it with: psql {shlex.quote(f'{server}/postgres')} -c {shlex.quote(create)}"
