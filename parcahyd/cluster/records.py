"""What the operations of the hub take and give: small records, no rows.

Tested in tests/cluster/test_records.py.
"""

from __future__ import annotations

import msgspec

__all__ = ["HeldPartition", "Holding", "Identity", "MoveNews", "PartitionSeen", "Renewal", "Want"]

_NAME_BYTES = 63
"""PostgreSQL cuts longer names of sessions, and a name that was cut names several."""


class Identity(msgspec.Struct, frozen=True):
    """Which hub this is, and in which life. A standby that took over has another timeline, a restored backup another
    incarnation."""

    system: int
    """PostgreSQL's identifier of the database's files."""
    timeline: int
    incarnation: int

    def __str__(self) -> str:
        return f"{self.system}.{self.timeline}.{self.incarnation}"


class Holding(msgspec.Struct, frozen=True):
    """A partition as one tree of processes holds it. Epoch and token together are never given out twice."""

    cluster: str
    identity: Identity
    partition: int
    epoch: int
    token: int

    @property
    def session_name(self) -> str:
        """The name of every session of the tree at the hub, by which who takes the partition ends them."""
        return session_name(self.cluster, self.partition, self.epoch, self.token)


class HeldPartition(msgspec.Struct, frozen=True):
    """What the processes of a tree are told about the partition that they work for."""

    holding: Holding
    node: str
    lease: float
    """Seconds."""
    noted: float
    """The boot clock of this machine before the partition was asked for: the first deadline counts from here."""
    secret: bytes
    partitions: int
    """How many there are."""
    run: int
    """The run under way."""

    @property
    def lock_seconds(self) -> float:
        """How long a statement waits for a lock, at most."""
        return self.lease / 10


def session_name(cluster: str, partition: int, epoch: int, token: int) -> str:
    """The same for a holder of which only the row is known."""
    return f"parcahyd {cluster} {partition} {epoch} {token & (1 << 64) - 1:016x}"[:_NAME_BYTES]


class PartitionSeen(msgspec.Struct, frozen=True):
    """A row of `partitions` as an agent saw it."""

    id: int
    node: str | None
    epoch: int
    token: int | None
    beat: int
    wish: str | None
    """The node that it should go to."""

    @property
    def is_free(self) -> bool:
        return self.token is None


class Renewal(msgspec.Struct, frozen=True):
    """What the hub says with each renewal. The pipeline obeys the newest."""

    beat: int
    hub_time: float
    wish: str | None
    """The node that wants this partition; another than its own: give it back."""
    scope: int
    routing: int
    run: int | None
    """The run under way."""
    wanted: str | None
    """running, paused or stopped."""
    version: int | None
    """Of what is wanted; to be confirmed when it is obeyed."""
    clock: float
    """The time of the pipelines that had this partition before, as their last transaction noted it."""


class Want(msgspec.Struct, frozen=True):
    """The two subjects that a visit needs, with the delays of the configuration."""

    host: str
    host_delay: float
    address: str
    address_delay: float

    @property
    def delays(self) -> dict[str, float]:
        return {f"host {self.host}": self.host_delay, f"address {self.address}": self.address_delay}

    @property
    def pair(self) -> str:
        return f"{self.host} {self.address}"


class MoveNews(msgspec.Struct, frozen=True):
    """What there is to do."""

    leaving: tuple[str, ...] = ()
    """Hosts that go to another partition as soon as no visit of them is open."""
    coming: tuple[str, ...] = ()
    """Hosts whose rows have not all come."""
    given: int = 0
    """Sites that waited here to be given to a partition, and were given to this one."""
    has_new_work: bool = False
    """A site became due."""

    @property
    def is_any(self) -> bool:
        return bool(self.leaving or self.coming or self.given)
