"""A crawl of several partitions, made by hand: real stores in a real hub, and the same crawl in one database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from parcahyd.cluster.ownership import routing_of
from parcahyd.cluster.starting import SeedSower
from parcahyd.config.remembered import GIVEN, recorded
from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import Partitioner, Routing, Seen
from parcahyd.core.states import Reason, State
from parcahyd.partition.by_hash import ByHash
from parcahyd.storage.reports.reader import Reader
from tests.cluster.hub_desk import HubDesk
from tests.cluster.partition_pair import PartitionDesk
from tests.storage.desk import START, Desk

__all__ = ["COUNTS", "CrawledCluster", "crawled_cluster"]

SHARED = b"<title>The same</title><p>a page that every site has</p>"
"""A document of every site, which each partition stores for itself."""


class HashedPartition(PartitionDesk):
    """The desk of a partition of a cluster that divides hosts by their hash."""

    @staticmethod
    def make_partitioner(routing: Routing) -> Partitioner:
        return ByHash(WorkConf(), routing)


def crawl_site(desk: Desk, site: str) -> None:
    """Everything that a report can be about: versions, a redirect, an error, a check, a document that others have too."""
    links = ("/shared.html", "/moved", "/broken", "/later")
    visit = desk.visit(f"http://{site}")
    desk.crawl(visit, "/", b"<title>First of %s</title>" % site.encode(), internal=links, title=f"First of {site}")
    visit = desk.visit(f"http://{site}")
    desk.write(desk.page(visit, "/shared.html", SHARED, title="The same"), desk.redirect(visit, "/moved", f"http://{site}/"))
    desk.store.store_bad([desk.bad(visit, "/broken", State.GONE, Reason.MISSING, status=404)], desk.now)
    desk.over(visit)


def crawl_again(desk: Desk, site: str) -> None:
    """The first page has changed, the shared one has not."""
    visit = desk.visit(f"http://{site}")
    desk.write(desk.page(visit, "/", b"<title>Second of %s</title>" % site.encode(), title=f"Second of {site}"))
    desk.write(desk.unchanged(visit, "/shared.html"))
    desk.over(visit)


COUNTS = {"requests": 7, "stored": 4, "unchanged": 1, "received": 200, "gone": 1}


class CrawledCluster:
    """A hub with partitions of one site each, crawled in two runs, and one database with the same sites."""

    def __init__(self, url: str, single: str, partitions: int = 3) -> None:
        self.url = url
        work: dict[str, Any] = {"KeepVersions": 9, "KeepChecks": 9, "Scope": "site"}
        self.hub = HubDesk(url, partitions)
        self.single = Desk(single)
        self.desks = [HashedPartition(self.hub, number, **work) for number in range(partitions)]
        self.partitioner = _partitioner(url)
        self.sites = [_site_of(self.partitioner, number) for number in range(partitions)]
        self._work = work
        self._crawl(crawl_site, [f"http://{site}/" for site in self.sites])
        for desk in (*self.desks, self.single):
            desk.now = START + 1_000_000
        self._crawl(crawl_again, [])
        for partition in self.desks:
            partition.tree.renewer.give_back()

    def _crawl(self, crawl: Callable[[Desk, str], None], given: list[str]) -> None:
        self.begin(given)
        self.single.begin(**self._work)
        self.single.seed(*given)
        for desk, site in zip(self.desks, self.sites, strict=True):
            crawl(desk, site)
            crawl(self.single, site)
            desk.store.end_run("done", COUNTS, desk.now)
        self.single.store.end_run("done", {key: len(self.desks) * value for key, value in COUNTS.items()}, self.single.now)
        self.end()

    def begin(self, given: list[str]) -> None:
        """A run of all partitions, as a command and their trees begin it."""
        settings = json.dumps({**recorded(self.desks[0].configuration), GIVEN: {}})
        begun = SeedSower(self.hub.hub, self.hub.facts, self.partitioner).begin(settings, {}, given)
        for desk in self.desks:
            desk.begin_run(begun.run.id)
            desk.exchange_all()

    def end(self, outcome: str = "done") -> None:
        self.hub.change("UPDATE parcahyd_hub.runs SET outcome = %s, ended_at = started_at + 60", outcome)

    def close(self) -> None:
        for desk in (*self.desks, self.single):
            desk.close()
        self.hub.close()


def _partitioner(url: str) -> Partitioner:
    reader = Reader(url)
    try:
        return ByHash(WorkConf(), routing_of(reader))
    finally:
        reader.close()


def _site_of(partitioner: Partitioner, partition: int) -> str:
    """A host whose home is that partition."""
    names = (f"www{number}.example" for number in count())
    return next(name for name in names if partitioner.home(Seen(host=name)) == partition)


@contextmanager
def crawled_cluster(url: str, single: str) -> Iterator[CrawledCluster]:
    cluster = CrawledCluster(url, single)
    try:
        yield cluster
    finally:
        cluster.close()
