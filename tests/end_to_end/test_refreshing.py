"""--forever: a collection is kept fresh, by how often its pages change and within the budget."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, datetime
from itertools import count

from tests.support.crawl import CrawlFactory
from tests.support.processes import wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Request, html, robots


def test_a_page_that_changes_is_visited_more_often_than_those_that_do_not(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    versions = count()

    def lively(_: Request) -> Answer:
        return html(f"Version {next(versions)}")

    still = {f"/still{number}": html(f"Still {number}") for number in range(3)}
    server.site().pages = {"/": html("Root", ["/lively", *still]), "/lively": lively, **still}
    # What changes on every visit would else be learned to be volatile.
    settings = {"Work.RevisitAfter": 1, "Work.RevisitMin": 0.2, "Work.RevisitMax": 60, "Work.LearnRegions": False}
    running_crawl = crawl(settings)
    with running_crawl.start(listener.url(), options=["--forever"]) as running:
        assert wait_until(lambda: Counter(server.targets())["/lively"] >= 14), running.said()
        running.interrupt()
        assert running.wait() == 130, running.said()
    asked = Counter(server.targets())
    assert all(2 * asked[page] < asked["/lively"] for page in ("/", *still)), asked
    running_crawl.verify()
    (report,) = [url for url in running_crawl.urls() if url["url"].endswith("/lively")]
    assert report["state"] == "stored"


def test_what_falls_due_is_asked_for_within_the_budget(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    others = {f"/{number}": html(f"Page {number}") for number in range(9)}
    server.site().pages = {"/": html("Root", list(others)), **others}
    budget = {"Work.RevisitAfter": 0.2, "Work.RevisitMax": 0.2, "Work.RevisitsPerDay": 14}
    running_crawl = crawl(budget)
    with running_crawl.start(listener.url(), options=["--forever"]) as running:
        assert wait_until(lambda: len(server.targets()) >= 24), running.said()
        assert not wait_until(lambda: len(server.targets()) > 24, timeout=2), server.targets()
        running.interrupt()
        assert running.wait() == 130, running.said()
    assert len(server.targets()) == 24
    running_crawl.verify()


def test_sitemaps_that_foretell_changes_are_believed(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    version = 0
    paths = [f"/{number}" for number in range(5)]

    def sitemap(_: Request) -> Answer:
        # A clock that is ahead, so that the test need not wait for a page to be older.
        stamp = datetime.fromtimestamp(time.time() + 600 + version, UTC).isoformat()
        entries = "".join(f"<url><loc>{listener.url(path)}</loc><lastmod>{stamp}</lastmod></url>" for path in paths)
        return Answer(f"<urlset>{entries}</urlset>".encode(), media_type="application/xml")

    def page(request: Request) -> Answer:
        return html(f"{request.target} in version {version}")

    server.site().pages = {
        "/robots.txt": robots(f"Sitemap: {listener.url('/map.xml')}"),
        "/map.xml": sitemap,
        "/": html("Root"),
        **dict.fromkeys(paths, page),
    }
    crawl = crawl_on({"Work.RevisitAfter": 0, "Work.HostConnections": 1})
    crawl.run(listener.url())
    assert set(paths) < set(server.targets())
    version = 1
    server.forget()
    crawl.run()
    assert server.targets()[0] == "/map.xml"
    report = crawl.explain(listener.url("/4"))
    assert "such dates of this site are believed: 5 changes foretold, 0 missed, 0 false alarms" in report
    crawl.run()
    assert "5 changes foretold, 0 missed, 5 false alarms" in crawl.explain(listener.url("/4"))
    crawl.verify()


def test_what_disappears_or_breaks_keeps_its_last_good_version(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    pages: dict[str, Page] = {
        "/": html("Root", ["/leaving", "/breaking"]),
        "/leaving": html("Leaving"),
        "/breaking": html("Breaking"),
    }
    server.site().pages = dict(pages)
    crawl = crawl_on({"Work.RevisitAfter": 0, "Work.MaxTries": 1})
    crawl.run(listener.url())
    bodies = server.site().bodies()
    server.site().pages = {"/": pages["/"], "/breaking": Answer(b"<p>Sorry</p>", status=500)}
    crawl.run()
    assert crawl.states()[listener.url("/leaving")] == ("gone", "missing")
    assert crawl.states()[listener.url("/breaking")] == ("gone", "out-of-tries")
    for target in ("/leaving", "/breaking"):
        assert crawl.show(listener.url(target)) == bodies[target]
    report = json.loads(crawl.command("status", "--json", "--freshness").out)
    assert (report["states"]["gone"], report["freshness"]["kept"], report["freshness"]["pages"]) == (2, 2, 1)
    crawl.verify()
    server.site().pages = pages
    with_seeds = crawl.run(listener.url("/leaving"), listener.url("/breaking"))
    assert json.loads(with_seeds.out.splitlines()[-1])["outcome"] == "done"
    assert crawl.states()[listener.url("/leaving")] == ("stored", "")
    crawl.verify()
