"""The Ray actor of a machine: it keeps the agent there, and knows nothing of partitions.

Ray starts it on the machine that its resource names, and starts it again when its process or its machine was gone. What
travels over Ray are the texts that it is made with, and how its agent is doing.

Tested in tests/processes/test_ray_agent.py.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from parcahyd.processes.agent_keeper import AgentKeeper, AgentPlace, agent_command

__all__ = ["NAMESPACE", "RayAgent", "actor_name"]

NAMESPACE = "parcahyd"


def actor_name(cluster: str, address: str) -> str:
    """By which Ray knows the actor of a machine."""
    return f"{cluster} {address}"


class RayAgent:
    """What Ray makes an actor of. Its methods take and return plain values, so that nothing is pickled by name of a record."""

    def __init__(self, cluster: str, address: str, hub: str, folder: str, forever: bool) -> None:
        self._name = actor_name(cluster, address)
        self._place = (address, hub, folder, forever)
        place = AgentPlace(*self._place)
        self._keeper = AgentKeeper(lambda: agent_command(place), _write)
        threading.Thread(target=self._keep, name="keeper", daemon=True).start()

    def place(self) -> tuple[str, str, str, bool]:
        return self._place

    def health(self) -> tuple[int, int | None, str]:
        """How often the agent was started, the exit code of the last one that ended, and its last line."""
        health = self._keeper.health
        return health.starts, health.code, health.said

    def _keep(self) -> None:
        self._keeper.keep()
        _remove_actor(self._name)


def _write(line: str) -> None:
    """Ray keeps what an actor writes in a file of its machine."""
    sys.stderr.write(line)
    sys.stderr.flush()


def _remove_actor(name: str) -> None:
    """The run is over: Ray is not to start this actor again. An actor that only ended would be."""
    import ray

    actor: Any = ray.get_actor(name, namespace=NAMESPACE)
    ray.kill(actor, no_restart=True)
