"""A whole site, from one command to every byte; the same again, and again with validators."""

from __future__ import annotations

import json
from collections import Counter

from tests.support.crawl import CrawlFactory
from tests.support.generated_site import generated_site
from tests.support.rows import rows
from tests.support.site_server import SiteServer
from tests.support.sites import html


def test_a_site_is_stored_whole_and_asked_for_only_when_due(server: SiteServer, crawl_on: CrawlFactory, database: str) -> None:
    listener = server.listen()
    site = generated_site(60)
    server.put("", site)
    crawl = crawl_on()

    events = [json.loads(line) for line in crawl.run(listener.url()).out.splitlines()]
    assert (events[-1]["event"], events[-1]["outcome"], events[-1]["stored"]) == ("summary", "done", 60)
    assert Counter(server.targets()) == dict.fromkeys(site.bodies(), 1)
    assert crawl.show_all(crawl.stored()) == {listener.url(target): body for target, body in site.bodies().items()}
    assert crawl.show(listener.url()) == site.bodies()["/"]

    assert crawl.status()["documents"] == 60
    crawl.verify()

    server.forget()
    crawl.run(listener.url())
    assert server.log == []

    before = rows(database, "documents")
    crawl.run(sets={"Work.RevisitAfter": 0})
    assert Counter((entry.target, entry.status) for entry in server.requests()) == dict.fromkeys(
        ((target, 304) for target in site.bodies()), 1
    )
    assert rows(database, "documents") == before
    crawl.verify()


def test_what_changed_is_stored_anew(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    site = generated_site(5)
    server.put("", site)
    crawl = crawl_on()
    crawl.run(listener.url())

    site.pages["/"] = html("A new front page", ["/part0/page1.html", "/brand-new.html"])
    site.pages["/brand-new.html"] = html("Brand new")
    crawl.run(sets={"Work.RevisitAfter": 0})
    urls = [listener.url(), listener.url("/brand-new.html")]
    assert crawl.show_all(urls) == {url: site.bodies()[url.removeprefix(listener.url().rstrip("/"))] for url in urls}
    crawl.verify()


def test_several_seeds_and_the_links_between_them(server: SiteServer, crawl: CrawlFactory) -> None:
    """Two sites with links into the middle of each other, two workers: every page of both, each once."""
    one, two = server.listen(), server.listen()
    abroad_of_one = [two.url("/part0/page4.html"), two.url("/part2/page23.html")]
    server.put("", generated_site(40, seed=2, abroad=[*abroad_of_one, one.url("/part3/page32.html")]))
    running = crawl({"Work.MaxInstances": 2})
    running.run(one.url(), two.url())
    expected = {listener.url(target) for listener in (one, two) for target in server.site().bodies()}
    assert running.stored() == expected
    assert Counter(entry.url for entry in server.requests()) == dict.fromkeys(expected, 1)
    running.verify()
