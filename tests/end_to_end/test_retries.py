"""What fails is tried again, later each time, and not for ever."""

from __future__ import annotations

import itertools

from tests.support.crawl import CrawlFactory
from tests.support.site_server import SiteServer, refusing_port
from tests.support.sites import Answer, Page, Request, Site, html


def _works_after(failures: int) -> Page:
    asked = itertools.count()

    def answer(request: Request) -> Answer:
        return html("At last") if next(asked) >= failures else Answer(status=503)

    return answer


def test_failures_are_tried_again_until_they_pass_or_count_as_gone(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/": html("Root", ["/passes", "/never"]), "/passes": _works_after(2), "/never": Answer(status=500)}))
    running = crawl_on({"Work.RetryDelay": 0.2, "Work.MaxTries": 3, "Work.WaitForRetries": 20})
    running.run(listener.url())
    assert running.states() == {
        listener.url(): ("stored", ""),
        listener.url("/passes"): ("stored", ""),
        listener.url("/never"): ("gone", "out-of-tries"),
    }
    assert server.targets().count("/passes") == 3
    assert server.targets().count("/never") == 3
    assert "500" in running.explain(listener.url("/never"))
    running.verify()


def test_stored_documents_outlive_later_failures(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    pages = {"/": html("Root", ["/missing"]), "/missing": html("Was here")}
    server.put("", Site(dict(pages)))
    running = crawl_on({"Work.RetryDelay": 3600})
    running.run(listener.url())
    server.site().pages = {"/": Answer(status=500), "/missing": Answer(status=404)}
    running.run(sets={"Work.RevisitAfter": 0})
    assert running.states() == {listener.url(): ("failed", "http-error"), listener.url("/missing"): ("gone", "missing")}
    assert running.show_all(running.states()) == {listener.url(target): page.body for target, page in pages.items()}
    running.verify()


def test_a_dead_port_does_not_hold_up_the_hosts_other_sites(server: SiteServer, crawl: CrawlFactory) -> None:
    """Otherwise one link to a closed port of a host would keep the crawl away from that host's real site."""
    listener = server.listen()
    server.put("", Site({"/": html("Alive")}))
    with refusing_port() as port:
        running = crawl({"Work.RetryDelay": 3600})
        running.run(f"http://127.0.0.1:{port}/")
        running.run(listener.url())
    assert running.stored() == {listener.url()}
