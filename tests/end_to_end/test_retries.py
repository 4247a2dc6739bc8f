"""What fails is tried again, later each time, and not for ever."""

from __future__ import annotations

import itertools

from tests.support.crawl import CrawlFactory
from tests.support.site_server import SiteServer
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


def test_a_stored_document_outlives_later_failures(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    root = html("Was here")
    server.put("", Site({"/": root}))
    running = crawl_on()
    running.run(listener.url())
    for status, state in ((500, ("failed", "http-error")), (404, ("gone", "missing"))):
        server.site().pages["/"] = Answer(status=status)
        running.run(sets={"Work.RevisitAfter": 0, "Work.RetryDelay": 0.01, "Work.MaxTries": 1 if status == 404 else 2})
        assert running.states() == {listener.url(): state}
        assert running.show(listener.url()) == root.body
    running.verify()
