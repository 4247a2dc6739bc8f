from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.net.set_cookie import SetCookie, cookie_date, read_set_cookie

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("header", "cookie"),
    [
        ("a=b", SetCookie("a", "b")),
        (" a = b ; Path=/x", SetCookie("a", "b", path="/x")),
        ("a=b=c", SetCookie("a", "b=c")),
        ('a="b c"', SetCookie("a", '"b c"')),
        ("a=", SetCookie("a", "")),
        ("a=b; DOMAIN=.Example.COM; secure; HttpOnly; SameSite=Lax", SetCookie("a", "b", domain="example.com", secure=True)),
        ("a=b; Path=relative", SetCookie("a", "b")),
        ("a=b; Path=/one; Path=/two", SetCookie("a", "b", path="/two")),
        ("a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", SetCookie("a", "b", expires=NOW + 60)),
        ("a=b; Max-Age=-1", SetCookie("a", "b", expires=NOW - 1)),
        ("a=b; Max-Age=1e3", SetCookie("a", "b")),
        ("a=b; Expires=nonsense", SetCookie("a", "b")),
        ("a=b; " + "x" * 2000, SetCookie("a", "b")),
        ("", None),
        ("a", None),
        ("=b", None),
        ("a=b\0c", None),
        ("a=b\x7f", None),
        ("a=" + "b" * 4096, None),
    ],
)
def test_reading(header: str, cookie: SetCookie | None) -> None:
    assert read_set_cookie(header, NOW) == cookie


@given(st.text(st.characters(max_codepoint=255), max_size=200))
def test_any_header_is_read_or_ignored(header: str) -> None:
    cookie = read_set_cookie(header, NOW)
    if cookie is not None:
        assert cookie.name
        assert not {"\r", "\n", "\0", ";"} & {*cookie.name, *cookie.value}


@pytest.mark.parametrize("days", range(0, 20000, 977))
def test_the_date_that_http_writes(days: int) -> None:
    moment = datetime.fromtimestamp(days * 86_400 + 3723, UTC)
    assert cookie_date(moment.strftime("%a, %d %b %Y %H:%M:%S GMT")) == moment.timestamp()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Sunday, 06-Nov-94 08:49:37 GMT", (1994, 11, 6, 8, 49, 37)),
        ("Sun Nov  6 08:49:37 1994", (1994, 11, 6, 8, 49, 37)),
        ("6-Nov-2094 8:9:7", (2094, 11, 6, 8, 9, 7)),
        ("1 january 69 00:00:00", (2069, 1, 1, 0, 0, 0)),
        ("1 january 70 00:00:00", (1970, 1, 1, 0, 0, 0)),
        ("08:49:37 1994 nov 06 +0300", (1994, 11, 6, 8, 49, 37)),
        ("Sun, 06 Nov 1994 08:49:37zzz", (1994, 11, 6, 8, 49, 37)),
        ("31 Feb 2020 00:00:00", None),
        ("06 Nov 1600 00:00:00", None),
        ("06 Nov 1994 24:00:00", None),
        ("06 Nov 1994", None),
        ("Nov 1994 00:00:00", None),
        ("06 Now 1994 00:00:00", None),
        ("", None),
    ],
)
def test_the_dates_that_servers_write(text: str, moment: tuple[int, int, int, int, int, int] | None) -> None:
    assert cookie_date(text) == (None if moment is None else datetime(*moment, tzinfo=UTC).timestamp())


@given(st.text(max_size=60))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = cookie_date(text)
    assert found is None or isinstance(found, float)
