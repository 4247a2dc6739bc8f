"""The lock on a PostgreSQL database: one run at a time, on whichever machine it runs.

SQLite needs none: there the run lock is a file beside the database, and every process of the run holds it. A server can be
reached from several machines, so the only writer holds an advisory lock on its connection. The lock is free as soon as that
connection is gone, however the writer ended.
"""

from __future__ import annotations

import time

from sqlalchemy import Connection, func, select

from parcahyd.core.errors import CrawlBusy

__all__ = ["take_lock", "take_lock_again"]

_LOCK = 0x5041524341485944
"""Any number, the same for every version; PostgreSQL keeps advisory locks per database."""

_LOOK_EVERY = 0.1


def take_lock(connection: Connection, wait: float) -> None:
    """Makes the session of a connection the only writer, waiting so many seconds for another run to end, else CrawlBusy."""
    until = time.monotonic() + wait
    while not _taken(connection):
        if time.monotonic() >= until:
            raise CrawlBusy("another run is working on this database", "wait for it, or stop it with SIGINT")
        time.sleep(_LOOK_EVERY)


def take_lock_again(connection: Connection) -> None:
    """The same for a connection that takes the place of one that was lost; another run may have come in between."""
    if not _taken(connection):
        raise CrawlBusy("another run took this database while its server was away", "stop one of the two")


def _taken(connection: Connection) -> bool:
    taken = connection.scalar(select(func.pg_try_advisory_lock(_LOCK)))
    connection.rollback()  # The lock is the session's and stays.
    return bool(taken)
