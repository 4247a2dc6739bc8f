"""An agent is started again until it ends with the run, and never outlives the process that keeps it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from parcahyd.processes import agent_keeper
from parcahyd.processes.agent_keeper import AgentHealth, AgentKeeper, AgentPlace, agent_command
from tests.support.processes import TEST_TIMEOUT, wait_until

HUB = "postgresql+psycopg://crawler@db.example/crawl"


def script(text: str) -> list[str]:
    return [sys.executable, "-c", text]


# --- the command --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "is_told_the_hub"),
    [
        ('DbUrl = "postgresql://crawler:secret@db.example/crawl"', False),
        ('DbUrl = "postgresql://db.example"\nDbName = "crawl"\nDbUser = "crawler"\nDbPassword = "env:UNSET"', False),
        ('DbUrl = "postgresql://crawler:secret@db.example/other"', True),
        ("", True),
    ],
)
def test_the_machine_s_own_configuration_has_the_password(tmp_path: Path, lines: str, is_told_the_hub: bool) -> None:
    (tmp_path / "MapConf.toml").write_text(lines)
    command = agent_command(AgentPlace("192.0.2.1", HUB, str(tmp_path), forever=False))
    assert command[3:] == [
        *("parcahyd", "node", "--conf", str(tmp_path), "--name", "192.0.2.1", "--address", "192.0.2.1"),
        *("--once", "--end-with-input", *(["--db", HUB] if is_told_the_hub else [])),
    ]


def test_a_configuration_that_is_not_there_is_the_agent_s_to_tell(tmp_path: Path) -> None:
    command = agent_command(AgentPlace("192.0.2.1", HUB, str(tmp_path / "none"), forever=True))
    assert command[-1] == "--forever"
    ended = subprocess.run(command, stdin=subprocess.PIPE, capture_output=True, check=False)
    assert ended.returncode == 2
    assert b"does not exist (name a folder with" in ended.stderr


# --- keeping ------------------------------------------------------------------------------------------------------------


def test_an_agent_is_started_again_until_it_ends_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_keeper, "_LONGEST_REST", 0.0)
    ends: Iterator[list[str]] = iter(
        [
            script("import sys; sys.exit('parcahyd: no such hub')"),
            script("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"),
            script("import sys; print('good', file=sys.stderr)"),
        ]
    )
    lines: list[str] = []
    states: list[AgentHealth] = []

    def command() -> list[str]:
        states.append(keeper.health)
        return next(ends)

    keeper = AgentKeeper(command, lines.append)
    keeper.keep()
    assert keeper.health == AgentHealth(3, 0, "good")
    assert states == [AgentHealth(1), AgentHealth(2, 1, "parcahyd: no such hub"), AgentHealth(3, -signal.SIGKILL)]
    assert lines == ["parcahyd: no such hub\n", "good\n"]


def test_who_closes_a_keeper_has_the_agent_end(tmp_path: Path) -> None:
    began = threading.Event()
    text = "import sys; print('began', file=sys.stderr, flush=True); sys.stdin.read(); sys.exit(130)"
    keeper = AgentKeeper(lambda: script(text), lambda _: began.set())
    thread = threading.Thread(target=keeper.keep)
    thread.start()
    assert began.wait(TEST_TIMEOUT)
    keeper.close()
    thread.join(TEST_TIMEOUT)
    assert not thread.is_alive()
    assert keeper.health == AgentHealth(1, 130, "began")


def test_a_keeper_that_was_closed_starts_none() -> None:
    keeper = AgentKeeper(lambda: script("import sys; sys.exit(1)"), lambda _: None)
    keeper.close()
    keeper.keep()
    assert keeper.health == AgentHealth(0)


def test_the_agent_notices_that_its_keeper_was_killed(tmp_path: Path) -> None:
    marks = tmp_path / "began", tmp_path / "ended"
    agent = f"import sys, pathlib as p; p.Path({str(marks[0])!r}).touch(); sys.stdin.read(); p.Path({str(marks[1])!r}).touch()"
    keeping = (
        "import sys; from parcahyd.processes.agent_keeper import AgentKeeper\n"
        f"AgentKeeper(lambda: [sys.executable, '-c', {agent!r}], lambda line: None).keep()"
    )
    with subprocess.Popen(script(keeping)) as process:
        assert wait_until(marks[0].exists)
        process.kill()
    assert wait_until(marks[1].exists)
