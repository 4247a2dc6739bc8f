"""Sitemaps as they are found on the Web, good and broken; each page counts, and nothing but pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.rules.sitemaps.reader import Kind, read_sitemap

FILES = Path(__file__).parent / "sitemaps"

PAGES = {
    "atom.xml": (Kind.ATOM, 3),
    "do-not-visit.txt": (Kind.TEXT, 1),
    "sitemap-with-bom.txt": (Kind.TEXT, 2),
    "sitemap.badns.xml": (Kind.URLSET, 2),
    "sitemap.index.xml": (Kind.INDEX, 0),
    "sitemap.ns.xml": (Kind.URLSET, 2),
    "sitemap.txt": (Kind.TEXT, 2),
    "sitemap.txt.gz": (Kind.TEXT, 5),
    "xmlSitemap.gz": (Kind.URLSET, 5),
    "extension/hebdenbridgetimes-articles-sitemap.xml": (Kind.URLSET, 74),
    "extension/pagemaps-sitemap.xml": (Kind.URLSET, 2),
    "extension/shinpaideshou-news-sitemap.xml": (Kind.URLSET, 3),
    "extension/sitemap-images.xml": (Kind.URLSET, 1),
    "extension/sitemap-links.xml": (Kind.URLSET, 3),
    "extension/sitemap-mobile.xml": (Kind.URLSET, 3),
    "extension/sitemap-news.xml": (Kind.URLSET, 2),
    "extension/sitemap-videos-tvshow.xml": (Kind.URLSET, 1),
    "extension/sitemap-videos.xml": (Kind.URLSET, 3),
}


def test_every_file_has_its_expectation() -> None:
    assert {path.relative_to(FILES).as_posix() for path in FILES.rglob("*.*") if path.is_file()} == set(PAGES)


@pytest.mark.parametrize(("name", "expected"), PAGES.items())
def test_each_page_is_found_and_nothing_else(name: str, expected: tuple[Kind, int]) -> None:
    sitemap = read_sitemap((FILES / name).read_bytes())
    assert (sitemap.kind, len(sitemap.entries)) == expected
    assert (sitemap.was_cut, sitemap.failures) == (False, ())
    for location, _ in sitemap.entries:
        assert location.startswith(("http://", "https://"))
        assert not location.endswith((".jpg", ".flv", ".mp4", ".gif", ".swf?video=123"))


@pytest.mark.parametrize(
    "name", [name for name, (kind, _) in PAGES.items() if kind is not Kind.TEXT and not name.endswith("gz")]
)
def test_the_scanner_finds_what_the_parser_finds(name: str) -> None:
    body = (FILES / name).read_bytes()
    whole, broken = read_sitemap(body), read_sitemap(body + b"<&")
    assert broken.failures
    assert not whole.failures
    assert broken._replace(failures=()) == whole


def test_a_feed_leads_to_its_pages_but_not_to_itself() -> None:
    assert read_sitemap((FILES / "atom.xml").read_bytes()).entries == [
        ("http://example.org/", None),
        ("http://example.org/2003/12/13/atom03", 1071340202.0),
        ("http://example.org/2003/12/13/atom03.html", 1071340202.0),
    ]


def test_an_index_without_loc_names_its_children() -> None:
    children = read_sitemap((FILES / "sitemap.index.xml").read_bytes()).children
    assert len(children) == 15
    assert children[0] == ("https://example.com/sitemap.jss?portalCode=10260&lang=en", None)


def test_dates_come_in_their_precisions() -> None:
    dates = [lastmod for _, lastmod in read_sitemap((FILES / "xmlSitemap.gz").read_bytes()).entries]
    assert dates == [1104537600.0, None, 1103760000.0, 1103824815.0, 1101168000.0]


def test_every_article_of_a_newspaper_has_its_date() -> None:
    entries = read_sitemap((FILES / "extension/hebdenbridgetimes-articles-sitemap.xml").read_bytes()).entries
    assert all(lastmod is not None for _, lastmod in entries)
