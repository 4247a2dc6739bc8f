from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.export.file_names import distinct, file_name, folded
from parcahyd.rules.urls.canonical_url import canonical

A = "http://a.example"
HTML = "text/html"


@pytest.mark.parametrize(
    ("url", "media_type", "name"),
    [
        (f"{A}/", HTML, "a.example/index.html"),
        (f"{A}/a", HTML, "a.example/a.html"),
        (f"{A}/a/", HTML, "a.example/a/index.html"),
        (f"{A}/a.html", HTML, "a.example/a.html"),
        (f"{A}/a.HTM", HTML, "a.example/a.HTM"),
        (f"{A}/a.php?b=c&d", HTML, "a.example/a@b=c&d.php.html"),
        (f"{A}/a.html?b=c/../d", HTML, "a.example/a@b=c_.._d.html"),
        (f"{A}/?x", HTML, "a.example/index@x.html"),
        (f"{A}:8080/a.css", "text/css", "a.example_8080/a.css"),
        ("http://[::1]:8080/", HTML, "__1_8080/index.html"),
        (f"{A}/style.php", "text/css", "a.example/style.php.css"),
        (f"{A}/logo", "image/png", "a.example/logo.png"),
        (f"{A}/logo.jpeg", "image/jpeg", "a.example/logo.jpeg"),
        (f"{A}/data", "application/x-unknown", "a.example/data.bin"),
        (f"{A}/data.tar.gz", "application/gzip", "a.example/data.tar.gz"),
        (f"{A}/read.md", "text/plain", "a.example/read.md"),
        (f"{A}/shown.html", "text/plain", "a.example/shown.html.txt"),
        (f"{A}/x.xhtml", "application/xhtml+xml", "a.example/x.xhtml.html"),
        (f"{A}/v1.2/x.html", HTML, "a.example/v1.2_/x.html"),
        (f"{A}/a.html/b", HTML, "a.example/a.html_/b.html"),
        (f"{A}/%C3%BC%20b", HTML, "a.example/ü b.html"),
        (f"{A}/%FF", HTML, "a.example/_.html"),
        (f"{A}/a%2Fb", HTML, "a.example/a_b.html"),
        (f"{A}/..%2F..%2Fetc%2Fpasswd", HTML, "a.example/__.._etc_passwd.html"),
        (f"{A}/%2e%2e%5Cx", HTML, "a.example/__x.html"),
        (f"{A}//x//y.html", HTML, "a.example/_/x/_/y.html"),
        (f"{A}/.git/config", "text/plain", "a.example/_git/config.txt"),
        (f"{A}/con", HTML, "a.example/_con.html"),
        (f"{A}/NUL.txt/x.html", HTML, "a.example/_NUL.txt_/x.html"),
        (f"{A}/a%00b%0D%0Ac", HTML, "a.example/a_b__c.html"),
        (f"{A}/tail.%20/x.html", HTML, "a.example/tail/x.html"),
    ],
)
def test_a_name(url: str, media_type: str, name: str) -> None:
    assert file_name(url, media_type) == name


_SEGMENT = re.compile(r'[^\x00-\x1f<>:"/\\|?*]{1,140}')
_FILE = re.compile(r"\.[A-Za-z0-9]{1,8}$")


def _check(name: str) -> None:
    host, *folders, file = name.split("/")
    for segment in (host, *folders, file):
        assert _SEGMENT.fullmatch(segment), segment
        assert segment.strip() == segment
        assert segment not in (".", "..")
        assert not segment.endswith(".")
        assert len(segment.encode()) <= 140
    assert _FILE.search(file)
    assert not any(_FILE.search(folder) for folder in folders)
    assert len(name.encode()) <= 300


_PIECES = st.sampled_from(
    ["..", ".", "/", "%2F", "%5C", "%00", "a", "A", ".html", "con", "%20", "?", "é", "%FF", "~", "x" * 90]
)


@given(st.lists(_PIECES, max_size=40).map("".join), st.sampled_from([HTML, "text/plain", "image/png", "x/y", ""]))
def test_every_name_is_safe_and_stays_inside(path: str, media_type: str) -> None:
    url = canonical(f"{A}/{path}")
    assert url is not None
    name = file_name(url, media_type)
    _check(name)
    _check(distinct(name, url))


@given(st.text(max_size=60), st.text(max_size=20))
def test_names_of_paths_that_are_not_canonical_are_safe_too(path: str, query: str) -> None:
    """A database can hold what this version would not write."""
    _check(file_name(f"{A}/{path}?{query}", HTML))


def test_long_names_stay_apart() -> None:
    names = {file_name(f"{A}/{'d/' * 200}{'x' * 500}{end}", HTML) for end in "ab"}
    assert len(names) == 2
    assert all(len(name) < 220 for name in names)


def test_names_that_a_file_system_confuses() -> None:
    assert folded("A/É.html") == folded("a/e\u0301.html")
    assert distinct("a/b.html", "one") != distinct("a/b.html", "two")
    assert distinct("a/b.html", "one").endswith(".html")
