"""One site's flood is its own: links without end are counted and not stored, and an honest site is crawled whole."""

from __future__ import annotations

from tests.support.crawl import CrawlFactory
from tests.support.site_server import SiteServer
from tests.support.sites import Page, Site, html


def test_an_honest_site_with_more_links_than_fit_is_crawled_whole(server: SiteServer, crawl_on: CrawlFactory) -> None:
    """Pages with links that were left out are read again, in the same run, until all are known."""
    listener = server.listen()
    leaves = [f"/leaf/{number}" for number in range(260)]
    pages: dict[str, Page] = {leaf: html(leaf) for leaf in leaves}
    pages |= {"/": html("Home", ["/list/1", "/list/2"]), "/list/1": html("1", leaves[:180]), "/list/2": html("2", leaves[120:])}
    server.put("", Site(pages))
    crawl = crawl_on({"Work.MaxNewUrls": 40, "Work.MaxSiteUrls": 20})
    crawl.run(listener.url())
    assert crawl.stored() == {listener.url(path) for path in pages}
    assert crawl.status()["left_out"] == []
    targets = server.targets()
    assert len(targets) == len(set(targets)) + sum(targets.count(page) - 1 for page in ("/list/1", "/list/2"))
    crawl.verify()


def test_invented_hosts_do_not_fill_the_table_of_sites(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    flood = [f"http://h{number}.invented.example/" for number in range(15_000)]
    more = [f"http://i{number}.invented.example/" for number in range(500)]
    server.put("", Site({"/": html("Flood", ["/more", *flood]), "/more": html("More", more)}))
    crawl = crawl_on()
    finished = crawl.run(listener.url())
    assert crawl.stored() == {listener.url(), listener.url("/more")}
    status = crawl.status()
    assert status["sites"] == 1 + 10_000 + 2 * 100
    (told,) = status["left_out"]
    assert (told["links"], told["external"], told["pages"]) == (0, 15_500 - 10_200, 2)
    assert "5,300" in crawl.explain(listener.url("/"))
    assert "left out" in finished.text
    crawl.verify()


def test_a_flood_of_own_urls_is_bounded_and_its_neighbour_is_crawled_whole(server: SiteServer, crawl: CrawlFactory) -> None:
    flooding, neighbour = server.listen(), server.listen("127.0.0.2")
    leaves = [f"/leaf/{number}" for number in range(50)]
    pages: dict[str, Page] = {"/": html("Home", leaves), **{leaf: html(leaf, ["/"]) for leaf in leaves}}
    server.put("127.0.0.2", Site(pages))
    server.put("", Site({"/": html("Flood", [f"/{number}" for number in range(3000)])}))
    running = crawl({"Work.MaxSiteUrls": 1000, "Work.MaxExternalUrls": 0})
    running.run(flooding.url(), neighbour.url())
    assert running.stored() == {flooding.url(), *(neighbour.url(path) for path in pages)}
    urls = [line for line in running.urls() if line["site"] == flooding.url()[:-1]]
    assert len(urls) == 1000 + 100
    (told,) = running.status()["left_out"]
    assert (told["subject"], told["links"]) == (flooding.url()[:-1], 3001 - 1100)
    running.verify()
