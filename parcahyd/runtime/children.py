"""The birth and death of child processes.

A child is this interpreter running `parcahyd.topology ROLE` with one end of a socket pair. It ends by itself when the other
end closes, so no child outlives its coordinator, however that ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from parcahyd.runtime.channel import socket_pair

__all__ = ["Child", "become_child", "end_with_traceback"]


class Child:
    """A child process and this side's end of its channel."""

    def __init__(self, role: str, number: int, inherited: Sequence[int] = (), sockets: Sequence[socket.socket] = ()) -> None:
        """`inherited` descriptors stay open in the child, `sockets` are given to it and closed here."""
        here, there = socket_pair()
        given = [there, *sockets]
        descriptors = [end.fileno() for end in given]
        self.role = role
        self.number = number
        self.end = here
        self._process = subprocess.Popen(
            [sys.executable, "-m", "parcahyd.topology", role, *map(str, descriptors)],
            pass_fds=(*descriptors, *inherited),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=_environment(),
        )
        for end in given:
            end.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self, timeout: float | None = None) -> int | None:
        """The exit code, or None if it is still alive after `timeout` seconds."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        self._process.kill()
        self._process.wait()


def _environment() -> dict[str, str]:
    """The parent's, with its import path: a child finds the same plugins and the same package."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


def become_child() -> None:
    """Called first in a child: an interrupt at the terminal is the coordinator's to handle, and files may be many."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # Some systems report a limit that they do not grant.
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def end_with_traceback(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A child's exception handler: a bug ends the process, loudly, instead of leaving it half alive."""
    loop.default_exception_handler(context)
    os._exit(1)
