"""The tutorial of docs/cluster.md: its commands are run as they stand there, with three agents on loopback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.support.postgres import fresh_database

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LONGEST = 1800.0
"""Seconds. A lease of a minute passes in it; a machine with ten times too much to do took 446."""
_CLEAN_UP = "trap 'kill -9 $(jobs -p) 2>/dev/null || true' EXIT\n"


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The URL of an empty database, as a role that may do no more than the page says."""
    role = f"crawler_{os.getpid()}"
    with psycopg.connect(f"{postgres}postgres", autocommit=True) as server:
        server.execute(f"CREATE ROLE {role} LOGIN".encode())
        with fresh_database(postgres) as url:
            server.execute(f"GRANT CREATE ON DATABASE {urlsplit(url).path[1:]} TO {role}".encode())
            yield url.replace("postgres@", f"{role}@")
        server.execute(f"DROP ROLE {role}".encode())


def _blocks() -> list[tuple[str, str]]:
    return _BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def _run(script: Path, folder: Path) -> tuple[int, str]:
    """The exit code of all commands in one shell, and what they wrote. Nothing of them is left when it returns."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with subprocess.Popen(
        ["/bin/sh", str(script)],
        cwd=folder,
        env={**os.environ, "PATH": programs},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            said, _ = shell.communicate(timeout=_LONGEST)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    return shell.returncode, said


def test_the_commands_do_what_the_page_says(tmp_path: Path, free_port: int, database: str) -> None:
    """The port and the database are others, because somebody may use those of the page."""
    blocks = [
        (kind, text.replace("8090", str(free_port)).replace("postgresql://crawler@127.0.0.1:5432/crawl", database))
        for kind, text in _blocks()
    ]
    script = tmp_path / "commands.sh"
    script.write_text("set -e\n" + _CLEAN_UP + "".join(text for kind, text in blocks if kind == "sh"), encoding="utf-8")
    folder = tmp_path / "empty"
    folder.mkdir()
    code, said = _run(script, folder)
    told = said + "".join(f"--- {log.name}\n{log.read_text()}" for log in sorted(folder.glob("n?.log")))
    assert code == 0, told
    for kind, text in blocks:
        for line in text.splitlines() if kind == "text" else ():
            shown = re.escape(line).replace(re.escape("..."), ".*")
            assert re.search(rf"^{shown} *$", said, re.MULTILINE), f"{line}\n{told}"


def test_it_shows_what_a_cluster_is_steered_with_and_stays_on_this_machine() -> None:
    commands = [line for kind, text in _blocks() if kind == "sh" for line in text.splitlines()]
    assert {host for line in commands for host in re.findall(r"https?://([^/:\s]+)", line)} == {"127.0.0.1", "localhost"}
    steering = {line.split()[2] for line in commands if line.startswith("parcahyd cluster ")}
    assert steering >= {"init", "start", "status", "pause", "resume", "seed", "drain", "stop"}
    assert sum(line.startswith("parcahyd node ") for line in commands) == 3
