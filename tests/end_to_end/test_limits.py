"""What belongs to a crawl, and how much of it: MaxDepth, MaxPages, MaxBytes, Scope."""

from __future__ import annotations

from tests.support.crawl import CrawlFactory
from tests.support.dns_server import DnsName, DnsServer
from tests.support.generated_site import generated_site
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Site, html


def test_depth_and_its_second_look(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/": html("0", ["/1"]), "/1": html("1", ["/2"]), "/2": html("2", ["/3"]), "/3": html("3", ["/"])}))
    running = crawl()
    running.run(listener.url(), sets={"Work.MaxDepth": 1})
    assert server.targets() == ["/", "/1"]
    assert running.states()[listener.url("/2")] == ("refused", "depth")
    depths = {line["url"]: line["depth"] for line in running.urls()}
    assert depths == {listener.url(target): depth for depth, target in enumerate(["/", "/1", "/2"])}

    running.run(sets={"Work.MaxDepth": 2})
    assert server.targets() == ["/", "/1", "/2"]
    assert running.command("run", "--conf", str(running.conf), "--set", "Work.MaxDepth=").code == 0
    assert server.targets() == ["/", "/1", "/2", "/3"]
    running.verify()


def test_pages_per_run(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(30))
    crawl = crawl_on({"Work.MaxPages": 12, "Work.MaxInstances": 2})
    for expected in (12, 24, 30):
        crawl.run(listener.url())
        assert len(server.targets()) == expected
        assert len(crawl.stored()) == expected
    crawl.verify()


def test_bytes_per_document(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    bomb = Answer(b"\0" * 20_000_000, coding="gzip")
    big = {f"/{framing}": Answer(b"x" * 70_000, framing=framing) for framing in ("length", "chunked", "close")}
    server.put("", Site({"/": html("Root", [*big, "/bomb", "/fits"]), **big, "/bomb": bomb, "/fits": Answer(b"y" * 60_000)}))
    running = crawl({"Work.MaxBytes": 65536})
    running.run(listener.url())
    states = running.states()
    for target in (*big, "/bomb"):
        assert states[listener.url(target)] == ("refused", "size"), target
    assert running.stored() == {listener.url(), listener.url("/fits")}
    running.verify()


def test_scope(server: SiteServer, crawl: CrawlFactory) -> None:
    """site: one host and port; domain: all hosts of the registrable domain; any: everything that is linked."""
    listener = server.listen()
    other_port = server.listen()
    hosts = ["www.example.test", "shop.example.test", "example.test", "notexample.test", "other.test"]
    urls = [listener.url("/", host) for host in hosts]
    server.put("", Site({"/": html("Links", [*urls, other_port.url("/", hosts[0])])}))
    with DnsServer({host: DnsName(("127.0.0.1",)) for host in hosts}) as dns:
        running = crawl({"Map.Nameservers": [dns.nameserver]})
        running.run(urls[0])
        assert running.stored() == set(urls[:1])
        running.run(sets={"Work.Scope": "domain"})
        assert running.stored() == {*urls[:3], other_port.url("/", hosts[0])}
        running.run(sets={"Work.Scope": "any"})
        assert running.stored() == {*urls, other_port.url("/", hosts[0])}
    running.verify()
