"""Which hub this is: made by `init`, drawn anew by `restored`, and settled when a lease has passed since it changed.

A hub that went back, to a standby or a backup, does not know what was given out last. Trees that hold it go on until their
deadline. So nothing is taken or claimed under a new identity before one whole lease has passed since it was first seen. An
agent that has just started saw no other identity before. It tells from `settled` whether it has to wait: that is the identity
under which some agent has seen a whole lease pass.
"""

from __future__ import annotations

import secrets

import msgspec
from sqlalchemy import bindparam, exists, func, insert, select, update
from sqlalchemy.schema import CreateSchema

from parcahyd.cluster.all_partitions import make_partitions
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import BootClock
from parcahyd.cluster.records import Identity
from parcahyd.cluster.tables import PLANNING, SCHEMA, cluster, metadata, partitions, routing, scope, states
from parcahyd.core.errors import DatabaseUnusable, StoreFailure, UserError
from parcahyd.core.version import __version__
from parcahyd.storage.expressions import inserting

__all__ = ["ClusterFacts", "ClusterIdentity", "Settling", "random_bits"]

TABLES = 2
"""The version of the hub's tables. A test knows what they are in it."""
_SECRET = 16

_IS_THERE = select(func.to_regclass(f"{SCHEMA}.cluster"))
_PARTITIONS = select(func.count()).select_from(partitions).where(partitions.c.id >= 0)
_INSERT = inserting(cluster, "id", "incarnation", "settled", "lease", "secret", "program", "tables")
_ALL = (
    *(cluster.c.id, cluster.c.incarnation, cluster.c.settled, cluster.c.life, cluster.c.lease, cluster.c.secret),
    *(_PARTITIONS.scalar_subquery(), cluster.c.tables),
)
_READ = select(*_ALL, cluster.c.program)
_HOLD = select(cluster.c.incarnation).with_for_update()
_DRAW = update(cluster).values(incarnation=bindparam("drawn"))
_NOTE_PROGRAM = update(cluster).values(program=bindparam("version"))
_SETTLE = (
    update(cluster)
    .where(cluster.c.incarnation == bindparam("incarnation_is"), cluster.c.settled != bindparam("identity"))
    .values(settled=bindparam("identity"), life=cluster.c.life + 1)
)
_SET_LEASE = (
    update(cluster)
    .where(~exists().where(partitions.c.token.is_not(None)))
    .values(lease=bindparam("seconds"))
    .returning(cluster.c.lease)
)


def random_bits() -> int:
    """64 random bits, as PostgreSQL's largest integer holds them."""
    return secrets.randbits(64) - (1 << 63)


class ClusterFacts(msgspec.Struct, frozen=True):
    """The hub's row as it was read."""

    id: str
    identity: Identity
    is_settled: bool
    """A whole lease has passed under this identity."""
    life: int
    lease: float
    secret: bytes
    """What a strategy's hash takes in."""
    partitions: int


class ClusterIdentity:
    """The hub's own row, through the connection of an agent or a command."""

    def __init__(self, hub: HubConnection) -> None:
        self._hub = hub

    def init(self, partition_count: int, lease: float) -> ClusterFacts:
        """Makes the hub and its empty partitions in a database that has none.

        The first life needs no waiting: nothing was given out before it.
        """
        hub = self._hub
        with hub.transaction() as connection:
            if hub.value(_IS_THERE) is not None:
                raise UserError("this database has a cluster already", "use another database, or drop the schema " + SCHEMA)
            connection.execute(CreateSchema(SCHEMA))
            metadata.create_all(connection, checkfirst=False)
            identity = Identity(hub.system, hub.timeline, random_bits())
            facts = {"id": secrets.token_hex(6), "incarnation": identity.incarnation, "settled": str(identity)}
            secret = secrets.token_bytes(_SECRET)
            hub.run(_INSERT, **facts, lease=lease, secret=secret, program=__version__, tables=TABLES)
            numbers = range(partition_count)
            connection.execute(insert(partitions), [{"id": number} for number in (PLANNING, *numbers)])
            connection.execute(insert(states), [{"partition": number} for number in numbers])
            connection.execute(insert(scope).values(version=0, rules=b""))
            connection.execute(insert(routing).values(version=0, strategy="", content=b""))
            make_partitions(connection, partition_count)
        return self.read()

    def is_made(self) -> bool:
        """Whether the database has a hub."""
        with self._hub.transaction():
            return self._hub.value(_IS_THERE) is not None

    def read(self, *, any_program: bool = False) -> ClusterFacts:
        """The facts as they are now. A database without a hub, or with one of another version, is a DatabaseUnusable.

        `any_program` lets a newer program read it, which is about to bring the tables up to date.
        """
        with self._hub.transaction():
            if self._hub.value(_IS_THERE) is None:
                raise DatabaseUnusable(
                    "this database has no cluster", "make one with parcahyd cluster init, or check DbUrl or --db"
                )
            ((number, incarnation, settled, life, lease, secret, count, tables, program),) = self._hub.rows(_READ)
        if tables != TABLES:
            raise DatabaseUnusable(
                f"the cluster was made by version {program}, with other tables", "run the same version on every machine"
            )
        if program != __version__ and not any_program:
            raise DatabaseUnusable(
                f"the cluster is of version {program}, and this program of {__version__}",
                "run the same version on every machine; after an update of all of them: parcahyd cluster migrate",
            )
        identity = Identity(self._hub.system, self._hub.timeline, incarnation)
        return ClusterFacts(number, identity, str(identity) == settled, life, lease, bytes(secret), count)

    def restored(self) -> None:
        """A backup was restored: every tree of the time before ends, and nothing is taken for one lease."""
        with self._hub.transaction():
            self._hub.rows(_HOLD)
            self._hub.run(_DRAW, drawn=random_bits())

    def note_program(self) -> None:
        """The tables are those of this version of the program from now on."""
        with self._hub.transaction():
            self._hub.run(_NOTE_PROGRAM, version=__version__)

    def settle(self, identity: Identity) -> None:
        """A whole lease has passed since an agent first saw this identity."""
        with self._hub.transaction():
            self._hub.run(_SETTLE, incarnation_is=identity.incarnation, identity=str(identity))

    def set_lease(self, seconds: float) -> None:
        """Changes the lease for all. Deadlines of holders are counted by the old one, so no partition may be held."""
        with self._hub.transaction():
            self._hub.rows(_HOLD)
            if not self._hub.rows(_SET_LEASE, seconds=seconds):
                raise UserError("the lease cannot be changed while partitions are held", "stop the cluster first")


class Settling:
    """Whether an agent may take anything: it waits one lease of its own clock under an identity that is not settled."""

    def __init__(self, clock: BootClock) -> None:
        self._clock = clock
        self._identity: Identity | None = None
        self._since = 0.0

    def see(self, facts: ClusterFacts, own: ClusterIdentity) -> bool:
        """Called with each look, after the facts were read. True: the identity is settled, if need be by this call."""
        now = self._clock()
        if facts.identity != self._identity:
            self._identity, self._since = facts.identity, now
        if facts.is_settled:
            return True
        if now - self._since < facts.lease:
            return False
        try:
            own.settle(facts.identity)
        except StoreFailure:
            return False
        return False  # The next look reads whether it is settled.
