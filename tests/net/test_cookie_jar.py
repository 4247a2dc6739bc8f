from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.net.cookie_jar import CookieJar, SetCookie, cookie_date, read_set_cookie

NOW = 1_800_000_000.0


def jar_with(url: str, *cookies: str) -> CookieJar:
    jar = CookieJar()
    jar.take(url, [("Set-Cookie", cookie) for cookie in cookies], NOW)
    return jar


@pytest.mark.parametrize(
    ("set_by", "cookie", "sent_to"),
    [
        ("http://www.example.com/", "a=1", {"http://www.example.com/", "https://www.example.com/x"}),
        ("http://www.example.com:81/", "a=1", {"http://www.example.com:82/"}),
        ("http://www.example.com/", "a=1; Domain=example.com", {"http://example.com/", "http://b.example.com/"}),
        ("http://example.com/", "a=1; Domain=.example.com", {"http://b.example.com/"}),
        ("http://192.0.2.1/", "a=1; Domain=192.0.2.1", {"http://192.0.2.1/"}),
        ("http://[2001:db8::1]:80/", "a=1", {"http://[2001:db8::1]/"}),
        ("http://localhost/", "a=1", {"http://localhost:8000/"}),
        ("http://a.test/docs/x", "a=1", {"http://a.test/docs", "http://a.test/docs/y", "http://a.test/docs/y/z?q=/"}),
        ("http://a.test/docs/x", "a=1; Path=/", {"http://a.test/", "http://a.test?q"}),
        ("https://a.test/", "a=1; Secure", {"https://a.test/"}),
        ("https://a.test/", "__Host-a=1; Secure; Path=/", {"https://a.test/"}),
        ("http://github.io/", "a=1; Domain=github.io", {"http://github.io/"}),
    ],
)
def test_cookies_that_are_sent(set_by: str, cookie: str, sent_to: set[str]) -> None:
    jar = jar_with(set_by, cookie)
    assert {url: jar.header(url, NOW) for url in sent_to} == dict.fromkeys(sent_to, cookie.partition(";")[0])


@pytest.mark.parametrize(
    ("set_by", "cookie", "url"),
    [
        ("http://www.example.com/", "a=1", "http://example.com/"),
        ("http://example.com/", "a=1", "http://www.example.com/"),
        ("http://www.example.com/", "a=1; Domain=com", "http://www.example.com/"),
        ("http://www.example.co.uk/", "a=1; Domain=co.uk", "http://other.co.uk/"),
        ("http://www.example.co.uk/", "a=1; Domain=co.uk", "http://www.example.co.uk/"),
        ("http://alice.github.io/", "a=1; Domain=github.io", "http://bob.github.io/"),
        ("http://github.io/", "a=1; Domain=github.io", "http://bob.github.io/"),
        ("http://www.example.com/", "a=1; Domain=other.com", "http://other.com/"),
        ("http://example.com/", "a=1; Domain=www.example.com", "http://www.example.com/"),
        ("http://badexample.com/", "a=1; Domain=example.com", "http://example.com/"),
        ("http://1.192.0.2.1/", "a=1; Domain=192.0.2.1", "http://192.0.2.1/"),
        ("http://192.0.2.1/", "a=1; Domain=2.1", "http://192.0.2.1/"),
        ("http://a.test/docs/x", "a=1", "http://a.test/docsy"),
        ("http://a.test/docs/x", "a=1", "http://a.test/"),
        ("https://a.test/", "a=1; Secure", "http://a.test/"),
        ("http://a.test/", "a=1; Secure", "https://a.test/"),
        ("http://a.test/", "__Secure-a=1", "http://a.test/"),
        ("https://a.test/", "__Host-a=1; Secure; Path=/; Domain=a.test", "https://a.test/"),
        ("http://a.test/", "a=1; Max-Age=0", "http://a.test/"),
        ("http://a.test/", "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://a.test/"),
        ("http://a.test/", "a=\u00e4; Domain=\u00e4.test", "http://a.test/"),
    ],
)
def test_cookies_that_are_not(set_by: str, cookie: str, url: str) -> None:
    assert jar_with(set_by, cookie).header(url, NOW) == ""


def test_longer_paths_come_first_and_then_older_cookies() -> None:
    jar = jar_with("http://a.test/x/y", "one=1; Path=/", "two=2; Path=/x", "three=3; Path=/")
    jar.take("http://a.test/x/y", [("set-cookie", "one=again; Path=/")], NOW)
    assert jar.header("http://a.test/x/y", NOW) == "two=2; one=again; three=3"


def test_a_cookie_runs_out_and_can_be_taken_back() -> None:
    jar = jar_with("http://a.test/", "a=1; Max-Age=10", "b=2")
    assert jar.header("http://a.test/", NOW + 9) == "a=1; b=2"
    assert jar.header("http://a.test/", NOW + 10) == "b=2"
    jar.take("http://a.test/", [("Set-Cookie", "b=; Max-Age=0")], NOW)
    assert jar.header("http://a.test/", NOW) == "a=1"


def test_a_secure_cookie_is_not_replaced_from_an_insecure_page() -> None:
    jar = jar_with("https://a.test/", "a=safe; Secure; Path=/")
    jar.take("http://a.test/", [("Set-Cookie", "a=forged; Path=/")], NOW)
    assert jar.header("https://a.test/", NOW) == "a=safe"


def test_cookies_and_sites_are_bounded() -> None:
    jar = CookieJar(most_sites=3, most_cookies=5)
    for number in range(20):
        jar.take("http://a.test/", [("Set-Cookie", f"c{number}=1")], NOW)
    assert jar.header("http://a.test/", NOW) == "c15=1; c16=1; c17=1; c18=1; c19=1"
    for number in range(10):
        jar.take(f"http://{number}.example/", [("Set-Cookie", "a=1")], NOW)
        jar.header("http://a.test/", NOW)
    assert len(jar) == 5 + 2
    jar.take("http://b.test/", [("Set-Cookie", f"c{number}=1") for number in range(1000)], NOW)
    assert len(jar) == 5 + 1 + 5


def test_the_header_stays_short() -> None:
    jar = jar_with("http://a.test/", *(f"c{number}={'x' * 3000}" for number in range(10)))
    assert len(jar.header("http://a.test/", NOW)) < 8192


@given(
    st.sampled_from(["http://a.example.com/x/y", "https://b.example.com/", "http://192.0.2.1/", "http://co.uk/", "http://a"]),
    st.lists(st.text(st.characters(max_codepoint=255), max_size=60), max_size=5),
    st.sampled_from(["", "; Domain=example.com", "; Domain=com", "; Path=/x", "; Secure", "; Domain=", "; Path="]),
)
def test_nothing_that_a_server_says_leaves_its_site(url: str, cookies: list[str], more: str) -> None:
    jar = CookieJar()
    jar.take(url, [("Set-Cookie", cookie + more) for cookie in cookies], NOW)
    header = jar.header(url, NOW)
    assert "\n" not in header
    assert "\r" not in header
    header.encode("latin-1")
    for other in ("http://other.com/", "https://example.org/x", "http://192.0.2.2/", "http://b.co.uk/", "http://b"):
        assert jar.header(other, NOW) == ""


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
    expected = datetime.fromtimestamp(days * 86_400 + 3723, UTC)
    assert cookie_date(expected.strftime("%a, %d %b %Y %H:%M:%S GMT")) == expected.timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
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
def test_the_dates_that_servers_write(text: str, expected: tuple[int, int, int, int, int, int] | None) -> None:
    assert cookie_date(text) == (None if expected is None else datetime(*expected, tzinfo=UTC).timestamp())


@given(st.text(max_size=60))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = cookie_date(text)
    assert found is None or isinstance(found, float)
