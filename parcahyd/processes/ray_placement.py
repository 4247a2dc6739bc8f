"""Places the agents of a crawl on the machines of a Ray cluster, by a child process that talks to Ray.

A process of its own, because Ray ends processes that have lost it, starts threads, and sends the command line of whoever
connects to its head: that of `parcahyd run` may have a password in it.

Tested in tests/processes/test_ray_placement.py.
"""

from __future__ import annotations

import select
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.processes.agent_keeper import AgentPlace
from parcahyd.runtime.channel import first_message, send_message
from parcahyd.runtime.children import Child

__all__ = [
    "AgentNews",
    "FromRayDriver",
    "NoRay",
    "PlaceAgents",
    "Placed",
    "RayPlacement",
    "Refused",
    "RemoveAgents",
    "Removed",
    "is_loopback",
    "require_ray",
]

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class PlaceAgents(msgspec.Struct, frozen=True, tag=True):
    """To the child: these agents are to be there. An empty address stands for this machine."""

    cluster: str
    places: tuple[AgentPlace, ...]
    in_own_ray: bool
    """In a Ray of its own, on loopback, which ends with the child."""


class RemoveAgents(msgspec.Struct, frozen=True, tag=True):
    """To the child: remove agents, and end."""

    only_new: bool
    """Those that it has made."""
    patience: float
    """Seconds in which they may end by themselves, because the run is over."""


class NoRay(msgspec.Struct, frozen=True, tag=True):
    """There is no Ray cluster on this machine, and none is named."""


class Refused(msgspec.Struct, frozen=True, tag=True):
    """It cannot be done."""

    message: str
    remedy: str


class Placed(msgspec.Struct, frozen=True, tag=True):
    """Ray has an actor for each agent."""

    ray: str
    """The address of Ray's head."""
    addresses: tuple[str, ...]
    new: tuple[str, ...]
    """Addresses whose actors were not there before."""


class AgentNews(msgspec.Struct, frozen=True, tag=True):
    """How the agent of an address is doing; sent when it changes."""

    address: str
    is_there: bool
    """Its actor answers."""
    starts: int = 0
    code: int | None = None
    """The exit code of the last agent that ended."""
    said: str = ""
    """The last line that it wrote."""


class Removed(msgspec.Struct, frozen=True, tag=True):
    """The agents are removed."""


FromRayDriver = NoRay | Refused | Placed | AgentNews | Removed


def require_ray() -> None:
    """Raises UserError where the extra is not installed."""
    if find_spec("ray") is None:
        raise UserError(
            "LocalInstance = false needs Ray, which is not installed",
            "pip install 'parcahyd[cluster]' on every machine, or start parcahyd node on each and parcahyd cluster start",
        )


def is_loopback(address: str) -> bool:
    return address in _LOOPBACK


class RayPlacement:
    """The agents of a crawl, as who started them sees them."""

    def __init__(self, child: Child, placed: Placed, *, is_own: bool) -> None:
        self._child = child
        self.placed = placed
        self.is_own = is_own
        """Ray ends with this command."""
        self.is_lost = False
        """Ray does not answer any more. Its actors may work on."""

    @classmethod
    def begin(cls, cluster: str, places: Sequence[AgentPlace]) -> RayPlacement:
        """Has Ray start the agents; where there is no Ray and this machine is the only one, in a Ray of its own."""
        for is_own in (False, True):
            child = Child("ray-driver")
            send_message(child.end, PlaceAgents(cluster, tuple(places), is_own))
            answer = _read(child)
            if isinstance(answer, Placed):
                return cls(child, answer, is_own=is_own)
            child.end.close()
            child.wait()
            if isinstance(answer, Refused):
                raise UserError(answer.message, answer.remedy)
            if others := [one.address for one in places if one.address and not is_loopback(one.address)]:
                raise UserError(
                    f"there is no Ray cluster on this machine, and ListIP names others ({', '.join(others)})",
                    "start Ray on each of them (docs/cluster-ray.md), or name the cluster's head in RAY_ADDRESS",
                )
        raise UserError("Ray could not be started on this machine", "look at the logs in /tmp/ray/session_latest/logs")

    def news(self) -> list[AgentNews]:
        """What has changed since it was asked last. Does not wait."""
        found = []
        while not self.is_lost and select.select([self._child.end], [], [], 0)[0]:
            message = _read(self._child)
            if isinstance(message, AgentNews):
                found.append(message)
            elif message is None:
                self.is_lost = True
        return found

    def remove(self, *, only_new: bool = False, patience: float = 0.0) -> None:
        """Removes the agents; those that end by themselves within `patience` seconds are not disturbed."""
        if not self.is_lost:
            send_message(self._child.end, RemoveAgents(only_new, patience))
            while not isinstance(_read(self._child), Removed | None):
                continue
        self.close()

    def close(self) -> None:
        """Lets go of Ray. The agents stay, but in a Ray of this command."""
        self._child.end.close()
        self._child.wait()


def _read(child: Child) -> FromRayDriver | None:
    """None: the child has ended."""
    kind: Any = FromRayDriver
    try:
        message: FromRayDriver = first_message(child.end, kind)
    except ConnectionError:
        return None
    return message
