"""What is read in a document, by its media type and by the settings."""

from __future__ import annotations

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.document_reader import DocumentReader, ReadDocument, is_sitemap, reason_not_to_keep
from parcahyd.rules.html.links import PageLinks
from parcahyd.rules.robots.directives import NO_DIRECTIVES, Directive
from tests.pipeline.crawl_worker.world import Tools

URL = "http://site.example/a"
AGENT = "parcahyd/1"


def reader(**settings: object) -> DocumentReader:
    return DocumentReader(WorkConf(**settings), Tools())  # type: ignore[arg-type]


def came(body: bytes, media_type: str = "text/html", charset: str = "utf-8") -> ReadDocument:
    return ReadDocument(DueUrl(1, "/a"), DownloadResult(200, (), body), media_type, charset, 1000.0)


def references(links: PageLinks | None) -> set[str]:
    assert links is not None
    return {href for key in links.keys for href in links.found[key].follow}


def test_html_is_read_on_the_event_loop_and_other_formats_in_a_thread() -> None:
    one = reader()
    assert one.is_quick("text/html")
    assert not one.is_quick("application/xhtml+xml")
    assert not one.is_slow("text/xml", 64 * 1024)
    assert one.is_slow("text/xml", 64 * 1024 + 1)
    assert one.is_read("application/gzip", True)
    assert not one.is_read("application/gzip", False)
    assert not reader(Summaries="full").is_quick("text/html")


def test_a_sitemap_gives_links_and_when_pages_of_its_own_site_changed() -> None:
    document = came(
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        b"<url><loc>http://site.example/x</loc><lastmod>2020-01-02</lastmod></url>"
        b"<url><loc>http://other.example/y</loc><lastmod>2020-01-02</lastmod></url></urlset>",
        "application/xml",
    )
    reader().read(document, URL, True)
    assert references(document.links) == {"http://site.example/x", "http://other.example/y"}
    assert document.lastmods == (("/x", 1577923200.0),)
    assert document.sitemaps == ()


def test_an_index_gives_the_sitemaps_that_it_names() -> None:
    document = came(b"<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>", "text/xml")
    reader().read(document, URL, True)
    assert document.sitemaps == ("/s.xml",)


@pytest.mark.parametrize(("base_before", "base", "newer"), [("/b/", "/b/", {"new"}), ("/b/", "/c/", {"new", "old"})])
def test_only_links_that_the_version_before_did_not_have_are_newer(base_before: str, base: str, newer: set[str]) -> None:
    one, link = reader(), '<a href="old">x</a>'
    document = came(f'<base href="{base}">{link}<a href="new">x</a>'.encode())
    one.read_html(document)
    assert document.links is not None
    assert references(document.links) == {"new", "old"}
    before = f'<base href="{base_before}">{link}'.encode()
    assert references(one.newer_links(document, document.links, before)) == newer


@pytest.mark.parametrize(
    ("headers", "directives"),
    [
        ((), NO_DIRECTIVES),
        ((("X-Robots-Tag", "noindex"),), Directive.NOINDEX),
        ((("x-robots-tag", "other: noindex"),), NO_DIRECTIVES),
        ((("", "noindex"), ("X-Robots-Tag", "noindex")), Directive.NOINDEX),
        ((("Xylophone", "noindex"), ("Link", "</n>; rel=next")), NO_DIRECTIVES),
    ],
)
def test_what_headers_ask_of_robots_is_obeyed(headers: tuple[tuple[str, str], ...], directives: Directive) -> None:
    assert reader().directives_of(None, headers, URL, AGENT, 1000.0) == directives


def test_what_a_page_asks_of_robots_is_obeyed_as_far_as_the_settings_say() -> None:
    document = came(b'<meta name="robots" content="noindex, nofollow">')
    one = reader()
    one.read_html(document)
    asked = one.directives_of(document.links, (), URL, AGENT, 1000.0)
    assert asked == Directive.NOINDEX | Directive.NOFOLLOW
    assert reader(Directives=("nofollow",)).directives_of(document.links, (), URL, AGENT, 1000.0) == Directive.NOFOLLOW
    assert reason_not_to_keep(asked) is Reason.NOINDEX
    assert reason_not_to_keep(Directive.NOARCHIVE) is Reason.NOARCHIVE
    assert reason_not_to_keep(Directive.NOFOLLOW) is None


def test_compressed_files_are_read_as_sitemaps_where_their_name_says_so() -> None:
    assert is_sitemap("/sitemap-1.gz", "application/gzip")
    assert is_sitemap("/pages.xml.gz", "application/gzip")
    assert not is_sitemap("/pages.tar.gz", "application/gzip")
    assert not is_sitemap("/sitemap.html", "text/html")
