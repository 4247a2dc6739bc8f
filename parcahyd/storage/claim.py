"""A claim on a PostgreSQL database: one run at a time, wherever it runs.

SQLite needs none: there the run lock is a file beside the database, and every process of the run holds it. A server can be
reached from several machines, so the only writer holds an advisory lock on its connection; it is free as soon as that
connection is gone, however the writer ended.
"""

from __future__ import annotations

import time

from sqlalchemy import Connection, event, text
from sqlalchemy.engine.interfaces import DBAPIConnection

from parcahyd.core.errors import CrawlBusy

__all__ = ["claim", "keep_claim"]

_LOCK = 0x5041524341485944
"""Any number, the same for every version; PostgreSQL keeps advisory locks per database."""

_LOOK_EVERY = 0.1


def claim(connection: Connection, wait: float) -> None:
    """Make the connection's session the only writer, waiting so many seconds for another run to end, else CrawlBusy."""
    if connection.dialect.name != "postgresql":
        return
    until = time.monotonic() + wait
    while not _taken(connection):
        if time.monotonic() >= until:
            raise CrawlBusy("another run is working on this database", "wait for it, or stop it with SIGINT")
        time.sleep(_LOOK_EVERY)


def keep_claim(connection: Connection) -> None:
    """From now on, a connection that takes this one's place (the server was gone for a while) claims the database again."""
    if connection.dialect.name == "postgresql" and not event.contains(connection.engine, "connect", _claim_again):
        event.listen(connection.engine, "connect", _claim_again)


def _taken(connection: Connection) -> bool:
    with connection.begin():
        return bool(connection.scalar(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": _LOCK}))


def _claim_again(connection: DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,))
    taken = cursor.fetchone()
    cursor.close()
    connection.commit()
    if not (taken and taken[0]):
        raise CrawlBusy("another run took this database while its server was away", "stop one of the two")
