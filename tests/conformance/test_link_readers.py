"""The compiled tag reader against the tree, which is right for every page: the same links, or the page is left to the tree."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.html.known_tags import IS_COMPILED
from parcahyd.rules.html.links import declares_utf8, read_compiled, read_links, read_tree

SHARED = Path(__file__).parents[3] / "shared" / "data"
PAGES = SHARED / "versions" / "flink-pages-two-commit-pairs.tar.xz"
TREES = SHARED / "html" / "html5lib" / "tree-construction"

needs_the_tag_reader = pytest.mark.skipif(
    not IS_COMPILED, reason="needs the tag reader, which was not compiled: a C compiler was missing"
)


def assert_same(page: bytes) -> bool:
    """Whether the tag reader read the page; then the tree has the same links."""
    quick = read_compiled(page) if declares_utf8(page, "utf-8") else None
    if quick is None:
        return False
    tree = read_tree(page, "utf-8")
    assert (quick.charset, quick.base) == (tree.charset, tree.base), page
    ours, theirs = ((links.follow, links.embedded, links.lines) for links in (quick, tree))
    if b"<table" in page.lower():  # The tree moves what stands in a table outside of its cells.
        assert [*map(sorted, ours)] == [*map(sorted, theirs)], page
    else:
        assert ours == theirs, page
    assert ({*quick.robots}, {*quick.tables}) == ({*tree.robots}, {*tree.tables}), page
    return True


def real_pages() -> list[bytes]:
    """Those that are beside the project; skips the test where they are not."""
    if not PAGES.exists():
        pytest.skip(f"needs real pages that are not part of the project: {PAGES.name} in ../shared/data/versions")
    with tarfile.open(PAGES) as archive:
        return [file.read() for member in archive if member.name.endswith(".html") and (file := archive.extractfile(member))]


def cases_of_browsers() -> list[bytes]:
    """html5lib's; skips the test where they are not."""
    if not TREES.exists():
        pytest.skip("needs html5lib's cases, which are not part of the project: ../shared/data/html/html5lib")
    return [
        case.split(b"\n#errors")[0] for file in sorted(TREES.glob("*.dat")) for case in file.read_bytes().split(b"#data\n")[1:]
    ]


@needs_the_tag_reader
def test_real_pages() -> None:
    pages = real_pages()
    assert len(pages) > 1400
    assert sum(map(assert_same, pages)) > 0.99 * len(pages)


@needs_the_tag_reader
def test_the_cases_that_browsers_are_tested_with() -> None:
    cases = cases_of_browsers()
    assert len(cases) > 1700
    assert sum(map(assert_same, cases)) > 1000


PIECES = (
    *(
        "text ",
        "&amp;",
        "<",
        "<>",
        "</>",
        "< a>",
        "<?php x>",
        "<!doctype html>",
        "<!-- <a href=c> -->",
        "<!-->",
        "<!--x",
        "-->",
    ),
    *('<a href="r">', "<a href='s'>", "<a href=t>", "<A HREF=u/>", '<a href="v" rel="x nofollow">', "<a href>", "</a>"),
    *('<a class="c" href="w#f" title="a>b">', '<a href="#only">', '<a href=" y #z">', '<a href="&#47;e&amp;f&copy=1">'),
    *('<a href="1" href="2">', '<a href ="sp">', '<a href= "sq">', "<a b=c'd href=e>", "<a x=y=z href=g>", '<a "q" href=h>'),
    *("<p>", "</p>", "<div title=\"<a href='q'>\">", "</div>", "<table>", "<tr>", "<td>", "</td>", "</table>", "<b>", "</b>"),
    *("<script>", "</script>", '<script src="j.js">', "<!--", "<script>x<!--<script>y</script>z</script>", "if(a<b)"),
    *(
        "<style>",
        "</style>",
        "<title>",
        "</title>",
        "<textarea>",
        "</textarea>",
        "<noscript>",
        "</noscript>",
        "<xmp>",
        "</xmp>",
    ),
    *('<iframe src="fr">', "</iframe>", "<frame src=g>", "<frameset>", "<select>", "<option>", "</select>", "<template>"),
    *(
        "</template>",
        "<svg>",
        "</svg>",
        '<svg width="1"/>',
        "<svg/>",
        "<svg width=1/>",
        '<path d="m"/>',
        "<g>",
        "</g>",
        "<math>",
    ),
    *("<svg><title>t</title></svg>", '<svg><a href="sv"></a></svg>', "<image src=i>", "<img src=i srcset='j 1x, k 2x'>"),
    *(
        '<form action="f">',
        "</form>",
        '<base href="/b/">',
        '<base href="/c/">',
        '<link rel=stylesheet href="l">',
        "<plaintext>",
    ),
    *(
        '<link rel="next" href="n">',
        '<meta http-equiv=refresh content="0; url=m">',
        "<input type=image src=o>",
        "<object data=d>",
    ),
    *(
        "<video src=v poster=p>",
        "</video>",
        "<head>",
        "<body>",
        "</body>",
        "</html>",
        "<a-b href=no>",
        "<ab href=no>",
        "\r\n",
        "é",
    ),
    *(
        '<meta name="robots" content="noindex">',
        "<META CONTENT='No&#105;ndex' NAME=Robots>",
        "<meta name=robots content=none/>",
    ),
    *('<meta name="&#114;obots" content="a no&index>">', '<meta content="unavailable&lowbar;after: x" name="bot">', "<meta n"),
    *(
        '<meta name=description content="none; http-equiv">',
        "<meta property='x' content='nonsense & unity'>",
        "<meta nofollow>",
    ),
    *(
        '<a id="i">',
        '<a name="n" xlink:href="xl">',
        '<a href="&#64;q&#35;r&#32;">',
        '<link rel="icon" href="n">',
        "<a href='?'>",
    ),
    *('<area href="ar">', "<embed src=em>", "<source src=so>", "<audio src=au>", "<track src=tr>", "<a\nhref='nl'\n>", "\x0c"),
)

AWKWARD = (
    *("<plaintext>", "<plaintexx>", "<SVG>", "</svg >", "<svg/>", '<svg a="b"/>', "<svg a=b/>", "<desc>d</desc>", "<use/>"),
    *("<title>x</title>", "<title", "</title", "<a/>", "<a>", "<a\x0b>", '<a href="x"\x0b>', '<a href="a\x1f#b">', "<a href"),
    *('<a href="&#35;">', '<a href="&#033;">', '<a href="&#126;&amp;">', '<a href="&AMP;">', '<a href="?q">', '<a href="é">'),
    *('<a  href="x"  >', '<a\thref="x">', '<a class="c"href="x">', '<a title="', '<a class="', '<a HREF="y" Title="t">'),
    *(
        "<FORM>",
        "</FoRm >",
        "</form\x0b>",
        "<form/>",
        "</formx>",
        "</form",
        "<base>",
        "<base href=b>",
        "<!---->",
        "<!--->",
        "--!>",
    ),
    *('<meta http-equiv="refresh" content="1;url=z">', "<meta content='x http-equiv'>", "<meta name=a content=un>", "<meta"),
    *('<img srcset="a 1x, b 2x" src=c>', '<img src="a" srcset="b">', "<link rel=icon href=x>", "<link rel=prev href=x>"),
    *(
        "<",
        "</",
        "<!",
        "<?",
        "<!-",
        "<!--",
        "</>",
        "</ x>",
        "=",
        '"',
        "'",
        ">",
        "\0",
        "x" * 40,
        " " * 20,
        "<p a=b=c>",
        "<p =x>",
    ),
)


@needs_the_tag_reader
@settings(max_examples=1000, deadline=None)
@given(st.lists(st.sampled_from(PIECES + AWKWARD), max_size=14), st.integers(0, 20))
def test_any_mixture_of_tags(pieces: list[str], cut: int) -> None:
    page = "".join(pieces).encode()
    assert_same(page[: len(page) - cut])


@needs_the_tag_reader
@settings(max_examples=1000, deadline=None)
@given(st.text(alphabet="<>/!-=\"'& \n\tahrefscriptmg#?x", max_size=60))
def test_any_text_of_the_characters_that_matter(text: str) -> None:
    assert_same(text.encode())


@needs_the_tag_reader
@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes(page: bytes) -> None:
    assert_same(page)


@needs_the_tag_reader
@pytest.mark.parametrize("length", range(1, 40))
@pytest.mark.parametrize("tag", ['<a href="%s">', '<p title="%s">', "<p %s>", "<%s>", "</%s>", "%s<a href=x>", "<!--%s-->"])
def test_parts_of_any_length_are_found_to_their_end(tag: str, length: int) -> None:
    """Sixteen bytes are looked at together, where there are as many."""
    page = (tag % ("x" * length)).encode()
    assert assert_same(page)
    for end in range(len(page)):
        assert_same(page[:end])
        assert_same(page[:end] + b'<a href="y">')


ODD = (
    b"<template>",
    b"<base href=x>",
    b"<form><form>",
    b"<svg><a href=x></a></svg>",
    b"<p a=b'c>",
    b"<!-- ",
    b"\0",
    b"<select>",
)


@needs_the_tag_reader
@pytest.mark.parametrize("markup", ODD)
def test_what_is_not_ordinary_is_left_to_the_tree(markup: bytes) -> None:
    assert read_compiled(b'<a href="x">' + markup) is None


def test_an_odd_page_is_read_by_its_tree() -> None:
    page = b'<meta charset="utf-8"><template><a href="inert"></a></template><a href="real">x</a>'
    assert read_links(page, "").follow == ["real"]


METAS = [
    (b'<meta name="robots" content="noindex, nofollow">', [("robots", "noindex, nofollow")]),
    (b"<META CONTENT=NONE NAME=ROBOTS>", [("ROBOTS", "NONE")]),
    (b"<meta data-x='>' content='a,noArchive' name='Parcahyd'/>", [("Parcahyd", "a,noArchive")]),
    (b'<meta name="robots" content="no&#105;ndex">', [("robots", "noindex")]),
    (b'<meta name="&#x72;obots" content="noindex">', [("robots", "noindex")]),
    (b'<meta name="robots" content="unavailable_after: 2020-01-01">', [("robots", "unavailable_after: 2020-01-01")]),
    (b'<meta name="robots" http-equiv="x" content="nocache">', [("robots", "nocache")]),
    (
        b'<body><p><meta name="robots" content="noindex"><meta name="bot" content="none">',
        [("robots", "noindex"), ("bot", "none")],
    ),
    (b'<meta name="robots" content="index, follow, max-image-preview:large">', []),
    (b'<meta content="noindex">', []),
    (b'<meta property="robots" content="noindex">', []),
    (b'<!-- <meta name="robots" content="noindex"> --><script>"<meta name=robots content=noindex>"</script>', []),
    (b'<title><meta name="robots" content="noindex"></title>', []),
    (b'<meta name="description" title="noindex" content="nothing of interest &amp; no news">', []),
]


@needs_the_tag_reader
@pytest.mark.parametrize(("page", "expected"), METAS)
def test_both_readers_see_words_for_robots(page: bytes, expected: list[tuple[str, str]]) -> None:
    quick = read_compiled(page)
    assert quick is not None
    assert [*quick.robots] == expected
    assert [*read_tree(page, "utf-8").robots] == expected


@needs_the_tag_reader
@pytest.mark.parametrize(
    "meta",
    [
        b'<meta charset="utf-8">',
        b'<meta name="viewport" content="width=device-width, initial-scale=1">',
        b"<meta name=generator content='Docutils 0.18.1: http://docutils.sourceforge.net/' />",
        b'<meta name="robots" content="index, follow">',
        b'<meta property="og:url" content="https://example.com/?a=1&amp;b=2">',
    ],
)
def test_ordinary_metas_are_passed_over(meta: bytes) -> None:
    quick = read_compiled(meta)
    assert quick is not None
    assert not quick.keys


@pytest.mark.parametrize(
    ("start", "header", "expected"),
    [
        (b'<meta charset="utf-8">', "", True),
        (b"<META CHARSET=UTF-8>", "", True),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=utf-8">', "", True),
        (b'<meta charset="windows-1252"><meta charset="utf-8">', "", False),
        (b'<!-- <meta charset="utf-8"> -->', "", False),
        (b'<!-- made by a generator --><meta charset="utf-8">', "", True),
        (b'<!--><meta charset="utf-8">', "", True),
        (b'<!-- a --> <!-- b\n --><meta charset="utf-8">', "", True),
        (b'<!-- a --> <!-- <meta charset="utf-8"> -->', "", False),
        (b'<!-- charset=windows-1252 --><meta charset="utf-8">', "", False),
        (b'<p title="<!--"><meta charset="utf-8">', "", False),
        (b'<meta charset="utf-8">', "windows-1251", False),
        (b'<?xml version="1.0" encoding="windows-1251"?><meta charset="utf-8">', "", True),
        (b'<?xml version="1.0" encoding="utf-8"?><meta charset="windows-1251">', "", False),
        (b'<?xml version="1.0" encoding="utf-8"?>', "", False),
        (b"", "UTF-8", True),
        (b"", "", False),
        (b"\xff\xfea\0", "utf-8", False),
        (b" " * 1100 + b'<meta charset="utf-8">', "", False),
    ],
)
def test_only_what_is_declared_as_utf8_is_read_by_the_tag_reader(start: bytes, header: str, expected: bool) -> None:
    assert declares_utf8(start, header) is expected


@needs_the_tag_reader
@pytest.mark.parametrize(
    "piece",
    [
        b"<!--",
        b'<a href="',
        b"<title>",
        b"<",
        b"<a ",
        b"<script>",
        b"</x",
        b"<!>",
        b"<svg>",
        b"<p a=b ",
        b"<meta ",
        b"<meta a='",
        b"<meta h=n&",
        b"&",
        b'<meta a="nonu&">',
    ],
)
def test_hostile_repetition_is_read_in_one_pass(piece: bytes) -> None:
    # Anything but linear time would not come back from this.
    read_compiled(piece * (2_000_000 // len(piece)))


@pytest.mark.parametrize(
    "tag",
    [
        '<i title=b="x><a href=hidden>">',
        '<i ="x><a href=hidden>">',
        '<i a="b"="x><a href=hidden>">',
        '<i a ="x><a href=hidden>">',
        "<i title=b='x><a href=hidden>'>",
    ],
)
def test_a_quote_that_opens_no_value_hides_no_link(tag: str) -> None:
    document = f"<!doctype html><p>{tag}".encode()
    assert read_links(document, "utf-8").follow == read_tree(document, "utf-8").follow
