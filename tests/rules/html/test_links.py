"""The links of a document, as a crawler without scripting sees them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.html import links
from parcahyd.rules.html.known_tags import IS_COMPILED
from parcahyd.rules.html.link_tags import MAX_TABLES
from parcahyd.rules.html.links import MAX_HREF, MAX_LINKS, PageLinks, read_links
from parcahyd.rules.robots.directives import MAX_RULES, Directive


def _read(markup: str, header_charset: str = "utf-8") -> PageLinks:
    return read_links(markup.encode(), header_charset)


FOLLOWED = {
    '<a href="x">x</a>': ["x"],
    "<A HREF=x>": ["x"],
    "<a href=x href=y>": ["x"],
    "<a name=x>": [],
    "<a href>": [],
    '<a href="#top">': [],
    '<a href=""><a href="  ">': [],
    "<a href=x#1><a href=x#2><a href=x>": ["x"],
    "<a href=b><a href=a><a href=b>": ["b", "a"],
    '<a href=" x\n y\t"><a href="\x01x\x1f">': ["x y", "x"],
    '<a href="x #y">': ["x "],
    '<a href="a&amp;b&#x26;c&copy=1&copy;">': ["a&b&c&copy=1©"],
    '<a rel=nofollow href=x><a rel="ugc external" href=y>': ["y"],
    '<a rel="nofollow" href="x"></a><a href="x"></a>': ["x"],
    '<a rel="NoFollow noopener" href="x"></a><a rel="sponsored ugc" href="y"></a>': ["y"],
    '<map><area rel=nofollow href="x"></map>': [],
    '<map><area href="x"></map>': ["x"],
    "<frameset><frame src=x><frame></frameset>": ["x"],
    "<iframe src=x><a href=y></iframe>": ["x"],
    '<link rel=canonical href=c><link rel="alternate" href=d><link rel=NEXT href=e><link rel=prev href=f>': [
        "c",
        "d",
        "e",
        "f",
    ],
    '<link rel="alternate stylesheet" href=x><link rel=dns-prefetch href=y><link href=z>': [],
    '<link rel="alternate icon" href=x><link rel="alternate tvi" href=y><link rel="alternate nonsense" href=z>': ["z"],
    "<meta http-equiv=refresh content='0; url=x'>": ["x"],
    "<meta http-equiv=Refresh content=\"5;URL='x y'; z\">": ["x y"],
    "<meta http-equiv=refresh content='0;url=\"x'>": ["x"],
    "<meta http-equiv=refresh content='.5, x'>": ["x"],
    "<meta http-equiv=refresh content='1 x'>": ["x"],
    "<meta http-equiv=refresh content='0; urlx'>": ["urlx"],
    "<meta http-equiv=refresh content='1;\furl=x'><meta http-equiv=refresh content='1\turl  =  y '>": ["x", "y"],
    "<meta http-equiv=refresh content='1;;url=x'><meta http-equiv=refresh content='1 y;url=z'>": [";url=x", "y;url=z"],
    "<meta http-equiv=refresh content='1.9..5.; url=x'><meta http-equiv=refresh content='1; url y'>": ["x", "url y"],
    "<meta http-equiv=refresh content='1;\"x\"y'><meta http-equiv=refresh content='1; u\tr\nl'>": ["x", "url"],
    "<meta http-equiv=refresh content='1url=x'><meta http-equiv=refresh content='1x;url=x'>": [],
    "<meta http-equiv=refresh content='; x'><meta http-equiv=refresh content='-1; x'>": [],
    "<meta http-equiv=refresh content='+0; x'><meta http-equiv=refresh content='1e0; x'>": [],
    "<meta http-equiv=refresh content='10'><meta http-equiv=refresh content='x;url=y'><meta content='0;url=z'>": [],
    "<!-- <a href=x> --><a href=y>": ["y"],
    "<script>'<a href=x>'</script><style><a href=x></style><textarea><a href=x></textarea><title><a href=x></title>": [],
    "<noscript><a href=x></noscript>": ["x"],
    "<template><a href=x><template><a href=y></template></template><a href=z>": ["z"],
    "<div><template shadowrootmode=open><a href=x></template></div><a href=y>": ["x", "y"],
    "<template><div><template shadowrootmode=open><a href=x></template></div></template><a href=y>": ["y"],
    "<template shadowrootmode=odd><a href=x></template>": [],
    "<svg><a xlink:href=x></a><a href=y xlink:href=z></a></svg>": ["x", "y"],
    "<table><a href=x><tr><td><a href=y></table>": ["x", "y"],
    "<p><a href=x><div><a href=y></p>": ["x", "y"],
    "<select><option><a href=x></select><a href=y>": ["x", "y"],
    "<plaintext><a href=x>": [],
    "<a href=x": [],
    "<a href='x><a href=y>": [],
    "<form action=x><button formaction=y></form>": [],
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><a href="x" /></body></html>': ["x"],
}


@pytest.mark.parametrize(("markup", "expected"), FOLLOWED.items())
def test_links_to_other_documents(markup: str, expected: list[str]) -> None:
    assert _read(markup).follow == expected


EMBEDDED = {
    "<img src=x><img>": ["x"],
    "<img src=x srcset='y 1x, z 2x'>": ["x", "y", "z"],
    "<img srcset='a,b 1x,c 2x, d,  e'>": ["a,b", "c", "d", "e"],
    "<img srcset=', ,a, b 100w ,'>": ["a", "b"],
    "<img srcset='a 1x ( , no 1x, ), b'>": ["a", "b"],
    "<img srcset='a 1x (((, no, ), b (, no'>": ["a", "b"],
    "<img srcset='a 1x [ , b 1x, ], c'>": ["a", "b", "]", "c"],
    "<img srcset='a,,, ,b'>": ["a", "b"],
    "<img srcset='a\x0b1x'>": ["a\x0b1x"],
    "<img src='data:image/gif;base64,R0=' srcset='DATA:x,y 2x'>": [],
    "<picture><source srcset='x 2x'><img src=y></picture>": ["x", "y"],
    "<video src=x poster=y><source src=z><track src=t></video><audio src=a></audio>": ["x", "y", "z", "t", "a"],
    "<embed src=x><object data=y></object>": ["x", "y"],
    "<input type=image src=x><input type=IMAGE src=y><input src=z>": ["x", "y"],
    "<script src=x></script><script>y</script>": ["x"],
    '<link rel=stylesheet href=x><link rel="shortcut icon" href=y><link rel=preload href=z>': ["x", "y", "z"],
    '<link rel="alternate stylesheet" href=x>': ["x"],
    '<link rel="alternate icon" href=x><link rel="icon ALTERNATE" href=y><link rel="alternate mask-icon" href=z>': [
        "x",
        "y",
        "z",
    ],
    '<link rel="apple-touch-icon-precomposed" href=x><link rel="alternate fluid-icon" href=y>': ["x", "y"],
    "<svg><image href=x /><image xlink:href=y /></svg><image src=z>": ["x", "y", "z"],
    "<img src='#x'>": [],
}


@pytest.mark.parametrize(("markup", "expected"), EMBEDDED.items())
def test_parts_of_the_document(markup: str, expected: list[str]) -> None:
    page = _read(markup)
    assert page.embedded == expected
    assert page.follow == []


def test_the_first_base_counts_and_is_raw() -> None:
    page = _read("<base target=x><base href=' /b/ '><base href=c><a href=x>")
    assert page.base == "/b/"
    assert page.follow == ["x"]
    assert _read("<a href=x>").base == ""


def test_with_a_base_an_empty_reference_points_elsewhere() -> None:
    assert _read("<base href=/b/><a href='#x'>").follow == [""]
    assert _read("<base href=/b/><a href='#x'>").lines == []
    assert _read("<base href=''><a href='#x'>").follow == []


def test_the_table_has_every_link_once_with_its_kind() -> None:
    page = _read(
        "<link rel=canonical href=1><link rel=stylesheet href=2><link rel=author href=3><link rel=next href=4>"
        "<link rel=alternate href=5><script src=6></script><meta http-equiv=refresh content='0;url=7'>"
        "<a href=8#x>8</a><a href=8>8</a><a href=8 rel='me NoFollow'>8</a><a href=mailto:x@example.com>9</a><a href='a\tb\nc'>"
        "<img src=10><iframe src=11></iframe><video src=12></video><form action=13></form><map><area href=14></map>"
    )
    assert page.table.decode().split("\n") == [
        "canonical\t1",
        "style\t2",
        "link\t3",
        "next\t4",
        "alternate\t5",
        "script\t6",
        "link\t7",
        "a\t8",
        "a\t8\trel=nofollow",
        "a\tmailto:x@example.com",
        "a\tabc",
        "img\t10",
        "frame\t11",
        "media\t12",
        "form\t13",
        "area\t14",
        "",
    ]
    assert _read("nothing").table == b""


_DECLARED = b'<?xml version="1.0" encoding="windows-1251"?>'
CHARSETS = [
    (b"<a href='\xc3\xa9'>", "", "utf-8", "é"),
    (b"<a href='\xe9'>", "", "windows-1252", "é"),
    (b"<a href='\xe9'>", "windows-1251", "windows-1251", "й"),
    (b"<a href='\xe9'>", "no-such-charset", "windows-1252", "é"),
    (b"<a href='\xe9'>", "\x00", "windows-1252", "é"),
    (b"<meta charset=windows-1251><a href='\xe9'>", "", "windows-1251", "й"),
    (b"<meta charset=windows-1251><a href='\xc3\xa9'>", "UTF-8", "utf-8", "é"),
    (b"\xef\xbb\xbf<a href='\xc3\xa9'>", "windows-1251", "utf-8", "é"),
    ("\ufeff<a href='é'>".encode("utf-16-le"), "utf-8", "utf-16le", "é"),
    (b"<a href='\xff'>", "utf-8", "utf-8", "\ufffd"),
    (_DECLARED + b"<a href='\xe9'>", "", "windows-1251", "й"),
    (_DECLARED.replace(b'"', b"'") + b"<a href=\xe9>", "no-such-charset", "windows-1251", "й"),
    (_DECLARED + b"<meta name=x><a href='\xc3\xa9'>", "", "windows-1251", "Г\u00a9"),
    (_DECLARED + b"<a href='\xc3\xa9'>", "UTF-8", "utf-8", "é"),
    (b"\xef\xbb\xbf" + _DECLARED + b"<a href='\xc3\xa9'>", "", "utf-8", "é"),
    (_DECLARED + b"<meta charset=koi8-r><a href='\xc9'>", "", "koi8-r", "и"),
    (_DECLARED + b"<meta charset=utf-8><a href='\xc3\xa9'>", "", "utf-8", "é"),
    (_DECLARED + b"<meta charset=none><a href='\xe9'>", "", "windows-1251", "й"),
    (_DECLARED + b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'><a href='\xc9'>", "", "koi8-r", "и"),
    (_DECLARED + b" " * 2000 + b"<meta charset=koi8-r><a href='\xc9'>", "", "koi8-r", "и"),
    (_DECLARED.replace(b"windows-1251", b"utf-16") + b"<a href='\xc3\xa9'>", "", "utf-8", "é"),
    (_DECLARED.replace(b"windows-1251", b"no such") + b"<a href='\xe9'>", "", "windows-1252", "é"),
    (_DECLARED.replace(b" encoding", b" x=y> encoding") + b"<a href='\xe9'>", "", "windows-1252", "é"),
    (b" " + _DECLARED + b"<a href='\xe9'>", "", "windows-1252", "é"),
]


@pytest.mark.parametrize(("body", "header", "charset", "href"), CHARSETS)
def test_the_encoding_is_found(body: bytes, header: str, charset: str, href: str) -> None:
    page = read_links(body, header)
    assert (page.charset, page.follow) == (charset, [href])
    assert page.table == f"a\t{href}\n".encode()


def test_a_dead_encoding_hides_its_text_as_in_browsers() -> None:
    assert read_links(b"<meta charset=iso-2022-kr><a href=x>", "").follow == []


def test_what_a_page_asks_of_robots() -> None:
    page = _read("<meta name=robots content=noindex><meta name=Parcahyd content=noarchive><meta name=other content=nofollow>")
    assert page.directives("parcahyd", 0.0) == Directive.NOINDEX | Directive.NOARCHIVE
    assert page.directives("other", 0.0) == Directive.NOINDEX | Directive.NOFOLLOW
    assert _read("<meta name=robots content=all><a href=x>").directives("parcahyd", 0.0) == 0
    later = _read("<template></template><meta name=robots content='unavailable_after: 2001-09-09'>")
    assert [later.directives("", now) for now in (999_990_000.0, 1_000_000_000.0)] == [0, Directive.NOINDEX]


def test_words_for_robots_are_bounded() -> None:
    many = "".join([f"<meta name=robots content='noindex {number}'>" for number in range(1000)])
    assert len(_read(many).robots) == len(_read(f"<template></template>{many}").robots) == MAX_RULES
    assert _read(f"<meta name=robots content='{' ' * 10_000}noindex'>").robots == ()


def test_too_long_a_reference_is_no_link() -> None:
    page = _read(
        f"<a href={'x' * MAX_HREF}><a href={'y' * (MAX_HREF + 1)}><a rel=z href={'z' * (MAX_HREF + 1)}><img src={'i' * 99999}>"
    )
    assert [len(href) for href in page.follow] == [MAX_HREF]
    assert page.embedded == []
    assert len(page.lines) == 1


def test_too_many_links_are_cut() -> None:
    many = "".join([f"<a href={number}>" for number in range(MAX_LINKS + 10)])
    page = _read(many)
    assert len(page.follow) == len(page.lines) == MAX_LINKS
    assert page.follow[-1] == str(MAX_LINKS - 1)
    images = ", ".join([f"{number} 1x" for number in range(MAX_LINKS + 10)])
    assert len(_read(f"<img srcset='{images}'><a href=x>").embedded) == MAX_LINKS


def test_links_behind_the_part_that_is_parsed_are_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "MAX_PARSED", 30)
    assert _read("<a href=x>" + " " * 30 + "<a href=y>").follow == ["x"]


@pytest.mark.parametrize("rest", ["<a href='y'>" * 20, "text without a tag" * 20, "<a href='y' title='>" * 20])
def test_a_page_that_is_cut_says_what_its_tree_says(rest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    markup = f"<!doctype html><title>x</title><a href='x'>{rest}".encode()
    for limit in range(30, 80):
        monkeypatch.setattr(links, "MAX_PARSED", limit)
        assert read_links(markup, "utf-8").follow == links.read_tree(markup[:limit], "utf-8").follow


@pytest.mark.skipif(not IS_COMPILED, reason="the tag reader is not compiled here")
def test_a_page_that_is_cut_needs_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "MAX_PARSED", 50)
    monkeypatch.setattr(links, "read_tree", lambda *_: pytest.fail("the tree was built"))
    assert read_links(b"<!doctype html><title>x</title><a href='x'>" + b"<a href='y'>" * 20, "utf-8").follow == ["x"]


HOSTILE = [
    b"<a href=x><b>" * 20_000,
    b"<div>" * 40_000 + b"<a href=x>",
    b"<a " + b" ".join([b"a%d" % number for number in range(40_000)]) + b" href=x>",
    b"<template>" * 20_000 + b"<a href=y>" + b"</template>" * 20_000 + b"<a href=x>",
    b"<template><a href=y></template>" * 20_000 + b"<a href=x>",
    b"<table>" * 5_000 + b"<a href=x>",
    b"<svg><a href=x>" * 20_000,
    b"<!--" * 100_000 + b"--><a href=x>",
    b"&" * 200_000 + b"<a href=x>",
    b"<meta http-equiv=refresh content='" + b"1" * 200_000 + b"'><a href=x>",
    b"<meta http-equiv=refresh content='1;" + b" url =" * 50_000 + b"'>" + b"<a href=x>",
    b"<img srcset='" + b"," * 200_000 + b"'><a href=x>",
    b"<a href=x>\x00" * 20_000,
]


@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_documents_are_read_to_the_end(body: bytes) -> None:
    follow = read_links(body, "").follow
    assert follow[-1] == "x"
    assert "y" not in follow


TAGS = "<a <td> <p> <b> </b> <svg> </svg> <table> <select> <noscript> <script> </script> <template> </template>"
TEXTS = "<!-- --> <![CDATA[ ]]> \" ' > = / x # 0;url= &#xD800; &#0; & \x00 é \u2060 rel=nofollow href= src= <plaintext>"
STARTS = ["<a href=", "<base href=", "<link rel=next href=", "<img srcset=", "<meta http-equiv=refresh content=", " "]
CONTROLS = ["\t", "\n", "\x0b", "\x85", "\u2028"]
MARKUP = st.lists(st.sampled_from([*TAGS.split(), *TEXTS.split(" "), *STARTS, *CONTROLS]), max_size=40).map("".join)


@settings(deadline=None, max_examples=400)
@given(
    st.one_of(MARKUP.map(str.encode), st.binary(max_size=200)),
    st.sampled_from(["", "utf-8", "utf-16", "x", "shift_jis", "big5"]),
)
def test_no_document_raises_and_every_line_is_a_link(body: bytes, charset: str) -> None:
    page = read_links(body, charset)
    assert len(set(page.follow)) == len(page.follow)
    assert len(set(page.embedded)) == len(page.embedded)
    rows = [line.split("\t") for line in page.table.decode().split("\n")[:-1]]
    assert len(rows) == len(page.lines)
    assert all(len(row) == 2 or row[2:] == ["rel=nofollow"] for row in rows)
    assert {href for href in [*page.follow, *page.embedded] if href} <= {row[1] for row in rows}


@pytest.mark.parametrize("odd", ["", "<math></math>"], ids=["scanned", "tree"])
def test_links_to_tables_are_put_aside(odd: str) -> None:
    markup = (
        f'<link rel="tol" href=" a.TOL#x"><LINK REL="Augment TVI" HREF=/b><link rel=stylesheet href=c><a rel=tol href=d>{odd}'
    )
    assert _read(markup).tables == (("tol", "a.TOL"), ("augment", "/b"), ("tvi", "/b"))
    assert _read(f"<link rel=icon href=i><a href=b>{odd}").tables == ()
    many = "".join(f"<link rel=tol href={number}>" for number in range(50))
    assert len(_read(many + odd).tables) == MAX_TABLES
    assert _read(f"<link rel=tol href={'x' * 3000}>{odd}").tables == ()
