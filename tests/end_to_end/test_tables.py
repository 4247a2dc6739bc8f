"""Links before the document: crawls of augmented sites, as their servers see them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tests.support.augmented import augmented, table_of
from tests.support.crawl import CrawlFactory
from tests.support.generated_site import generated_site
from tests.support.processes import end_all, marked_processes, wait_until
from tests.support.site_server import SiteServer, can_bind
from tests.support.sites import Answer, Page, Site, html, redirect, robots, text

ALWAYS = {"Work.Eager": "always"}


def chain(length: int, *, delay: float = 0.0) -> Site:
    """Pages of which each links to the next."""
    pages: dict[str, Page] = {
        f"/{number}.html": replace(html(f"Page {number}", [f"{number + 1}.html"]), delay=delay) for number in range(length - 1)
    }
    return Site({**pages, f"/{length - 1}.html": html("The last")})


def everything(server: SiteServer) -> list[str]:
    return [entry.target for entry in server.requests(robots=True)]


def test_a_bundle_makes_a_chain_of_pages_flat(server: SiteServer, crawl_on: CrawlFactory) -> None:
    """Pages are asked for before any page has come that links to them."""
    listener = server.listen()
    server.put("", augmented(chain(10)))
    crawl = crawl_on(ALWAYS)
    with (
        server.holding(lambda entry: entry.target.endswith(".html")) as release,
        crawl.start(listener.url("/0.html")) as running,
    ):
        assert wait_until(lambda: server.under_way == 8), running.said()
        release()
        assert running.wait() == 0, running.said()
    asked = everything(server)
    assert asked[:2] == ["/robots.txt", "/site.TOL"]
    assert sorted(asked[2:]) == [f"/{number}.html" for number in range(10)]
    depths = {line["url"]: line["depth"] for line in crawl.urls()}
    assert depths == {listener.url(f"/{number}.html"): number for number in range(10)}
    crawl.verify()


def test_a_crawl_with_tables_stores_what_one_without_stores(
    server: SiteServer, crawl: CrawlFactory, crawl_apart: CrawlFactory
) -> None:
    listener = server.listen()
    server.put("", augmented(generated_site(120), beside=True))
    eager, plain = crawl(ALWAYS), crawl_apart({"Work.Eager": "never"})
    eager.run(listener.url())
    tables = [target for target in everything(server) if target.endswith(".TOL")]
    server.forget()
    plain.run(listener.url())
    assert "/site.TOL" in tables
    assert [target for target in everything(server) if target.endswith(".TOL")] == []
    assert eager.states() == plain.states()
    assert eager.digests() == plain.digests()
    eager.verify()


def test_each_page_has_its_table_asked_for_first(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", augmented(chain(4), bundle=False, beside=True))
    crawl({**ALWAYS, "Work.HostConnections": 1}).run(listener.url("/0.html"))
    assert everything(server) == ["/robots.txt", *(f"/{number}.{end}" for number in range(4) for end in ("TOL", "html"))]


def test_a_page_declares_for_its_own_directory_and_for_no_other(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    declares = '<link rel="tol" href="p.TOL"><link rel="augment" href="augment.txt">'
    server.site().pages = {
        "/~alice/p.html": html("Alice", ["q.html", "/~bob/x.html"], extra=declares),
        "/~alice/q.html": html("More"),
        "/~alice/q.TOL": text(table_of(html("More"), "q.html")),
        "/~alice/augment.txt": text(
            "Augment: 1; scope=/~bob/; tol=/~alice/for{path}.TOL\nAugment: 1; scope=/; bundle=/~bob/all.TOL\n"
        ),
        "/~bob/x.html": html("Bob", ["y.html"]),
        "/~bob/y.html": html("More of Bob"),
        "/~bob/all.TOL": text(table_of(html("Bob", ["stolen.html"]), "x.html")),
    }
    crawl({**ALWAYS, "Work.HostConnections": 1}).run(listener.url("/~alice/p.html"))
    asked = everything(server)
    assert "/~alice/q.TOL" in asked
    assert [target for target in asked if "bob" in target] == ["/~bob/x.html", "/~bob/y.html"]


def test_a_table_on_another_site_is_no_table_of_this_one(server: SiteServer, crawl: CrawlFactory) -> None:
    listener, other = server.listen(), server.listen()
    site = augmented(chain(3), beside=True)
    for path in ("/site.TOL", "/1.TOL"):
        site.pages[path] = redirect(other.url(path))
    server.put("", site)
    running = crawl({**ALWAYS, "Work.HostConnections": 1})
    running.run(listener.url("/0.html"))
    assert other.connections == 0
    assert len(running.stored()) == 3
    assert {url for url in running.states() if url.endswith(".TOL")} == set()


def test_three_tables_that_are_missing_are_enough(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    site = chain(8)
    site.pages["/robots.txt"] = robots("Augment: 1; tol={stem}.TOL\n")
    server.put("", site)
    running = crawl({**ALWAYS, "Work.HostConnections": 1, "Work.RevisitAfter": 0})
    running.run(listener.url("/0.html"))
    assert [target for target in everything(server) if target.endswith(".TOL")] == ["/0.TOL", "/1.TOL", "/2.TOL"]
    assert "no tables are asked for in /" in running.explain(listener.url("/0.html"))


def test_a_site_whose_tables_lie_is_not_believed(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    real = [f"/real/{number}.html" for number in range(40)]
    site = Site({"/": html("Root", real), **{target: html(target) for target in real}})
    lie = table_of(html("Root", [*real, *(f"/phantom/{number}.html" for number in range(40))]), "index.html")
    site.pages |= {"/robots.txt": robots("Augment: 1; bundle=/site.TOL\n"), "/site.TOL": text(lie)}
    server.put("", site)
    running = crawl({**ALWAYS, "Work.HostConnections": 1})
    running.run(listener.url())
    assert "/site.TOL" in everything(server)
    assert [target for target in everything(server) if "phantom" in target] == []
    assert len(running.stored()) == 41
    report = running.explain(listener.url())
    assert "its tables of links are ignored until" in report
    running.verify()


def test_tables_cannot_lead_a_crawl_to_forbidden_addresses(server: SiteServer, crawl: CrawlFactory) -> None:
    if not can_bind("127.0.0.2"):
        pytest.skip("this machine has no 127.0.0.2")
    site, inner = server.listen("127.0.0.2"), server.listen("127.0.0.1")
    lure = [inner.url(), "http://10.0.0.1/", "http://169.254.169.254/latest/", f"http://2130706433:{inner.port}/"]
    table = table_of(html("Root", lure), "index.html")
    server.put("", Site({"/": html("Root"), "/robots.txt": robots("Augment: 1; bundle=/b.TOL\n"), "/b.TOL": text(table)}))
    running = crawl({**ALWAYS, "Map.AllowAddresses": ["127.0.0.2/32"], "Work.Scope": "any"})
    running.run(site.url())
    assert inner.connections == 0
    states = running.states()
    assert states.pop(site.url()) == ("stored", "")
    assert set(states.values()) == {("refused", "address")}
    assert len(states) == 3
    running.verify()


@dataclass(frozen=True, slots=True)
class Vast(Answer):
    """An answer that begins with its body and goes on for ten gigabytes."""

    def pieces(self, *, head_only: bool = False) -> list[bytes]:
        del head_only
        line = b"x" * 1000 + b".html\tk=a\n"
        return [
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" + self.body,
            *[line * 1000] * 10_000,
        ]


@pytest.mark.parametrize("declared", ["bundle=/index.TOL", "tol={stem}.TOL"])
def test_a_vast_table_is_read_as_far_as_is_sensible(server: SiteServer, crawl: CrawlFactory, declared: str) -> None:
    listener = server.listen()
    table = table_of(html("Root", ["/a.html"]), "index.html")
    begin = table.partition(b"end ")[0]
    if declared.startswith("bundle"):  # A whole table, and then one without end.
        begin = table + begin.replace(b"index.html", b"a.html")
    server.site().pages = {
        "/robots.txt": robots(f"Augment: 1; {declared}\n"),
        "/": html("Root", ["/a.html"]),
        "/a.html": html("A"),
        "/index.TOL": Vast(begin),
    }
    running = crawl({**ALWAYS, "Work.HostConnections": 1})
    running.run(listener.url("/"))
    assert {listener.url(path) for path in ("/", "/a.html")} <= running.stored()
    assert everything(server).count("/index.TOL") == 1
    running.verify()


@pytest.mark.parametrize("settings", [{}, {"Work.HostConnections": 1}, {"Work.HostDelay": 0.01}])
def test_a_plain_site_is_asked_for_nothing_more(server: SiteServer, crawl: CrawlFactory, settings: dict[str, float]) -> None:
    listener = server.listen()
    site = generated_site(40)
    server.put("", site)
    crawl({**settings}).run(listener.url())
    assert sorted(everything(server)) == sorted(["/robots.txt", *site.pages])


def test_by_default_an_augmented_site_costs_nothing_where_nothing_is_gained(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    site = generated_site(40)
    server.put("", augmented(site, beside=True))
    crawl({"Work.HostConnections": 1, "Work.HostDelay": 0.01}).run(listener.url())
    assert [target for target in everything(server) if target.endswith(".TOL")] == []


def test_by_default_a_chain_becomes_flat(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    site = augmented(chain(40, delay=0.03))
    rules = site.pages["/robots.txt"]
    assert isinstance(rules, Answer)
    site.pages["/robots.txt"] = replace(rules, delay=0.03)  # The way is long, for all answers.
    server.put("", site)
    crawled = crawl()
    with (
        server.holding(lambda entry: entry.target.endswith(".html") and "/site.TOL" in everything(server)) as release,
        crawled.start(listener.url("/0.html")) as running,
    ):
        assert wait_until(lambda: server.under_way == 8), running.said()
        release()
        assert running.wait() == 0, running.said()
    assert everything(server).count("/site.TOL") == 1
    assert len(crawled.stored()) == 40


def test_what_a_killed_crawl_knew_only_from_tables_is_found_again(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    site = generated_site(150, latency=0.05)
    server.put("", augmented(site, beside=True))
    running_crawl = crawl_on({**ALWAYS, "Work.MaxSize": 5})
    for share in (20, 60, 110):
        with running_crawl.start(listener.url()) as running:
            assert wait_until(lambda many=share: len(set(server.targets())) >= many), running.said()  # type: ignore[misc]
            end_all(marked_processes(running.mark))
    running_crawl.run(listener.url())
    assert running_crawl.stored() == {listener.url(target) for target in site.pages}
    running_crawl.verify()
