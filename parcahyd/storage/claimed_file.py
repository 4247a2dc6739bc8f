"""The SQLite file of a run, as its only writer holds it: locked under all its names, and watched for being taken away.

The run lock (`runtime.run_lock`) is a file beside the database, so it does not see a second name that a hard link gives. This
lock is on the database itself. It is a lock of the open file, which ends with the writer's process, on a byte that SQLite does
not use. Only Linux has such locks; elsewhere the run lock is the only one.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import time

from parcahyd.core.errors import CrawlBusy, DatabaseUnusable, RunFailure

__all__ = ["ClaimedFile"]

_LOCK_BYTE = 1 << 62
"""SQLite locks bytes near the first gigabyte (<https://www.sqlite.org/fileformat2.html>, section 1.4), and none after them."""
_LOOK_EVERY = 0.1


class ClaimedFile:
    """Held from the claim to the end of the process. Waits up to `wait` seconds for another run to end, then CrawlBusy."""

    def __init__(self, path: str, wait: float) -> None:
        self._path = path
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise DatabaseUnusable(
                f"the database {path} cannot be written to: {error.strerror}", "ask its owner for the right to"
            ) from error
        until = time.monotonic() + wait
        while not self._taken():
            if time.monotonic() >= until:
                os.close(self._descriptor)
                raise CrawlBusy("another run is working on this database", "wait for it, or stop it with SIGINT")
            time.sleep(_LOOK_EVERY)
        found = os.fstat(self._descriptor)
        self._identity = found.st_dev, found.st_ino

    def check(self) -> None:
        """Raises RunFailure if the path leads to another file, or to none: what is written now would be lost."""
        try:
            found = os.stat(self._path)
        except (FileNotFoundError, NotADirectoryError):
            raise RunFailure(
                f"the database {self._path} was deleted or moved during the run, so nothing can be stored in it; "
                "what the run stored is in the file that was taken away"
            ) from None
        if (found.st_dev, found.st_ino) != self._identity:
            raise RunFailure(
                f"the database {self._path} was replaced during the run, so nothing can be stored in it; "
                f"remove {self._path}-wal and {self._path}-shm, which belong to the old file, before you use the new one"
            )

    def close(self) -> None:
        """Called after SQLite has closed its connection: closing any file of a database ends SQLite's own locks on it."""
        os.close(self._descriptor)

    def _taken(self) -> bool:
        if sys.platform != "linux":
            return True
        lock = struct.pack("@hhqqi", fcntl.F_WRLCK, os.SEEK_SET, _LOCK_BYTE, 1, 0)  # struct flock of fcntl(2)
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, lock)
        except (BlockingIOError, PermissionError):
            return False
        return True
