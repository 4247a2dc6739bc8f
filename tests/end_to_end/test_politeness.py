"""Delays and limits as the server's own log shows them.

Gaps are lower bounds of what the client did (see `site_server`), so a busy machine cannot make these tests fail.
"""

from __future__ import annotations

from itertools import pairwise

from tests.support.crawl import CrawlFactory
from tests.support.dns_server import DnsName, DnsServer
from tests.support.generated_site import generated_site
from tests.support.processes import wait_until
from tests.support.site_server import LogEntry, SiteServer

_TOLERANCE = 0.010


def _pauses(log: list[LogEntry]) -> list[float]:
    """From the end of each answer to the arrival of the next request."""
    return [after.arrived - before.ended for before, after in pairwise(sorted(log, key=lambda entry: entry.arrived))]


def test_the_hosts_delay_is_kept_and_one_request_is_under_way(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(20, latency=0.05))
    running = crawl({"Work.HostDelay": 0.2, "Work.HostConnections": 1, "Work.MaxInstances": 2})
    running.run(listener.url())
    assert len(running.stored()) == 20
    assert min(_pauses(server.log)) >= 0.2 - _TOLERANCE
    assert {entry.together for entry in server.log} == {1}


def test_the_delay_outlives_the_run(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(5))
    crawl = crawl_on({"Work.HostDelay": 2, "Work.HostConnections": 1, "Work.MaxPages": 1, "Work.WaitForRetries": 30})
    crawl.run(listener.url())
    first = list(server.log)
    crawl.run()
    assert len(server.log) > len(first)
    assert min(_pauses(server.log)) >= 2 - _TOLERANCE


def test_more_connections_run_from_start_to_start(server: SiteServer, crawl: CrawlFactory) -> None:
    """The delay runs beside the answers, so that the three connections are in use together."""
    listener = server.listen()
    server.put("", generated_site(14))
    delay = 0.5
    crawled = crawl({"Work.HostDelay": delay, "Work.HostConnections": 3})
    with server.holding(lambda _: len(server.targets()) > 1) as release, crawled.start(listener.url()) as running:
        assert wait_until(lambda: server.under_way == 3), running.said()
        release()
        assert running.wait() == 0, running.said()
    assert len(crawled.stored()) == 14
    assert max(entry.together for entry in server.log) == 3
    # From arrival to arrival the server's lateness with the first of two counts against the client. Over ten delays it would
    # have to be late by half of them to be taken for a client that keeps none.
    starts = sorted(entry.arrived for entry in server.log)
    assert min(after - before for before, after in zip(starts, starts[10:], strict=False)) >= 10 * delay / 2


def test_host_names_on_one_address_keep_the_addresss_delay(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(6))
    hosts = ("one.test", "two.test", "three.test")
    with DnsServer({host: DnsName(("127.0.0.1",)) for host in hosts}) as dns:
        running = crawl(
            {
                "Map.Nameservers": [dns.nameserver],
                "Work.HostDelay": 0,
                "Work.AddressDelay": 0.15,
                "Work.AddressConnections": 1,
                "Work.MaxInstances": 2,
            }
        )
        running.run(*(listener.url(host=host) for host in hosts))
    assert len(running.stored()) == 18
    assert {entry.host.partition(":")[0] for entry in server.log} == set(hosts)
    assert min(_pauses(server.log)) >= 0.15 - _TOLERANCE
    assert {entry.together for entry in server.log} == {1}


def test_the_addresss_connections_are_shared_by_its_hosts(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(12, latency=0.1))
    hosts = ("one.test", "two.test", "three.test")
    with DnsServer({host: DnsName(("127.0.0.1",)) for host in hosts}) as dns:
        running = crawl(
            {
                "Map.Nameservers": [dns.nameserver],
                "Work.HostConnections": 4,
                "Work.AddressConnections": 5,
                "Work.MaxInstances": 2,
            }
        )
        running.run(*(listener.url(host=host) for host in hosts))
    assert len(running.stored()) == 36
    assert max(entry.together for entry in server.log) <= 5
    assert max(entry.together_host for entry in server.log) <= 4
