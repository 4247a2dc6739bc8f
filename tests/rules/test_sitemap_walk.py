"""A walk over sitemaps ends whatever they name, and a sitemap speaks for its site only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.rules.sitemap_walk import MAX_DEPTH, MAX_SITEMAPS, SitemapWalk, admits, admitted_sites

INDEX = "https://a.example/sitemap.xml"


def test_sitemaps_are_read_breadth_first_and_once() -> None:
    walk = SitemapWalk([INDEX, "https://a.example/news.xml", INDEX])
    assert walk.next() == INDEX
    walk.add_children(INDEX, ["https://a.example/1.xml", "https://a.example/news.xml", INDEX])
    assert [walk.next(), walk.next(), walk.next()] == ["https://a.example/news.xml", "https://a.example/1.xml", None]
    assert walk.were_left_out == 0


def test_a_sitemap_that_names_itself_is_read_once() -> None:
    walk = SitemapWalk([INDEX])
    read = 0
    while (sitemap := walk.next()) is not None:
        read += 1
        walk.add_children(sitemap, [INDEX])
    assert read == 1


def test_an_index_that_invents_children_comes_to_an_end() -> None:
    walk = SitemapWalk([INDEX], limit=100)
    read: list[str] = []
    while (sitemap := walk.next()) is not None:
        read.append(sitemap)
        walk.add_children(sitemap, [f"{sitemap}/{child}" for child in range(9)])
    assert len(read) == 1 + 9 + 81
    assert max(sitemap.count("/") for sitemap in read) == INDEX.count("/") + MAX_DEPTH - 1
    assert walk.were_left_out == 9 * 81


def test_a_walk_has_a_limit() -> None:
    walk = SitemapWalk([f"https://a.example/{number}" for number in range(MAX_SITEMAPS + 7)])
    assert walk.were_left_out == 7
    walk.add_children("https://a.example/0", ["https://a.example/x"])
    assert walk.were_left_out == 8


def test_a_stranger_has_no_children() -> None:
    walk = SitemapWalk([])
    walk.add_children(INDEX, ["https://a.example/1.xml"])
    assert walk.next() is None


@given(st.recursive(st.just([]), lambda deeper: st.lists(deeper, max_size=4), max_leaves=60), st.integers(0, 20))
def test_no_walk_exceeds_its_limit(tree: list[object], limit: int) -> None:
    walk = SitemapWalk(["0"], limit)
    read = []
    while (sitemap := walk.next()) is not None:
        read.append(sitemap)
        walk.add_children(sitemap, [f"{sitemap}.{number}" for number in range(len(tree) + 1)])
    assert len(read) == len(set(read)) <= limit


def test_a_sitemap_speaks_for_its_own_site() -> None:
    assert admits(INDEX, "https://a.example/")
    assert admits("https://a.example/deep/sitemap.xml", "https://a.example/other/page")
    for foreign in ("http://a.example/", "https://a.example:8443/", "https://b.a.example/", "https://a.example.b.example/"):
        assert not admits(INDEX, foreign)


def test_a_site_can_name_a_sitemap_that_lies_elsewhere() -> None:
    hosted = "https://maps.example/a.xml"
    assert not admits(hosted, "https://a.example/1")
    assert admits(hosted, "https://a.example/1", named_by="https://a.example/robots.txt")
    assert admits(hosted, "https://maps.example/1", named_by="https://a.example/robots.txt")
    assert not admits(hosted, "https://b.example/1", named_by="https://a.example/robots.txt")
    assert admitted_sites(INDEX, "https://a.example/robots.txt") == ("https://a.example/",)
