"""Reads an SQLite database in a folder without write permission, while no process works on it.

SQLite keeps the locks of a database with a write-ahead log in files beside it, and cannot create them in such a folder. With
`immutable=1` it reads without locks, provided that no process writes (https://sqlite.org/wal.html, section 5). This is checked
before and after.
"""

from __future__ import annotations

import os
import sqlite3

from parcahyd.core.errors import DatabaseUnusable

__all__ = ["ReadonlyConnection", "is_complete"]


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
