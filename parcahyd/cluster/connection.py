"""A session at the hub: named after who holds what, with settings that no server's configuration can take away."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from parcahyd.cluster.records import Identity
from parcahyd.core.errors import DatabaseUnusable, HubWentBack, StoreFailure
from parcahyd.storage.connection import open_database
from parcahyd.storage.writer import Writer

__all__ = ["HubConnection"]

_LOOK_EVERY = 0.002
_MILLISECONDS = 1000

# Every statement sees what was committed before it began: the end of a run and claims rely on it. A transaction that was
# acknowledged and then lost would have told somebody that he may send. Time-outs of the server are only a second net.
_SETTINGS = b"""
    SELECT set_config('default_transaction_isolation', 'read committed', false),
           set_config('lock_timeout', %s, false),
           set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                      ELSE current_setting('synchronous_commit') END, false)
"""
_WHO = b"""
    SELECT (SELECT system_identifier FROM pg_control_system()), substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
           pg_backend_pid()
"""
_END_OLD = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND application_name = %s"


class HubConnection(Writer):
    """A Writer whose sessions bear a name, and that reads at each connection which hub it has reached.

    A session that was lost may still run at the server, and what it was told last may still be on its way. So the session that
    replaces it ends it first. After that, what the tables say is final.
    """

    def __init__(
        self,
        url: str,
        session_name: str,
        lock_seconds: float,
        expected: Identity | None = None,
        schema: str = "",
        first_id: int = 0,
    ) -> None:
        """`schema` is where the tables are that statements name without one; rows are numbered from `first_id` on."""
        self.session_name = session_name
        self._lock_seconds = lock_seconds
        self._expected = expected
        self._session = 0
        self._line: socket.socket | None = None
        """The socket of the session under a second number, so that another thread can shut it down."""
        self.system = 0
        self.timeline = 0
        if not url.startswith("postgresql"):
            raise DatabaseUnusable("a cluster needs a database that all its machines reach", "use postgresql://HOST:PORT/NAME")
        opened = open_database(url, create=False, session_name=session_name, schema=schema, opened=self._opened)
        super().__init__(opened, first_id)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Makes each statement a transaction of its own. A process that is stopped between two of them holds no lock.

        Others would wait for such a lock until the process goes on. Only a session that is named after a partition is ended
        by others, and an agent's is not.
        """
        with self.transaction() as connection:
            session: Any = connection.connection.driver_connection
            session.autocommit = True
            try:
                yield
            finally:
                if not session.closed:
                    session.autocommit = False

    def cut_off(self) -> None:
        """Ends the session from another thread. Whoever waits for an answer gets a StoreFailure, and the next one connects.

        A server that acknowledges what it is sent and never answers looks alive to the kernel.
        """
        line = self._line
        if line is not None:
            with suppress(OSError):  # It has ended by itself.
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        super().close()
        self._note_line(None)

    def _note_line(self, line: socket.socket | None) -> None:
        if self._line is not None:
            self._line.close()
        self._line = line

    def _opened(self, connection: Any) -> None:
        """Prepares a new session. The statements run before the first transaction, so that nothing of them is undone."""
        self._note_line(socket.socket(fileno=os.dup(connection.fileno())))
        connection.autocommit = True
        connection.execute(_SETTINGS, (str(round(self._lock_seconds * _MILLISECONDS)),))
        system, timeline, session = connection.execute(_WHO).fetchone()
        self.system, self.timeline = system, int(timeline, 16)
        if self._expected is not None and (self.system, self.timeline) != (self._expected.system, self._expected.timeline):
            raise HubWentBack("another server has become the hub")
        if self._session:
            self._end_old(connection)
        self._session = session
        connection.autocommit = False

    def _end_old(self, connection: Any) -> None:
        until = time.monotonic() + self._lock_seconds
        while connection.execute(_END_OLD, (self._session, self.session_name)).fetchall():
            if time.monotonic() >= until:
                raise StoreFailure("the session at the hub that was lost has not ended yet")
            time.sleep(_LOOK_EVERY)
