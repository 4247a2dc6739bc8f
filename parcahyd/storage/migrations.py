"""The schema's version, and the way from an older one to this one.

A new database is made at the newest version. `MIGRATIONS[n]` brings a database from version n + 1 to n + 2; all that are
needed run in one transaction, so a database is never between two versions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from parcahyd.core.errors import DatabaseMistake, StoreFailed
from parcahyd.storage.migration_steps import to_version_2, to_version_3
from parcahyd.storage.writer import Writer

__all__ = ["MIGRATIONS", "Migration", "check_version", "migrate"]

Migration = Callable[[Writer], None]

MIGRATIONS: tuple[Migration, ...] = (to_version_2, to_version_3)


def migrate(writer: Writer, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Makes the tables in an empty database, or brings older ones up to date.

    A database from a newer version of the program, and one that holds other tables of our names, are a DatabaseMistake.
    """
    newest = len(migrations) + 1
    try:
        with writer.transaction():
            found = _version(writer.statements, writer.rows)
            if found is None:
                for sql in writer.statements["migrations.create_tables"].split(";\n"):
                    writer.run(sql)
                writer.run(writer.statements["migrations.insert_version"], newest)
            else:
                _refuse_newer(found, newest)
                for step in migrations[found - 1 :]:
                    step(writer)
                writer.run(writer.statements["migrations.update_version"], newest)
    except StoreFailed as failure:
        raise DatabaseMistake(f"the database's tables could not be prepared: {failure}", "check DbUrl") from failure


def check_version(
    statements: Mapping[str, str], ask: Callable[[str], Sequence[Any]], migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """For readers, which change nothing: the tables must be there and of this version."""
    newest = len(migrations) + 1
    found = _version(statements, ask)
    if found is None:
        raise DatabaseMistake("the database holds no crawl yet", "run `parcahyd run` first")
    _refuse_newer(found, newest)
    if found < newest:
        raise DatabaseMistake(
            f"the database is of the older version {found}", "run `parcahyd run` once: it brings the tables up to date"
        )


def _version(statements: Mapping[str, str], ask: Callable[[str], Sequence[Any]]) -> int | None:
    """The version of the tables that are there; None in an empty database."""
    present = [name for (name,) in ask(statements["migrations.our_tables"])]
    if not present:
        return None
    if "schema_version" not in present:
        raise DatabaseMistake(
            f'the database has a table "{present[0]}" that is not a crawl\'s', "give the crawl a database of its own"
        )
    versions = ask(statements["migrations.version"])
    if not versions:
        raise DatabaseMistake("the database's schema_version is empty", "restore it from a copy")
    version: int = versions[0][0]
    return version


def _refuse_newer(found: int, newest: int) -> None:
    if found > newest:
        raise DatabaseMistake(
            f"the database is of version {found} and this program knows versions up to {newest}", "use a newer parcahyd"
        )
