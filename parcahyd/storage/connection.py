"""Opens a database to read or to write: an SQLite file, or a database of a PostgreSQL server.

A database that cannot be opened is a DatabaseUnusable: one line with a remedy.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, create_engine, event, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from parcahyd.config.database_url import without_password
from parcahyd.core.errors import CrawlBusy, DatabaseUnusable
from parcahyd.storage.unusable_databases import refuse_foreign, remedy_of_server

__all__ = [
    "Database",
    "ReadonlyConnection",
    "first_line",
    "is_complete",
    "open_database",
    "take_lock",
    "take_lock_again",
]

_BUSY_SECONDS = 30
_CONNECT_SECONDS = 10
_ALIVE: dict[str, Any] = {"keepalives_idle": 10, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 20_000}
"""A PostgreSQL server that has vanished without a word is noticed after about 20 seconds. The system would wait for hours."""
_FORMS = "sqlite:///FILE or postgresql://HOST:PORT/NAME"
_RUN_FIRST = "run `parcahyd run` first"
_ASK_ITS_OWNER = "ask its owner for the right to"
_MEANINGFUL = {ord("%"): "%25", ord("?"): "%3f", ord("#"): "%23"}
"""Characters with a meaning in an SQLite URI (<https://www.sqlite.org/uri.html>, section 3.1), escaped."""

_WAIT = f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}"
_PRAGMAS = (
    _WAIT,
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

_READERS_PRAGMAS = ("PRAGMA query_only = ON", _WAIT)


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
            remedy = "check DbUrl or --db" if self.kind == "sqlite" else remedy_of_server(first_line(error), self.place)
            raise DatabaseUnusable(f"cannot open the database {self.place}: {first_line(error)}", remedy) from error


def open_database(
    url: str,
    *,
    create: bool,
    read_only: bool = False,
    session_name: str = "parcahyd",
    schema: str = "",
    opened: Callable[[Any], None] | None = None,
) -> Database:
    """The database of a URL. A URL that names none is a DatabaseUnusable. `create` makes a missing SQLite file.

    A PostgreSQL server knows each session by `session_name` from its first packet. `schema` is where the tables of the crawl
    are: each partition of a cluster has its own. `opened` gets each new connection of the driver before anything else runs on
    it.
    """
    scheme, separator, rest = url.partition("://")
    match scheme.partition("+")[0] if separator else "":
        case "sqlite":
            return _sqlite(rest.removeprefix("/"), create=create, read_only=read_only)
        case "postgresql":
            return _postgresql(url.partition("?")[0], f"postgresql://{rest}", read_only, session_name, schema, opened)
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
    if create:
        _create(path)
    # An absolute path in a URI, so that `mode` can forbid creation and no character of the name has a meaning.
    name = path.translate(_MEANINGFUL)
    target = f"file:{name}?mode=rw"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(target, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256)
        return _checked(connection, _READERS_PRAGMAS if read_only else _PRAGMAS, path)

    def connect_reader() -> sqlite3.Connection:
        try:
            return connect()
        except sqlite3.OperationalError as error:
            if os.access(folder, os.W_OK):
                raise
            if is_complete(path):
                return _checked(ReadonlyConnection(path, name), _READERS_PRAGMAS, path)
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


def _create(path: str) -> None:
    """Makes an empty file, which is a valid database, for this user alone; SQLite's files beside it get the same mode.

    Where that fails, SQLite says why the database cannot be opened.
    """
    with suppress(OSError):
        os.close(os.open(os.path.realpath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _checked(connection: sqlite3.Connection, pragmas: Iterable[str], path: str) -> sqlite3.Connection:
    try:
        connection.execute(_WAIT)
        refuse_foreign(connection, path)  # Before the pragmas: the mode of the journal is written into the file.
        for pragma in pragmas:
            connection.execute(pragma)
    except (sqlite3.Error, DatabaseUnusable):
        connection.close()
        raise
    return connection


_SET_SCHEMA = b"SELECT set_config('search_path', %s, false)"


def _postgresql(
    place: str, url: str, read_only: bool, session_name: str, schema: str, opened: Callable[[Any], None] | None
) -> Database:
    try:
        import psycopg  # an extra
    except ImportError:
        raise DatabaseUnusable("PostgreSQL needs the psycopg package", "pip install 'parcahyd[postgres]'") from None

    def connect() -> Any:
        connection = psycopg.connect(url, connect_timeout=_CONNECT_SECONDS, application_name=session_name, **_ALIVE)
        if read_only:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
        try:
            if schema:
                connection.execute(_SET_SCHEMA, (schema,))
                connection.commit()  # What is set in a transaction that is rolled back is not set.
            if opened is not None:
                opened(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    # Nothing here is an hstore; SQLAlchemy would ask every new connection for it.
    engine = _engine("postgresql+psycopg://", connect, paramstyle="format", use_native_hstore=False)
    return Database("postgresql", without_password(place), engine)


def _engine(dialect: str, connect: Callable[[], Any], **options: Any) -> Engine:
    return create_engine(dialect, creator=connect, poolclass=NullPool, **options)


# --- Reads an SQLite database in a folder without write permission, while no process works on it ------------------------
# SQLite keeps the locks of a database with a write-ahead log in files beside it, and cannot create them in such a folder. With
# `immutable=1` it reads without locks, provided that no process writes (https://sqlite.org/wal.html, section 5). This is
# checked
# before and after.


def is_complete(path: str) -> bool:
    """Whether the file holds everything. A process that works on it, or was killed meanwhile, leaves a log beside it."""
    log = f"{path}-wal"
    return not os.path.exists(log) or not os.path.getsize(log)


class ReadonlyConnection(sqlite3.Connection):
    """A connection without locks. If the file changed by the end of a transaction, that is a DatabaseUnusable."""

    def __init__(self, path: str, name: str) -> None:
        """`name` is the path as it stands in a URI."""
        self._path = path
        self._state = _state_of(path)
        super().__init__(f"file:{name}?immutable=1", uri=True, isolation_level=None, check_same_thread=False)

    def commit(self) -> None:
        super().commit()
        if _state_of(self._path) != self._state:
            raise DatabaseUnusable(f"the database {self._path} was changed while it was read", "try again")


def _state_of(path: str) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns, found.st_size


# --- The lock on a PostgreSQL database: one run at a time, from any machine ---------------------------------------------
# That on an SQLite database is in `claimed_file.py`. A server can be reached
# from several machines, so the writer holds an advisory lock on its connection. PostgreSQL frees the lock when that connection
# ends, however the writer ended.


_LOCK = 0x5041524341485944
"""Any number, the same for every version; PostgreSQL keeps advisory locks per database."""

_LOOK_EVERY = 0.1


def take_lock(connection: Connection, wait: float) -> None:
    """Makes the session of a connection the only writer. Waits up to `wait` seconds for another run to end, then CrawlBusy."""
    until = time.monotonic() + wait
    while not _taken(connection):
        if time.monotonic() >= until:
            raise CrawlBusy("another run is working on this database", "wait for it, or stop it with SIGINT")
        time.sleep(_LOOK_EVERY)


def take_lock_again(connection: Connection) -> None:
    """Takes the lock for a connection that replaces a lost one; CrawlBusy if another run took it in between."""
    if not _taken(connection):
        raise CrawlBusy("another run took this database while its server was away", "stop one of the two")


def _taken(connection: Connection) -> bool:
    taken = connection.scalar(select(func.pg_try_advisory_lock(_LOCK)))
    connection.rollback()  # The lock belongs to the session and stays.
    return bool(taken)
