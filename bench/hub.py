"""What the hub of a cluster costs: microseconds of its transactions, and bytes of its rows, with few hosts and with many.

    python bench/hub.py [--hosts 10000 1000000] [--rounds 200]

A PostgreSQL server is started on loopback for it. A claim is for 64 new pairs of host and address, each with an address of its
own, and a release gives all of them back. Times are those of the caller, with nobody else at the server.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` and `tests` are found when this file is run by its name

from bench.report_page import machine, table
from parcahyd.cluster.records import Want
from parcahyd.cluster.routes import Routes
from parcahyd.config.schema import WorkConf
from parcahyd.partition.by_hash import ByHash
from tests.cluster.hub_desk import HubDesk, Tree
from tests.support.postgres import fresh_database, postgres_server

__all__ = ["HEADING", "PAIRS", "Cost", "main", "measure"]

PAIRS = 64
HEADING = ("hosts", "claim of 64 pairs, ms", "release, ms", "renewal, ms", "empty fenced transaction, ms", "homes of 64, ms")
_FILL = """
INSERT INTO parcahyd_hub.subjects (subject, partition, epoch, token, freed_in)
SELECT kind || number || '.hosts.example', NULL, NULL, NULL, 0
FROM generate_series(1, %s) number, (VALUES ('host h'), ('address a')) kinds (kind)
"""
_SETTLE = """
INSERT INTO parcahyd_hub.homes (site, partition)
SELECT 'h' || number || '.hosts.example', 0 FROM generate_series(1, %s) number
"""
_SIZE = "SELECT pg_total_relation_size(%s)"


class Cost(msgspec.Struct, frozen=True):
    """Medians in seconds, and bytes with indexes."""

    hosts: int
    claim: float
    release: float
    renewal: float
    fence: float
    homes: float
    subject_bytes: float
    home_bytes: float

    def cells(self) -> tuple[str, ...]:
        times = (self.claim, self.release, self.renewal, self.fence, self.homes)
        return (f"{self.hosts:,}", *(f"{seconds * 1e3:.2f}" for seconds in times))


def _median(call: Callable[[int], object], rounds: int) -> float:
    taken = []
    for number in range(rounds):
        began = time.perf_counter()
        call(number)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def measure(url: str, hosts: int, rounds: int) -> Cost:
    """A fresh hub in an empty database, with so many hosts, addresses and homes."""
    desk = HubDesk(url)
    try:
        subjects, homes = _fill(url, hosts)
        claim, release, renewal, fence, known = _times(desk.take(0), hosts, rounds)
    finally:
        desk.close()
    return Cost(hosts, claim, release, renewal, fence, known, subjects / hosts / 2, homes / hosts)


def _fill(url: str, hosts: int) -> tuple[int, int]:
    """Returns the bytes of the two tables."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_FILL.encode(), [hosts])
        connection.execute(_SETTLE.encode(), [hosts])
        connection.execute(b"VACUUM ANALYZE")
        tables = ("parcahyd_hub.subjects", "parcahyd_hub.homes")
        subjects, homes = (connection.execute(_SIZE.encode(), [name]).fetchall()[0][0] for name in tables)
    return int(subjects), int(homes)


def _times(tree: Tree, hosts: int, rounds: int) -> Iterator[float]:
    claims, releases = [], []
    for number in range(rounds):
        began = time.perf_counter()
        tree.claims.claim([Want(host, 1.0, f"a{host[1:]}", 0.1) for host in _names(number, hosts)])
        between = time.perf_counter()
        tree.claims.release(dict.fromkeys(tree.claims.held, 0.0))
        claims.append(between - began)
        releases.append(time.perf_counter() - between)
    yield statistics.median(claims)
    yield statistics.median(releases)
    yield _median(lambda _: tree.renewer.renew(), rounds)
    yield _median(lambda _: _do_nothing(tree), rounds)
    yield _median(lambda number: _look_up(tree, _names(number, hosts)), rounds)


def _look_up(tree: Tree, names: Sequence[str]) -> None:
    """As a pipeline that has met none of these hosts."""
    with tree.writing.transaction():
        routes = Routes(tree.writing.writer, partial(ByHash, WorkConf()), 0, 1, b"")
        routes.homes_of([f"http://{name}/" for name in names])


def _names(number: int, hosts: int) -> list[str]:
    """Others in each round, far from each other in the index."""
    return [f"h{(number * PAIRS + one) * 7919 % hosts + 1}.hosts.example" for one in range(PAIRS)]


def _do_nothing(tree: Tree) -> None:
    with tree.writing.transaction():
        pass


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=200)
    chosen = parser.parse_args(arguments)
    costs = []
    with postgres_server() as server:
        for hosts in chosen.hosts:
            with fresh_database(server.prefix) as url:
                costs.append(measure(url, hosts, chosen.rounds))
    print("\n".join(table(HEADING, (cost.cells() for cost in costs))))
    last = costs[-1]
    subject, home = f"{last.subject_bytes:.0f} bytes for each subject", f"{last.home_bytes:.0f} for a home"
    print(f"\nWith {last.hosts:,} hosts and as many addresses: {subject}, {home}, with indexes.")
    print(f"Medians of {chosen.rounds} rounds; {machine()}.")


if __name__ == "__main__":
    main()
