"""What is read from sitemaps and feeds: good ones, broken ones, and those of an adversary."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parcahyd.rules.sitemaps.reader import MAX_DECODED, MAX_ENTRIES, MAX_LOCATION, MAX_TAGS, Kind, Sitemap, read_sitemap

A, B = "https://www.example.org/a", "https://www.example.org/b?x=1&y=2"
MAY_1 = 1714521600.0


def locations(sitemap: Sitemap) -> list[str]:
    return [location for location, _ in sitemap.entries]


def urlset(*items: str) -> bytes:
    root = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}{"".join(items)}</urlset>'.encode()


def url(location: str, lastmod: str = "") -> str:
    return f"<url><loc>{location}</loc>{f'<lastmod>{lastmod}</lastmod>' if lastmod else ''}<changefreq>daily</changefreq></url>"


ORDINARY = urlset(url(A, "2024-05-01"), url("https://www.example.org/b?x=1&amp;y=2"))
EXPECTED = [(A, MAY_1), (B, None)]


def test_a_sitemap_gives_pages_and_dates() -> None:
    assert read_sitemap(ORDINARY, "application/xml") == Sitemap(Kind.URLSET, EXPECTED, [], False, ())


SPELLINGS = {
    "gzip": gzip.compress(ORDINARY),
    "gzip in two members": gzip.compress(ORDINARY[:99]) + gzip.compress(ORDINARY[99:]),
    "gzip with padding": gzip.compress(ORDINARY) + b"\0" * 512,
    "blank lines before the declaration": b"\r\n \t" + ORDINARY,
    "byte order mark": b"\xef\xbb\xbf" + ORDINARY,
    "byte order mark and blank lines": b"\xef\xbb\xbf\n" + ORDINARY,
    "UTF-16 with its mark": ORDINARY.decode().encode("utf-16"),
    "UTF-16 without its mark": ORDINARY.decode().encode("utf-16-be"),
    "UTF-16 that is none": ORDINARY.replace(b"UTF-8", b"utf-16"),
    "an encoding that Python would run": ORDINARY.replace(b"UTF-8", b"zlib_codec"),
    "Latin-1": ORDINARY.replace(b"UTF-8", b"ISO-8859-1"),
    "no namespace": ORDINARY.replace(b' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"', b""),
    "the wrong namespace": ORDINARY.replace(b"www.sitemaps.org", b"www.google.com"),
    "an undeclared prefix": ORDINARY.replace(b"<", b"<sm:").replace(b"<sm:/", b"</sm:").replace(b"<sm:?", b"<?"),
    "upper case": ORDINARY.replace(b"url>", b"URL>").replace(b"loc>", b"Loc>").replace(b"urlset", b"URLSet"),
    "misspelt": ORDINARY.replace(b"loc>", b"location>").replace(b"lastmod>", b"last-modified>"),
    "CDATA": ORDINARY.replace(b"<loc>", b"<loc>\n<![CDATA[ ").replace(b"</loc>", b"]]></loc>").replace(b"&amp;", b"&"),
    "comments": ORDINARY.replace(b"<loc>", b"<!-- <loc>no</loc> --><loc>"),
    "a loc in the loc": ORDINARY.replace(b"<loc>", b"<loc><url>").replace(b"</loc>", b"</url></loc>"),
    "pages twice": urlset(url(A, "2024-05-01"), url(A), url("https://www.example.org/b?x=1&amp;y=2")),
    "the date comes with the second": urlset(url(A), url("https://www.example.org/b?x=1&#38;y=2"), url(A, "2024-05-01")),
    "nested": urlset(ORDINARY.decode().partition("?>")[2]),
    "an index with pages": ORDINARY.replace(b"urlset", b"sitemapindex"),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_other_spellings_mean_the_same(name: str) -> None:
    sitemap = read_sitemap(SPELLINGS[name])
    assert sitemap.entries == EXPECTED
    assert sitemap.kind == (Kind.INDEX if name == "an index with pages" else Kind.URLSET)
    assert (sitemap.was_cut, sitemap.failures) == (False, ())


BROKEN = {
    "bare ampersands": ORDINARY.replace(b"&amp;", b"&"),
    "no end": ORDINARY.removesuffix(b"</urlset>"),
    "ends in a tag": ORDINARY.removesuffix(b"</url></urlset>") + b"</ur",
    "two roots": ORDINARY + b"\n" + ORDINARY,
    "items are not closed": ORDINARY.replace(b"</url>", b""),
    "fields are not closed": ORDINARY.replace(b"</loc>", b"").replace(b"</lastmod>", b"\n"),
    "items are closed twice": ORDINARY.replace(b"</url>", b"</url></url>"),
    "warnings of a script": b"<br />\n<b>Warning</b>: foo() in /var/www &nbsp; <br>" + ORDINARY,
    "words before the root": b"OK\n" + ORDINARY,
    "no root": ORDINARY[ORDINARY.index(b"<url>") :].removesuffix(b"</urlset>"),
    "a document type": ORDINARY.replace(b"<urlset", b"<!DOCTYPE urlset SYSTEM 'x.dtd'><urlset"),
    "an unknown entity": ORDINARY.replace(b"<changefreq>", b"<title>caf&eacute; &nosuch;</title><changefreq>"),
    "a control character": ORDINARY.replace(b"daily", b"\x01"),
    "broken UTF-8 elsewhere": ORDINARY.replace(b"daily", b"t\xe4glich"),
    "an attribute without quotes": ORDINARY.replace(b"<url>", b"<url id=7>"),
    "a comment with two hyphens": ORDINARY.replace(b"<loc>", b"<!-- a -- b --><loc>"),
    "a comment that never ends": ORDINARY + b"<!-- " + ORDINARY,
    "tags that never end": ORDINARY.replace(b"</changefreq>", b"</changefreq"),
    "an image that is not closed": ORDINARY.replace(b"</url>", b"<image:image><image:loc>https://x.example/i.png</url>"),
    "garbage after the gzip's first half": gzip.compress(ORDINARY + b" " * 200_000)[:-9],
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_ones_are_read_all_the_same(name: str) -> None:
    sitemap = read_sitemap(BROKEN[name])
    assert sitemap.entries == EXPECTED
    assert sitemap.kind is Kind.URLSET
    assert len(sitemap.failures) == 1


def test_what_is_left_of_a_sitemap_that_ends_in_a_location() -> None:
    assert read_sitemap(ORDINARY[: ORDINARY.index(b"?x=1")]).entries == EXPECTED[:1]
    assert read_sitemap(urlset(url(A)).partition(b"</loc>")[0] + b"</lo").entries == []


def test_a_query_is_no_reference_to_a_character() -> None:
    assert locations(read_sitemap(urlset(url("http://a.example/?a=1&copy=2&lt=3&amp;b=&#x41;&#xD800;&eacute;")))) == [
        "http://a.example/?a=1&copy=2&lt=3&b=A&#xD800;é"
    ]


def test_bytes_that_are_no_text_become_escapes() -> None:
    assert locations(read_sitemap(urlset(url("http://a.example/caf")).replace(b"caf", b"caf\xe9/\xc3\xa9"))) == [
        "http://a.example/caf%E9/é"
    ]


@pytest.mark.parametrize(("encoding", "codec"), [("windows-874", "cp874"), ("koi8-u", "koi8-u"), ("ISO-8859-16", "iso8859-16")])
def test_no_encoding_of_the_standard_is_unknown(encoding: str, codec: str) -> None:
    """Python does not know all of them by the same name."""
    location = "http://a.example/" + bytes((0xB1,)).decode(codec)
    body = f'<?xml version="1.0" encoding="{encoding}"?><urlset><url><loc>{location}</loc></url></urlset>'
    assert read_sitemap(body.encode(codec)).entries == [(location, None)]


def test_the_declared_encoding_is_used() -> None:
    body = '<?xml version="1.0" encoding="windows-1251"?><urlset><url><loc>http://a.example/мир</loc></url></urlset>'
    assert locations(read_sitemap(body.encode("cp1251"))) == ["http://a.example/мир"]
    silent = body.partition("?>")[2].encode("cp1251")
    assert locations(read_sitemap(silent, "text/xml", "windows-1251")) == ["http://a.example/мир"]


def test_an_index_names_its_children() -> None:
    body = (
        b"<sitemapindex><sitemap><loc> https://a.example/1.xml.gz </loc><lastmod>2024-05-01</lastmod></sitemap>"
        b"<sitemap><loc>https://a.example/2.xml</loc></sitemap></sitemapindex>"
    )
    sitemap = read_sitemap(body)
    assert sitemap.kind is Kind.INDEX
    assert sitemap.children == [("https://a.example/1.xml.gz", MAY_1), ("https://a.example/2.xml", None)]
    assert sitemap.entries == []


def test_alternates_are_pages_and_other_links_are_not() -> None:
    body = urlset(
        f"<url><loc>{A}</loc><xhtml:link rel='alternate' hreflang='de' href='http://a.example/de?a&amp;b'/>"
        f"<xhtml:link rel='stylesheet' href='http://a.example/s.css'/><xhtml:link rel='alternate' href='{A}'/>"
        "<image:image><image:loc>http://a.example/i.png</image:loc></image:image><image:loc>http://a.example/j.png</image:loc>"
        "<video:video><video:player_loc>http://a.example/v</video:player_loc></video:video></url>",
        url("http://a.example/de?a&amp;b", "2024-05-01"),
    )
    assert read_sitemap(body).entries == [(A, None), ("http://a.example/de?a&b", MAY_1)]


RSS_2 = b"""<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>t</title><link>http://a.example/</link>
<atom:link href="http://a.example/feed" rel="self" type="application/rss+xml"/>
<image><url>http://a.example/logo.png</url><link>http://a.example/logo</link></image>
<item><title>1</title><link>http://a.example/1</link><guid>http://a.example/?p=1</guid>
<pubDate>Wed, 01 May 2024 02:00:00 +0200</pubDate>
<enclosure url="http://a.example/1.mp3"/><comments>http://a.example/1#c</comments><source url="http://b.example/">b</source></item>
<item><guid isPermaLink="true">http://a.example/2</guid></item><item><guid isPermaLink="false">http://a.example/3</guid></item>
<item><guid>tag:4</guid></item><item><link>http://a.example/5?a&amp;b</link>
<description>&lt;a href="http://a.example/no"></description></item>
</channel></rss>"""
RSS_1 = b"""<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="http://a.example/news.rss"><link>http://a.example/</link><items><rdf:Seq><rdf:li resource="http://a.example/1"/>
</rdf:Seq></items></channel><image rdf:about="http://a.example/i.gif"><link>http://b.example/</link></image>
<item rdf:about="http://a.example/1"><link>http://a.example/1</link><dc:date>2024-05-01T00:00Z</dc:date></item></rdf:RDF>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://a.example/blog/">
<link href="."/><link rel="self" href="feed.atom"/>
<link rel="next" href="feed.atom?2"/><updated>2024-06-01T00:00:00Z</updated><entry><link rel="alternate" href="1"/>
<link rel="enclosure" href="1.mp3"/><link rel="replies" href="1/c"/><published>2024-04-01T00:00:00Z</published>
<updated>2024-05-01T00:00:00Z</updated><content type="xhtml"><div><a href="x"/>
<link href="no"/><updated>2020</updated></div></content></entry>
<entry xml:base="http://b.example/"><link href="2"/><published>2024-05-01</published></entry></feed>"""
FEEDS = {
    RSS_2: (Kind.RSS, [("http://a.example/", None), ("http://a.example/1", MAY_1), ("http://a.example/2", None)]),
    RSS_1: (Kind.RSS, [("http://a.example/", None), ("http://a.example/1", MAY_1)]),
    ATOM: (Kind.ATOM, [("http://a.example/blog/", None), ("http://a.example/blog/1", MAY_1), ("http://b.example/2", MAY_1)]),
}


@pytest.mark.parametrize("ending", [b"", b"<&"], ids=["good", "broken"])
@pytest.mark.parametrize(("body", "expected"), FEEDS.items(), ids=["RSS 2.0", "RSS 1.0", "Atom"])
def test_a_feed_gives_the_pages_of_its_entries(
    body: bytes, ending: bytes, expected: tuple[Kind, list[tuple[str, float | None]]]
) -> None:
    kind, entries = expected
    sitemap = read_sitemap(body + ending)
    more: list[tuple[str, float | None]] = [("http://a.example/5?a&b", None)] if body is RSS_2 else []
    assert (sitemap.kind, sitemap.entries) == (kind, entries + more)


def test_a_list_has_one_address_per_line() -> None:
    body = "\ufeff\r\n# ours\n  HTTPS://a.example/ü \rhttp://a.example/2\t2024\n\nnonsense\nhttp://a.example/2".encode()
    sitemap = read_sitemap(body, "text/plain")
    assert sitemap.kind is Kind.TEXT
    assert locations(sitemap) == ["HTTPS://a.example/ü", "http://a.example/2"]
    assert sitemap.failures == ("2 of its lines are no address",)
    assert locations(read_sitemap(body.decode("utf-8-sig").encode("utf-16"))) == locations(sitemap)


NONE = {
    "nothing": b"",
    "blanks": b" \n",
    "words": b"this is no sitemap",
    "a page": b"<!DOCTYPE html><html><head><title>4</title></head><body><url><loc>http://a.example/</loc></url></body></html>",
    "a page without a type": b"<html><urlset><url><loc>http://a.example/</loc></url></urlset></html>",
    "XHTML": b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "x"><html xmlns="y"><body/></html>',
    "other XML": b"<catalog><entry><link href='http://a.example/'/></entry></catalog>",
    "an image": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "gzip within gzip": gzip.compress(gzip.compress(ORDINARY)),
    "the beginning of gzip": b"\x1f\x8b",
    "zlib": zlib.compress(ORDINARY),
    "a mark alone": b"\xff\xfe",
    "XML without elements": b"<?xml version='1.0'?>",
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_sitemap_is_none(name: str) -> None:
    sitemap = read_sitemap(NONE[name])
    assert (sitemap.kind, sitemap.entries, sitemap.children) == (Kind.NONE, [], [])
    assert sitemap.failures


def test_a_script_that_begins_with_an_address_is_no_list() -> None:
    assert read_sitemap(b"http://a.example/", "text/html").kind is Kind.NONE
    assert read_sitemap(b"http://a.example/", "application/bogus").kind is Kind.TEXT


def test_entities_do_not_grow() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    body = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    sitemap = read_sitemap(body.encode() + urlset(url("http://a.example/&l9;&f;"))[39:])
    assert locations(sitemap) == ["http://a.example/&l9;&f;"]


def test_a_bomb_stops_at_the_limit() -> None:
    stream = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = stream.compress(ORDINARY.removesuffix(b"</urlset>"))
    blanks = b" " * (1 << 20)
    bomb = head + b"".join([stream.compress(blanks) for _ in range(80)]) + stream.flush()
    sitemap = read_sitemap(bomb)
    assert len(bomb) < 200_000
    assert (sitemap.entries, sitemap.was_cut) == (EXPECTED, True)
    assert sitemap.failures == ("it is larger than 50 MB; the rest was not read",)


def test_a_file_that_is_too_large_is_cut() -> None:
    sitemap = read_sitemap(ORDINARY.removesuffix(b"</urlset>") + b" " * MAX_DECODED + b"&")
    assert (sitemap.entries, sitemap.was_cut, len(sitemap.failures)) == (EXPECTED, True, 1)


def test_entries_are_counted() -> None:
    items = "".join([f"<url><loc>/{number}</loc></url>" for number in range(MAX_ENTRIES)])
    full = read_sitemap(urlset(items, "<url><loc>/0</loc></url>"))
    assert (len(full.entries), full.was_cut) == (MAX_ENTRIES, False)
    for ending in ("", "<&"):
        over = read_sitemap(urlset(items, "<url><loc>/x</loc></url>", ending))
        assert over.entries == full.entries
        assert over.was_cut
    lines = read_sitemap(b"".join([b"http://a/%d\n" % number for number in range(MAX_ENTRIES + 1)]))
    assert (len(lines.entries), lines.was_cut) == (MAX_ENTRIES, True)


def test_alternates_never_displace_pages() -> None:
    alternates = "".join([f"<xhtml:link rel='alternate' href='/a{number}'/>" for number in range(MAX_ENTRIES + 5)])
    sitemap = read_sitemap(urlset(f"<url><loc>/0</loc>{alternates}</url>", "<url><loc>/1</loc></url>"))
    assert locations(sitemap)[:3] == ["/0", "/1", "/a0"]
    assert len(sitemap.entries) == MAX_ENTRIES


def test_locations_have_a_length() -> None:
    fits = "http://a.example/".ljust(MAX_LOCATION, "x")
    for ending in ("", "<&"):
        sitemap = read_sitemap(urlset(url(fits), url(fits + "x"), url("x" * 100_000), ending))
        assert locations(sitemap) == [fits]
        assert "2 of its locations are longer than 2048 characters and left out" in sitemap.failures
    assert locations(read_sitemap(f"{fits}\n{fits}x\n".encode())) == [fits]


@pytest.mark.parametrize(
    "pattern",
    [
        b"<",
        b"<a",
        b"<a>",
        b"<url>",
        b"<loc>&#32;",
        b"<!--",
        b"<![CDATA[",
        b"<!",
        b"<?",
        b"<url a='",
        b"&",
        b"</url>",
        b"<url/>",
        b'"',
    ],
)
def test_hostile_patterns_end(pattern: bytes) -> None:
    body = b"<urlset><url><loc>" + pattern * (300_000 // len(pattern))
    assert read_sitemap(body).kind is Kind.URLSET
    read_sitemap(pattern * (300_000 // len(pattern)))


def test_tags_are_counted() -> None:
    sitemap = read_sitemap(ORDINARY.removesuffix(b"</urlset>") + b"<a/>" * (2 * MAX_TAGS))
    assert (sitemap.entries, sitemap.was_cut) == (EXPECTED, True)


def test_what_stands_in_a_part_of_an_item_that_does_not_count_is_no_page() -> None:
    item = f"<url><image><url>http://a.example/i.png</url><url/></image><loc>{A}</loc><lastmod>2024-05-01</lastmod></url>"
    assert read_sitemap(urlset(item, url("/b"))) == Sitemap(Kind.URLSET, [(A, MAY_1), ("/b", None)], [], False, ())


def test_a_value_in_quotes_may_hold_the_end_of_a_tag() -> None:
    item = f"<url note='a>b'><loc>{A}</loc><xhtml:link title=\">\" rel='alternate' href='/de?a&gt;b'/></url>"
    assert read_sitemap(urlset(item)) == Sitemap(Kind.URLSET, [(A, None), ("/de?a>b", None)], [], False, ())


def test_a_root_in_a_comment_is_no_root() -> None:
    assert read_sitemap(b"<!-- <feed> --><?x?><!-- -->" + ORDINARY.partition(b"?>")[2]).failures == ()


def test_the_first_thing_that_is_wrong_is_said_with_its_line() -> None:
    body = urlset("\n", url("/a?b&c"), "\n<url id=7/>")
    assert read_sitemap(body).failures == ("it is not well-formed in line 3: an ampersand begins no reference",)


WORDS = """<urlset> </urlset> <url> </url> <loc> </loc> <lastmod> </lastmod> <sitemap> </sitemap> <sitemapindex> <rss> <channel>
<item> </item> <link> </link> <guid> <feed> <entry> </entry> <link/> <image> </image> <!-- --> <![CDATA[ ]]> & &amp; &#65;
< > ' " [ ]> http://a.example/1 2024-05-01 <?xml?> <!DOCTYPE <html>"""
FRAGMENTS = st.lists(st.sampled_from([*WORDS.split(), " ", "\n", "\0", "\udce9"]), max_size=40).map(
    lambda words: "".join(words).encode("utf-8", "surrogateescape")
)


@settings(max_examples=300)
@given(FRAGMENTS | st.binary(max_size=200))
@example(b"\x1f\x8b\x08\x00")
@example(b"<urlset><url><loc><loc>a</url>")
def test_no_input_raises_and_every_output_is_sound(body: bytes) -> None:
    for form in (body, gzip.compress(body), b"<urlset>" + body, body.decode("latin-1").encode("utf-16")):
        sitemap = read_sitemap(form)
        assert len(sitemap.failures) <= 4
        listed = sitemap.entries + sitemap.children
        assert len(dict(sitemap.entries)) == len(sitemap.entries)
        assert all(location and location == location.strip() and len(location) <= MAX_LOCATION for location, _ in listed)
        assert sitemap.kind is not Kind.NONE or not listed


PATHS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp", "Cn", "Co"]), min_size=1, max_size=30)


@given(st.lists(PATHS, unique=True, max_size=20))
def test_every_location_that_is_written_is_read(paths: list[str]) -> None:
    written = [f"http://a.example/{path}" for path in paths]
    escaped = [path.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for path in written]
    for ending in ("", "<&"):
        assert locations(read_sitemap(urlset(*map(url, escaped), ending))) == written
