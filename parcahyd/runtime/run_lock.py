"""One run per database: a lock that every process of the run holds, and that is free only when all of them are gone.

The lock is a file. It is beside an SQLite database, or beside what a symbolic link to one leads to. For other databases it is
in the user's runtime folder, under a name made from the database's URL without its password. Children inherit the open file, so
the lock outlives a coordinator that was killed for as long as any child works.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import tempfile
import time

from parcahyd.config.database_url import without_password
from parcahyd.core.errors import CrawlBusy, DatabaseUnusable

__all__ = ["RunLock", "is_free"]

_WAIT_SECONDS = 10.0
_LOOK_EVERY = 0.1


class RunLock:
    """Taken by the coordinator; `descriptor` is what its children inherit."""

    def __init__(self, database_url: str, wait: float = _WAIT_SECONDS) -> None:
        self.descriptor = _opened_lock_file(database_url)
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


def is_free(database_url: str) -> bool:
    """Whether no process holds the lock now."""
    try:
        RunLock(database_url, wait=0.0).release()
    except CrawlBusy:
        return False
    return True


def _opened_lock_file(database_url: str) -> int:
    scheme, _, rest = database_url.partition(":///")
    database = os.path.realpath(rest) if scheme.startswith("sqlite") else None
    path = f"{database}.lock" if database is not None else _path_in_runtime_folder(database_url)
    try:
        # Where others can write, the name may be a link to a file of this user.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if os.path.islink(path):
            raise _not_ours(path, "is a symbolic link") from None
        raise DatabaseUnusable(
            f"the lock file {path} cannot be opened: {error.strerror}",
            "create its folder, or choose a DbUrl in a folder you may write to",
        ) from error
    found = os.fstat(descriptor)
    reason = ""
    if not stat.S_ISREG(found.st_mode):
        reason = "is not a file"
    elif found.st_nlink > 1:
        reason = "is a hard link to another file"
    elif found.st_uid not in _owners(database):
        reason = f"belongs to another user (number {found.st_uid})"
    if reason:
        os.close(descriptor)
        raise _not_ours(path, reason)
    return descriptor


def _path_in_runtime_folder(database_url: str) -> str:
    folder = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    name = hashlib.sha256(without_password(database_url).encode()).hexdigest()[:16]
    return os.path.join(folder, f"parcahyd-{os.getuid()}-{name}.lock")


def _owners(database: str | None) -> set[int]:
    """Whose lock file is accepted: one's own, root's, and that of the database's owner."""
    owners = {0, os.geteuid()}
    if database is not None and os.path.exists(database):
        owners.add(os.stat(database).st_uid)
    return owners


def _not_ours(path: str, reason: str) -> DatabaseUnusable:
    return DatabaseUnusable(f"the lock file {path} {reason}", "see who put it there, then remove it")
