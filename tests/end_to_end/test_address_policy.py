"""Addresses that are not public see no connection unless AllowAddresses names them, whatever a page says."""

from __future__ import annotations

import pytest

from tests.support.crawl import CrawlFactory
from tests.support.dns_server import DnsName, DnsServer
from tests.support.generated_site import generated_site
from tests.support.site_server import SiteServer, can_bind
from tests.support.sites import Site, html, redirect


def test_loopback_is_refused_with_a_remedy_and_then_allowed(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(5))
    crawl_on({"Map.AllowAddresses": None}).run(listener.url())
    crawl = crawl_on({"Map.AllowAddresses": None})
    assert listener.connections == 0
    assert crawl.states() == {listener.url(): ("refused", "address")}
    assert "AllowAddresses" in crawl.explain(listener.url())

    crawl.run(sets={"Map.AllowAddresses": ["127.0.0.0/8"]})
    assert len(crawl.stored()) == 5
    crawl.verify()


def test_pages_cannot_lead_the_crawl_to_forbidden_addresses(server: SiteServer, crawl: CrawlFactory) -> None:
    if not can_bind("127.0.0.2"):
        pytest.skip("this machine has no 127.0.0.2")
    site = server.listen("127.0.0.2")
    inner = server.listen("127.0.0.1")
    inner_v6 = server.listen("::1") if can_bind("::1") else None
    forbidden = [
        f"http://{host}:{inner.port}/"
        for host in (
            "127.0.0.1",
            "2130706433",
            "0x7f.1",
            "017700000001",
            "127.1",
            "0.0.0.0",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "localhost",
            "inner.test",
            "both.test",
        )
    ]
    forbidden += ["http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[fe80::1]/", "http://[fd00::1]/"]
    if inner_v6 is not None:
        forbidden += [f"http://[::1]:{inner_v6.port}/", f"http://[0:0:0:0:0:0:0:1]:{inner_v6.port}/x"]
    redirects = {f"/to{number}": redirect(target) for number, target in enumerate(forbidden)}
    server.put("", Site({"/": html("Lure", [*forbidden, *redirects, "/fine"]), **redirects, "/fine": html("Fine")}))
    names = {
        "inner.test": DnsName(("127.0.0.1",)),
        "both.test": DnsName(("127.0.0.1", "::1")),
    }
    with DnsServer(names) as dns:
        running = crawl({"Map.AllowAddresses": ["127.0.0.2/32"], "Map.Nameservers": [dns.nameserver], "Work.Scope": "any"})
        running.run(site.url())
    assert inner.connections == 0
    assert inner_v6 is None or inner_v6.connections == 0
    states = running.states()
    assert {url for url, state in states.items() if state == ("stored", "")} == {site.url(), site.url("/fine")}
    elsewhere = {url: state for url, state in states.items() if not url.startswith(site.url())}
    of_names = {f"http://{host}:{inner.port}/" for host in ("localhost", "inner.test", "both.test")}
    # A resolver that asks the name server for `localhost` gets the answer that there is no such name, which is as good.
    assert {elsewhere.pop(url) for url in of_names} <= {("failed", "address"), ("failed", "dns-no-name")}
    assert set(elsewhere.values()) == {("refused", "address")}
    assert len(elsewhere) >= 8
    running.verify()


def test_one_wrong_answer_of_a_name_server_is_forgotten(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(5))
    url = listener.url(host="site.test")
    with DnsServer({"site.test": DnsName(("0.0.0.0",))}) as dns:
        running = crawl({"Map.Nameservers": [dns.nameserver], "Work.RetryDelay": 0.01})
        running.run(url)
        assert running.states() == {url: ("failed", "address")}
        explained = running.explain(url)
        assert "0.0.0.0" in explained
        assert "resolved again at the next try" in explained
        assert "not before the settings concerned change" not in explained
        dns.names["site.test"] = DnsName(("127.0.0.1",))
        running.run(sets={"Work.WaitForRetries": 600})
    assert len(running.stored()) == 5
    running.verify()


def test_one_allowed_address_among_several_is_used_alone(server: SiteServer, crawl: CrawlFactory) -> None:
    if not can_bind("127.0.0.2"):
        pytest.skip("this machine has no 127.0.0.2")
    allowed = server.listen("127.0.0.2")
    forbidden = server.listen("127.0.0.3", allowed.port)
    server.put("", generated_site(5))
    with DnsServer({"mixed.test": DnsName(("127.0.0.3", "127.0.0.2"))}) as dns:
        running = crawl({"Map.AllowAddresses": ["127.0.0.2/32"], "Map.Nameservers": [dns.nameserver]})
        running.run(allowed.url(host="mixed.test"))
    assert len(running.stored()) == 5
    assert forbidden.connections == 0
