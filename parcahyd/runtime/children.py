"""Child processes: how they start and how they end.

A child is an interpreter of its own that runs `parcahyd.topology ROLE`. It imports what its parent can import, and nothing
from the current directory: with `-P`, Python does not look there. It inherits its end of the channel to the coordinator as
standard input, and the run lock as an open file; in a pipeline of a cluster also a few bytes of memory. It ends by itself when
the channel closes, so no child outlives its coordinator, however that ends. The coordinator alone answers the signals that ask
a run to stop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import socket
import subprocess
import sys
from typing import Any, NoReturn

from parcahyd.core.errors import RunFailure
from parcahyd.runtime.channel import socket_pair
from parcahyd.runtime.stop_signals import hold_back, ignore_from_now_on

__all__ = ["Child", "become_child", "child_environment", "end_now", "end_with_traceback", "usable_cores"]

_PROGRAM = "parcahyd.topology"
_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Child:
    """A child process and this side's end of its channel."""

    def __init__(self, role: str, lock: int | None = None, memory: int | None = None) -> None:
        """`lock` is the open file of the run lock: the run is over only when every child has ended.

        `memory`, in a pipeline of a cluster, is the open file of what its processes share; the child is told its number.
        """
        inherited = [descriptor for descriptor in (lock, memory) if descriptor is not None]
        self.end, there = socket_pair()
        told = [] if memory is None else [str(memory)]
        with there, hold_back():
            try:
                self._process = subprocess.Popen[bytes](
                    [sys.executable, "-P", "-m", _PROGRAM, role, *told],
                    pass_fds=inherited,
                    stdin=there.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=child_environment(),
                )
            except OSError as error:
                self.end.close()
                raise RunFailure(f"no {role} process could be started: {error.strerror}; start again to go on") from error

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self, timeout: float | None = None) -> int | None:
        """The exit code, or None if the child is still alive after `timeout` seconds."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it at once; `wait` tells when it is gone."""
        self._process.kill()


def child_environment() -> dict[str, str]:
    """The parent's, with its import path: a child finds the same plugins and the same package.

    The folder of this package comes last, after the standard library. It is needed where the package was not installed but
    started from its sources.
    """
    path = [entry for entry in sys.path if entry]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys([*path, _PACKAGE_FOLDER]))}


def become_child(name: str) -> socket.socket:
    """Called first in a child; returns its end of the channel. `name` is what process listings show, where they can.

    The signals that were held back since its first instruction are ignored from now on. A child may open many files.
    """
    ignore_from_now_on()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # Some systems report a limit that they do not grant.
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="utf-8") as file:
        file.write(name)
    end = socket.socket(fileno=os.dup(0))
    # Processes that this one starts would inherit standard input, and would keep the channel open when this one has ended.
    # Standard output leads nowhere already: a file less to open, which could fail.
    os.dup2(1, 0)
    return end


def end_now(code: int) -> NoReturn:
    """End this child without an orderly shutdown: what it holds can be fetched again, and its threads may be blocked."""
    os._exit(code)


def end_with_traceback(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A child's exception handler: a bug ends the process with a traceback instead of leaving it half alive."""
    loop.default_exception_handler(context)
    sys.stderr.flush()
    end_now(1)


def usable_cores() -> int:
    """The cores of the affinity mask where the system has one, else all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
