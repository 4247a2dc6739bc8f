"""Stops a process in the middle of a transaction: it has written, or has locked rows, and has not committed."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from tests.cluster_lab.hub import Hub
from tests.cluster_lab.node import Node
from tests.support.processes import TEST_TIMEOUT, wait_until

__all__ = ["stop_in_transaction"]

# Other sessions may lock rows, and wait where they would write.
_BLOCK = "LOCK TABLE {tables} IN SHARE MODE"
_WAITING = """
    SELECT pid, client_port, xact_start FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND query ~* %s AND %s = ANY (pg_blocking_pids(pid))
"""
_STATE = "SELECT state FROM pg_stat_activity WHERE pid = %s AND xact_start = %s AND wait_event = 'ClientRead'"
_IN_TRANSACTION = "idle in transaction"
_WAITS_FOR_MORE = "active"
"""In the middle of an executemany, whose next part has not come."""


def stop_in_transaction(hub: Hub, node: Node, tables: Sequence[str], statement: str = "") -> psutil.Process:
    """Stops the process of a node that is about to write to one of these tables; it has an open transaction then.

    `statement` is a regular expression that what it wants to do fits. Writers of these tables wait until it is stopped.
    """
    import psycopg

    url = hub.url("127.0.0.1", hub.server.port)
    stopped: list[psutil.Process] = []
    with hub.machine.inside(), psycopg.connect(url) as blocker, psycopg.connect(url, autocommit=True) as watcher:

        def try_once() -> bool:
            assert not node.has_ended(), f"the agent of {node.name} has ended\n{node.said()[-3000:]}"
            blocker.execute(_BLOCK.format(tables=", ".join(tables)).encode())
            try:
                caught = _catch(watcher, blocker.info.backend_pid, node, statement)
            finally:
                blocker.rollback()
            if caught is None:
                return False
            process, backend, began = caught
            if wait_until(lambda: _is_open(watcher, backend, began), timeout=1.0):
                stopped.append(process)
                return True
            process.send_signal(signal.SIGCONT)
            return False

        assert wait_until(try_once, TEST_TIMEOUT), f"{node.name} does not write to {', '.join(tables)}\n{node.said()[-3000:]}"
    return stopped[0]


def _catch(watcher: Any, blocker: int, node: Node, statement: str) -> tuple[psutil.Process, int, object] | None:
    """Stops a process of the node that waits for the blocker, once there is one."""
    found: list[tuple[psutil.Process, int, object]] = []

    def look() -> bool:
        for backend, port, began in watcher.execute(_WAITING.encode(), (statement, blocker)).fetchall():
            owner = _owner_of(node.processes(), port)
            if owner is not None:
                found.append((owner, backend, began))
                return True
        return False

    if not wait_until(look, timeout=1.0):
        return None
    owner = found[0][0]
    owner.send_signal(signal.SIGSTOP)
    assert wait_until(lambda: owner.status() == psutil.STATUS_STOPPED)
    return found[0]


def _is_open(watcher: Any, backend: int, began: object) -> bool:
    row = watcher.execute(_STATE.encode(), (backend, began)).fetchone()
    return row is not None and row[0] in (_IN_TRANSACTION, _WAITS_FOR_MORE)


def _owner_of(processes: Sequence[psutil.Process], port: int) -> psutil.Process | None:
    """The process that has a connection from a port of its machine."""
    for process in processes:
        try:
            if _has_connection(Path(f"/proc/{process.pid}"), port):
                return process
        except OSError:  # It has ended.
            continue
    return None


def _has_connection(process: Path, port: int) -> bool:
    """Whether a process, given by its folder in /proc, has a socket with this port at its own end (proc(5))."""
    lines = (line.split() for line in (process / "net" / "tcp").read_text().splitlines()[1:])
    sockets = {f"socket:[{fields[9]}]" for fields in lines if int(fields[1].partition(":")[2], 16) == port}
    return any(_target(link) in sockets for link in (process / "fd").iterdir())


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except FileNotFoundError:  # It was closed meanwhile.
        return ""
