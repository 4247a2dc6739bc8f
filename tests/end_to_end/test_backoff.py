"""Servers that ask to be left alone are left alone, with everybody on their address, whatever happens to the crawler meanwhile.

Silence is measured from the end of the answer that asked for it to the next arrival, both by the server's own clock, so a busy
machine can only make it longer.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.crawl import Crawl, CrawlFactory
from tests.support.dns_server import DnsName, DnsServer
from tests.support.generated_site import generated_site
from tests.support.processes import end_all, marked_processes, process_of_kind, wait_until
from tests.support.site_server import LogEntry, SiteServer
from tests.support.sites import Answer, Page, Request, Site, html, robots

_HOSTS = ("one.test", "two.test", "three.test")
_TOLERANCE = 0.010


def _asks_once(site: Site, after: int, *headers: tuple[str, str], status: int = 429) -> None:
    """Has the site answer one request, after so many others, with a request for a pause."""
    asked = itertools.count()

    def guarded(page: Page) -> Callable[[Request], Answer]:
        def answer(request: Request) -> Answer:
            if next(asked) == after:
                return Answer(status=status, headers=headers)
            return page(request) if callable(page) else page

        return answer

    site.pages = {target: guarded(page) for target, page in site.pages.items()}


def _silence(log: list[LogEntry], status: int = 429) -> float:
    """From the end of the answer with that status to whatever arrived next at the address."""
    ordered = sorted(log, key=lambda entry: entry.arrived)
    at = next(number for number, entry in enumerate(ordered) if entry.status == status)
    return ordered[at + 1].arrived - ordered[at].ended


def _settings(dns: DnsServer) -> dict[str, str | int | float | bool | list[str] | None]:
    return {
        "Map.Nameservers": [dns.nameserver],
        "Work.HostConnections": 1,
        "Work.AddressConnections": 1,
        "Work.WaitForRetries": 60,
        "Work.RetryDelay": 0.1,
        "Work.MaxInstances": 2,
    }


def _has_answered(server: SiteServer, status: int) -> bool:
    return any(entry.status == status and entry.ended for entry in list(server.log))


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_silences_every_host_on_the_address(server: SiteServer, crawl: CrawlFactory, status: int) -> None:
    listener = server.listen()
    server.put("", generated_site(12))
    _asks_once(server.site(), 10, ("Retry-After", "3"), status=status)
    with DnsServer({host: DnsName(("127.0.0.1",)) for host in _HOSTS}) as dns:
        running = crawl(_settings(dns))
        running.run(*(listener.url(host=host) for host in _HOSTS))
    assert _silence(server.log, status) >= 3 - _TOLERANCE
    assert len(running.stored()) == 36
    running.verify()


def test_retry_after_outlives_a_kill(server: SiteServer, crawl_on: CrawlFactory) -> None:
    """The server asks for so much time that it is in the database, and seen there, long before it is over."""
    listener = server.listen()
    server.put("", generated_site(12))
    _asks_once(server.site(), 10, ("Retry-After", "15"))
    with DnsServer({host: DnsName(("127.0.0.1",)) for host in _HOSTS}) as dns:
        running: Crawl = crawl_on(_settings(dns))
        with running.start(*(listener.url(host=host) for host in _HOSTS)) as process:
            assert wait_until(lambda: _has_answered(server, 429)), process.said()
            assert wait_until(lambda: bool(running.status()["spared"])), process.said()
            end_all(marked_processes(running.mark))
        assert [spared["reason"] for spared in running.status()["spared"]]
        running.run()
    assert _silence(server.log) >= 15 - _TOLERANCE
    assert len(running.stored()) == 36
    running.verify()


def test_one_host_cannot_silence_its_neighbours_for_long(server: SiteServer, crawl: CrawlFactory) -> None:
    """It is obeyed for an hour itself; its address, where others live, is left alone for a minute at most."""
    listener = server.listen()
    server.put("one.test", Site({"/": Answer(status=429, headers=(("Retry-After", "3600"),))}))
    with DnsServer({host: DnsName(("127.0.0.1",)) for host in _HOSTS}) as dns:
        running = crawl({**_settings(dns), "Work.WaitForRetries": 0})
        running.run(listener.url(host=_HOSTS[0]))
    spared = {entry["site"]: entry["until"] - time.time() for entry in running.status()["spared"]}
    assert 3500 < spared["host one.test"] <= 3600
    assert spared["address 127.0.0.1"] <= 60


def test_a_longer_pause_than_allowed_counts_as_the_longest(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/": Answer(status=503, headers=(("Retry-After", "999999999"),))}))
    running = crawl({"Work.MaxRetryAfter": 100})
    running.run(listener.url())
    assert running.states() == {listener.url(): ("failed", "http-error")}
    assert all(entry["until"] - time.time() <= 100 for entry in running.status()["spared"])


def test_a_crawl_delay_is_obeyed_up_to_its_cap(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    pages: dict[str, Page] = {"/": html("Root", ["/a", "/b"]), "/a": html("A"), "/b": html("B")}
    pages["/robots.txt"] = Answer(body=b"User-agent: *\nCrawl-delay: 30\n", headers=(("Content-Type", "text/plain"),))
    server.put("", Site(pages))
    running = crawl({"Work.MaxCrawlDelay": 0.5, "Work.HostConnections": 1})
    running.run(listener.url())
    assert len(running.stored()) == 3
    log = sorted(server.log, key=lambda entry: entry.arrived)
    assert min(after.arrived - before.ended for before, after in itertools.pairwise(log)) >= 0.5 - _TOLERANCE


def test_a_crawl_delay_outlives_its_worker_for_all_sites_of_the_host(server: SiteServer, crawl: CrawlFactory) -> None:
    one, two = server.listen(), server.listen()
    server.put("", Site({"/": html("Root"), "/robots.txt": robots("User-agent: *\nCrawl-delay: 2\n")}))
    known = crawl({"Work.HostConnections": 1, "Work.WaitForRetries": 30})
    with known.start(one.url(), two.url()) as running:
        # The other site of the host is asked no sooner than two seconds after the first. It is 0 until then.
        assert wait_until(lambda: 2.0 in _crawl_delays(known)), running.said()
        worker = process_of_kind(running.mark, "worker")
        assert worker is not None
        worker.kill()
        assert wait_until(lambda: len(server.log) > 1), running.said()
    first, second = sorted(server.log, key=lambda entry: entry.arrived)[:2]
    assert second.arrived - first.ended >= 2 - _TOLERANCE


def _crawl_delays(crawl: Crawl) -> set[float]:
    """Of all sites, as far as the database knows them."""
    with contextlib.closing(sqlite3.connect(crawl.folder / "crawl.db")) as database:
        try:
            return {delay for (delay,) in database.execute("SELECT robots_delay FROM sites")}
        except sqlite3.OperationalError:  # Its tables are yet to be made.
            return set()


def test_a_slow_server_is_asked_more_slowly(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    slow = {target: replace(page, delay=0.6) for target, page in generated_site(5).pages.items() if isinstance(page, Answer)}
    server.put("", Site({**slow, "/robots.txt": Answer(status=404, delay=0.6)}))
    running = crawl({"Work.HostDelay": 0.05, "Work.HostConnections": 1, "Work.DelayFactor": 1, "Work.MaxHostDelay": 0.4})
    running.run(listener.url())
    assert len(running.stored()) == 5
    log = sorted(server.log, key=lambda entry: entry.arrived)
    assert min(after.arrived - before.ended for before, after in itertools.pairwise(log)) >= 0.4 - _TOLERANCE
