"""Menus as servers write them, and as a hostile one could."""

from __future__ import annotations

import pytest

from parcahyd.rules.html.link_tags import MAX_LINKS
from parcahyd.rules.listings.gopher_menu import (
    GOPHER_MENU,
    gopher_media_type,
    gopher_references,
    is_gopher_error,
    is_one_line,
)

_LINES = {
    b"0A text\t/a.txt\thole.test\t70": "gopher://hole.test/0/a.txt",
    b"1A menu\t\thole.test\t7070\t+": "gopher://hole.test:7070/1",
    b"1A menu\tno slash?x#y\thole.test\t70": "gopher://hole.test/1no%20slash%3Fx%23y",
    b"9\t/b\xfc\t[::1]\t70": "gopher://[::1]/9/b%FC",
    b"Ipicture\t/p.jpg\thole.test\t0": "gopher://hole.test/I/p.jpg",
    b"hweb\tURL:http://web.test/a\thole.test\t70": "http://web.test/a",
    b"hpage\t/a.html\thole.test\t70": "gopher://hole.test/h/a.html",
    b"?odd\t/x\thole.test\t70": "gopher://hole.test/%3F/x",
}


@pytest.mark.parametrize("line", _LINES)
def test_a_line_is_a_link(line: bytes) -> None:
    assert gopher_references(b"ihello\t\tnull.host\t1\r\n" + line + b"\r\n.\r\n") == [_LINES[line]]
    assert gopher_references(line) == [_LINES[line]]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b".",
        b"just a text",
        *(kind + b"text\t/x\thole.test\t70" for kind in (b"i", b"3", b"2", b"7", b"8", b"T", b"+", b"\x01")),
        b"0text\t/x\thole.test",
        b"0text\t/x\thole.test\tport",
        b"0text\t/x\thole.test\t123456",
        b"0text\t/x\t\t70",
        b"0text\t/x\t(NULL)\t70",
        b"0text\t/x\thole.test/y\t70",
        b"0text\t/x\tuser@hole.test\t70",
        b"0text\ta\x00b\thole.test\t70",
        b"0text\ta\x0bb\thole.test\t70",
        b"0text\t" + b"x" * 4001 + b"\thole.test\t70",
    ],
)
def test_a_line_is_no_link(line: bytes) -> None:
    assert gopher_references(line + b"\r\n0after\t/after\thole.test\t70\r\n") == ["gopher://hole.test/0/after"]


def test_there_are_no_more_links_than_in_any_document() -> None:
    assert len(gopher_references(b"0t\t/x\th.test\t70\r\n" * (MAX_LINKS + 10))) == MAX_LINKS


def test_the_type_in_a_path() -> None:
    types = {"/": GOPHER_MENU, "/1/x": GOPHER_MENU, "/0/x": "text/plain", "/h/x": "text/html", "/9/x": "", "/Ix": ""}
    assert {path: gopher_media_type(path) for path in types} == types


def test_an_error_is_an_item_of_its_own() -> None:
    assert is_gopher_error("/1/x", b"3no such menu\t\thole.test\t70\r\n")
    assert is_gopher_error("/0/x", b"3'x' does not exist\t\terror.host\t1\r\n")
    assert not is_gopher_error("/0/x", b"3 kettles\tand\ttabs\r\n")
    assert not is_gopher_error("/1/x", b"")


def test_a_selector_is_one_line() -> None:
    assert is_one_line("/1/a%20b?c")
    assert not any(map(is_one_line, ("/1a%0Ab", "/1a%0db", "/1a%00", "/1a\tb", "/1%7f")))
