"""The process that talks to Ray: it connects, or starts a Ray on loopback, makes an actor for each machine, and watches them.

It ends when its channel closes. The actors are detached: they stay, but in a Ray that this process has started.

Tested in tests/processes/test_ray_driver.py, which needs Ray.
"""

from __future__ import annotations

import os
import secrets
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from parcahyd.core.errors import UserError
from parcahyd.processes.ray_agent import NAMESPACE, RayAgent, actor_name
from parcahyd.processes.ray_placement import AgentNews, NoRay, PlaceAgents, Placed, Refused, RemoveAgents, Removed
from parcahyd.runtime.channel import first_message, send_message
from parcahyd.runtime.children import become_child, child_environment

__all__ = ["RayDriver", "run_ray_driver"]

_OLDEST = (2, 52)
"""The first version with authentication by token."""
_OWN_RAY = {
    # Off a cluster Ray listens on loopback only. The variable has this name because other systems need it.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    # By default whatever Ray starts has the lowest priority but four, so that other programs keep an agent from working.
    "RAY_worker_niceness": "0",
}
_LEAST_MEMORY = 80 * 2**20
"""Bytes for objects, of which there are none: Ray takes no less."""
_PART_OF_NODE = 0.001
_LOOK_EVERY = 2.0
_ANSWER = 10.0
_START = 180.0
_PROBE_SECONDS = 60.0
_PROBE = """
import sys, ray
from ray._raylet import GcsClient
try:
    GcsClient(address=sys.argv[1]).internal_kv_keys(b"", b"x", 5)
except ray.exceptions.AuthenticationError:
    sys.exit(0)
sys.exit(3)
"""
_WANTS_TOKEN, _OPEN = 0, 3


def run_ray_driver() -> int:
    """The child's main program."""
    end = become_child("ray-driver")
    try:
        return RayDriver(end).run()
    except ConnectionError:
        return 0  # The command has ended.


class RayDriver:
    """One connection to Ray."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._ray: Any = None
        self._actors: dict[str, Any] = {}
        self._new: list[str] = []
        self._told: dict[str, AgentNews] = {}

    def run(self) -> int:
        ask = first_message(self._end, PlaceAgents)
        try:
            if not self._connect(in_own_ray=ask.in_own_ray):
                send_message(self._end, NoRay())
                return 0
            send_message(self._end, self._place(ask))
            self._watch()
        except UserError as error:
            send_message(self._end, Refused(error.message, error.remedy))
        finally:
            if self._ray is not None:
                self._ray.shutdown()
        return 0

    # --- connecting -----------------------------------------------------------------------------------------------------

    def _connect(self, *, in_own_ray: bool) -> bool:
        """Returns whether there is a Ray."""
        os.environ["RAY_AUTH_MODE"] = "token"
        if in_own_ray:
            os.environ.update(_OWN_RAY, RAY_AUTH_TOKEN=secrets.token_hex(32))
        self._ray = ray = import_module("ray")
        if tuple(map(int, ray.__version__.split(".")[:2])) < _OLDEST:
            raise UserError(
                f"Ray {ray.__version__} has no authentication by token", "pip install 'parcahyd[cluster]' on every machine"
            )
        quiet = {"log_to_driver": False, "namespace": NAMESPACE, "logging_level": "error"}
        try:
            if in_own_ray:
                ray.init(include_dashboard=False, num_cpus=0, object_store_memory=_LEAST_MEMORY, **quiet)
                return True
            # "auto" would take any Ray on this machine, also one that another command has started for itself.
            address = os.environ.get("RAY_ADDRESS") or import_module("ray._private.utils").read_ray_address(None)
            if not address:
                return False
            ray.init(address=address, **quiet)
        except ray.exceptions.AuthenticationError:
            raise UserError(
                "Ray's token is not known here",
                "give the one that Ray was started with, in RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH, or in ~/.ray/auth_token",
            ) from None
        except Exception as error:  # Of no kind of its own, where its processes do not start in time.
            raise UserError(
                f"Ray cannot be reached: {_first_line(error)}",
                "run it on a machine of the Ray cluster, with the token that Ray was started with",
            ) from None
        self._require_token(ray.get_runtime_context().gcs_address)
        return True

    def _require_token(self, address: str) -> None:
        """Tries whether somebody without a token gets in. Such a Ray runs everybody's code."""
        environment = {name: value for name, value in child_environment().items() if not name.startswith("RAY_AUTH")}
        tried = subprocess.run(
            [sys.executable, "-P", "-c", _PROBE, address],
            env={**environment, "RAY_AUTH_MODE": "disabled"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
        if tried.returncode != _WANTS_TOKEN:
            what = "lets anybody in" if tried.returncode == _OPEN else "does not say whether it wants a token"
            raise UserError(
                f"the Ray cluster at {address} {what}",
                "start Ray with RAY_AUTH_MODE=token on every machine, and one token for all (docs/cluster-ray.md)",
            )

    # --- actors ---------------------------------------------------------------------------------------------------------

    def _place(self, ask: PlaceAgents) -> Placed:
        ray = self._ray
        head = ray.get_runtime_context().gcs_address
        here = ray.util.get_node_ip_address()
        there = sorted(node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"])
        places = [one if one.address else replace(one, address=here) for one in ask.places]
        for one in places:
            if one.address not in there:
                raise UserError(
                    f"Ray has no node at {one.address}, which is in ListIP (it has {', '.join(there)})",
                    f"on that machine: ray start --address={head} --node-ip-address={one.address}",
                )
        known = {named["name"] for named in ray.util.list_named_actors(all_namespaces=True) if named["namespace"] == NAMESPACE}
        asked = {}
        for one in places:
            name = actor_name(ask.cluster, one.address)
            actor = ray.remote(RayAgent).options(
                name=name,
                namespace=NAMESPACE,
                lifetime="detached",
                get_if_exists=True,
                max_restarts=-1,
                num_cpus=0,
                resources={f"node:{one.address}": _PART_OF_NODE},
            )
            self._actors[one.address] = made = actor.remote(ask.cluster, one.address, one.hub, one.folder, one.forever)
            if name not in known:
                self._new.append(one.address)
            asked[one.address] = (made.place.remote(), (one.address, one.hub, one.folder, one.forever))
        for address, (reference, wanted) in asked.items():
            self._require_started(address, reference, wanted)
        return Placed(head, tuple(self._actors), tuple(self._new))

    def _require_started(self, address: str, reference: Any, wanted: tuple[object, ...]) -> None:
        try:
            found = self._ray.get(reference, timeout=_START)
        except Exception as error:  # Ray's errors, and those of the other machine.
            self._kill(self._new)
            why = "it does not answer" if isinstance(error, TimeoutError) else _last_line(error)
            raise UserError(
                f"no agent could be started at {address}: {why}", "install the same PARCAHYD and Ray there, for one Python"
            ) from None
        if tuple(found) != wanted:
            self._kill(self._new)
            raise UserError(
                f"the agent at {address} was started by another command ({', '.join(map(str, found))})",
                "parcahyd cluster stop ends that run; then start this one again",
            )

    def _kill(self, addresses: list[str]) -> None:
        for address in addresses:
            self._ray.kill(self._actors[address], no_restart=True)

    # --- watching -------------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while True:
            for address, news in self._health().items():
                if self._told.get(address) != news:
                    self._told[address] = news
                    send_message(self._end, news)
            if select.select([self._end], [], [], _LOOK_EVERY)[0]:
                self._remove(first_message(self._end, RemoveAgents))
                send_message(self._end, Removed())
                return

    def _health(self) -> Mapping[str, AgentNews]:
        """How each agent is doing, as far as its actor answers in time."""
        asked = {actor.health.remote(): address for address, actor in self._actors.items()}
        ready, _ = self._ray.wait(list(asked), num_returns=len(asked), timeout=_ANSWER)
        found = {address: AgentNews(address, is_there=False) for address in asked.values()}
        for reference in ready:
            address = asked[reference]
            try:
                found[address] = AgentNews(address, True, *self._ray.get(reference))
            except self._ray.exceptions.RayError:
                continue
        return found

    def _remove(self, ask: RemoveAgents) -> None:
        until = time.monotonic() + ask.patience
        addresses = self._new if ask.only_new else list(self._actors)
        while time.monotonic() < until and any(self._health()[address].is_there for address in addresses):
            time.sleep(_LOOK_EVERY / 4)
        self._kill(addresses)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]


def _last_line(error: Exception) -> str:
    return str(error).strip().rpartition("\n")[2][:300]
