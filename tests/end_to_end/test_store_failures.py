"""A database that does not take everything: one poisoned record, or nothing at all for a while."""

from __future__ import annotations

import re
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crawl import Crawl, CrawlFactory, Running, assert_user_error
from tests.support.database_locks import hold_writes
from tests.support.generated_site import generated_site
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.processes import marked_processes, process_of_kind, wait_until
from tests.support.rows import refuse_documents_of_length
from tests.support.site_server import SiteServer


def test_a_poisoned_record_ends_alone(server: SiteServer, crawl_on: CrawlFactory, database: str) -> None:
    listener = server.listen()
    site = generated_site(40)
    server.put("", site)
    lengths = Counter(len(body) for body in site.bodies().values())
    poisoned = next(
        target for target, body in site.bodies().items() if target.startswith("/files/") and lengths[len(body)] == 1
    )
    crawl = crawl_on({"Work.RetryDelay": 600})
    crawl.run(listener.url(), sets={"Work.MaxPages": 1})
    refuse_documents_of_length(database, len(site.bodies()[poisoned]))

    with crawl.start(sets={"Work.MaxPages": 0}) as running:
        assert running.wait() == 0, running.said()
        summary = running.summary()
    assert (summary["failed"], summary["reasons"]) == (1, {"store": 1})
    states = crawl.states()
    assert states[listener.url(poisoned)] == ("failed", "store")
    assert crawl.stored() == {listener.url(target) for target in site.bodies() if target != poisoned}
    assert Counter(server.targets()) == dict.fromkeys(site.bodies(), 1)
    crawl.verify()


@pytest.mark.parametrize("pages", [300])
def test_a_database_that_stands_still_stops_the_workers(
    server: SiteServer, crawl_on: CrawlFactory, database: str, pages: int
) -> None:
    """Back-pressure: what is fetched while nothing can be written fits in the buffer and on the wire; then all goes on."""
    size, buffer_bytes, connections = 8000, 65536, 4
    listener = server.listen()
    server.put("", generated_site(pages, size=size))
    crawl = crawl_on({"Work.BufferBytes": buffer_bytes, "Work.MaxSize": 5, "Work.HostConnections": connections})
    crawl.run(listener.url(), sets={"Work.MaxPages": 1})
    with crawl.start(sets={"Work.MaxPages": 0}) as running:
        with hold_writes(database, when=lambda: len(server.targets()) >= 20):
            before = len(server.targets())
            _until_quiet(server)
            fetched = len(server.targets()) - before
        assert fetched <= buffer_bytes / size + connections
        assert running.wait() == 0, running.said()
    assert Counter(server.targets()) == dict.fromkeys(server.site().bodies(), 1)
    assert len(crawl.stored()) == pages
    crawl.verify()


# --- a database that is away ---------------------------------------------------------------------------------------------

_TELLING = ["--interval", "0"]
"""Options of a run whose output has a line every half a second, with the last notice."""

_LINES = 12
"""So many lines with a notice, and the run has tried again several times."""


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that the test may stop."""
    with postgres_server() as server:
        yield server


def _until_database_is_missed(running: Running) -> None:
    def missed() -> bool:
        return running.said().count("the database takes nothing: ") >= _LINES

    assert wait_until(missed, pause=0.1), running.said()


def test_a_database_that_is_away_costs_no_confirmation(
    server: SiteServer, tmp_path: Path, own_postgres: PostgresServer
) -> None:
    """The pages of the second run are confirmed with 304. Records of confirmations wait, and none is given up."""
    listener = server.listen()
    server.put("", generated_site(60))
    crawl = Crawl(tmp_path, f"{own_postgres.prefix}postgres", {"Work.MaxSize": 4, "Work.HostConnections": 2})
    crawl.run(listener.url())
    assert Counter(server.targets()) == dict.fromkeys(server.site().bodies(), 1)
    with crawl.start(sets={"Work.RevisitAfter": 0.001, "Work.HostDelay": 0.02}, options=_TELLING) as running:
        assert wait_until(lambda: len(server.targets()) > 70, pause=0.01), running.said()
        own_postgres.stop()
        _until_database_is_missed(running)
        own_postgres.start_again()
        assert running.wait() == 0, running.said()
    assert Counter(server.targets()) == dict.fromkeys(server.site().bodies(), 2)
    assert len(crawl.stored()) == 60
    crawl.verify()


def test_a_run_that_is_stopped_while_its_database_is_away_says_so_and_the_next_one_goes_on(
    server: SiteServer, tmp_path: Path, own_postgres: PostgresServer
) -> None:
    listener = server.listen()
    server.put("", generated_site(60))
    crawl = Crawl(
        tmp_path, f"{own_postgres.prefix}postgres", {"Work.MaxSize": 4, "Work.HostConnections": 2, "Work.HostDelay": 0.02}
    )
    with crawl.start(listener.url(), options=_TELLING) as running:
        assert wait_until(lambda: len(server.targets()) > 20, pause=0.01), running.said()
        own_postgres.stop()
        _until_database_is_missed(running)
        running.interrupt()
        assert wait_until(lambda: "stopping" in running.phases()), running.said()
        running.interrupt()
        assert running.wait() == 1, running.said()
        last = running.said().splitlines()[-1]
        assert "records are not stored; start again" in last, running.said()
        assert "Traceback" not in running.said()
        assert wait_until(lambda: not marked_processes(crawl.mark))
    own_postgres.start_again()
    committed = crawl.stored()
    assert committed
    crawl.run()
    asked = Counter(server.targets())
    assert {target for target in asked if listener.url(target) in committed and asked[target] > 1} == set()
    assert len(crawl.stored()) == 60
    crawl.verify()


@pytest.mark.parametrize("room", [1_000, 40_000])
def test_a_disk_that_takes_no_more_is_waited_for(server: SiteServer, crawl: CrawlFactory, room: int) -> None:
    """The largest size of a file stands for the disk. The run waits, and goes on when there is room."""
    listener = server.listen()
    server.put("", generated_site(80, size=20_000))
    on_disk = crawl({"Work.MaxSize": 5, "Work.HostDelay": 0.02, "Work.HostConnections": 2})
    with on_disk.start(listener.url(), options=_TELLING) as running:
        assert wait_until(lambda: len(server.targets()) > 5, pause=0.01), running.said()
        writer = process_of_kind(on_disk.mark, "update database")
        assert writer is not None
        unlimited = resource.prlimit(writer.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(writer.pid, resource.RLIMIT_FSIZE, (room, unlimited[1]))
        _until_database_is_missed(running)
        resource.prlimit(writer.pid, resource.RLIMIT_FSIZE, unlimited)
        assert running.wait() == 0, running.said()
    assert Counter(server.targets()) == dict.fromkeys(server.site().bodies(), 1)
    assert len(on_disk.stored()) == 80
    on_disk.verify()


def test_a_disk_that_is_full_from_the_beginning_is_a_user_error(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(3))
    on_disk = crawl()
    on_disk.run(listener.url())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        finished = on_disk.run(code=None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_user_error(finished, "database", "disk")
    on_disk.run()


@pytest.mark.skipif(sys.platform != "linux", reason="bounds the files of another process")
def test_an_interrupt_while_the_disk_is_full_says_what_was_not_stored(server: SiteServer, crawl: CrawlFactory) -> None:
    """A process that may not make its files longer stands for one whose disk is full: each write fails."""
    listener = server.listen()
    server.put("", generated_site(120, size=4000))
    running_crawl = crawl({"Work.HostConnections": 4, "Work.StopTimeout": 0})
    with (
        server.holding(lambda _: len(server.targets()) > 20) as release,
        running_crawl.start(listener.url(), options=["--interval", "0"]) as running,
    ):
        assert wait_until(lambda: len(server.targets()) > 20), running.said()
        writer = process_of_kind(running_crawl.mark, "update database")
        assert writer is not None
        resource.prlimit(writer.pid, resource.RLIMIT_FSIZE, (0, 0))
        release()
        assert wait_until(lambda: "the database takes nothing: " in running.said()), running.said()
        running.interrupt()
        assert running.wait() == 1, running.said()
        assert "Traceback" not in running.said()
        summary = running.summary()
    assert summary["outcome"] == "interrupted"
    assert re.search(
        r"[1-9][0-9,]* records \([1-9][0-9,]* bytes\) that had been received were not stored", summary["notes"][-1]
    )
    running_crawl.verify()
    running_crawl.run()
    assert len(running_crawl.stored()) == 120
    running_crawl.verify()


def _until_quiet(server: SiteServer, seconds: float = 2.0) -> None:
    """Until no request has arrived for some seconds."""

    def quiet() -> bool:
        count = len(server.log)
        return not wait_until(lambda: len(server.log) > count, timeout=seconds)

    assert wait_until(quiet), "requests kept coming although nothing could be written"
