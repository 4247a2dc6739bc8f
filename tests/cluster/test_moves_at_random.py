"""Sites move to and fro while pages are stored, letters travel and trees die, in an order that chance makes.

Whatever happens, a URL is in one partition, every URL that was found is there, and what was stored stays.
"""

from __future__ import annotations

import contextlib
import os
from contextlib import closing
from random import Random

import pytest

from parcahyd.cluster import site_moves
from parcahyd.cluster.verification import cluster_findings
from parcahyd.core.errors import StoreFailure
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import fetches, sites
from tests.cluster.hub_desk import HubDesk
from tests.cluster.partition_pair import Pair, PartitionDesk

HOSTS = ("a0.example", "b0.example", "c1.example", "d1.example")
_LEFT = "SELECT site FROM parcahyd_hub.moves UNION ALL SELECT site FROM parcahyd_hub.homes WHERE moving IS NOT NULL"


class _Crawl:
    """Two partitions and what should be in them."""

    def __init__(self, desk: HubDesk, chance: Random) -> None:
        self.desk, self.chance = desk, chance
        self.pair = Pair(desk)
        self.found = {f"http://{host}/" for host in HOSTS}
        self.stored: set[str] = set()
        for one in self.pair:
            one.give_seeds(*(f"http://{host}/" for host in HOSTS if host.partition(".")[0][-1] == str(one.number)))

    def any_desk(self) -> PartitionDesk:
        return self.chance.choice(self.pair.desks)

    def visit(self) -> None:
        """Leases what is due, stores some of it with links to all hosts, and ends the visits."""
        one = self.any_desk()
        for visit in one.lease():
            for url in visit.urls[: self.chance.randrange(3)]:
                links = tuple(f"http://{self.chance.choice(HOSTS)}/{self.chance.randrange(40)}" for _ in range(3))
                one.write(one.page(visit, url.path, f"{visit.host}{url.path}".encode(), external=links))
                self.stored.add(f"http://{visit.host}{url.path}")
                self.found.update(links)
            one.over(visit)

    def move(self) -> None:
        host = self.chance.choice(HOSTS)
        homes = self.desk.rows(f"SELECT partition FROM parcahyd_hub.homes WHERE site = '{host}'")  # noqa: S608
        home = homes[0][0] if homes else int(host.partition(".")[0][-1])
        self.desk.change(
            "INSERT INTO parcahyd_hub.moves VALUES (%s, %s, %s, 'a test') ON CONFLICT DO NOTHING", host, home, 1 - home
        )

    def carry(self) -> None:
        self.any_desk().partition.move_sites()

    def fail(self) -> None:
        one = self.any_desk()
        heal = one.fail_at(self.chance.randrange(30))
        with contextlib.suppress(StoreFailure):
            one.partition.move_sites()
        heal()

    def exchange(self) -> None:
        self.any_desk().exchange()

    def take_over(self) -> None:
        number = self.chance.randrange(2)
        self.pair.desks[number] = self.pair.desks[number].take_over()
        self.pair.desks[number].begin_run(self.pair.run)

    def settle(self) -> None:
        for _ in range(200):
            for one in self.pair:
                one.partition.move_sites()
            if not self.pair.exchange() and not self.desk.rows(_LEFT):
                return
        raise AssertionError("the moves do not end")


@pytest.mark.parametrize("seed", range(200 if os.environ.get("PARCAHYD_TORTURE") else 6))
def test_nothing_is_lost_and_nothing_is_there_twice(desk: HubDesk, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_moves, "_AT_ONCE", 3)
    chance = Random(seed)
    crawl = _Crawl(desk, chance)
    steps = [*(crawl.visit,) * 4, crawl.move, *(crawl.carry,) * 6, *(crawl.exchange,) * 3, crawl.fail]
    for number in range(150):
        (crawl.take_over if number % 40 == 39 else chance.choice(steps))()
    crawl.settle()
    states = [one.states() for one in crawl.pair]
    assert not states[0].keys() & states[1].keys()
    together = states[0] | states[1]
    assert together.keys() == crawl.found
    assert {url for url, state in together.items() if state == "stored"} == crawl.stored
    assert sum(len(one.rows(fetches)) for one in crawl.pair) == len(crawl.stored)
    for one in crawl.pair:
        assert one.findings(running=False) == []
        assert all(row["visit"] is None for row in one.rows(sites))
    with closing(Reader(desk.url)) as reader:
        assert list(cluster_findings(reader, one_home=True)) == []
    moves = desk.rows("SELECT sum(moves) FROM parcahyd_hub.homes")
    assert moves[0][0] > 2
    crawl.pair.close()
