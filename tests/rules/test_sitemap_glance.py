"""The quick way to read a sitemap gives what the thorough way gives, or leaves it alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.sitemap_glance import read_at_a_glance
from parcahyd.rules.sitemap_harvest import Harvest
from parcahyd.rules.sitemap_xml import read_strictly

USUAL = b"""<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/xsl" href="/sitemap.xsl"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'
        xsi:schemaLocation="http://www.sitemaps.org/schemas/sitemap/0.9 http://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd">
  <url>
    <loc>http://a.example/1?a&amp;b</loc>
    <lastmod>2024-05-01</lastmod>
    <changefreq>daily</changefreq><priority>0.8</priority>
  </url>
  <url><loc> http://a.example/2 </loc><priority>1</priority><lastmod>2024-05-01T00:00:00+00:00</lastmod></url>
  <url><loc>http://a.example/3</loc></url><url><loc>http://a.example/1?a&amp;b</loc></url>
</urlset>
"""


def test_the_usual_sitemap_is_read() -> None:
    harvest = Harvest(is_lenient=False)
    assert read_at_a_glance(USUAL, harvest)
    assert harvest.pages == {
        "http://a.example/1?a&b": 1714521600.0,
        "http://a.example/2": 1714521600.0,
        "http://a.example/3": None,
    }


UNUSUAL = {
    "a comment": USUAL.replace(b"<loc>", b"<!-- --><loc>"),
    "CDATA": USUAL.replace(b"<loc>", b"<loc><![CDATA[").replace(b"</loc>", b"]]></loc>"),
    "an extension": USUAL.replace(b"</url>", b"<x:y/></url>"),
    "a bare ampersand": USUAL.replace(b"&amp;", b"&"),
    "another reference": USUAL.replace(b"&amp;", b"&#38;"),
    "other letters": USUAL.replace(b"/1", "/ü".encode()),
    "a blank in a location": USUAL.replace(b"/1", b"/1 2"),
    "two dates": USUAL.replace(b"</lastmod>", b"</lastmod><lastmod>2020</lastmod>"),
    "no end": USUAL.replace(b"</urlset>", b""),
    "a second root": USUAL + USUAL,
    "an empty root": b"<urlset/>",
    "another root": USUAL.replace(b"urlset", b"urlset2"),
    "a document type": USUAL.replace(b"<urlset", b"<!DOCTYPE x><urlset"),
    "a child": USUAL.replace(b"url>", b"sitemap>"),
    "nothing": b"",
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual_is_left_alone(name: str) -> None:
    assert not read_at_a_glance(UNUSUAL[name], Harvest(is_lenient=False))


PARTS = st.lists(
    st.sampled_from(
        [
            *("<url>", "</url>", "<loc>", "</loc>", "<lastmod>2024-05-01</lastmod>", "<lastmod> 2023 </lastmod>", "<lastmod/>"),
            *(
                "<changefreq>daily</changefreq>",
                "<priority>0.5</priority>",
                "<url><loc>http://a.example/9</loc></url>",
                "</urlset>",
            ),
            *("http://a.example/1", "&amp;", "x", "\n", " ", ">", "]]>", "'", "%", "<loc>/2</loc>", "<url><loc>/3</loc>"),
        ]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=500)
@given(PARTS, st.sampled_from(["<urlset>", '<urlset xmlns="x">', "<?xml version='1.0'?>\n<urlset >"]))
def test_both_ways_lead_to_the_same(parts: str, head: str) -> None:
    data = f"{head}{parts}</urlset>".encode()
    quick, thorough = Harvest(is_lenient=False), Harvest(is_lenient=False)
    if read_at_a_glance(data, quick):
        assert read_strictly(data, thorough, is_whole=True) == ""
        assert (quick.kind, list(quick.pages.items()), quick.too_long) == (thorough.kind, list(thorough.pages.items()), 0)
        assert not thorough.children
        assert not thorough.alternates


def test_hostile_beginnings_end() -> None:
    for pattern in (b" ", b' a="', b" a=''", b"<url><loc>", b"&amp;", b"a", b"<priority></priority>"):
        for start in (b"<urlset", b"<urlset><url><loc>", b"<urlset><url><loc>a</loc>"):
            assert not read_at_a_glance(start + pattern * 50_000, Harvest(is_lenient=False))
