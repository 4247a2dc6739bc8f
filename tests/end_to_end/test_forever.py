"""A crawl that keeps refreshing until it is told to stop."""

from __future__ import annotations

from tests.support.crawl import CrawlFactory
from tests.support.generated_site import generated_site
from tests.support.processes import wait_until
from tests.support.site_server import SiteServer


def test_what_falls_due_again_is_asked_for_again_until_an_interrupt(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(5))
    crawling = crawl({"Work.RevisitAfter": 1})
    with crawling.start(listener.url(), options=["--forever"]) as running:
        assert wait_until(lambda: min(server.targets().count(path) for path in server.site().bodies()) >= 3), running.said()
        running.interrupt()
        assert running.wait(40) == 130, running.said()
    assert len(crawling.stored()) == 5
    crawling.verify()
