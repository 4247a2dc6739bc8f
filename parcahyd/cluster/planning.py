"""Machines, wishes and routing: what whoever plans for the cluster reads and writes.

Whoever makes plans holds the partition `tables.PLANNING`, which is taken, renewed and lost as any other. So a planner that was
stopped and goes on later is fenced out. A command wishes, too: `pin` is a wish that plans keep as long as its node can take it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from sqlalchemy import Double, and_, bindparam, delete, extract, func, literal_column, not_, or_, select, true, update
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.tables import nodes, partitions, routing, states, wishes
from parcahyd.core.errors import UserError
from parcahyd.core.partitions import ClusterNode, ClusterView, Partitioner, Routing
from parcahyd.storage.expressions import bound, inserting, same
from parcahyd.storage.writer import Writer

__all__ = [
    "Node",
    "drain",
    "find_node",
    "join",
    "name_strategy",
    "nodes_of",
    "note_node",
    "pin",
    "placed_now",
    "plan",
    "publish",
    "read_routing",
    "remove_node",
    "routing_now",
    "usable_nodes",
    "wish",
]

_HUB_NOW = extract("epoch", func.clock_timestamp())
_join = insert(nodes).values(**bound("id", "address", "capacity"), seen_at=_HUB_NOW)
_JOIN = _join.on_conflict_do_update(
    index_elements=["id"], set_={name: _join.excluded[name] for name in ("address", "capacity", "seen_at")}
)
_NOTE = (
    update(nodes)
    .where(*same(nodes, "id"))
    .values(capacity=bindparam("capacity"), seen_at=_HUB_NOW)
    .returning(nodes.c.is_draining)
)
_NODES = select(nodes.c.id, nodes.c.address, nodes.c.capacity, nodes.c.seen_at, nodes.c.is_draining).order_by(nodes.c.id)
_DRAIN = update(nodes).where(*same(nodes, "id")).values(is_draining=bindparam("is_draining"))
_REMOVE = delete(nodes).where(*same(nodes, "id"))
_FORGET_WISHES = delete(wishes).where(*same(wishes, "node"))

_wish = insert(wishes).values(**bound("partition", "node", "is_pinned"))
_WISH = _wish.on_conflict_do_update(
    index_elements=["partition"], set_={name: _wish.excluded[name] for name in ("node", "is_pinned")}
)
_UNCHANGED = wishes.c.node.is_not_distinct_from(bindparam("before", type_=wishes.c.node.type))
# The user may have pinned the partition elsewhere since the plan read the wishes.
_plan = insert(wishes).values(**bound("partition", "node"), is_pinned=False)
_PLAN = _plan.on_conflict_do_update(
    index_elements=["partition"],
    set_={name: _plan.excluded[name] for name in ("node", "is_pinned")},
    where=or_(not_(wishes.c.is_pinned), _UNCHANGED),
)
_WISH_NOTHING = delete(wishes).where(*same(wishes, "partition"), _UNCHANGED)
_PLACED = (
    select(wishes.c.node, wishes.c.is_pinned, partitions.c.node)
    .select_from(partitions.outerjoin(wishes, wishes.c.partition == partitions.c.id))
    .where(partitions.c.id >= 0)
    .order_by(partitions.c.id)
)
_IDLE_FOR = 60.0
"""Seconds after which a partition without work counts for nothing where partitions are divided among machines."""
_IDLE = select(states.c.partition).where(states.c.idle_since < _HUB_NOW - bindparam("seconds", type_=Double))
_IS_PARTITION = select(true()).where(and_(partitions.c.id == bindparam("partition"), partitions.c.id >= 0))
_LAST_PARTITION = select(func.max(partitions.c.id))
_NEWEST = select(routing.c.version, routing.c.strategy, routing.c.content).order_by(routing.c.version.desc()).limit(1)
_NAME = update(routing).where(routing.c.strategy == literal_column("''")).values(strategy=bindparam("strategy"))
_PUBLISH = inserting(routing, "version", "strategy", "content")


class Node(msgspec.Struct, frozen=True):
    """A machine that takes part."""

    id: str
    address: str
    capacity: str
    """A ClusterNode as JSON: cores, memory, disk, bandwidth, load."""
    seen_at: float
    """Hub time, for people."""
    is_draining: bool = False
    """It gets no partitions, and gives back those that it has."""

    @property
    def figures(self) -> ClusterNode:
        """What the machine says of itself. One that says it in another form counts as one core."""
        try:
            found = msgspec.json.decode(self.capacity, type=ClusterNode)
        except msgspec.DecodeError:
            return ClusterNode(self.id, 1.0)
        return msgspec.structs.replace(found, name=self.id)


# --- machines -----------------------------------------------------------------------------------------------------------


def join(hub: HubConnection, node: str, address: str, capacity: str) -> None:
    """Says that a machine takes part, and what it can bear."""
    with hub.transaction():
        hub.run(_JOIN, id=node, address=address, capacity=capacity)


def note_node(hub: HubConnection, node: str, capacity: str) -> bool | None:
    """Says that a machine is still there, and what it can bear now.

    Returns whether it is to work; False: it takes nothing and gives back what it has. None: the user has taken it off the list.
    """
    with hub.transaction():
        found = hub.rows(_NOTE, id=node, capacity=capacity)
    return not found[0][0] if found else None


def nodes_of(hub: HubConnection) -> list[Node]:
    with hub.transaction():
        return _nodes(hub)


def _nodes(writer: Writer) -> list[Node]:
    return [Node(*row) for row in writer.rows(_NODES)]


def find_node(hub: HubConnection, name: str) -> Node:
    """The machine of that name. One that is not on the list is a UserError."""
    with hub.transaction():
        return _known(hub, name)


def drain(hub: HubConnection, node: str, *, is_draining: bool) -> None:
    """Says that a machine is to get no partitions and to give back its own, or, with False, that it takes part again."""
    with hub.transaction():
        _known(hub, node)
        hub.run(_DRAIN, id=node, is_draining=is_draining)


def remove_node(hub: HubConnection, node: str) -> None:
    """Takes a machine off the list, with the wishes that name it. Its agent learns it from `note_node`."""
    with hub.transaction():
        _known(hub, node)
        hub.run(_FORGET_WISHES, node=node)
        hub.run(_REMOVE, id=node)


def _known(writer: Writer, name: str) -> Node:
    known = {node.id: node for node in _nodes(writer)}
    if name not in known:
        listed = f"the nodes are {', '.join(known)}" if known else "no node has joined yet: start its agent, parcahyd node"
        raise UserError(f'there is no node "{name}"', listed)
    return known[name]


# --- wishes -------------------------------------------------------------------------------------------------------------


def wish(hub: HubConnection, partition: int, node: str) -> None:
    """Asks for a partition on a node. Its holder gives it back at its next renewal; it is never taken from a living tree."""
    with hub.transaction():
        hub.run(_WISH, partition=partition, node=node, is_pinned=False)


def pin(hub: HubConnection, partition: int, node: str) -> None:
    """Asks for a partition on a node, and plans keep that wish as long as the node is there and is not drained."""
    with hub.transaction():
        if not hub.rows(_IS_PARTITION, partition=partition):
            last = hub.value(_LAST_PARTITION)
            raise UserError(f"there is no partition {partition}", f"they are numbered from 0 to {last}")
        if _known(hub, node).is_draining:
            raise UserError(f'the node "{node}" is drained', f"let it take part again: parcahyd cluster drain {node} --undo")
        hub.run(_WISH, partition=partition, node=node, is_pinned=True)


# --- plans --------------------------------------------------------------------------------------------------------------


def usable_nodes(writer: Writer, alive: Collection[str]) -> tuple[ClusterNode, ...]:
    """The machines that may run partitions; inside a transaction."""
    return tuple(node.figures for node in _nodes(writer) if node.id in alive and not node.is_draining)


def placed_now(writer: Writer) -> tuple[str | None, ...]:
    """For each partition the node that it is wanted on, or else that runs it; inside a transaction."""
    return tuple(wished or holder for wished, _, holder in writer.rows(_PLACED))


def plan(planner: Fence, partitioner: Partitioner, routing: Routing, alive: Collection[str]) -> None:
    """Asks the strategy which node each partition is to run on, and writes what changes, as the holder of PLANNING.

    Which site lives where is not changed by it: see `replanning`.

    `alive` are the nodes whose agents were seen to do something lately. `routing` is the one that `partitioner` was made for.
    """
    writer = planner.writer
    with planner.transaction():
        usable = {node.id: node for node in _nodes(writer) if node.id in alive and not node.is_draining}
        rows: list[tuple[str | None, bool | None, str | None]] = writer.rows(_PLACED)
        view = ClusterView(
            routing=routing,
            nodes=tuple(node.figures for node in usable.values()),
            placed=tuple(wished or holder for wished, _, holder in rows),
            idle=frozenset(row[0] for row in writer.rows(_IDLE, seconds=_IDLE_FOR)),
        )
        planned = partitioner.plan(view)
        _write_wishes(writer, rows, planned.wanted, usable)


def _write_wishes(
    writer: Writer,
    rows: Sequence[tuple[str | None, bool | None, str | None]],
    wanted: Sequence[str | None],
    usable: Collection[str],
) -> None:
    for partition, ((before, is_pinned, _), node) in enumerate(zip(rows, wanted, strict=True)):
        if before == node or (is_pinned and before in usable):
            continue
        if node is None:
            writer.run(_WISH_NOTHING, partition=partition, before=before)
        else:
            writer.run(_PLAN, partition=partition, node=node, before=before)


def read_routing(hub: HubConnection) -> tuple[int, str, bytes]:
    """The newest version, its strategy, and what the strategy knows."""
    with hub.transaction():
        return routing_now(hub)


def routing_now(writer: Writer) -> tuple[int, str, bytes]:
    """The same inside a transaction."""
    ((version, strategy, content),) = writer.rows(_NEWEST)
    return version, strategy, bytes(content)


def name_strategy(hub: HubConnection, name: str) -> str:
    """Notes the strategy by which the crawl is divided, unless it was noted before; returns the one that is noted."""
    with hub.transaction():
        hub.run(_NAME, strategy=name)
        return routing_now(hub)[1]


def publish(planner: Fence, strategy: str, content: bytes) -> int:
    """Makes a new version of the routing, as the holder of the planning partition; returns it."""
    with planner.transaction():
        return _publish(planner.writer, strategy, content)


def _publish(writer: Writer, strategy: str, content: bytes) -> int:
    version = int(writer.rows(_NEWEST)[0][0]) + 1
    writer.run(_PUBLISH, version=version, strategy=strategy, content=content)
    return version
