"""A cluster to try faults on: nodes, a hub and a web, on loopback or on machines that are network namespaces.

Everything is real: agents and commands are processes of the program, the hub is a PostgreSQL server, and the web logs each
request.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from bench.synthetic_run import ServedWeb
from bench.synthetic_web import DOMAIN, Shape
from tests.cluster_lab.hub import Hub
from tests.cluster_lab.hub_proxy import HubProxy
from tests.cluster_lab.machine import LoopbackMachine, Machine
from tests.cluster_lab.namespaces import Namespace, switch
from tests.cluster_lab.node import Node
from tests.cluster_lab.wall_clock import WallClock, wrong_clock
from tests.support.crawl import Crawl, Finished, Setting
from tests.support.postgres import postgres_server
from tests.support.processes import wait_until

__all__ = ["HUB_NETWORK", "WEB_NETWORK", "Lab", "Place", "Plan", "as_namespace", "open_lab"]

Place = Literal["loopback", "namespaces"]

HUB_NETWORK = "10.9.100.0/24"
WEB_NETWORK = "10.20.0.0/16"
_HUB_ADDRESS = "10.9.100.1"
_CONNECTIONS_EACH = 3


class Plan(msgspec.Struct, frozen=True):
    """What a lab is made of."""

    place: Place = "loopback"
    nodes: int = 3
    partitions: int = 6
    lease: float = 20.0
    pages: int = 1600
    hosts: int = 16
    addresses: int = 16
    exponent: float = 0.0
    """Of the sizes of the hosts; 0: all have the same."""
    latency: float = 0.02
    """Seconds that each answer of the web waits."""
    slower: float = 0.005
    """How many seconds longer it waits for each node after the first; on namespaces only, where nodes have addresses."""
    host_delay: float = 0.2
    address_delay: float = 0.1
    settings: dict[str, Setting] = {}
    """Others than `_settings` has."""
    with_proxies: bool = False
    """Each node reaches the hub by a proxy of its own."""
    with_hub_clock: bool = False
    """The hub has a wall clock of its own."""

    @property
    def shape(self) -> Shape:
        network = WEB_NETWORK.rpartition(".0.0")[0] if self.place == "namespaces" else Shape.network
        return Shape(self.pages, self.hosts, self.addresses, exponent=self.exponent, network=network)


class Lab:
    """The parts. `begin` makes the cluster and starts the crawl."""

    def __init__(self, plan: Plan, folder: Path, hub: Hub, served: ServedWeb, nodes: list[Node], desk: Crawl) -> None:
        self.plan = plan
        self.folder = folder
        self.hub = hub
        self.served = served
        self.nodes = nodes
        self.desk = desk
        """The configuration of the commands, which run on the hub's machine."""
        self.hub_clock: WallClock | None = None

    def command(self, *arguments: str) -> Finished:
        """`parcahyd ARGUMENTS` on the hub's machine, to its end."""
        with self.hub.machine.inside():
            return self.desk.command(*arguments)

    def cluster(self, action: str, *arguments: str, conf: Path | None = None) -> Finished:
        """`parcahyd cluster ACTION ARGUMENTS`, which has to succeed."""
        finished = self.command("cluster", action, "--conf", str(conf or self.desk.conf), *arguments)
        assert finished.code == 0, f"cluster {action}: exit {finished.code}\n{finished.text}\n{finished.err}"
        return finished

    def say_that_it_was_restored(self) -> None:
        """`cluster restored` on the restored database, before the nodes see it."""
        self.cluster("restored", conf=Crawl(self.folder / "restored", self.hub.restored_url).conf)

    def status(self) -> dict[str, Any]:
        decoded: dict[str, Any] = json.loads(self.cluster("status", "--json").out)
        return decoded

    def begin(self) -> None:
        """Makes the cluster, begins a run from the first home page, and starts an agent on each node."""
        self.make()
        self.start()

    def make(self) -> None:
        """Makes the cluster. No run has begun."""
        self.cluster("init", "--partitions", str(self.plan.partitions), "--lease", str(self.plan.lease))

    def start(self) -> None:
        """Begins a run, and starts the agents."""
        self.cluster("start", self.served.web.url(0, 0))
        for node in self.nodes:
            node.start()

    def asked(self) -> int:
        """How many requests the web has answered."""
        return self.served.requests_so_far()

    def is_over(self) -> bool:
        """Whether the run has an outcome; False while the hub does not answer."""
        import psycopg

        with contextlib.suppress(psycopg.Error):
            return bool(self.hub.rows("SELECT 1 FROM parcahyd_hub.runs WHERE outcome IS NOT NULL"))
        return False

    def is_free(self) -> bool:
        """Whether nobody holds a partition."""
        return not self.hub.rows("SELECT 1 FROM parcahyd_hub.partitions WHERE id >= 0 AND token IS NOT NULL")

    def has_ended(self) -> bool:
        """Whether no agent is left."""
        return all(node.has_ended() for node in self.nodes)

    def until(self, requests: int, timeout: float) -> None:
        """Waits for so many requests."""
        assert wait_until(lambda: self.asked() >= requests or self.has_ended(), timeout, pause=0.05), self.said()
        assert self.asked() >= requests, f"the agents ended after {self.asked()} requests\n{self.said()}"

    def said(self) -> str:
        return "\n".join(f"== {node.name}\n{node.said()[-6000:]}" for node in self.nodes)


def _settings(plan: Plan, hosts_file: Path) -> dict[str, Setting | None]:
    """Nothing is given up because of a fault, and what failed is tried again soon."""
    return {
        "Map.AllowAddresses": ["127.0.0.0/8", "10.0.0.0/8"],
        "Map.DnsResolverClass": "hosts-file",
        "Map.HostsFile": str(hosts_file),
        "Work.Scope": "domain",
        "Work.Domains": [DOMAIN],
        "Work.Sitemaps": False,
        "Work.HostDelay": plan.host_delay,
        "Work.AddressDelay": plan.address_delay,
        "Work.HostConnections": None,
        "Work.MaxInstances": 1,
        "Work.MaxSize": 50,
        "Work.MaxTries": 1000,
        "Work.RetryDelay": 1.0,
        "Work.TimeoutConnect": 5,
        "Work.TimeoutIdle": 10,
        "Work.WaitForRetries": 60,
        **plan.settings,
    }


@contextmanager
def open_lab(plan: Plan, folder: Path) -> Iterator[Lab]:
    """Starts the web and the hub, and prepares the nodes. Nothing of it is left afterwards."""
    with ExitStack() as stack:
        web_machine, hub_machine, machines = _machines(plan, stack)
        waits = {} if plan.place == "loopback" else _waits(plan, machines)
        with web_machine.inside():
            served = stack.enter_context(
                ServedWeb(plan.shape, folder, None, robots=True, latency=plan.latency, latency_from=waits)
            )
        clock = stack.enter_context(wrong_clock()) if plan.with_hub_clock else None
        most = 20 + _CONNECTIONS_EACH * plan.partitions * 2 + 2 * plan.nodes
        with hub_machine.inside():
            network = "10.0.0.0/8" if plan.place == "namespaces" else ""
            environment = clock.environment if clock is not None else {}
            server = stack.enter_context(postgres_server(network, {"max_connections": str(most)}, environment))
        hub = Hub(server, hub_machine)
        settings = _settings(plan, served.hosts_file)
        nodes = []
        for number, machine in enumerate(machines, 1):
            nodes.append(Node(number, machine, folder / f"n{number}", hub.own_url, settings))
            stack.callback(nodes[-1].close)
            if plan.with_proxies:
                _connect_by_proxy(nodes[-1], hub)
        desk = Crawl(folder / "desk", hub.own_url, settings)
        lab = Lab(plan, folder, hub, served, nodes, desk)
        lab.hub_clock = clock
        yield lab


def _machines(plan: Plan, stack: ExitStack) -> tuple[Machine, Machine, list[Machine]]:
    """Those of the web, the hub and the nodes."""
    if plan.place == "loopback":
        local = LoopbackMachine("127.0.0.1")
        return local, local, [LoopbackMachine(f"127.0.0.{10 + number}") for number in range(1, plan.nodes + 1)]
    made = stack.enter_context(switch())
    shape = plan.shape
    web = made.machine("web", *(shape.address(number) for number in range(shape.addresses)))
    hub = made.machine("hub", _HUB_ADDRESS)
    nodes: list[Machine] = [made.machine(f"n{number}", f"10.9.0.{number}") for number in range(1, plan.nodes + 1)]
    return web, hub, nodes


def _waits(plan: Plan, machines: list[Machine]) -> Mapping[str, float]:
    return {machine.address: plan.latency + number * plan.slower for number, machine in enumerate(machines)}


def _connect_by_proxy(node: Node, hub: Hub) -> None:
    with hub.machine.inside():
        node.proxy = HubProxy(hub.machine.address, hub.place)
    node.settle(hub.url(hub.machine.address, node.proxy.port))


def as_namespace(machine: Machine) -> Namespace:
    """The machine where it has a network of its own; a fault that needs one is tried on namespaces only."""
    assert isinstance(machine, Namespace)
    return machine
