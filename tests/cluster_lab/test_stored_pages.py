"""What the partitions and the hub hold, found by SQL of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.identity import ClusterIdentity
from parcahyd.cluster.tables import partition_schema
from parcahyd.core.states import State
from parcahyd.storage.connection import open_database
from parcahyd.storage.migrations import migrate
from parcahyd.storage.writer import Writer
from tests.cluster_lab.stored_pages import judge_stores
from tests.support.postgres import fresh_database

psycopg = pytest.importorskip("psycopg")


@pytest.fixture
def connection(postgres: str) -> Iterator[Any]:
    """A hub with two partitions, whose tables are there."""
    with fresh_database(postgres) as url:
        hub = HubConnection(url, "a test", 5.0)
        ClusterIdentity(hub).init(3, 20.0)
        hub.close()
        for number in range(2):
            writer = Writer(open_database(url, create=False, schema=partition_schema(number)))
            migrate(writer)
            writer.close()
        with psycopg.connect(url, autocommit=True) as connected:
            yield connected


def _add(connection: Any, partition: int, host: str, *pages: tuple[str, State, str | None]) -> None:
    connection.execute(f"SET search_path TO {partition_schema(partition)}".encode())
    connection.execute("INSERT INTO sites (id, scheme, host, port, in_scope) VALUES (7, 'http', %s, 80, true)", (host,))
    for key, (path, state, reason) in enumerate(pages):
        connection.execute(
            "INSERT INTO urls (site_id, key, path, state, reason, depth, hops, priority, first_seen)"
            " VALUES (7, %s, %s, %s, %s, 0, 0, 0, 0)",
            (key, path, int(state), reason),
        )


def _rows(connection: Any, query: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = connection.execute(query.encode()).fetchall()
    return found


def test_documents_are_counted_once_and_named_where_two_partitions_have_them(connection: Any) -> None:
    _add(connection, 0, "a.test", ("/", State.STORED, None), ("/gone", State.GONE, None), ("/moved", State.STORED, "redirect"))
    _add(connection, 1, "a.test", ("/", State.STORED, None), ("/other", State.STORED, None), ("/x", State.KNOWN, None))
    found = judge_stores(lambda query: _rows(connection, query))
    assert (found.stored, found.twice, found.homes) == (2, ("http://a.test:80/",), {"a.test": 1})


def test_what_is_left_of_a_crawl(connection: Any) -> None:
    _add(connection, 0, "a.test")
    connection.execute("UPDATE parcahyd_p0.sites SET visit = 5")
    connection.execute("UPDATE parcahyd_hub.partitions SET epoch = 3, token = 9, node = 'n1' WHERE id = 1")
    for subject, token in (("host a", 9), ("host b", 8)):
        connection.execute(
            "INSERT INTO parcahyd_hub.subjects (subject, partition, epoch, token) VALUES (%s, 1, 3, %s)", (subject, token)
        )
    connection.execute("INSERT INTO parcahyd_hub.mail (partition, kind, routing, body) VALUES (0, 'urls', 0, '')")
    connection.execute("INSERT INTO parcahyd_hub.outbox (partition, sender, kind, routing, body) VALUES (0, 1, 'urls', 0, '')")
    connection.execute("UPDATE parcahyd_hub.states SET pages = 20 + partition")
    found = judge_stores(lambda query: _rows(connection, query))
    assert (found.open_visits, found.owned, found.letters, found.counted) == (1, 1, 2, 63)


def test_a_fresh_cluster_has_nothing(connection: Any) -> None:
    found = judge_stores(lambda query: _rows(connection, query))
    assert (found.stored, found.twice, found.open_visits, found.owned, found.letters) == (0, (), 0, 0, 0)
