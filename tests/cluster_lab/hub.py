"""The hub of a lab: a PostgreSQL server on a machine of its own, and one database of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.cluster_lab.machine import Machine
from tests.support.postgres import PostgresServer

__all__ = ["Hub"]

_DATABASE = "crawl"
_RESTORED = "restored"


class Hub:
    """Reached by the nodes at `machine`, and by the test from inside it."""

    def __init__(self, server: PostgresServer, machine: Machine) -> None:
        self.server = server
        self.machine = machine
        self.execute(f"CREATE DATABASE {_DATABASE}", database="postgres")

    @property
    def place(self) -> tuple[str, int]:
        """The address and port that nodes connect to."""
        return self.machine.address, self.server.port

    def url(self, address: str, port: int, database: str = _DATABASE) -> str:
        return f"postgresql://postgres@{address}:{port}/{database}"

    @property
    def own_url(self) -> str:
        """For commands that run on the hub's machine."""
        return self.url(*self.place)

    @property
    def restored_url(self) -> str:
        """Of the database that a backup is restored to, before it takes the other's place."""
        return self.url(*self.place, _RESTORED)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The answer to a query, by a connection of its own."""
        with self._connected(_DATABASE) as connection:
            found: list[tuple[Any, ...]] = connection.execute(query.encode(), values or None).fetchall()
        return found

    def execute(self, statement: str, *values: object, database: str = _DATABASE) -> None:
        with self._connected(database) as connection:
            connection.execute(statement.encode(), values or None)

    @contextmanager
    def _connected(self, database: str) -> Iterator[Any]:
        import psycopg

        with self.machine.inside(), psycopg.connect(self.url("127.0.0.1", self.server.port, database)) as connection:
            connection.autocommit = True
            yield connection

    def cpu_seconds(self) -> float:
        """What the server's living processes have taken."""
        first = psutil.Process(self.server.pid)
        return sum(sum(process.cpu_times()[:2]) for process in (first, *first.children(recursive=True)))

    def stop(self) -> None:
        """Ends every connection."""
        self.server.stop()

    def start_again(self) -> None:
        with self.machine.inside():
            self.server.start_again()

    def back_up(self, file: Path) -> None:
        self._run("pg_dump", "--format=custom", "--file", str(file), "--dbname", self.url("127.0.0.1", self.server.port))

    def restore(self, file: Path) -> None:
        """Reads a backup into a database beside the one in use."""
        self.execute(f"CREATE DATABASE {_RESTORED}", database="postgres")
        self._run("pg_restore", "--dbname", self.url("127.0.0.1", self.server.port, _RESTORED), str(file))

    def replace_by_restored(self) -> None:
        """The database in use is lost, and the restored one has its name."""
        self.execute(f"DROP DATABASE {_DATABASE} WITH (FORCE)", database="postgres")
        self.execute(f"ALTER DATABASE {_RESTORED} RENAME TO {_DATABASE}", database="postgres")

    def _run(self, program: str, *arguments: str) -> None:
        with self.machine.inside():
            command = [str(self.server.binaries / program), *arguments]
            subprocess.run(command, check=True, capture_output=True, env=os.environ | {"LC_ALL": "C"})
