"""Opens a database to read or to write: an SQLite file, or a database of a PostgreSQL server.

A database that cannot be opened is a DatabaseUnusable: one line with a remedy.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from parcahyd.config.database_url import without_password
from parcahyd.core.errors import DatabaseUnusable
from parcahyd.storage.readonly_sqlite import ReadonlyConnection, is_complete

__all__ = ["Database", "first_line", "open_database"]

_BUSY_SECONDS = 30
_CONNECT_SECONDS = 10
_FORMS = "sqlite:///FILE or postgresql://HOST:PORT/NAME"
_RUN_FIRST = "run `parcahyd run` first"
_ASK_ITS_OWNER = "ask its owner for the right to"
_MEANINGFUL = {ord("%"): "%25", ord("?"): "%3f", ord("#"): "%23"}
"""Characters with a meaning in an SQLite URI (<https://www.sqlite.org/uri.html>, section 3.1), escaped."""

_PRAGMAS = (
    f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}",
    # For a new database. With pages of 4,096 bytes a crawl takes 4 to 7 % more CPU; its file is a sixth larger where documents
    # are small, and an eighth smaller where they take some 7 kB each, of which two fill a page badly.
    "PRAGMA page_size = 16384",
    "PRAGMA journal_mode = WAL",
    # With WAL a killed process loses nothing, and a power cut at most the last transactions, never the file.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cache_size = -16384",
    # After 32 MB: checkpoints after 4 MB cost more, and after 64 MB no less (bench/store.py).
    "PRAGMA wal_autocheckpoint = 2000",
)

_READERS_PRAGMAS = ("PRAGMA query_only = ON", _PRAGMAS[0])


class Database(msgspec.Struct, frozen=True):
    """A database and how to connect to it, for readers and for the writer."""

    kind: str
    """`sqlite` or `postgresql`."""
    place: str
    """The file or the URL without its password, for messages."""
    engine: Engine
    """Opens a new connection each time. Parameters are positional."""

    @property
    def driver_error(self) -> type[Exception]:
        """The base class of the driver's exceptions."""
        error: type[Exception] = self.engine.dialect.loaded_dbapi.Error
        return error

    def connect(self) -> Connection:
        """Opens the first connection; a database that does not answer is a DatabaseUnusable with a remedy."""
        try:
            return self.engine.connect()
        except SQLAlchemyError as error:
            remedy = "check DbUrl" if self.kind == "sqlite" else "check DbUrl, DbUser, DbPassword and that the server runs"
            raise DatabaseUnusable(f"cannot open the database {self.place}: {first_line(error)}", remedy) from error


def open_database(url: str, *, create: bool, read_only: bool = False) -> Database:
    """The database of a URL. A URL that names none is a DatabaseUnusable. `create` makes a missing SQLite file."""
    scheme, separator, rest = url.partition("://")
    match scheme.partition("+")[0] if separator else "":
        case "sqlite":
            return _sqlite(rest.removeprefix("/"), create=create, read_only=read_only)
        case "postgresql":
            return _postgresql(url.partition("?")[0], f"postgresql://{rest}", read_only=read_only)
        case "":
            raise DatabaseUnusable("DbUrl is not a database URL", f"write {_FORMS}")
        case other:
            raise DatabaseUnusable(f"{other} databases are not served", f"use {_FORMS}")


def first_line(error: BaseException) -> str:
    """The driver's message, without the statement and parameters that SQLAlchemy adds."""
    said = str(getattr(error, "orig", None) or error).strip()
    return said.splitlines()[0] if said else type(error).__name__


def _sqlite(file: str, *, create: bool, read_only: bool) -> Database:
    if not file or file == ":memory:" or "mode=memory" in file:
        raise DatabaseUnusable(
            "a database in memory cannot be shared by the processes of a crawl", "name a file: sqlite:///FILE"
        )
    path = os.path.join(os.getcwd(), file)
    folder = os.path.dirname(path)
    _require_access(path, folder, create=create)
    # An absolute path in a URI, so that `mode` can forbid creation and no character of the name has a meaning.
    name = path.translate(_MEANINGFUL)
    target = f"file:{name}?mode={'rwc' if create else 'rw'}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(target, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256)
        return _checked(connection, _READERS_PRAGMAS if read_only else _PRAGMAS)

    def connect_reader() -> sqlite3.Connection:
        try:
            return connect()
        except sqlite3.OperationalError as error:
            if os.access(folder, os.W_OK):
                raise
            if is_complete(path):
                return _checked(ReadonlyConnection(path, name), _READERS_PRAGMAS)
            raise DatabaseUnusable(
                f"the database {path} cannot be read with its log in a folder that may not be written to: {first_line(error)}",
                f"copy it to another folder, together with {os.path.basename(path)}-wal",
            ) from error

    engine = _engine("sqlite+pysqlite://", connect_reader if read_only else connect, paramstyle="qmark")
    # `isolation_level=None` keeps Python's sqlite3 from beginning transactions. A writer takes the lock at once, so that it
    # never fails half-way because a second writer was quicker.
    begin = "BEGIN" if read_only else "BEGIN IMMEDIATE"
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return Database("sqlite", path, engine)


def _require_access(path: str, folder: str, *, create: bool) -> None:
    if os.path.isdir(folder) and not os.access(folder, os.X_OK):
        raise DatabaseUnusable(f"the folder {folder} may not be entered", _ASK_ITS_OWNER)
    is_there = os.path.exists(path)
    if not create and not is_there:
        raise DatabaseUnusable(f"there is no database {path} yet", _RUN_FIRST)
    if not os.path.isdir(folder):
        raise DatabaseUnusable(f"the folder {folder} does not exist", "create it, or change DbUrl")
    if is_there and not os.access(path, os.R_OK):
        raise DatabaseUnusable(f"the database {path} may not be read", _ASK_ITS_OWNER)


def _checked(connection: sqlite3.Connection, pragmas: Iterable[str]) -> sqlite3.Connection:
    try:
        for pragma in pragmas:
            connection.execute(pragma)
        connection.execute("SELECT count(*) FROM sqlite_master")  # fails if the file is no database
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _postgresql(place: str, url: str, *, read_only: bool) -> Database:
    try:
        import psycopg  # an extra
    except ImportError:
        raise DatabaseUnusable("PostgreSQL needs the psycopg package", "pip install 'parcahyd[postgres]'") from None

    def connect() -> Any:
        connection = psycopg.connect(url, connect_timeout=_CONNECT_SECONDS, application_name="parcahyd")
        if read_only:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
        return connection

    # Nothing here is an hstore; SQLAlchemy would ask every new connection for it.
    engine = _engine("postgresql+psycopg://", connect, paramstyle="format", use_native_hstore=False)
    return Database("postgresql", without_password(place), engine)


def _engine(dialect: str, connect: Callable[[], Any], **options: Any) -> Engine:
    return create_engine(dialect, creator=connect, poolclass=NullPool, **options)
