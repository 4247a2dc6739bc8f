"""One machine of a cluster: its configuration, its agent (`parcahyd node`), and the processes below it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import psutil

from tests.cluster_lab.hub_proxy import HubProxy
from tests.cluster_lab.machine import Machine
from tests.support.crawl import Crawl, Running, Setting
from tests.support.processes import marked_processes, wait_until

__all__ = ["Node", "Role", "name_of_node"]

Role = Literal["agent", "pipeline", "worker", "writer"]

_ROLES: dict[str, Role] = {"pipeline": "pipeline", "crawl-worker": "worker", "update-database": "writer"}
_ASKER = """
[[Host]]
Pattern = "*.web.test"
Headers = { "X-Asker" = "env:PARCAHYD_LAB_NODE" }
"""


def name_of_node(number: int) -> str:
    return f"n{number}"


class Node:
    """A node of the lab, numbered from 1 on. Its requests say the number in a header, wherever its settings come from."""

    def __init__(
        self, number: int, machine: Machine, folder: Path, database: str, settings: Mapping[str, Setting | None]
    ) -> None:
        self.number = number
        self.name = name_of_node(number)
        self.machine = machine
        self.proxy: HubProxy | None = None
        """Between this node and the hub, where a fault needs one."""
        self.command = ["node", "--once"]
        """What starts the agent, but for its options."""
        self._settings = dict(settings)
        self._database = database
        self._crawl = Crawl(folder)
        self._crawl.tables = _ASKER
        self._crawl.prefix = machine.own_clock()
        self._crawl.environment["PARCAHYD_LAB_NODE"] = str(number)
        self._agents: list[Running] = []
        self.settle()

    @property
    def environment(self) -> dict[str, str]:
        """Variables that the agent has besides, from its next start on."""
        return self._crawl.environment

    @property
    def conf(self) -> Path:
        return self._crawl.conf

    @property
    def agent(self) -> Running:
        """The agent that was started last."""
        return self._agents[-1]

    def settle(self, database: str = "", **settings: Setting | None) -> None:
        """From the agent's next start on the hub is reached by this URL, and these settings are others."""
        self._database = database or self._database
        self._settings |= settings
        self._crawl.configure(self._database, self._settings)

    def start(self) -> None:
        """Starts the agent. It ends with the run."""
        name, *options = self.command
        with self.machine.inside():
            names = ["--name", self.name, "--address", self.machine.address] if name == "node" else []
            self._agents.append(self._crawl.launch(name, "--conf", str(self.conf), *names, *options))

    def has_ended(self) -> bool:
        """Whether its agent is not there any more."""
        return self.agent.process.poll() is not None

    def said(self) -> str:
        """What all agents of this node wrote."""
        return "".join(f"--- {agent.log.name}\n{agent.said()}" for agent in self._agents)

    def processes(self) -> list[psutil.Process]:
        """All living processes of the node, those without a parent among them."""
        return marked_processes(self._crawl.mark)

    def of_role(self, role: Role) -> list[psutil.Process]:
        """The living processes of one kind, oldest first."""
        found = [process for process in self.processes() if _role_of(process) == role]
        return sorted(found, key=lambda process: (process.create_time(), process.pid))

    def one_of(self, role: Role) -> psutil.Process:
        """The oldest process of one kind, once there is one."""
        found: list[psutil.Process] = []

        def is_there() -> bool:
            found[:] = self.of_role(role)
            return bool(found)

        assert wait_until(is_there), f"{self.name} has no {role} process:\n{self.said()[-3000:]}"
        return found[0]

    def tree(self) -> list[psutil.Process]:
        """The processes of one pipeline, its coordinator first."""
        coordinator = self.one_of("pipeline")
        return [coordinator, *coordinator.children(recursive=True)]

    def kill(self) -> None:
        """Ends every process of the node at once, as when a machine loses its power."""
        for process in self.processes():
            _signal(process, signal.SIGKILL)

    def close(self) -> None:
        """Nothing of the node is left."""
        for agent in self._agents:
            agent.kill()
        if self.proxy is not None:
            self.proxy.close()


def _role_of(process: psutil.Process) -> Role | None:
    try:
        name, arguments = Path(f"/proc/{process.pid}/comm").read_text().strip(), process.cmdline()
        if name in _ROLES:
            return _ROLES[name]
        parent = process.parent()
        is_first = parent is None or parent.pid == os.getpid()
    except (psutil.Error, OSError):
        return None
    return "agent" if is_first and "parcahyd" in arguments else None


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
