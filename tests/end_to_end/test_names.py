"""Host names through a real name server: answers, aliases, and each way in which there is no address."""

from __future__ import annotations

import dns.rcode

from tests.support.crawl import CrawlFactory
from tests.support.dns_server import DnsName, DnsServer
from tests.support.generated_site import generated_site
from tests.support.processes import wait_until
from tests.support.rows import rows
from tests.support.site_server import SiteServer
from tests.support.sites import Site, html


def test_names_are_resolved_once_and_failures_have_their_reason(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(10))
    names = {
        "site.test": DnsName(("127.0.0.1",), latency=0.05),
        "www.site.test": DnsName(alias="site.test"),
        "long.test": DnsName(("127.0.0.1",), truncated=True),
        "broken.test": DnsName(rcode=dns.rcode.SERVFAIL),
        "empty.test": DnsName(),
        "silent.test": DnsName(silent=True),
    }
    good = ("site.test", "www.site.test", "long.test")
    bad = {
        "broken.test": "dns-failure",
        "empty.test": "dns-no-address",
        "silent.test": "dns-timeout",
        "unknown.test": "dns-no-name",
    }
    with DnsServer(names) as name_server:
        running = crawl({"Map.Nameservers": [name_server.nameserver], "Map.DnsTimeout": 5})
        running.run(*(listener.url(host=host) for host in (*good, *bad)))
        asked = [question for question in name_server.questions("site.test") if question.kind == "A"]
    states = running.states()
    assert {host: states[listener.url(host=host)] for host in bad} == {host: ("failed", reason) for host, reason in bad.items()}
    targets = server.site().bodies()
    assert running.stored() == {listener.url(target, host) for target in targets for host in good}
    assert len(asked) == 1
    running.verify()


def test_the_hosts_file_resolver(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(5))
    running = crawl({"Map.DnsResolverClass": "hosts-file", "Map.HostsFile": "hosts"})
    (running.conf / "hosts").write_text("# names of this test\n127.0.0.1 first.test second.test\n")
    running.run(listener.url(host="second.test"), listener.url(host="third.test"))
    assert len(running.stored()) == 5
    assert running.states()[listener.url(host="third.test")] == ("failed", "dns-no-name")


def test_the_next_address_of_a_host_is_tried_when_the_first_refuses(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/": html("Root", ["/a"]), "/a": html("A")}))
    with DnsServer({"two.test": DnsName(("127.0.0.2", "127.0.0.3", "127.0.0.1"))}) as dns:
        running = crawl({"Map.Nameservers": [dns.nameserver], "Work.RetryDelay": 3600})
        running.run(listener.url(host="two.test"))
        assert running.stored() == {listener.url(host="two.test"), listener.url("/a", host="two.test")}
        server.forget()
        running.run(sets={"Work.RevisitAfter": 0})
    assert len(server.requests(host="two.test")) == 2
    assert "127.0.0.1" in running.explain(listener.url(host="two.test"))


def test_addresses_are_in_the_database_before_the_first_answer(
    server: SiteServer, crawl_on: CrawlFactory, database: str
) -> None:
    listener = server.listen()
    server.put("", generated_site(2))
    with DnsServer({"site.test": DnsName(("127.0.0.1",))}) as name_server:
        running = crawl_on({"Map.Nameservers": [name_server.nameserver]})
        with server.holding(lambda _: True), running.start(listener.url(host="site.test")):
            assert wait_until(lambda: server.under_way > 0)
            assert wait_until(lambda: any("127.0.0.1" in row for row in rows(database, "sites")))
            assert rows(database, "documents") == []
