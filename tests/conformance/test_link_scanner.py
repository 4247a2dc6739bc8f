"""The quick way through a document against the tree, which is right for every document: the same links, or no answer."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.link_scanner import declares_utf8, scan
from parcahyd.rules.links import PageLinks, read_links, read_tags, read_tree

SHARED = Path(__file__).parents[3] / "shared" / "data"
PAGES = SHARED / "versions" / "flink-pages-two-commit-pairs.tar.xz"
TREES = SHARED / "html" / "html5lib" / "tree-construction"


def scanned(document: bytes) -> PageLinks | None:
    tags = scan(document)
    return None if tags is None else read_tags(tags)


def assert_same(document: bytes) -> bool:
    """Whether the document was ordinary enough to be scanned; then the tree has the same links."""
    quick = scanned(document)
    if quick is None:
        return False
    tree = read_tree(document, "utf-8")
    assert (quick.charset, quick.base) == (tree.charset, tree.base), document
    # Only their order can differ: the tree moves what stands in a table outside of its cells.
    assert sorted(quick.follow) == sorted(tree.follow), document
    assert sorted(quick.embedded) == sorted(tree.embedded), document
    assert sorted(quick.lines) == sorted(tree.lines), document
    assert set(quick.robots) == set(tree.robots), document
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


def test_real_pages() -> None:
    pages = real_pages()
    assert len(pages) > 1400
    assert sum(map(assert_same, pages)) > 0.99 * len(pages)


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


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_any_mixture_of_tags(pieces: list[str]) -> None:
    assert_same("".join(pieces).encode())


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>/!-=\"'& \n\tahrefscriptmg#?x", max_size=60))
def test_any_text_of_the_characters_that_matter(text: str) -> None:
    assert_same(text.encode())


def test_an_odd_document_is_read_by_its_tree() -> None:
    document = b'<meta charset="utf-8"><template><a href="inert"></a></template><a href="real">x</a>'
    assert scanned(document) is None
    assert read_links(document, "").follow == ["real"]


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


@pytest.mark.parametrize(("document", "expected"), METAS)
def test_words_for_robots_are_seen_both_ways(document: bytes, expected: list[tuple[str, str]]) -> None:
    quick = scanned(document)
    assert quick is not None
    assert [*quick.robots] == expected
    assert [*read_tree(document, "utf-8").robots] == expected


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
    assert not any(scan(meta) or [meta])


@pytest.mark.parametrize(
    ("start", "header", "expected"),
    [
        (b'<meta charset="utf-8">', "", True),
        (b"<META CHARSET=UTF-8>", "", True),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=utf-8">', "", True),
        (b'<meta charset="windows-1252"><meta charset="utf-8">', "", False),
        (b'<!-- <meta charset="utf-8"> -->', "", False),
        (b'<meta charset="utf-8">', "windows-1251", False),
        (b"", "UTF-8", True),
        (b"", "", False),
        (b"\xff\xfea\0", "utf-8", False),
        (b" " * 1100 + b'<meta charset="utf-8">', "", False),
    ],
)
def test_only_what_is_declared_as_utf8_is_scanned(start: bytes, header: str, expected: bool) -> None:
    assert declares_utf8(start, header) is expected


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
        b'<meta a="nonu&">',
    ],
)
def test_hostile_repetition_is_read_in_one_pass(piece: bytes) -> None:
    # Anything but linear time would not come back from this.
    scan(piece * (2_000_000 // len(piece)))


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
