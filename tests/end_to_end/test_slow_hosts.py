"""Hosts that send just fast enough for every time limit do not keep the connections from other sites."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.crawl import CrawlFactory
from tests.support.dns_server import DnsName, DnsServer
from tests.support.processes import wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Site, html

_SLOW = [f"slow{number}.test" for number in range(8)]
_ORDINARY = ["one.test", "two.test"]
_PAGES = ["/", *(f"/{number}" for number in range(20))]


@pytest.mark.parametrize("rate", [120, 2000])
def test_ordinary_sites_are_complete_while_slow_hosts_drip(server: SiteServer, crawl: CrawlFactory, rate: int) -> None:
    """Two slow hosts for each connection, all at one address with the ordinary sites. No time limit ends them in time.

    Both rates are above MinRate, the second also above what is asked of all at first. One page takes a quarter of an hour.
    """
    listener = server.listen()
    server.put("", Site({"/": Answer(b"x" * (rate * 1000), drip=0.5, piece=rate // 2)}))
    # Each page takes a moment, so that the slow hosts have every connection before the sites are complete.
    pages: dict[str, Page] = {path: replace(html(path, _PAGES), delay=0.1) for path in _PAGES}
    for host in _ORDINARY:
        server.put(host, Site(pages))
    expected = {listener.url(path, host) for host in _ORDINARY for path in _PAGES}
    slow = {listener.url(host=host) for host in _SLOW}

    with DnsServer({host: DnsName(("127.0.0.1",)) for host in _SLOW + _ORDINARY}) as dns:
        running = crawl(
            {
                "Map.Nameservers": [dns.nameserver],
                "Work.Connections": 4,
                "Work.HostConnections": 1,
                "Work.AddressConnections": 100,
                "Work.TimeoutTotal": 900,
                "Work.RetryDelay": 300,
            }
        )
        with running.start(*sorted(slow), *(listener.url(host=host) for host in _ORDINARY)) as process:
            assert wait_until(lambda: expected <= {entry.url for entry in list(server.log)}), process.said()
            assert wait_until(lambda: expected <= running.stored(), pause=0.5), process.said()
            states = running.states()
            assert process.process.poll() is None, "a slow host has kept its connection"
    assert {states[url] for url in slow} <= {("failed", "gave-way"), ("known", "")}
    assert ("failed", "gave-way") in states.values()
