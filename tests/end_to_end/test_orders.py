"""The order of visiting, as the server's log shows it."""

from __future__ import annotations

from itertools import groupby

from tests.support.crawl import CrawlFactory
from tests.support.generated_site import generated_site
from tests.support.site_server import SiteServer


def test_short_visits_let_sites_advance_together(server: SiteServer, crawl: CrawlFactory) -> None:
    listeners = [server.listen() for _ in range(2)]
    server.put("", generated_site(120))
    running = crawl({"Work.Order": "fair", "Work.HostConnections": 1, "Work.OpenSites": 1, "Work.MaxInstances": 1})
    running.run(*(listener.url() for listener in listeners))
    assert len(running.stored()) == 240
    turns = [len(list(entries)) for _, entries in groupby(server.requests(), key=lambda entry: entry.host)]
    assert len(turns) >= 4
    assert max(turns) <= 60
