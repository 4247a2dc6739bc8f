"""MaxRate and MaxHostRate with real transfers."""

from __future__ import annotations

import pytest

from tests.support.crawl import CrawlFactory, Setting
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Site, html

_SIZE = 20_000
_RATE = 80_000


@pytest.mark.parametrize(
    "settings",
    [
        {"Work.MaxRate": _RATE},
        {"Work.MaxHostRate": _RATE},
        # A run does not end because a host rests between two visits.
        {"Work.MaxHostRate": _RATE, "Work.VisitPages": 1},
    ],
)
def test_the_mean_keeps_the_rate(server: SiteServer, crawl: CrawlFactory, settings: dict[str, Setting]) -> None:
    listener = server.listen()
    pages: dict[str, Page] = {f"/{number}": Answer(bytes(_SIZE), media_type="application/octet-stream") for number in range(8)}
    server.put("", Site({"/": html("Home", pages), **pages}))
    running = crawl({"Work.HostConnections": 1, **settings})
    running.run(listener.url())
    assert len(running.stored()) == 9
    arrived = [entry.arrived for entry in server.requests()]
    assert len(arrived) == 9
    # The first of the eight was sent after the request of the home page had arrived, the last before it arrived itself.
    assert arrived[-1] - arrived[0] >= 7 * _SIZE / _RATE
    running.verify()
