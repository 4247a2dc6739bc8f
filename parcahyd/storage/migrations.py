"""The schema's version, and the way from an older one to this one.

A new database is made at the newest version. `MIGRATIONS[n]` brings a database from version n + 1 to n + 2; all that are
needed run in one transaction, so a database is never between two versions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, Engine, insert, inspect, select, update
from sqlalchemy.exc import SQLAlchemyError

from parcahyd.core.errors import DatabaseMistake
from parcahyd.storage.opening import first_line
from parcahyd.storage.tables import metadata, schema_version

__all__ = ["MIGRATIONS", "Migration", "check_version", "migrate"]

Migration = Callable[[Connection], None]

MIGRATIONS: tuple[Migration, ...] = ()


def migrate(engine: Engine, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Makes the tables in an empty database, or brings older ones up to date.

    A database from a newer version of the program, and one that holds other tables of our names, are a DatabaseMistake.
    """
    newest = len(migrations) + 1
    try:
        with engine.begin() as connection:
            found = _version(connection)
            if found is None:
                metadata.create_all(connection, checkfirst=False)
                connection.execute(insert(schema_version).values(version=newest))
            else:
                _refuse_newer(found, newest)
                for step in migrations[found - 1 :]:
                    step(connection)
                connection.execute(update(schema_version).values(version=newest))
    except SQLAlchemyError as error:
        raise DatabaseMistake(f"the database's tables could not be prepared: {first_line(error)}", "check DbUrl") from error


def check_version(connection: Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """For readers, which change nothing: the tables must be there and of this version."""
    newest = len(migrations) + 1
    found = _version(connection)
    if found is None:
        raise DatabaseMistake("the database holds no crawl yet", "run `parcahyd run` first")
    _refuse_newer(found, newest)
    if found < newest:
        raise DatabaseMistake(
            f"the database is of the older version {found}", "run `parcahyd run` once: it brings the tables up to date"
        )


def _version(connection: Connection) -> int | None:
    """The version of the tables that are there; None in an empty database."""
    present = set(inspect(connection).get_table_names()) & set(metadata.tables)
    if not present:
        return None
    if schema_version.name not in present:
        raise DatabaseMistake(
            f'the database has a table "{min(present)}" that is not a crawl\'s', "give the crawl a database of its own"
        )
    version: int | None = connection.scalar(select(schema_version.c.version))
    if version is None:
        raise DatabaseMistake("the database's schema_version is empty", "restore it from a copy")
    return version


def _refuse_newer(found: int, newest: int) -> None:
    if found > newest:
        raise DatabaseMistake(
            f"the database is of version {found} and this program knows versions up to {newest}", "use a newer parcahyd"
        )
