"""MaxSeconds: the run stops in order, as at an interrupt, but it is done, and says what ended it."""

from __future__ import annotations

import json

from tests.support.crawl import CrawlFactory
from tests.support.generated_site import generated_site
from tests.support.processes import marked_processes
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, html


def test_a_run_that_would_wait_for_long_ends_and_the_next_one_goes_on(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    server.site().pages = {"/": html("Root", ["/silent"]), "/silent": Answer(silent=True)}
    crawl = crawl_on({"Work.StopTimeout": 1, "Work.TimeoutIdle": 600, "Work.TimeoutTotal": 600})
    finished = crawl.run(listener.url(), sets={"Work.MaxSeconds": 3})
    summary = json.loads(finished.out.splitlines()[-1])
    assert summary["outcome"] == "max-seconds"
    assert summary["seconds"] >= 3
    assert summary["waiting"]["known"] == 1
    assert crawl.status()["last_run"]["outcome"] == "max-seconds"
    assert not marked_processes(crawl.mark)
    crawl.verify()
    server.site().pages["/silent"] = html("No longer silent")
    crawl.run(sets={"Work.MaxSeconds": 0})
    assert len(crawl.stored()) == 2


def test_it_ends_a_run_for_ever(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(20))
    running = crawl({"Work.MaxSeconds": 1, "Work.HostDelay": 600, "Work.HostConnections": 1})
    with running.start(listener.url(), options=["--forever"]) as run:
        assert run.wait() == 0, run.said()
        assert '"outcome":"max-seconds"' in run.said()
    assert len(running.stored()) < 20
    running.verify()
