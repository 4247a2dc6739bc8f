"""Machines, wishes and routing: what whoever plans for the cluster reads and writes.

Whoever makes plans holds the partition `tables.PLANNING`, which is taken, renewed and lost as any other. So a planner that was
stopped and goes on later is fenced out.
"""

from __future__ import annotations

import msgspec
from sqlalchemy import extract, func, select
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.tables import nodes, routing, wishes
from parcahyd.storage.expressions import bound, inserting

__all__ = ["Node", "join", "nodes_of", "publish", "read_routing", "wish"]

_join = insert(nodes).values(**bound("id", "address", "capacity"), seen_at=extract("epoch", func.clock_timestamp()))
_JOIN = _join.on_conflict_do_update(
    index_elements=["id"], set_={name: _join.excluded[name] for name in ("address", "capacity", "seen_at")}
)
_NODES = select(nodes.c.id, nodes.c.address, nodes.c.capacity, nodes.c.seen_at).order_by(nodes.c.id)
_wish = insert(wishes).values(bound("partition", "node"))
_WISH = _wish.on_conflict_do_update(index_elements=["partition"], set_={"node": _wish.excluded.node})
_NEWEST = select(routing.c.version, routing.c.strategy, routing.c.content).order_by(routing.c.version.desc()).limit(1)
_PUBLISH = inserting(routing, "version", "strategy", "content")


class Node(msgspec.Struct, frozen=True):
    """A machine that takes part."""

    id: str
    address: str
    capacity: str
    """JSON: cores, memory, disk, bandwidth, load."""
    seen_at: float
    """Hub time, for people."""


def join(hub: HubConnection, node: str, address: str, capacity: str) -> None:
    """Says that a machine takes part, and what it can bear."""
    with hub.transaction():
        hub.run(_JOIN, id=node, address=address, capacity=capacity)


def nodes_of(hub: HubConnection) -> list[Node]:
    with hub.transaction():
        return [Node(*row) for row in hub.rows(_NODES)]


def wish(hub: HubConnection, partition: int, node: str) -> None:
    """Asks for a partition on a node. Its holder gives it back at its next renewal; it is never taken from a living tree."""
    with hub.transaction():
        hub.run(_WISH, partition=partition, node=node)


def read_routing(hub: HubConnection) -> tuple[int, str, bytes]:
    """The newest version, its strategy, and what the strategy knows."""
    with hub.transaction():
        ((version, strategy, content),) = hub.rows(_NEWEST)
    return version, strategy, bytes(content)


def publish(planner: Fence, strategy: str, content: bytes) -> int:
    """Makes a new version of the routing, as the holder of the planning partition; returns it."""
    writer = planner.writer
    with planner.transaction():
        version = int(writer.rows(_NEWEST)[0][0]) + 1
        writer.run(_PUBLISH, version=version, strategy=strategy, content=content)
    return version
