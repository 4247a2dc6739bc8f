"""Opening a database: SQLite beside the configuration, or a PostgreSQL server. What goes wrong is told in one line."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from parcahyd.core.errors import DatabaseMistake

__all__ = ["first_line", "open_engine"]

_BUSY_SECONDS = 30
_CONNECT_SECONDS = 10
_RUN_FIRST = "run `parcahyd run` first"

_PRAGMAS = (
    f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}",
    "PRAGMA journal_mode = WAL",
    # With WAL a killed process loses nothing, and a power cut at most the last transactions, never the file.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cache_size = -65536",
    "PRAGMA wal_autocheckpoint = 4000",
)


def open_engine(url: str, *, create: bool, read_only: bool = False) -> Engine:
    """The engine of a database that answers; one that does not is a DatabaseMistake with a remedy.

    A missing SQLite file is made when `create` says so. Transactions begin when SQLAlchemy says so and not when the driver
    guesses; a writer's takes the lock at once, so that it never fails half-way because a second writer was quicker.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise DatabaseMistake("DbUrl is not a database URL", "write sqlite:///FILE or postgresql://HOST:PORT/NAME") from None
    match parsed.get_backend_name():
        case "sqlite":
            engine, place = _sqlite(parsed, create=create, read_only=read_only)
        case "postgresql":
            engine, place = _postgresql(parsed, read_only=read_only)
        case other:
            raise DatabaseMistake(f"{other} databases are not served", "use sqlite:///FILE or postgresql://HOST:PORT/NAME")
    try:
        engine.connect().close()
    except SQLAlchemyError as error:
        remedy = (
            "check DbUrl" if engine.dialect.name == "sqlite" else "check DbUrl, DbUser, DbPassword and that the server runs"
        )
        raise DatabaseMistake(f"cannot open the database {place}: {first_line(error)}", remedy) from error
    return engine


def first_line(error: BaseException) -> str:
    """What the driver says, without SQLAlchemy's frame, statement and parameters."""
    said = str(getattr(error, "orig", None) or error).strip()
    return said.splitlines()[0] if said else type(error).__name__


def _sqlite(url: URL, *, create: bool, read_only: bool) -> tuple[Engine, str]:
    if not url.database or url.database == ":memory:" or "mode=memory" in url.database:
        raise DatabaseMistake(
            "a database in memory cannot be shared by the processes of a crawl", "name a file: sqlite:///FILE"
        )
    path = Path(url.database).absolute()
    if not create and not path.exists():
        raise DatabaseMistake(f"there is no database {path} yet", _RUN_FIRST)
    if not path.parent.is_dir():
        raise DatabaseMistake(f"the folder {path.parent} does not exist", "create it, or change DbUrl")
    # An absolute path in a URI, so that `mode` can forbid creation and no character of the name has a meaning.
    target = f"file:{quote(str(path))}?mode={'rwc' if create else 'rw'}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(target, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256)

    def prepare(connection: DBAPIConnection, _: object) -> None:
        cursor = connection.cursor()
        for pragma in ("PRAGMA query_only = ON", _PRAGMAS[0]) if read_only else _PRAGMAS:
            cursor.execute(pragma)
        cursor.execute("SELECT count(*) FROM sqlite_master")  # the first look at the file: is it a database at all?
        cursor.close()

    begin = "BEGIN" if read_only else "BEGIN IMMEDIATE"
    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine, str(path)


def _postgresql(url: URL, *, read_only: bool) -> tuple[Engine, str]:
    url = url.set(drivername="postgresql+psycopg")
    options: dict[str, Any] = {"isolation_level": "REPEATABLE READ"} if read_only else {}
    try:
        engine = create_engine(
            url,
            paramstyle="format",
            poolclass=NullPool,
            connect_args={"connect_timeout": _CONNECT_SECONDS, "application_name": "parcahyd"},
            **options,
        )
    except ImportError:
        raise DatabaseMistake("PostgreSQL needs the psycopg package", "pip install 'parcahyd[postgres]'") from None
    if read_only:
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("SET TRANSACTION READ ONLY"))
    return engine, url.set(query={}).render_as_string(hide_password=True)
