"""Which paths of a site are sitemaps: its own ones, each once, and only so many."""

from __future__ import annotations

from parcahyd.pipeline.crawl_worker.sitemap_paths import SitemapPaths

ORIGIN = "https://a.example"


def test_sitemaps_of_the_site_are_noted_once() -> None:
    paths = SitemapPaths(ORIGIN)
    assert paths.note([f"{ORIGIN}/1.xml", f"{ORIGIN}/2.xml?x", f"{ORIGIN}/1.xml"]) == ["/1.xml", "/2.xml?x"]
    assert paths.note([f"{ORIGIN}/2.xml?x", f"{ORIGIN}/3.xml"]) == ["/3.xml"]
    assert [path in paths for path in ("/1.xml", "/3.xml", "/4.xml")] == [True, True, False]


def test_others_are_passed_over() -> None:
    foreign = ("http://a.example/", "https://a.example:8443/", "https://b.a.example/", "https://a.example.b.example/")
    assert SitemapPaths(ORIGIN).note([None, *foreign]) == []


def test_an_index_that_invents_sitemaps_comes_to_an_end() -> None:
    paths = SitemapPaths(ORIGIN)
    noted = [paths.note(f"{ORIGIN}/{answer}/{number}" for number in range(9)) for answer in range(100)]
    assert sum(map(len, noted)) == 500
    assert noted[-1] == []
