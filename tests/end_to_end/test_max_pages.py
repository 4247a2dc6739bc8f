"""MaxPages: exact, divided among the sites that have work, and told at the end."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.crawl import Crawl, CrawlFactory, Finished
from tests.support.generated_site import generated_site
from tests.support.processes import process_of_kind, wait_until
from tests.support.site_server import SiteServer, can_bind
from tests.support.sites import Answer, Page, Site, html


def _listen(server: SiteServer, sites: int, pages: int) -> list[str]:
    """Sites on as many addresses; the URLs of their first pages."""
    if not can_bind("127.0.0.2"):
        pytest.skip("this machine has one loopback address")
    listeners = [server.listen(f"127.0.0.{number}") for number in range(1, sites + 1)]
    server.put("", generated_site(pages))
    return [listener.url() for listener in listeners]


def _summary(finished: Finished) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(finished.out.splitlines()[-1])
    return summary


def _pages_by_site(crawl: Crawl) -> Counter[str]:
    return Counter(urlsplit(url).netloc for url in crawl.stored())


def test_each_of_three_sites_gets_its_part(server: SiteServer, crawl_on: CrawlFactory) -> None:
    seeds = _listen(server, 3, 220)
    crawl = crawl_on({"Work.MaxPages": 200})
    summary = _summary(crawl.run(*seeds))
    by_site = _pages_by_site(crawl)
    assert by_site.total() == 200
    assert len(by_site) == 3
    assert min(by_site.values()) >= 200 // 6, by_site  # However quick the others are.
    assert summary["outcome"] == "max-pages"
    assert summary["waiting"]["known"] == Counter(state for state, _ in crawl.states().values())["known"] > 0
    assert crawl.status()["last_run"]["outcome"] == "max-pages"
    crawl.verify()


def test_twenty_sites_on_two_workers_all_get_pages(server: SiteServer, crawl: CrawlFactory) -> None:
    seeds = _listen(server, 20, 420)
    running = crawl({"Work.MaxPages": 400, "Work.MaxInstances": 2})
    running.run(*seeds)
    by_site = _pages_by_site(running)
    assert by_site.total() == len(server.targets()) == 400
    assert len(by_site) == 20
    assert min(by_site.values()) >= 400 // 40, by_site


def test_what_small_sites_leave_goes_to_the_large_one(server: SiteServer, crawl: CrawlFactory) -> None:
    small, large = server.listen(), server.listen()
    server.put(small.authority, generated_site(10))
    server.put(large.authority, generated_site(150))
    running = crawl({"Work.MaxPages": 100})
    running.run(small.url(), large.url())
    assert _pages_by_site(running) == {small.authority: 10, large.authority: 90}


def test_what_is_no_page_takes_none_of_them(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    picture = Answer(b"\x89PNG\r\n\x1a\n" + bytes(40), media_type="image/png")
    pictures: dict[str, Page] = {f"/{number}.png": picture for number in range(12)}
    pages: dict[str, Page] = {f"/{number}": html(f"Page {number}") for number in range(12)}
    server.put("", Site({"/": html("Home", [*pictures, *pages]), **pictures, **pages}))
    running = crawl({"Work.MaxPages": 10, "Work.MediaTypes": ["text/html"]})
    summary = _summary(running.run(listener.url()))
    assert len(running.stored()) == 10
    assert summary["outcome"] == "max-pages"


def test_a_run_that_has_nothing_left_is_done(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(12))
    running = crawl({"Work.MaxPages": 12})
    assert _summary(running.run(listener.url()))["outcome"] == "done"
    assert len(running.stored()) == 12


def test_a_delay_longer_than_the_wait_for_retries_does_not_end_it(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(8))
    running = crawl({"Work.MaxPages": 4, "Work.HostDelay": 0.2, "Work.HostConnections": 1, "Work.WaitForRetries": 0})
    assert _summary(running.run(listener.url()))["outcome"] == "max-pages"
    assert len(running.stored()) == 4


def test_it_is_exact_although_a_worker_dies(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(120))
    running = crawl({"Work.MaxPages": 80, "Work.WaitForRetries": 60, "Work.RetryDelay": 0.5})

    def stored() -> int:
        return sum(state == "stored" for state, _ in running.states().values())

    with (
        server.holding(lambda _: len(server.targets()) > 25) as release,
        running.start(listener.url()) as run,
    ):
        assert wait_until(lambda: len(server.targets()) > 25), run.said()
        assert wait_until(lambda: stored() > 10), run.said()  # Pages of the visit that is open are in the database.
        worker = process_of_kind(running.mark, "worker")
        assert worker is not None
        worker.kill()
        worker.wait()
        release()
        assert run.wait() == 0, run.said()
    assert len(running.stored()) == 80
    assert '"outcome":"max-pages"' in run.said()
    running.verify()
