"""The tables of the hub: what the machines of one crawl share. They live in a schema of their own beside the partitions.

| table | one row is |
|---|---|
| `cluster` | this cluster: its incarnation, its lease, the version of the program (one row) |
| `nodes` | a machine that takes part |
| `partitions` | a part of the crawl and who holds it: epoch, token, beat |
| `wishes` | the node that a partition should go to |
| `states` | how far the pipeline of a partition is |
| `reports` | what the pipeline of a partition last said of itself, for people |
| `runs` | a run, with the state that its user wants |
| `starts` | a start of a run in a partition |
| `quotas` | what is left of a number that all share, as MaxPages |
| `chunks` | what a partition has drawn of a quota |
| `homes` | the partition that a site lives in |
| `moves` | a site that is to live in another partition |
| `neighbours` | how many hosts of an address live in a partition |
| `subjects` | a host or an address, who may send requests to it, and how long it rests |
| `waiters` | a ticket for a subject that another partition has |
| `mail` | a letter from one partition to another |
| `outbox` | a letter that found the box full |
| `scope` | what a version added to the scope of the crawl |
| `routing` | a version of whose a URL is |
| `seeds` | a URL that the user gave |

Only taking, renewing and giving back update a row of `partitions`, because an update of any column holds up the renewer until
it is committed. So what a pipeline notes about itself is in `states`, and what a command wants of a partition is in `wishes`.

Locks are taken in the order of this table. Tested in tests/cluster/test_identity.py and tests/cluster/test_fence.py.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Sequence,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from parcahyd.storage.cluster_schemas import HUB, partition_schema

__all__ = [
    "PLANNING",
    "SCHEMA",
    "chunks",
    "cluster",
    "homes",
    "mail",
    "metadata",
    "moves",
    "neighbours",
    "nodes",
    "outbox",
    "partition_schema",
    "partitions",
    "quotas",
    "reports",
    "routing",
    "runs",
    "scope",
    "seeds",
    "starts",
    "states",
    "subjects",
    "tickets",
    "waiters",
    "wishes",
]

SCHEMA = HUB
PLANNING = -1
"""The row of `partitions` that is no part of the crawl: who holds it makes the plans. It is taken and lost as any other."""

metadata = MetaData(schema=SCHEMA)


_ZERO = text("0")
_FALSE = text("false")
_EMPTY = text("''")


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default=_ZERO)


cluster = Table(
    "cluster",
    metadata,
    Column("id", Text, primary_key=True),
    Column("incarnation", BigInteger, nullable=False),  # drawn anew when a backup was restored
    Column("settled", Text, nullable=False),  # the identity under which a whole lease has passed: see `identity`
    _number("life"),  # how often the identity changed; subjects of an earlier life rest once more
    _number("sweep"),  # how often free subjects were swept away
    Column("lease", Double, nullable=False),  # seconds
    Column("secret", LargeBinary, nullable=False),  # what a strategy's hash takes in, so that nobody foresees it
    Column("program", Text, nullable=False),
    Column("tables", Integer, nullable=False),
)

nodes = Table(
    "nodes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("address", Text, nullable=False),
    Column("capacity", Text, nullable=False),  # JSON
    Column("seen_at", Double, nullable=False),  # for people: nothing is decided by it
    Column("is_draining", Boolean, nullable=False, server_default=_FALSE),  # it gets no partitions, and gives back its own
)

partitions = Table(
    "partitions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("node", Text),
    _number("epoch"),
    Column("token", BigInteger),  # with the epoch, the fencing token; null: nobody holds it
    _number("beat"),
    Column("store_url", Text, nullable=False, server_default=_EMPTY),
    # PostgreSQL lets FOR KEY SHARE pass an update that leaves every column of a unique index alone. The fence takes that lock,
    # so renewing passes it and taking waits for it.
    UniqueConstraint("id", "epoch", "token"),
)

wishes = Table(
    "wishes",
    metadata,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("node", Text, nullable=False),
    Column("is_pinned", Boolean, nullable=False, server_default=_FALSE),  # the user's wish, which plans keep
)

states = Table(
    "states",
    metadata,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("idle_since", Double),  # hub time, for people; null: it has work
    _number("scope"),  # the version by which it judged itself idle
    _number("routing"),
    _number("batch"),  # the number of its writer's last transaction
    _number("pages"),  # stored in the run
    Column("wanting", Boolean, nullable=False, server_default=_FALSE),  # it has due URLs and got no chunk
    _number("confirmed"),  # the version of the run's wanted state that it obeys
    _number("run"),  # the run that its store has begun
    _number("judged"),  # the version of the scope by which all its sites are judged
    Column("clock", Double, nullable=False, server_default=_ZERO),  # its pipeline's own time at its writer's last transaction
)

reports = Table(
    "reports",
    metadata,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("content", Text, nullable=False),  # JSON: how its pipeline is doing, for people
    Column("written_at", Double, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("wanted", Text, nullable=False),  # running, paused or stopped
    Column("blocked", Text, nullable=False, server_default=_EMPTY),  # hosts, a line each
    _number("version"),  # of the two before
    Column("settings", Text, nullable=False),  # as a row of `runs` has them in a partition
    Column("started_at", Double, nullable=False),
    Column("ended_at", Double),
    Column("outcome", Text),  # null: under way
)

# Each tree that works for a run adds a row to `runs` in its partition, with what it counted.
starts = Table(
    "starts",
    metadata,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("start", BigInteger, primary_key=True, autoincrement=False),  # the number of that row
    Column("run", BigInteger, nullable=False),
)

quotas = Table(
    "quotas",
    metadata,
    Column("name", Text, primary_key=True),
    Column("total", BigInteger, nullable=False),
    Column("left", BigInteger, nullable=False),
)

chunks = Table(
    "chunks",
    metadata,
    Column("quota", Text, primary_key=True),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("epoch", BigInteger, primary_key=True, autoincrement=False),
    Column("token", BigInteger, primary_key=True, autoincrement=False),
    _number("left"),  # drawn and not stored
    _number("drawn"),  # in all, less what was given back
)

homes = Table(
    "homes",
    metadata,
    Column("site", Text, primary_key=True),
    Column("partition", Integer, nullable=False),
    Column("waits", Boolean, nullable=False, server_default=_FALSE),  # to be given to a partition that has nothing to do
    Column("size", BigInteger),  # pages; null: not known
    Column("failed", Boolean, nullable=False, server_default=_FALSE),
    Column("moving", Integer),  # the partition that it comes from, until all its rows have come
    Column("rule", Text, nullable=False, server_default=_EMPTY),  # why it lives here, for people
    Column("moves", Integer, nullable=False, server_default=_ZERO),  # how often it has moved
    Column("since", Double, nullable=False, server_default=text("extract(epoch FROM clock_timestamp())")),
    Index("homes_of_partition", "partition"),
    Index("homes_moving", "partition", postgresql_where=text("moving IS NOT NULL")),
    Index("homes_waiting", "partition", postgresql_where=text("waits")),
)

# What the source has not begun yet. It begins when no visit of the site is open.
moves = Table(
    "moves",
    metadata,
    Column("site", Text, primary_key=True),
    Column("source", Integer, nullable=False),
    Column("target", Integer, nullable=False),
    Column("rule", Text, nullable=False),
    Index("moves_from", "source"),
)

neighbours = Table(
    "neighbours",
    metadata,
    Column("address", Text, primary_key=True),  # empty: whatever their addresses are
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("hosts", BigInteger, nullable=False),
)

tickets = Sequence("tickets", metadata=metadata)

subjects = Table(
    "subjects",
    metadata,
    Column("subject", Text, primary_key=True),
    Column("partition", Integer),
    Column("epoch", BigInteger),
    Column("token", BigInteger),  # it is free where this is null, or is not its partition's any more
    Column("rest", Double, nullable=False, server_default=_ZERO),  # seconds, counted by who claims it from the answer on
    Column("not_before", Double, nullable=False, server_default=_ZERO),  # hub time; only longer pauses
    Column("delay", Double, nullable=False, server_default=_ZERO),  # where it is more than the configuration's
    Column("reason", Text, nullable=False, server_default=_EMPTY),
    Column("failures", Integer, nullable=False, server_default=_ZERO),
    Column("facts", LargeBinary),  # of a host: robots.txt, guards, limits
    _number("life"),  # the life of the cluster in which it was last claimed or released
    Column("freed_in", BigInteger, server_default=_ZERO),  # the sweep after which it became free; null: it has an owner
    Index("subjects_of_partition", "partition"),
)

waiters = Table(
    "waiters",
    metadata,
    Column("subject", Text, primary_key=True),
    Column("ticket", BigInteger, primary_key=True, autoincrement=False),
    Column("partition", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("pair", Text, nullable=False),  # host and address, which have one ticket together
    Column("tried_at", BigInteger, nullable=False),  # its partition's beat when it last tried to take
    Index("waiters_of_partition", "partition"),
    Index("waiters_by_ticket", "ticket"),
)


def _letters(name: str, *more: Column[int]) -> Table:
    return Table(
        name,
        metadata,
        Column("id", BigInteger, primary_key=True),
        *more,
        Column("partition", Integer, nullable=False),  # the reader
        Column("kind", Text, nullable=False),
        Column("routing", BigInteger, nullable=False),  # the version that its writer judged by
        Column("body", LargeBinary, nullable=False),
        Index(f"{name}_in_order", *(column.name for column in more), "partition", "id"),
    )


mail = _letters("mail")
outbox = _letters("outbox", Column("sender", Integer, nullable=False))

scope = Table(
    "scope",
    metadata,
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("rules", LargeBinary, nullable=False),
)

routing = Table(
    "routing",
    metadata,
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("strategy", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),  # what the strategy knows, as it wrote it
)

seeds = Table(
    "seeds",
    metadata,
    Column("url", Text, primary_key=True),
    Column("run", BigInteger, nullable=False),
    Column("partition", Integer, nullable=False),  # whose it was when it was given
)
