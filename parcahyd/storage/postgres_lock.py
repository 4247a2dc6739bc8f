"""The lock on a PostgreSQL database: one run at a time, from any machine.

SQLite needs none: its run lock is a file beside the database, which every process of the run holds. A server can be reached
from several machines, so the writer holds an advisory lock on its connection. PostgreSQL frees the lock when that connection
ends, however the writer ended.
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
