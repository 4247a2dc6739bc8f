"""Keeps the agent of one machine: a child process that is started again when it ends before the run does.

Whoever watches over machines (a Ray actor) holds a keeper. The agent is the program itself, `parcahyd node`. Its standard
input is a pipe from the keeper's process. However that process ends, the pipe closes, and the agent gives its partitions back.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from parcahyd.config.database_url import hub_address
from parcahyd.config.loading import load
from parcahyd.core.errors import ConfigurationError
from parcahyd.runtime.children import child_environment

__all__ = ["AgentHealth", "AgentKeeper", "AgentPlace", "agent_command"]

_LONGEST_REST = 30.0
_LASTING = 120.0
"""Seconds after which an agent counts as one that worked, and its end as a first failure."""
_OVER = 0


class AgentPlace(msgspec.Struct, frozen=True):
    """The agent that a machine is to have. This is all that travels to it: no secret and no setting."""

    address: str
    """Of the machine; its node has this name, too."""
    hub: str
    """The URL of the hub without a password."""
    folder: str
    """The configuration folder, which has the same path on each machine."""
    forever: bool


class AgentHealth(msgspec.Struct, frozen=True):
    """How an agent is doing."""

    starts: int
    """How often it was started."""
    code: int | None = None
    """The exit code of the last one that ended; None: none has."""
    said: str = ""
    """The last line that it wrote."""


def agent_command(place: AgentPlace) -> list[str]:
    """What starts the agent. The hub is the one of this machine's own configuration, password included, where that names it."""
    try:
        names_hub = hub_address(load(place.folder)) == place.hub
    except ConfigurationError:
        names_hub = True  # The agent says what is wrong.
    return [
        *(sys.executable, "-P", "-m", "parcahyd", "node", "--conf", place.folder),
        *("--name", place.address, "--address", place.address, "--once", "--end-with-input"),
        *([] if names_hub else ["--db", place.hub]),
        *(["--forever"] if place.forever else []),
    ]


class AgentKeeper:
    """Starts the agent that `command` names, which is asked anew each time. `say` gets each line that the agent writes."""

    def __init__(self, command: Callable[[], Sequence[str]], say: Callable[[str], None]) -> None:
        self._command = command
        self._say = say
        self._closing = threading.Event()
        self._agent: subprocess.Popen[str] | None = None
        self.health = AgentHealth(0)

    def keep(self) -> None:
        """Returns when an agent has ended with the run, or `close` was called."""
        failures = 0
        while not self._closing.is_set():
            began = time.monotonic()
            self.health = msgspec.structs.replace(self.health, starts=self.health.starts + 1)
            code, said = self._run_agent()
            self.health = AgentHealth(self.health.starts, code, said)
            if code == _OVER:
                return
            failures = 1 if time.monotonic() - began >= _LASTING else failures + 1
            self._closing.wait(min(_LONGEST_REST, 2.0 ** min(failures, 10) / 2))

    def close(self) -> None:
        """Has the agent give its partitions back; `keep` returns when it has ended."""
        self._closing.set()
        agent = self._agent
        if agent is not None and agent.stdin is not None:
            agent.stdin.close()

    def _run_agent(self) -> tuple[int, str]:
        last = ""
        with subprocess.Popen[str](
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=child_environment(),
            encoding="utf-8",
            errors="replace",
        ) as agent:
            self._agent = agent
            if self._closing.is_set():
                self.close()  # It was called before there was an agent.
            assert agent.stderr is not None  # noqa: S101 - it is a pipe
            for line in agent.stderr:
                last = line.strip() or last
                self._say(line)
            return agent.wait(), last
