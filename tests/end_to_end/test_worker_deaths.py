"""A document with which the worker's process dies: it is found out, tried as often as any other that fails, and given up."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.crawl import Crawl, CrawlFactory, Setting
from tests.support.generated_site import generated_site
from tests.support.site_server import SiteServer
from tests.support.sites import html, text

_PLUGIN = Path(__file__).parent / "third_party" / "deadly.py"
_PAGES = 20
_TRIES = 3
_SETTINGS: dict[str, Setting | None] = {
    "Work.Summaries": "full",
    "Work.MaxTries": _TRIES,
    "Work.RetryDelay": 0.2,
    "Work.WaitForRetries": 60,
    "Work.HostConnections": 4,
}


def _deadly_crawl(crawl: CrawlFactory, monkeypatch: pytest.MonkeyPatch, way: str) -> Crawl:
    monkeypatch.setenv("DEADLY", way)
    settings = {**_SETTINGS, "Work.DownloaderClass": "deadly"} if way == "downloaded" else _SETTINGS
    running = crawl(settings)
    plugins = running.folder / "plugins"
    plugins.mkdir()
    shutil.copy(_PLUGIN, plugins)
    return running


@pytest.mark.parametrize("way", ["read", "read in a thread", "downloaded"])
def test_a_deadly_page_is_given_up_and_all_others_are_stored(
    server: SiteServer, crawl: CrawlFactory, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    bad, good = server.listen(), server.listen()
    server.put(good.authority, generated_site(_PAGES, seed=2, latency=0.05))
    site = generated_site(_PAGES)
    front = site.bodies()["/"].decode()
    site.pages["/"] = html("Front", ["/deadly"], extra=front)
    site.pages["/deadly"] = text("this page is deadly")
    server.put(bad.authority, site)
    running = _deadly_crawl(crawl, monkeypatch, way)

    running.run(bad.url(), good.url())

    states = running.states()
    deadly = bad.url("/deadly")
    assert states.pop(deadly) == ("gone", "out-of-tries")
    assert {state for state, _ in states.values()} == {"stored"}
    assert len(states) == 2 * _PAGES
    # One death that nobody knows the cause of, then one for each try; each is one request for the page.
    assert server.targets().count("/deadly") == 1 + _TRIES
    assert "worker-died" in running.explain(deadly)
    running.verify()


def test_a_run_that_does_not_wait_leaves_the_page_failed_and_the_next_one_asks_for_it_alone(
    server: SiteServer, crawl: CrawlFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = server.listen()
    site = generated_site(_PAGES, latency=0.05)
    site.pages["/"] = html("Front", ["/deadly"], extra=site.bodies()["/"].decode())
    site.pages["/deadly"] = text("this page is deadly")
    server.put("", site)
    running = _deadly_crawl(crawl, monkeypatch, "read")
    deadly = listener.url("/deadly")

    running.run(listener.url(), sets={"Work.RetryDelay": 3600})
    assert running.states()[deadly] == ("failed", "worker-died")
    assert "exit code -9" in running.explain(deadly)
    assert server.targets().count("/deadly") == 2

    with closing(sqlite3.connect(running.folder / "crawl.db")) as database, database:
        database.execute("UPDATE urls SET due_at = 1 WHERE path = '/deadly'")
        database.execute("UPDATE sites SET due_at = 1, not_before = 0")
    server.forget()
    running.run(listener.url(), sets={"Work.RetryDelay": 3600})
    # The reason in the database is what this run knows of the last one: its first death counts as a try.
    assert server.targets().count("/deadly") == 1
    assert next(line for line in running.urls() if line["url"] == deadly)["tries"] == 2
