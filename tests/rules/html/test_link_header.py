"""Links that stand beside a document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.rules.html.link_header import MAX_HEADERS, add_header_links, read_link_headers
from parcahyd.rules.html.links import read_links

URL = "https://example.com/dir/page"

# Each: a header, what is followed, what is embedded, the table.
HEADERS = [
    ('<https://example.org/>; rel="canonical"', ["https://example.org/"], [], ["canonical\thttps://example.org/"]),
    ("<x>; rel=next", ["x"], [], ["next\tx"]),
    ("<x>;rel=prev,<y>;REL=Alternate", ["x", "y"], [], ["link\tx", "alternate\ty"]),
    ("</style.css>; rel=preload; as=style, </s.js>; rel=modulepreload", [], ["/style.css", "/s.js"], None),
    ('<x>; rel="stylesheet alternate"', [], ["x"], ["style\tx"]),
    ('<x>; rel="start http://example.net/relation/other"', [], [], ["link\tx"]),
    ("<https://cdn.example>; rel=preconnect", [], [], ["link\thttps://cdn.example"]),
    ('<x>; title="a, <b>; rel=next"; rel=canonical', ["x"], [], ["canonical\tx"]),
    (r'<x>; title="a \", <b>"; rel=canonical', ["x"], [], ["canonical\tx"]),
    (r'<x>; rel="n\ext"', ["x"], [], ["next\tx"]),
    ("<x>; rel = next ; type=text/html", ["x"], [], ["next\tx"]),
    ("<x> ; rel=next", ["x"], [], ["next\tx"]),
    ("<x>; rel=next; rel=stylesheet", ["x"], [], ["next\tx"]),
    ("<x>; title*=UTF-8'de'n%c3%a4chstes; rel=next", ["x"], [], ["next\tx"]),
    ("<x,y>; rel=next", ["x,y"], [], ["next\tx,y"]),
    ("<x#part>; rel=next", ["x"], [], ["next\tx"]),
    ("< x >; rel=next", ["x"], [], ["next\tx"]),
    ("<x>; rel=next; anchor=#part", ["x"], [], ["next\tx"]),
    ('<x>; rel=next; anchor="/other"', [], [], []),
    ("<x>; rev=next", [], [], []),
    ("<x>", [], [], []),
    ("<x>;;; rel=next;", ["x"], [], ["next\tx"]),
    ("<x>; rel=next junk, <y>; rel=prev", ["x", "y"], [], ["next\tx", "link\ty"]),
    ('<x>; rel="next"junk, <y>; rel=prev', ["x", "y"], [], ["next\tx", "link\ty"]),
    (", ,<x>; rel=next, ,", ["x"], [], ["next\tx"]),
    ('<x>; rel="next', ["x"], [], ["next\tx"]),
    ("<x; rel=next", [], [], []),
    ("x; rel=next", [], [], []),
    ("", [], [], []),
]


@pytest.mark.parametrize(("header", "follow", "embedded", "lines"), HEADERS)
def test_headers(header: str, follow: list[str], embedded: list[str], lines: list[str] | None) -> None:
    links = read_link_headers([header])
    assert (links.follow, links.embedded) == (follow, embedded)
    assert lines is None or links.lines == lines


def test_they_stand_behind_the_links_of_the_document() -> None:
    page = read_links(b"<a href=a></a><link rel=next href=n>", "utf-8")
    add_header_links(page, ["<n>; rel=next, <h>; rel=canonical", "<s>; rel=stylesheet"], URL)
    assert page.follow == ["a", "n", "h"]
    assert page.embedded == ["s"]
    assert page.lines == ["a\ta", "next\tn", "canonical\th", "style\ts"]


def test_a_base_in_the_document_does_not_apply() -> None:
    page = read_links(b"<base href=/base/><a href=a></a>", "utf-8")
    add_header_links(page, ["<h>; rel=canonical, <>; rel=next"], URL)
    assert page.follow == ["a", "https://example.com/dir/h", URL]


def test_the_number_of_headers_is_bounded() -> None:
    assert len(read_link_headers([f"<{number}>; rel=next" for number in range(MAX_HEADERS + 5)]).follow) == MAX_HEADERS


@pytest.mark.parametrize("piece", ["<", "<x>", "<x>;", '<x>;a="', ",", " ", "<x>; rel=next,", '\\"', ";", "<x>; ="])
def test_hostile_headers_are_read_in_one_pass(piece: str) -> None:
    read_link_headers([piece * 60_000] * 20)


@given(st.text(alphabet='<>;,="\\ \trelnxtanchor#/é\n', max_size=80))
def test_nothing_raises_and_every_line_is_a_link(header: str) -> None:
    page = read_links(b"<base href=b><a href=a>", "utf-8")
    add_header_links(page, [header], URL)
    assert all(len(line.split("\t")) == 2 for line in page.lines)


def test_headers_lead_to_tables_too() -> None:
    links = read_links(b'<base href="/elsewhere/"><link rel=tvi href=x.TVI>', "utf-8")
    add_header_links(links, ['<x.TOL>; rel="tol", <y>; rel=next'], "http://site.example/d/x.html")
    assert links.tables == (("tvi", "x.TVI"), ("tol", "http://site.example/d/x.TOL"))
