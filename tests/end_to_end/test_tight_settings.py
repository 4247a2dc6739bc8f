"""The smallest queues, visits and batches that can be configured: slower, but the same crawl, each page once."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.crawl import CrawlFactory, Setting
from tests.support.generated_site import generated_site
from tests.support.site_server import SiteServer

_TIGHT: dict[str, dict[str, Setting]] = {
    "short visits": {"Work.VisitPages": 3, "Work.OpenSites": 1},
    "ended visits": {"Work.VisitSeconds": 0},
    "small queues": {"Map.QueueSize": 1, "Map.ArgumentUrl": 1, "Map.MaxInstances": 1, "Work.ArgumentUrl": 1},
    "few keys": {"Work.MetaKeys": 5, "Work.VisitPages": 10},
    "small batches": {"Work.MaxSize": 1, "Work.BufferBytes": 65536, "Work.Connections": 1},
}


@pytest.mark.parametrize("name", _TIGHT)
def test_every_page_once(server: SiteServer, crawl: CrawlFactory, name: str) -> None:
    one, two = server.listen(), server.listen()
    server.put("", generated_site(35, abroad=[one.url("/part1/page12.html"), two.url("/part2/page23.html")]))
    running = crawl({"Work.MaxInstances": 2, **_TIGHT[name]})
    running.run(one.url(), two.url())
    expected = {listener.url(target) for listener in (one, two) for target in server.site().bodies()}
    assert running.stored() == expected
    assert Counter(entry.url for entry in server.requests()) == dict.fromkeys(expected, 1)
    running.verify()
