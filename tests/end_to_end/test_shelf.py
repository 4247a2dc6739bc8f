"""Documents on the workers' shelves: stored as if they had travelled otherwise, and safe from the death of who wrote them."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from tests.support.crawl import Crawl, CrawlFactory, Running
from tests.support.processes import process_of_kind, wait_until
from tests.support.site_server import Listener, SiteServer, await_silence
from tests.support.sites import Answer, Site, html

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no shelves")

_BUFFER_BYTES = 400_000
_CONNECTIONS = 4
_SIZES = [0, 100, 2000, 2047, 2048, 2049, 20_000, 90_000, 399_000, 400_000, 401_000, 3_000_000]
_WITHOUT = "import os\ndel os.memfd_create\n"


def _site(pages: int, sizes: list[int], delay: float = 0.0) -> Site:
    """Documents of these sizes in turn, no two alike: half of them pages, half of them noise."""
    chance = random.Random(1)
    site = Site()
    targets = []
    for number in range(pages):
        size = sizes[number % len(sizes)]
        noise = chance.randbytes(size // 2).hex().encode()
        if number % 2:
            body, kind = b"<html lang=en><title>Page %d</title><p>%s" % (number, noise), "text/html; charset=utf-8"
        else:
            body, kind = b"%d %s" % (number, noise), "application/octet-stream"
        targets.append(f"/{number}")
        site.pages[targets[-1]] = Answer(body, media_type=kind, delay=delay)
    site.pages["/"] = html("All", targets)
    return site


def _documents(crawl: Crawl) -> list[tuple[object, ...]]:
    """What lies in the database, as it lies there."""
    columns = "urls.path, sha256, length, documents.body, title, language"
    with closing(sqlite3.connect(crawl.folder / "crawl.db")) as database:
        return database.execute(
            f"SELECT {columns} FROM urls JOIN documents ON documents.id = urls.document_id ORDER BY urls.path"  # noqa: S608 (fixed)
        ).fetchall()


def _shelves(process: psutil.Process) -> int:
    """How many shelves a process sees."""
    try:
        return Path(f"/proc/{process.pid}/maps").read_text().count("memfd:shelf")
    except (FileNotFoundError, ProcessLookupError):
        return 0


def test_what_is_stored_does_not_depend_on_the_shelf(
    server: SiteServer, crawl: CrawlFactory, crawl_apart: CrawlFactory, tmp_path: Path
) -> None:
    """Documents that are too small, too large, or find it full among them."""
    listener = server.listen()
    server.put("", _site(96, _SIZES))
    settings = {"Work.BufferBytes": _BUFFER_BYTES, "Work.HostConnections": _CONNECTIONS}
    lying, travelling = crawl(settings), crawl_apart(settings)
    _take_shelves_from(travelling, tmp_path)
    lying.run(listener.url())
    travelling.run(listener.url())
    assert len(_documents(lying)) == 97
    assert _documents(lying) == _documents(travelling)
    lying.verify()


def test_documents_on_the_shelf_of_a_killed_worker_are_stored(server: SiteServer, crawl: CrawlFactory) -> None:
    """They are read where they lie when nobody but Update Database holds the memory: nothing is fetched again."""
    listener = server.listen()
    server.put("", site := _site(60, [9_000, 30_000], delay=0.05))
    running_crawl = crawl({"Work.HostConnections": _CONNECTIONS, "Work.MaxSize": 4})
    with running_crawl.start(listener.url()) as running:
        update, worker = _at_work(server, running)
        update.suspend()
        before = len(server.log)
        await_silence(server)
        assert len(server.log) == 62 > before + 10, "too few documents came while nobody read them"
        assert _shelves(worker) == _shelves(update) == 1
        worker.kill()
        worker.wait(10)
        update.resume()
        assert running.wait() == 0, running.said()
    assert len(server.log) == 62
    assert running_crawl.show_all(running_crawl.stored()) == _whole(listener, site)
    running_crawl.verify()


def test_a_visit_whose_last_record_died_with_its_worker_is_not_waited_for(
    server: SiteServer, crawl: CrawlFactory, tmp_path: Path
) -> None:
    """The coordinator was told that it is over; what Update Database was to be told did not fit into the channel."""
    listener = server.listen()
    server.put("", site := _site(60, [90_000], delay=0.02))
    running_crawl = crawl({"Work.HostConnections": _CONNECTIONS, "Work.MaxSize": 4})
    _take_shelves_from(running_crawl, tmp_path)
    with running_crawl.start(listener.url()) as running:
        update, worker = _at_work(server, running)
        update.suspend()
        await_silence(server)
        assert len(server.log) == 62, "all was asked for"
        worker.kill()
        worker.wait(10)
        update.resume()
        assert running.wait() == 0, running.said()
    assert len(server.log) > 62, "what was lost is asked for again"
    assert running_crawl.show_all(running_crawl.stored()) == _whole(listener, site)
    running_crawl.verify()


def test_a_new_worker_has_a_shelf_of_its_own(server: SiteServer, crawl: CrawlFactory) -> None:
    """And the memory of the former one is given back, although documents lay on it."""
    listener = server.listen()
    server.put("", site := _site(120, [9_000, 30_000], delay=0.05))
    settings = {"Work.BufferBytes": _BUFFER_BYTES, "Work.HostConnections": _CONNECTIONS, "Work.MaxSize": 4}
    running_crawl = crawl(settings)
    with running_crawl.start(listener.url()) as running:
        update, former = _at_work(server, running)
        update.suspend()
        await_silence(server)
        former.kill()
        former.wait(10)
        update.resume()

        def is_replaced() -> bool:
            worker = process_of_kind(running.mark, "worker")
            return worker is not None and worker.pid != former.pid and _shelves(worker) == _shelves(update) == 1

        assert wait_until(is_replaced, timeout=10), running.said()
        assert running.wait() == 0, running.said()
    assert running_crawl.show_all(running_crawl.stored()) == _whole(listener, site)
    running_crawl.verify()


def test_a_new_worker_may_join_before_all_of_the_former_is_read(server: SiteServer, crawl: CrawlFactory) -> None:
    """Both have the same number: each has its own channel, shelf and end."""
    listeners = [server.listen(), server.listen()]
    sites = [_site(60, [9_000, 30_000], delay=0.03) for _ in listeners]
    for listener, site in zip(listeners, sites, strict=True):
        server.put(listener.authority, site)
    settings = {"Work.BufferBytes": _BUFFER_BYTES, "Work.HostConnections": _CONNECTIONS, "Work.OpenSites": 1}
    running_crawl = crawl(settings)
    with running_crawl.start(*[listener.url() for listener in listeners]) as running:
        update, former = _at_work(server, running)
        update.suspend()
        await_silence(server)
        before = len(server.log)
        former.kill()
        former.wait(10)
        assert wait_until(lambda: len(server.log) > before), "the other site waits for another worker"
        update.resume()
        assert running.wait(30) == 0, running.said()
    whole = _whole(listeners[0], sites[0]) | _whole(listeners[1], sites[1])
    assert running_crawl.show_all(running_crawl.stored()) == whole
    running_crawl.verify()


def _take_shelves_from(crawl: Crawl, folder: Path) -> None:
    """Have its documents travel inside their records."""
    (folder / "without").mkdir()
    (folder / "without" / "sitecustomize.py").write_text(_WITHOUT)
    crawl.python_path.insert(0, folder / "without")


def _at_work(server: SiteServer, running: Running) -> tuple[psutil.Process, psutil.Process]:
    """Update Database and the worker, as soon as documents come."""
    assert wait_until(lambda: len(server.log) > 4, pause=0.001), running.said()
    update, worker = (process_of_kind(running.mark, kind) for kind in ("update database", "worker"))
    assert update is not None
    assert worker is not None
    return update, worker


def _whole(listener: Listener, site: Site) -> dict[str, bytes]:
    return {listener.url(target): body for target, body in site.bodies().items()}
