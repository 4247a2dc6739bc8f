"""The birth and death of child processes.

A child runs `parcahyd.topology ROLE` with one end of a socket pair. It ends by itself when the other end closes, so no child
outlives its coordinator, however that ends.

The first children begin as copies of the coordinator, which has loaded by then what they need too, so that a crawl starts
sooner (see `runtime.nursery`). A process with threads cannot be copied safely, so later ones are interpreters of their own.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn, Protocol

from parcahyd.runtime.channel import socket_pair

__all__ = ["Child", "Complaining", "become_child", "can_be_copied", "end_with_traceback"]

_PROGRAM = "parcahyd.topology"
_LOOK_EVERY = 0.0005


class Child:
    """A child process and this side's end of its channel."""

    def __init__(self, role: str, number: int, sockets: Sequence[socket.socket] = ()) -> None:
        """`sockets` are given to the child and closed here."""
        here, there = socket_pair()
        given = [there, *sockets]
        descriptors = [end.fileno() for end in given]
        self.role = role
        self.number = number
        self.end = here
        self._process: _Process = (_Copy if can_be_copied() else _Interpreter)(role, descriptors)
        for end in given:
            end.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self, timeout: float | None = None) -> int | None:
        """The exit code, or None if it is still alive after `timeout` seconds."""
        return self._process.wait(timeout)

    def doom(self) -> None:
        """End it at once, without waiting until it is gone."""
        self._process.kill()

    def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        self._process.kill()
        self._process.wait(None)


class _Process(Protocol):
    pid: int

    def wait(self, timeout: float | None) -> int | None: ...

    def kill(self) -> None: ...


class _Interpreter:
    """A new interpreter, which loads everything again."""

    def __init__(self, role: str, descriptors: Sequence[int]) -> None:
        import subprocess

        self._process = subprocess.Popen(
            [sys.executable, "-m", _PROGRAM, role, *map(str, descriptors)],
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=_environment(),
        )
        self.pid = self._process.pid

    def wait(self, timeout: float | None) -> int | None:
        from subprocess import TimeoutExpired

        try:
            return self._process.wait(timeout)
        except TimeoutExpired:
            return None

    def kill(self) -> None:
        self._process.kill()


def _environment() -> dict[str, str]:
    """The parent's, with its import path: a child finds the same plugins and the same package."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


class _Copy:
    """A copy of this process that goes its own way."""

    def __init__(self, role: str, descriptors: Sequence[int]) -> None:
        self._code: int | None = None
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # What is left in a buffer would be written twice.
        self.pid = os.fork()
        if not self.pid:
            _go_own_way(role, descriptors)

    def wait(self, timeout: float | None) -> int | None:
        end = None if timeout is None else time.monotonic() + timeout
        while self._code is None:
            found, status = os.waitpid(self.pid, 0 if end is None else os.WNOHANG)
            if found:
                self._code = os.waitstatus_to_exitcode(status)
            elif end is not None and time.monotonic() >= end:
                return None
            else:
                time.sleep(_LOOK_EVERY)
        return self._code

    def kill(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)


def can_be_copied() -> bool:
    """Whether children begin as copies of this process."""
    # Elsewhere than on Linux, system libraries start threads of their own or do not outlive a fork.
    return sys.platform == "linux" and threading.active_count() == 1


def _go_own_way(role: str, descriptors: Sequence[int]) -> NoReturn:
    """The life of a copy. It never returns into the frames above it, which belong to the coordinator."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _close_all_but({0, 1, 2, *descriptors})
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)
        code = import_module(_PROGRAM).main([role, *map(str, descriptors)])
    except BaseException:
        import traceback  # Seldom needed, and it would be loaded before the first request.

        traceback.print_exc()
    finally:
        os._exit(code)


def _close_all_but(kept: set[int]) -> None:
    """The coordinator's other descriptors, above all its ends of other children's channels, are not the copy's."""
    after = 0
    for descriptor in (*sorted(kept), resource.getrlimit(resource.RLIMIT_NOFILE)[0]):
        if after < descriptor:  # An empty range that begins at 0 would be taken for all there are.
            os.closerange(after, descriptor)
        after = descriptor + 1


def become_child(name: str) -> None:
    """Called first in a child: an interrupt at the terminal is the coordinator's to handle, and files may be many.

    `name` is what process listings show, where the system lets a process say so.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # Some systems report a limit that they do not grant.
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="utf-8") as file:
        file.write(name)


class Complaining(Protocol):
    """An event loop that can tell of a bug."""

    def default_exception_handler(self, context: dict[str, Any], /) -> None: ...


def end_with_traceback(loop: Complaining, context: dict[str, Any]) -> None:
    """A child's exception handler: a bug ends the process, loudly, instead of leaving it half alive."""
    loop.default_exception_handler(context)
    os._exit(1)
