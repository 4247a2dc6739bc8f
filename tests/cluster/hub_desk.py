"""A hub in a real PostgreSQL database, with trees that hold partitions of it on a simulated boot clock."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import Connection, event

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import Deadline, HubTime
from parcahyd.cluster.fence import Batches, Fence
from parcahyd.cluster.identity import ClusterFacts, ClusterIdentity
from parcahyd.cluster.records import Holding, Want
from parcahyd.cluster.subjects import Claims
from parcahyd.cluster.tables import PLANNING
from parcahyd.cluster.taking import Renewer, Taker, Watch
from parcahyd.core.errors import StoreFailure

__all__ = ["LEASE", "PARTITIONS", "HubDesk", "Tree", "lose_commit", "retried", "want"]

LEASE = 20.0
PARTITIONS = 2
TURN = 30.0
_LOCK_SECONDS = 0.2
_TRIES = 3
Answer = TypeVar("Answer")


def retried(call: Callable[[], Answer]) -> Answer:
    """The answer of a call whose session was ended: the first try finds that out, and the next one connects again."""
    for _ in range(_TRIES):
        with suppress(StoreFailure):
            return call()
    return call()


def lose_commit(writer: HubConnection, *, commits: bool, after: int = 0) -> None:
    """The next COMMIT of a connection gets no answer, and the connection is lost. `commits`: it was committed all the same.

    So many that come `after` now are answered as usual before that.
    """
    import psycopg

    engine = writer._database.engine
    answered = 0

    def lose(connection: Connection) -> None:
        nonlocal answered
        answered += 1
        if answered <= after:
            return
        event.remove(engine, "commit", lose)
        session: Any = connection.connection.driver_connection
        if commits:
            session.commit()
        session.close()
        raise psycopg.OperationalError("the answer is lost")

    event.listen(engine, "commit", lose)


class HubDesk:
    """An agent's connection to a fresh hub of two partitions, and what a test does with it."""

    def __init__(self, url: str, partitions: int = PARTITIONS) -> None:
        self.url = url
        self.now = 1000.0
        self._open: list[HubConnection] = []
        self.hub = self.connect("parcahyd agent")
        self.identity = ClusterIdentity(self.hub)
        self.facts: ClusterFacts = self.identity.init(partitions, LEASE)

    def clock(self) -> float:
        return self.now

    def connect(self, name: str, **options: Any) -> HubConnection:
        self._open.append(HubConnection(self.url, name, _LOCK_SECONDS, **options))
        return self._open[-1]

    def taker(self) -> Taker:
        return Taker(self.hub, self.clock, self.identity.read())

    def take(self, partition: int, node: str = "n1") -> Tree:
        """Takes a partition as it is, whoever has it."""
        taker = self.taker()
        (seen,) = [row for row in taker.look() if row.id == partition]
        taking = taker.take(seen, node)
        assert taking is not None
        return Tree(self, taking.holding, taking.noted)

    def planner(self) -> Fence:
        """The fence of whoever makes the plans."""
        taker = self.taker()
        (seen,) = [row for row in taker.look() if row.id == PLANNING]
        taking = taker.take(seen, "n1")
        assert taking is not None
        return Fence(self.connect(taking.holding.session_name), taking.holding)

    def end(self, partition: int) -> None:
        taker = self.taker()
        (seen,) = [row for row in taker.look() if row.id == partition]
        assert taker.end(seen)

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        """What is in the tables, read by a connection of its own."""
        import psycopg

        with psycopg.connect(self.url) as connection:
            return connection.execute(text.encode()).fetchall()

    def change(self, text: str, *values: object) -> None:
        import psycopg

        with psycopg.connect(self.url) as connection:
            connection.execute(text.encode(), values)

    def watch(self) -> Watch:
        return Watch(self.clock)

    def close(self) -> None:
        for connection in self._open:
            connection.close()


class Tree:
    """A tree of processes that holds a partition: three connections, a deadline, claims and numbered transactions."""

    def __init__(self, desk: HubDesk, holding: Holding, noted: float) -> None:
        self.holding = holding
        self.deadline = Deadline(desk.clock, LEASE)
        self.deadline.start(noted)
        self.hub_time = HubTime(desk.clock)
        self.renewer = Renewer(self._connected(desk), holding, self.deadline)
        self.claiming = Fence(self._connected(desk), holding)
        self.writing = Fence(self._connected(desk), holding)
        self.claims = Claims(self.claiming, desk.clock, self.hub_time, LEASE, TURN)
        self.batches = Batches(self.writing, desk.clock)
        self.hub_time.note(self.renewer.renew().hub_time)

    def _connected(self, desk: HubDesk) -> HubConnection:
        return desk.connect(self.holding.session_name, expected=self.holding.identity)


def want(host: str, address: str = "192.0.2.1", host_delay: float = 2.0, address_delay: float = 1.0) -> Want:
    return Want(host, host_delay, address, address_delay)
