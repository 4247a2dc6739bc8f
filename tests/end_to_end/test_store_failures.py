"""A database that does not take everything: one poisoned record, or none at all for a while."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.crawl import CrawlFactory
from tests.support.database_locks import hold_writes
from tests.support.generated_site import generated_site
from tests.support.processes import wait_until
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

    crawl.run()
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
    with crawl.start() as running:
        with hold_writes(database, when=lambda: len(server.targets()) >= 20):
            before = len(server.targets())
            _until_quiet(server)
            fetched = len(server.targets()) - before
        assert fetched <= buffer_bytes / size + connections
        assert running.wait() == 0, running.said()
    assert Counter(server.targets()) == dict.fromkeys(server.site().bodies(), 1)
    assert len(crawl.stored()) == pages
    crawl.verify()


def _until_quiet(server: SiteServer, seconds: float = 2.0) -> None:
    """Until no request has arrived for some seconds."""

    def quiet() -> bool:
        count = len(server.log)
        return not wait_until(lambda: len(server.log) > count, timeout=seconds)

    assert wait_until(quiet), "requests kept coming although nothing could be written"
