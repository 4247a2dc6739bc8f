"""One run per database: a lock that every process of the run holds, and that is free only when all of them are gone.

The lock is a file: beside an SQLite database, else in the user's runtime folder under a name made from the database's URL.
Children inherit the open file, so the lock outlives a coordinator that was killed for as long as any child works.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import time

from parcahyd.core.errors import CrawlBusy, DatabaseUnusable

__all__ = ["RunLock"]

_WAIT_SECONDS = 10.0
_LOOK_EVERY = 0.1


def _lock_file(database_url: str) -> str:
    scheme, _, rest = database_url.partition(":///")
    if scheme.startswith("sqlite"):
        return rest + ".lock"
    folder = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    name = hashlib.sha256(database_url.encode()).hexdigest()[:16]
    return os.path.join(folder, f"parcahyd-{os.getuid()}-{name}.lock")


class RunLock:
    """Taken by the coordinator; `descriptor` is what its children inherit."""

    def __init__(self, database_url: str, wait: float = _WAIT_SECONDS) -> None:
        path = _lock_file(database_url)
        try:
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DatabaseUnusable(
                f"the lock file {path} cannot be opened: {error.strerror}",
                "create its folder, or choose a DbUrl in a folder you may write to",
            ) from error
        if not self._take(time.monotonic() + wait):
            holder = os.pread(self.descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self.descriptor)
            raise CrawlBusy(
                f"another run is working on this database (process {holder})", "wait for it, or stop it with SIGINT"
            )
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, f"{os.getpid()}\n".encode(), 0)

    def _take(self, until: float) -> bool:
        while True:
            try:
                fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    return False
                time.sleep(_LOOK_EVERY)
            else:
                return True

    def release(self) -> None:
        """Close this process's hold; the lock is free when every child has ended too."""
        os.close(self.descriptor)
