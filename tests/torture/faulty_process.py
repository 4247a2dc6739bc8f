"""A process of PARCAHYD in which one call fails, or at which everything is killed.

    PARCAHYD_FAULT="ROLE POINT NUMBER HOW" PARCAHYD_FAULT_MARK=FILE python -m tests.torture.faulty_process run ...

The call with that number at that point, in the first process of that role that comes so far, fails once: FILE is made at that
moment. HOW is `fail` (the call raises and has done nothing), `lost` (it has done its work and raises), or for a kill of this
process or of all processes of the run `kill-before`, `kill-after`, `kill-all-before`, `kill-all-after`. Children are started
from this module, too. The package itself knows nothing of this.
"""

from __future__ import annotations

import builtins
import errno
import functools
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any

__all__ = ["FAULTS", "ROLES"]

ROLES = ("coordinator", "update-database", "crawl-worker")


class _Fault:
    """Counts the calls at one point, and strikes at one of them."""

    def __init__(self, point: str, number: int, how: str, mark: str) -> None:
        self.point = point
        self._left = number
        self._how = how
        self._mark = mark
        self._lock = Lock()

    def wrap(self, function: Callable[..., Any], error: Callable[[], Exception]) -> Callable[..., Any]:
        @functools.wraps(function)
        def faulty(*arguments: Any, **named: Any) -> Any:
            if not self.is_now():
                return function(*arguments, **named)
            if self._how in ("fail", "kill-before", "kill-all-before"):
                self._kill()
                raise error()
            result = function(*arguments, **named)
            self._kill()
            if self._how == "lost":
                raise error()
            return result

        return faulty

    def is_now(self) -> bool:
        """Counts a call; whether it is the one that fails."""
        with self._lock:
            self._left -= 1
            if self._left:
                return False
        with suppress(FileExistsError):
            os.close(_open_file(self._mark, os.O_CREAT | os.O_EXCL, 0o600))
            return True
        return False

    def _kill(self) -> None:
        if self._how.startswith("kill-all"):
            os.killpg(os.getpgrp(), signal.SIGKILL)
        elif self._how.startswith("kill"):
            os.kill(os.getpid(), signal.SIGKILL)


_open_file = os.open


def _statement(fault: _Fault) -> None:
    from parcahyd.storage.writer import Writer

    Writer._execute = fault.wrap(Writer._execute, lambda: sqlite3.OperationalError("disk I/O error"))  # type: ignore[method-assign]


def _commit(fault: _Fault) -> None:
    from sqlalchemy.engine.default import DefaultDialect

    usual = DefaultDialect.do_commit
    faulty = fault.wrap(usual, lambda: sqlite3.OperationalError("database or disk is full"))
    DefaultDialect.do_commit = faulty  # type: ignore[method-assign]


def _connect(fault: _Fault) -> None:
    sqlite3.connect = fault.wrap(sqlite3.connect, lambda: sqlite3.OperationalError("unable to open database file"))


def _open(fault: _Fault) -> None:
    too_many = functools.partial(OSError, errno.EMFILE, os.strerror(errno.EMFILE))
    builtins.open = fault.wrap(builtins.open, too_many)
    os.open = fault.wrap(os.open, too_many)


def _folder(fault: _Fault) -> None:
    tempfile.mkdtemp = fault.wrap(tempfile.mkdtemp, functools.partial(OSError, errno.ENOSPC, os.strerror(errno.ENOSPC)))


def _spawn(fault: _Fault) -> None:
    again = functools.partial(OSError, errno.EAGAIN, os.strerror(errno.EAGAIN))
    subprocess.Popen.__init__ = fault.wrap(subprocess.Popen.__init__, again)  # type: ignore[method-assign]


def _channel(fault: _Fault) -> None:
    from parcahyd.runtime.channel import Channel

    usual = Channel._write

    def write(channel: Channel) -> None:
        """At the moment of the fault the socket breaks, as it does when the other process has ended."""
        if fault.is_now():
            channel._end.shutdown(socket.SHUT_RDWR)
        usual(channel)

    Channel._write = write  # type: ignore[method-assign, assignment]


def _join(fault: _Fault) -> None:
    """The process of Update Database is gone when a worker wants to connect to it."""
    from parcahyd.runtime import channel

    gone = functools.partial(FileNotFoundError, errno.ENOENT, os.strerror(errno.ENOENT))
    channel.connect = fault.wrap(channel.connect, gone)


def _resolve(fault: _Fault) -> None:
    import dns.resolver

    unreachable = functools.partial(OSError, errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))
    dns.resolver.Resolver.resolve = fault.wrap(dns.resolver.Resolver.resolve, unreachable)  # type: ignore[method-assign]


FAULTS: dict[str, Callable[[_Fault], None]] = {
    "statement": _statement,
    "commit": _commit,
    "connect": _connect,
    "open": _open,
    "folder": _folder,
    "spawn": _spawn,
    "channel": _channel,
    "join": _join,
    "resolve": _resolve,
}


def main(arguments: list[str]) -> int:
    from parcahyd.runtime import children

    children._PROGRAM = "tests.torture.faulty_process"
    role = arguments[0] if arguments[0] in ROLES else "coordinator"
    wanted, point, number, how = os.environ["PARCAHYD_FAULT"].split()
    if role == wanted:
        FAULTS[point](_Fault(point, int(number), how, os.environ["PARCAHYD_FAULT_MARK"]))
    if role == "coordinator":
        from parcahyd.cli import main as command_line

        return command_line(arguments)
    from parcahyd.topology import main as child

    return child(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
