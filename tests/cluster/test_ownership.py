"""Whose a URL is, and why; who has its host and addresses, and who waits for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from parcahyd.cluster.ownership import Waiting, read_home, read_owners, routing_of
from parcahyd.cluster.planning import wish
from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import Partitioner, Seen, Undecided
from parcahyd.partition.by_hash import ByHash
from parcahyd.storage.reports.reader import Reader
from tests.cluster.hub_desk import HubDesk, want

URL = "http://a.example/page"


@pytest.fixture
def reader(desk: HubDesk) -> Iterator[Reader]:
    with closing(Reader(desk.url)) as reader:
        yield reader


@pytest.fixture
def strategy(reader: Reader) -> Partitioner:
    return ByHash(WorkConf(), routing_of(reader))


def test_the_strategy_is_made_as_the_pipelines_make_it(desk: HubDesk, reader: Reader) -> None:
    routing = routing_of(reader)
    assert (routing.partitions, routing.secret, routing.version) == (2, desk.facts.secret, 0)


def test_a_host_without_a_row_is_where_the_strategy_says(reader: Reader, strategy: Partitioner) -> None:
    home = read_home(reader, URL, strategy)
    assert home.partition == strategy.home(Seen(host="a.example"))
    assert (home.is_on_record, home.moving_from, home.found_in, home.node) == (False, None, (), None)


def test_a_row_overrides_the_strategy(desk: HubDesk, reader: Reader, strategy: Partitioner) -> None:
    other = 1 - int(str(strategy.home(Seen(host="a.example"))))
    desk.change("INSERT INTO parcahyd_hub.homes (site, partition, moving) VALUES ('a.example', %s, %s)", other, 1 - other)
    home = read_home(reader, URL, strategy)
    assert (home.partition, home.is_on_record, home.moving_from) == (other, True, 1 - other)


def test_a_host_that_waits_has_no_home(desk: HubDesk, reader: Reader) -> None:
    class Waits(ByHash):
        def home(self, seen: Seen) -> int | Undecided | None:  # noqa: ARG002 - the port's signature
            return None

    desk.change("INSERT INTO parcahyd_hub.homes (site, partition, waits) VALUES ('a.example', 0, true)")
    home = read_home(reader, URL, Waits(WorkConf(), routing_of(reader)))
    assert (home.partition, home.is_on_record, home.node) == (None, False, None)


def test_it_says_where_rows_of_the_site_are(desk: HubDesk, reader: Reader, strategy: Partitioner) -> None:
    desk.change(
        "INSERT INTO parcahyd_p1.sites (id, scheme, host, port, in_scope) VALUES (2^40 + 7, 'http', 'a.example', 80, true)"
    )
    assert read_home(reader, URL, strategy).found_in == (1,)


def test_the_node_is_that_of_the_holder(desk: HubDesk, reader: Reader, strategy: Partitioner) -> None:
    partition = int(str(strategy.home(Seen(host="a.example"))))
    desk.take(partition, "n7")
    wish(desk.hub, partition, "n8")
    home = read_home(reader, URL, strategy)
    assert (home.node, home.wanted_on) == ("n7", "n8")
    desk.end(partition)
    assert read_home(reader, URL, strategy).node is None


def test_the_owner_of_a_host_and_who_waits_in_order_of_tickets(desk: HubDesk, reader: Reader) -> None:
    first, second = desk.take(0, "n1"), desk.take(1, "n2")
    assert read_owners(reader, "a.example", ["192.0.2.1"]) == []
    first.claims.claim([want("a.example")])
    second.claims.claim([want("a.example"), want("b.example")])
    host, address = read_owners(reader, "a.example", ["192.0.2.1"])
    assert (host.subject, host.partition, host.node, host.is_stale) == ("host a.example", 0, "n1", False)
    assert [waiting.partition for waiting in host.waiting] == [1]
    assert (address.subject, address.partition) == ("address 192.0.2.1", 0)
    assert [waiting.ticket for waiting in address.waiting] == sorted(waiting.ticket for waiting in address.waiting)
    assert len(address.waiting) == 2
    assert host.waiting[0] == Waiting(address.waiting[0].ticket, 1)


def test_what_a_gone_tree_had_is_stale_and_its_tickets_do_not_count(desk: HubDesk, reader: Reader) -> None:
    first, second = desk.take(0, "n1"), desk.take(1, "n2")
    first.claims.claim([want("a.example")])
    second.claims.claim([want("a.example")])
    desk.end(0)
    desk.end(1)
    host, _ = read_owners(reader, "a.example", ["192.0.2.1"])
    assert (host.partition, host.node, host.is_stale, host.waiting) == (0, None, True, ())


def test_a_released_host_is_free(desk: HubDesk, reader: Reader) -> None:
    tree = desk.take(0)
    tree.claims.claim([want("a.example")])
    tree.claims.release({"host a.example": 1.0, "address 192.0.2.1": 1.0})
    (host,) = read_owners(reader, "a.example", [])
    assert (host.partition, host.is_stale) == (None, False)
