"""Documents between a Crawl Worker and Update Database: they arrive as they were sent, wait where nothing is read, and none is
missing in the end when their worker dies with some of them."""

from __future__ import annotations

import random
from collections import Counter

import psutil

from tests.support.crawl import CrawlFactory, Running
from tests.support.processes import TEST_TIMEOUT, process_of_kind, wait_until
from tests.support.site_server import Listener, SiteServer, await_silence
from tests.support.sites import Answer, Site, html

_BUFFER_BYTES = 400_000
_CONNECTIONS = 4
_SIZES = [0, 1, 100, 2000, 2048, 20_000, 65_535, 90_000, 399_000, 400_000, 401_000, 3_000_000]


def _site(pages: int, sizes: list[int]) -> Site:
    """Documents of these sizes in turn, no two alike: half of them pages, half of them noise."""
    chance = random.Random(1)
    site = Site()
    for number in range(pages):
        noise = chance.randbytes(sizes[number % len(sizes)] // 2).hex().encode()
        if number % 2:
            body, kind = b"<html lang=en><title>Page %d</title><p>%s" % (number, noise), "text/html; charset=utf-8"
        else:
            body, kind = b"%d %s" % (number, noise), "application/octet-stream"
        site.pages[f"/{number}"] = Answer(body, media_type=kind)
    site.pages["/"] = html("All", list(site.pages))
    return site


def _whole(listener: Listener, site: Site) -> dict[str, bytes]:
    return {listener.url(target): body for target, body in site.bodies().items()}


def _processes(running: Running) -> tuple[psutil.Process, psutil.Process]:
    """Update Database and the worker."""
    update, worker = (process_of_kind(running.mark, kind) for kind in ("update database", "worker"))
    assert update is not None
    assert worker is not None
    return update, worker


def test_documents_of_every_size_are_stored_as_they_were_sent(server: SiteServer, crawl: CrawlFactory) -> None:
    """Many at once, in any order, among them some that are larger than the whole buffer."""
    listener = server.listen()
    server.put("", site := _site(96, _SIZES))
    running = crawl({"Work.BufferBytes": _BUFFER_BYTES})
    running.run(listener.url())
    assert running.show_all(running.stored()) == _whole(listener, site)
    assert Counter(server.targets()) == dict.fromkeys(site.pages, 1)
    running.verify()


def test_a_worker_stops_asking_while_its_documents_are_not_read(server: SiteServer, crawl: CrawlFactory) -> None:
    """Update Database stands still until the worker has used up its credit, and finds all that at once when it goes on."""
    listener = server.listen()
    server.put("", site := _site(60, [20_000]))
    running_crawl = crawl({"Work.BufferBytes": 200_000, "Work.HostConnections": _CONNECTIONS})
    with server.holding(lambda _: len(server.log) > 4) as release, running_crawl.start(listener.url()) as running:
        assert wait_until(lambda: len(server.log) > 4), running.said()
        update, _ = _processes(running)
        update.suspend()
        release()
        await_silence(server)
        assert len(server.targets()) < len(site.pages), "the worker had credit for everything"
        update.resume()
        assert running.wait() == 0, running.said()
    assert running_crawl.show_all(running_crawl.stored()) == _whole(listener, site)
    assert Counter(server.targets()) == dict.fromkeys(site.pages, 1)
    running_crawl.verify()


def test_documents_that_were_lost_with_their_worker_are_asked_for_again(server: SiteServer, crawl: CrawlFactory) -> None:
    """The worker has fetched all of its site, and dies before Update Database has read it: the visit is not waited for."""
    listener = server.listen()
    server.put("", site := _site(60, [90_000]))
    running_crawl = crawl({"Work.HostConnections": _CONNECTIONS, "Work.MaxSize": 4})
    with server.holding(lambda _: len(server.log) > 4) as release, running_crawl.start(listener.url()) as running:
        assert wait_until(lambda: len(server.log) > 4), running.said()
        update, worker = _processes(running)
        update.suspend()
        release()
        assert wait_until(lambda: len(server.targets()) == len(site.pages) and not server.under_way), running.said()
        worker.kill()
        worker.wait(TEST_TIMEOUT)
        update.resume()
        assert running.wait() == 0, running.said()
    assert running_crawl.show_all(running_crawl.stored()) == _whole(listener, site)
    assert max(Counter(server.targets()).values()) <= 2
    running_crawl.verify()


def test_a_new_worker_may_begin_before_all_of_the_former_is_read(server: SiteServer, crawl: CrawlFactory) -> None:
    """Both have the same number: each has its own channel and its own end."""
    listeners = [server.listen(), server.listen()]
    sites = [_site(60, [9_000, 30_000]) for _ in listeners]
    for listener, site in zip(listeners, sites, strict=True):
        server.put(listener.authority, site)
    settings = {"Work.BufferBytes": _BUFFER_BYTES, "Work.HostConnections": _CONNECTIONS, "Work.OpenSites": 1}
    running_crawl = crawl(settings)
    with (
        server.holding(lambda _: len(server.log) > 4) as release,
        running_crawl.start(*[listener.url() for listener in listeners]) as running,
    ):
        assert wait_until(lambda: len(server.log) > 4), running.said()
        update, former = _processes(running)
        update.suspend()
        release()
        await_silence(server)
        (first,) = {entry.host for entry in server.log}
        former.kill()
        former.wait(TEST_TIMEOUT)
        assert wait_until(lambda: {entry.host for entry in list(server.log)} > {first}), "the other site has no worker"
        update.resume()
        assert running.wait() == 0, running.said()
    whole = _whole(listeners[0], sites[0]) | _whole(listeners[1], sites[1])
    assert running_crawl.show_all(running_crawl.stored()) == whole
    running_crawl.verify()
