"""Two partitions of one database at work: pages by hand, letters between their stores.

The host of a URL says where it lives: `a0.example` in partition 0, `b1.example` in partition 1. A routing may say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from sqlalchemy import event

from parcahyd.cluster.incoming import Letters
from parcahyd.cluster.partition_store import BOX_LIMIT, PartitionStore
from parcahyd.cluster.partition_writer import PartitionWriter
from parcahyd.cluster.quotas import Chunk
from parcahyd.cluster.records import HeldPartition, Holding
from parcahyd.cluster.runs import Runs
from parcahyd.cluster.seeds import sow
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.partitions import Partitioner, Routing
from parcahyd.partition.by_hash import ByHash
from parcahyd.rules.urls.canonical_url import split
from parcahyd.storage.cluster_schemas import partition_schema
from parcahyd.storage.store import RunStart
from tests.cluster.hub_desk import LEASE, PARTITIONS, HubDesk, Tree
from tests.storage.desk import REVISIT, Desk

__all__ = ["ByName", "Pair", "PartitionDesk", "held", "home_of"]


def home_of(url: str) -> int:
    """Where a URL lives by the name of its host."""
    return int(split(url)[1].partition(".")[0][-1])


class ByName(ByHash):
    """A strategy that reads the home in the host's name, or in the state of the routing."""

    def __init__(self, routing: Routing) -> None:
        super().__init__(WorkConf(), routing)

    def place(self, host: str) -> int:
        moved: dict[str, int] = msgspec.json.decode(self.routing.state) if self.routing.state else {}
        return moved.get(host, int(host.partition(".")[0][-1]))


def held(hub: HubDesk, holding: Holding) -> HeldPartition:
    """What the processes of a tree are told."""
    return HeldPartition(holding, "n1", LEASE, 0.0, hub.facts.secret, hub.facts.partitions, run=1)


class PartitionDesk(Desk):
    """The desk of a store, where that is the store of a partition. The desk is a tree that holds it."""

    make_partitioner: Callable[[Routing], Partitioner] = ByName

    def __init__(self, hub: HubDesk, number: int, box_limit: int = BOX_LIMIT, **work: Any) -> None:
        self.hub = hub
        self.number = number
        self.passed = False
        self.configuration = Configuration(MapConf(), WorkConf(**{"RevisitAfter": REVISIT, "Scope": "any", **work}))
        self._box_limit = box_limit
        self.tree: Tree = hub.take(number)
        self.schema = partition_schema(number)
        super().__init__(hub.url)

    def _open(self) -> None:
        self.partition = PartitionStore(
            self.hub.url,
            held(self.hub, self.tree.holding),
            self.configuration,
            self.make_partitioner,
            lambda: self.passed,
            lambda: self.now,
            self._box_limit,
        )
        self.store = self.partition.store
        writer = self.writer
        execute = writer._execute

        def counted(text: str, parameters: Any) -> Any:
            self._count_statement()
            return execute(text, parameters)

        writer._execute = counted  # type: ignore[method-assign]  # as in Desk

    @property
    def writer(self) -> PartitionWriter:
        return self.partition._writer

    def take_over(self) -> PartitionDesk:
        """Another tree has the partition from now on."""
        other = PartitionDesk.__new__(PartitionDesk)
        other.__dict__.update(self.__dict__)
        other.tree = self.hub.take(self.number, "n2")
        other._reports = None
        other._open()
        return other

    def begin_run(self, run: int = 1) -> RunStart:
        return self.partition.begin_run(self.configuration, run, self.now, forever=False)

    def exchange(self) -> Letters:
        return self.partition.exchange_letters(self.now)

    def exchange_all(self) -> int:
        """Takes in letters until there are none; returns how many they were."""
        taken = 0
        while True:
            letters = self.exchange()
            taken += letters.taken
            if not letters.has_more:
                return taken

    def give_seeds(self, *urls: str) -> None:
        """As the user gives them to the cluster."""
        sow(self.hub.hub, {url: home_of(url) for url in urls})
        self.exchange_all()

    def idle(self, again: float = 0.0) -> bool:
        return self.partition.go_idle(self.now, self.now + again, None)

    def link(self, path: str = "/", *links: str, **more: Any) -> None:
        """Stores a page of the one site that is due, with links to other sites."""
        visit = self.visit()
        self.crawl(visit, path, path.encode(), external=links, **more)

    def draw(self, most: int) -> int:
        return Chunk(self.tree.claiming).draw(most)

    def noted(self, column: str) -> Any:
        """What the hub has of the partition."""
        ((found,),) = self.hub.rows(f"SELECT {column} FROM parcahyd_hub.states WHERE partition = {self.number}")  # noqa: S608
        return found

    def fail_next(self, error: Exception) -> None:
        """The next transaction fails at its end, instead of its COMMIT."""
        engine = self.writer._database.engine

        def fail(_: object) -> None:
            event.remove(engine, "commit", fail)
            raise error

        event.listen(engine, "commit", fail)


class Pair:
    """Both partitions of a hub, and a run that has begun in them."""

    def __init__(self, hub: HubDesk, box_limit: int = BOX_LIMIT, totals: dict[str, int] | None = None, **work: Any) -> None:
        self.hub = hub
        self.run = Runs(hub.hub).begin("{}", totals or {})
        self.desks = [PartitionDesk(hub, number, box_limit, **work) for number in range(PARTITIONS)]
        for desk in self.desks:
            desk.begin_run(self.run)

    def __iter__(self) -> Any:
        return iter(self.desks)

    def exchange(self) -> int:
        """Exchanges letters until there are none; returns how many were taken in."""
        taken = 0
        while more := sum(desk.exchange_all() for desk in self.desks):
            taken += more
        return taken

    def mail(self) -> Sequence[tuple[Any, ...]]:
        """Reader and kind of every letter on its way."""
        return self.hub.rows("SELECT partition, kind FROM parcahyd_hub.mail ORDER BY id")

    def close(self) -> None:
        for desk in self.desks:
            desk.close()
