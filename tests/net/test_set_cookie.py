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


@given(st.text(max_size=60))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = cookie_date(text)
    assert found is None or isinstance(found, float)
