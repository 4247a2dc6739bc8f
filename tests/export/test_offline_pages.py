from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import parse

from parcahyd.export.offline_pages import offline_page, offline_style, relative

URL = "http://a.example/docs/page.html?x=1"
NAME = "a.example/docs/page@x=1.html"
FILES = {
    URL: NAME,
    "http://a.example/": "a.example/index.html",
    "http://a.example/docs/next": "a.example/docs/next.html",
    "http://a.example/odd": "a.example/o d?#.html",
    "http://a.example/style.css": "a.example/style.css",
    "http://b.example/logo": "b.example/logo.png",
    "http://a.example/big.png": "a.example/big.png",
}


def _page(html: str, charset: str = "utf-8") -> str:
    return offline_page(html.encode(charset), charset, URL, NAME, FILES.get).decode("utf-8-sig")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<a href="/">x</a>', '<a href="../index.html">x</a>'),
        ('<a href="next#part">x</a>', '<a href="next.html#part">x</a>'),
        ('<a href="/odd">x</a>', '<a href="../o%20d%3F%23.html">x</a>'),
        ('<a href="#here">x</a>', '<a href="#here">x</a>'),
        ('<a href="?x=1#here">x</a>', '<a href="#here">x</a>'),
        ('<a href="missing?a&amp;b">x</a>', '<a href="http://a.example/docs/missing?a&amp;b">x</a>'),
        ('<a href="mailto:x@a.example">x</a>', '<a href="mailto:x@a.example">x</a>'),
        ('<a href=" javascript:void(0)">x</a>', '<a href=" javascript:void(0)">x</a>'),
        ('<a href="http://[">x</a>', '<a href="http://[">x</a>'),
        ('<img src="//b.example/logo">', '<img src="../../b.example/logo.png">'),
        ('<img srcset="/big.png 2x, //b.example/logo 1x">', '<img srcset="../big.png 2x, ../../b.example/logo.png 1x">'),
        (
            '<link rel="stylesheet" href="/style.css" integrity="sha256-x" crossorigin>',
            '<link rel="stylesheet" href="../style.css">',
        ),
        ('<form action="/go">x</form>', '<form action="http://a.example/go">x</form>'),
        ("<style>p{background:url(/big.png)}</style>", '<style>p{background:url("../big.png")}</style>'),
        ('<p style="background:url(/big.png)">x</p>', '<p style="background:url(&quot;../big.png&quot;)">x</p>'),
        ("<script>a = '/';</script>", "<script>a = '/';</script>"),
        ('<meta http-equiv="refresh" content="0; url=/">', '<meta http-equiv="refresh" content="0; url=../index.html">'),
        ('<meta charset="latin1">', '<meta charset="utf-8">'),
    ],
)
def test_a_reference(before: str, after: str) -> None:
    assert after in _page(before)


def test_a_base_is_taken_out_and_counts() -> None:
    page = _page('<base href="http://a.example/" target="_top"><a href="docs/next">x</a>')
    assert '<a href="docs/next' not in page
    assert 'href="next.html"' in page
    assert "<base target=" in page


def test_another_encoding_becomes_utf_8() -> None:
    data = offline_page("<p>é".encode("cp1252"), "windows-1252", URL, NAME, FILES.get)
    assert data.startswith(b"\xef\xbb\xbf")
    assert "<p>é" in data.decode("utf-8-sig")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"p{background:url( '/big.png' )}", b'p{background:url( "../big.png" )}'),
        (b'@import "/style.css";', b'@import "../style.css";'),
        (b"@import url(/style.css);", b'@import url("../style.css");'),
        (b"p{background:url(data:image/png;base64,AA==)}", b'p{background:url("data:image/png;base64,AA==")}'),
        (b"p{background:url(/no.png)}", b'p{background:url("http://a.example/no.png")}'),
        (b"p{color:red}", b"p{color:red}"),
    ],
)
def test_a_style_sheet(before: bytes, after: bytes) -> None:
    assert offline_style(before, "", URL, NAME, FILES.get) == after


def test_from_file_to_file() -> None:
    assert relative("a/b/c.html", "a/d.html") == "b/c.html"
    assert relative("a/d.html", "a/b/c/e.html") == "../../d.html"


_BITS = st.sampled_from(
    [
        '<a href="',
        '">',
        "<base href=",
        "url(",
        ")",
        "'",
        '"',
        "<style>",
        "</style>",
        "\\",
        "..",
        "/",
        "é",
        "<svg><a xlink:href=",
        "\n",
    ]
)


@given(st.lists(_BITS, max_size=30).map("".join))
def test_no_page_raises_and_no_reference_climbs(text: str) -> None:
    page = _page(text)
    for element in parse(page).iter_elements(("a",)):
        href = element.attr("href") or ""
        assert not re.match(r"(?:\.\./){3}", href), href
