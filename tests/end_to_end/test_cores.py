"""Update Database stays on one core while that is enough for what arrives."""

from __future__ import annotations

import os

import psutil
import pytest

from parcahyd.runtime.cores import usable_cores
from tests.support.crawl import CrawlFactory
from tests.support.processes import process_of_kind, wait_until
from tests.support.site_server import SiteServer, await_silence
from tests.support.sites import Answer, Site, html

pytestmark = [
    pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="this system does not tell its threads"),
    pytest.mark.skipif(usable_cores() < 2, reason="one core only"),
]


def _cores(process: psutil.Process) -> set[int]:
    """How many cores each of its threads may use."""
    return {len(os.sched_getaffinity(thread.id)) for thread in process.threads()}


def test_the_core_is_left_when_the_buffer_fills_up(server: SiteServer, crawl: CrawlFactory) -> None:
    """It stands still until the worker has used up its credit, and finds all that at once when it goes on."""
    listener = server.listen()
    targets = [f"/{number}" for number in range(60)]
    pages = {target: Answer(f"<title>{target}</title>".encode() + os.urandom(20_000), delay=0.05) for target in targets}
    server.put("", Site({"/": html("All", targets), **pages}))
    running_crawl = crawl({"Work.MaxInstances": 1, "Work.BufferBytes": 200_000, "Work.HostConnections": 4})
    with running_crawl.start(listener.url()) as running:
        assert wait_until(lambda: len(server.log) > 4, pause=0.001), running.said()
        update = process_of_kind(running.mark, "update database")
        assert update is not None
        assert _cores(update) == {1}
        update.suspend()
        await_silence(server)
        assert len(server.log) < 60, "the worker had credit for everything"
        update.resume()
        assert wait_until(lambda: _cores(update) == {usable_cores()}, pause=0.001), running.said()
        assert running.wait() == 0, running.said()
    assert len(running_crawl.stored()) == 61
    running_crawl.verify()
