"""Listings as servers write them, and as a hostile one could."""

from __future__ import annotations

import pytest

from parcahyd.rules.html.link_tags import MAX_LINKS
from parcahyd.rules.listings.ftp_listing import ftp_references

_LINES = {
    b"-rw-r--r--   1 ftp      ftp          1024 Nov 18 12:00 a.txt": "a.txt",
    b"-rw-r--r--    1 0        0            4096 Jan 01  2020 read me.txt": "read%20me.txt",
    b"drwxr-xr-x    2 1000     1000         4096 feb  3 09:15 pub": "pub/",
    b"-rw-r--r--@ 1 me staff 12 12 Mar 10:01 with day first": "with%20day%20first",
    b"-rw-r--r-- 1 root root 12 2024-05-06 07:08 iso": "iso",
    b"drwxrwxrwx   1 owner    group               0 Dec 31  1999 Jan 01 2000": "Jan%2001%202000/",
    b"lrwxrwxrwx   1 ftp ftp 3 Nov 18 12:00 latest -> /pub/v2": "latest",
    b"-rw-r--r--   1 ftp ftp 3 Nov 18 12:00 a -> b": "a%20-%3E%20b",
    b"-rw-r--r--   1 ftp ftp 3 Nov 18 12:00 \xfcber;type=a?b#c%41": "%FCber%3Btype%3Da%3Fb%23c%2541",
    b"11-18-26  12:00PM       <DIR>          Program Files": "Program%20Files/",
    b"11-18-2026  12:00              1234 a.txt": "a.txt",
    b"-rw-r--r--   1 ftp ftp 3 Nov 18 12:00 http:": "http%3A",
}


@pytest.mark.parametrize("line", _LINES)
def test_a_line_is_a_link(line: bytes) -> None:
    assert ftp_references(b"total 4\r\n" + line + b"\r\n") == [_LINES[line]]


_START = b"-rw-r--r--   1 ftp ftp 3 Nov 18 12:00 "


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"total 12",
        b"nothing of the kind",
        b"-rw-r--r--   1 ftp ftp 3 no date at all",
        _START,
        *(
            _START + name
            for name in (b".", b"..", b"../x", b"/etc/passwd", b"a/b", b"a\\b", b"a\x01", b"a\x7f", b"x\x00", b"a\tb")
        ),
        b"l" + _START[1:] + b".. -> x",
        b"d" + _START[1:] + b"..",
        b"11-18-26  12:00PM       <DIR>          ..",
        _START + b"x" * 1000,
    ],
)
def test_a_line_is_no_link(line: bytes) -> None:
    assert ftp_references(line + b"\r\n" + _START + b"after\n") == ["after"]


def test_there_are_no_more_links_than_in_any_document() -> None:
    body = b"".join(_START + b"%d\n" % number for number in range(MAX_LINKS + 10))
    assert len(ftp_references(body)) == MAX_LINKS
