"""MaxPagesPerSite: over all runs together; what it holds back is counted, explained, and crawled when it is raised."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

from tests.support.crawl import CrawlFactory, Finished
from tests.support.site_server import SiteServer
from tests.support.sites import Page, Site, html


def _summary(finished: Finished) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(finished.out.splitlines()[-1])
    return summary


def test_it_holds_over_several_runs_and_tells_what_it_holds_back(server: SiteServer, crawl_on: CrawlFactory) -> None:
    first, second = server.listen(), server.listen()
    pages: dict[str, Page] = {f"/{number}": html(f"Page {number}", [f"/{number + 1}"]) for number in range(30)}
    site = Site({"/": html("Home", pages), **pages})
    server.put(first.authority, site)
    server.put(second.authority, site)
    crawl = crawl_on({"Work.MaxPagesPerSite": 10, "Work.VisitPages": 4})

    def by_site() -> Counter[str]:
        return Counter(urlsplit(url).netloc for url in crawl.stored())

    for _ in range(2):
        summary = _summary(crawl.run(first.url(), second.url()))
        assert by_site() == {first.authority: 10, second.authority: 10}
        assert len(server.targets()) == 20, "the second run has nothing to ask for"
        held_back = [url for url, state in crawl.states().items() if state == ("refused", "site-pages")]
        assert summary["outcome"] == "done"
        assert summary["held_back"] == len(held_back) == len(crawl.states()) - 20 > 30
        assert "MaxPagesPerSite" in crawl.explain(held_back[0])

    summary = _summary(crawl.run(sets={"Work.MaxPagesPerSite": 15}))
    assert by_site() == {first.authority: 15, second.authority: 15}
    assert summary["held_back"] == len(crawl.states()) - 30
    summary = _summary(crawl.run(sets={"Work.MaxPagesPerSite": 0}))
    assert summary["held_back"] == 0
    assert {state for state, _ in crawl.states().values()} == {"stored", "gone"}  # The last page links to one that is missing.
    assert len(server.targets()) == 64
    crawl.verify()
