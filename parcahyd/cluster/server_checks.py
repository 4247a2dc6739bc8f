"""What a PostgreSQL server and a database must offer a cluster, asked before the hub is made. Each refusal has a remedy.

Tested in tests/cluster/test_server_checks.py.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from parcahyd.core.errors import DatabaseUnusable, UserError
from parcahyd.storage.connection import open_database
from parcahyd.storage.schema import schema_version, urls

__all__ = ["check_server", "connections_needed"]

_PER_PIPELINE = 3
"""Connections: of the writer, for claims, and for renewals."""
_RESERVE = 6
"""Of whoever plans, and for commands and for people who look at the crawl."""
_ROUNDS = 3

_FREE = text("""
    SELECT least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
            - coalesce(current_setting('reserved_connections', true)::int, 0),
        nullif((SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user), -1),
        nullif((SELECT datconnlimit FROM pg_database WHERE datname = current_database()), -1))
""")
_RIGHTS = text("""
    SELECT current_user, quote_ident(current_user), quote_ident(current_database()),
           has_database_privilege(current_database(), 'CREATE')
""")
_FUNCTIONS = ("pg_control_system()", "pg_current_wal_lsn()", "pg_walfile_name(pg_lsn)", "pg_terminate_backend(int, bigint)")
_MAY_RUN = text("SELECT has_function_privilege(CAST(:function AS regprocedure), 'EXECUTE')")
_STANDBY = text("SELECT pg_is_in_recovery()")
_PLAIN = text("SELECT to_regclass(:version) IS NOT NULL AND to_regclass(:urls) IS NOT NULL")
_PROMISES = text("SELECT current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes')")
_SESSION = text("SELECT pg_backend_pid(), current_setting('application_name')")
_SEES = text("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid AND application_name = :name")
_END = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = :pid AND application_name = :name")


def connections_needed(partitions: int, machines: int) -> int:
    """How many connections a cluster opens when all its pipelines run."""
    return _PER_PIPELINE * partitions + machines + _RESERVE


def check_server(url: str, partitions: int, machines: int, tell: Callable[[str], None]) -> None:
    """Raises a UserError for the first thing that a cluster of this size lacks. `tell` gets what is only worth knowing."""
    if not url.startswith("postgresql"):
        raise DatabaseUnusable(
            "a cluster needs a database that all its machines reach, and this one is a file",
            'write DbUrl = "postgresql://USER@HOST/NAME" into MapConf.toml, or give it with --db',
        )
    with _session(url) as (connection, _):
        _check_place(connection)
        _check_connections(connection, partitions, machines)
    _check_sessions(url)
    with _session(url) as (connection, _):
        for hint in _promises(connection):
            tell(hint)


@contextmanager
def _session(url: str) -> Iterator[tuple[Connection, str]]:
    """A session of its own, each statement of which is a transaction, and the name that it was opened with."""
    name = f"parcahyd check {secrets.token_hex(6)}"
    with closing(open_database(url, create=False, session_name=name).connect()) as connection:
        yield connection.execution_options(isolation_level="AUTOCOMMIT"), name


def _value(connection: Connection, statement: Any, **values: Any) -> Any:
    return connection.execute(statement, values).scalar_one()


def _check_place(connection: Connection) -> None:
    """The database itself: that it can be written, that it is nobody's crawl, and that its user may do what a cluster does."""
    if _value(connection, _STANDBY):
        raise DatabaseUnusable("this server is a standby and takes no writes", "name the primary in DbUrl")
    if _value(connection, _PLAIN, version=schema_version.name, urls=urls.name):
        raise DatabaseUnusable(
            "this database has a crawl of one machine already", "use another database, or go on with it: parcahyd run"
        )
    _, user, database, may_create = connection.execute(_RIGHTS).one()
    if not may_create:
        raise DatabaseUnusable(
            "this user may not make schemas in the database", f"as its owner: GRANT CREATE ON DATABASE {database} TO {user}"
        )
    for function in _FUNCTIONS:
        if not _value(connection, _MAY_RUN, function=function):
            raise DatabaseUnusable(
                f"this user may not call {function}", f"as a superuser: GRANT EXECUTE ON FUNCTION {function} TO {user}"
            )


def _check_connections(connection: Connection, partitions: int, machines: int) -> None:
    free = int(_value(connection, _FREE))
    needed = connections_needed(partitions, machines)
    if needed > free:
        raise UserError(
            f"the server lets this user have {free} connections, and {partitions} partitions on {machines} "
            f"{'machine' if machines == 1 else 'machines'} need {needed}",
            "raise max_connections in postgresql.conf and start the server again, or give fewer with --partitions",
        )


def _check_sessions(url: str) -> None:
    """That a session is one session from its first packet to its end, and can be ended by its name.

    A transaction pooler gives each transaction any of the server's sessions. Two clients, of which each has a session of its
    own, then find themselves in the same one.
    """
    with _session(url) as (first, first_name), _session(url) as (second, second_name):
        # In turns: a pooler often gives a client the session that another has just left.
        looks = {tuple(tuple(one.execute(_SESSION).one()) for one in (first, second)) for _ in range(_ROUNDS)}
        ((first_pid, *_), (second_pid, *_)) = next(iter(looks))
        names = {tuple(name for _, name in look) for look in looks}
        if len(looks) > 1 or first_pid == second_pid or names != {(first_name, second_name)}:
            raise DatabaseUnusable(
                "DbUrl leads to a connection pooler, which gives the sessions of a cluster to others",
                "name the PostgreSQL server itself in DbUrl",
            )
        _check_ending(first, second, second_pid, second_name)


def _check_ending(first: Connection, second: Connection, pid: int, name: str) -> None:
    """Ends the second session through the first one, as who takes a partition ends those of its former holder."""
    if not _value(first, _SEES, pid=pid, name=name):
        raise DatabaseUnusable(
            "this user does not see its own sessions in pg_stat_activity", "as a superuser: GRANT pg_read_all_stats to it"
        )
    try:
        _value(first, _END, pid=pid, name=name)
    except DBAPIError as error:
        raise DatabaseUnusable(
            "this user may not end its own sessions", "as a superuser: GRANT pg_signal_backend to it"
        ) from error
    second.invalidate()


def _promises(connection: Connection) -> Iterator[str]:
    """What the server does not keep by its own settings."""
    synchronous_commit, fsync, full_pages = connection.execute(_PROMISES).one()
    if synchronous_commit == "off":
        yield "synchronous_commit is off on this server; the cluster's own sessions switch it on (remove the setting)"
    for name, value in (("fsync", fsync), ("full_page_writes", full_pages)):
        if value == "off":
            yield f"{name} is off on this server: after a crash of its machine the crawl may be damaged (remove the setting)"
