"""One spelling per URL, whoever wrote it."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from ada_url import join_url
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parcahyd.core.documents import MAX_NAME
from parcahyd.core.records import origin
from parcahyd.rules.urls.canonical_url import Joiner, canonical, clean_name, key_of, member_url, recorded, shortened, split

SPELLINGS = {
    "HTTP://User:Secret@Example.COM:80/a/./b/../c?#top": "http://example.com/a/c",
    "https://example.com:443": "https://example.com/",
    "ftp://example.com:21/x": "ftp://example.com/x",
    "http://example.com:8080/": "http://example.com:8080/",
    "  http://exa\tmple.com/a\nb  ": "http://example.com/ab",
    "http://example.com/%7euser/%c3%a9?q=%41%2f": "http://example.com/~user/%C3%A9?q=A%2F",
    "http://example.com/é": "http://example.com/%C3%A9",
    "http://bücher.example/": "http://xn--bcher-kva.example/",
    "http://example.com./x": "http://example.com/x",
    "http://example.com.:8080/x": "http://example.com:8080/x",
    "http://example.com。/": "http://example.com/",
    "http://example.com/a?b?": "http://example.com/a?b?",
    "http://example.com/?": "http://example.com/",
    "http://example.com//a//b": "http://example.com//a//b",
    "http://example.com/?c=d&a=b": "http://example.com/?c=d&a=b",
    "http://example.com\\a": "http://example.com/a",
    "http://[::FFFF:127.0.0.1]/": "http://[::ffff:7f00:1]/",
    "http://2130706433/": "http://127.0.0.1/",
    "http://0x7f.1/": "http://127.0.0.1/",
    "http://0x7f.1../": "http://127.0.0.1/",
    "http://①②⑦.0.0.1/": "http://127.0.0.1/",
    "gopher://Example.com": "gopher://example.com/",
    "gopher://user@example.com:70?x/y": "gopher://example.com/?x/y",
    "gopher://Example.com:7070/1/A": "gopher://example.com:7070/1/A",
    "file:///etc/passwd": "file:///etc/passwd",
    "FILE:/a/./b/../%7Ec%2f?x=1#y": "file:///a/~c%2F",
    "file://localhost/a b": "file:///a%20b",
    "git+ssh://example.com./r": "git+ssh://example.com/r",
}

NO_SERVER = [
    "",
    "no scheme",
    "//example.com/",
    "http://",
    "http://exa mple.com/",
    "http://example.com:99999/",
    "http://example.com:0/",
    "http://./",
    "http://[::1%25eth0]/",
    "http://[::1]./",
    "http://1.2.3.256/",
    "mailto:someone@example.com?cc=http://example.com/",
    "javascript:alert(1)",
    "javascript://example.com/%0aalert(1)",
    "data:text/html,http://example.com/",
    "data://example.com/",
    "file://example.com/etc/passwd",
    "about:blank",
    "blob:https://example.com/1",
    "view-source:http://example.com/",
    "urn:isbn:0",
    "tel:+1",
    "unknown:/path",
    "unknown:///path",
    "http://example.com/\ud800",
]

STRAY_PERCENTS = ["/%", "/a%2", "/%%34%31", "/%zz%7e", "/%2%35", "/?%%300"]


@pytest.mark.parametrize(("url", "expected"), SPELLINGS.items())
def test_a_spelling_becomes_the_canonical_one(url: str, expected: str) -> None:
    assert canonical(url) == expected
    assert canonical(expected) == expected


@pytest.mark.parametrize("url", NO_SERVER)
def test_what_names_no_server_is_none(url: str) -> None:
    assert canonical(url) is None


@pytest.mark.parametrize("path", STRAY_PERCENTS)
def test_a_path_with_a_stray_percent_sign_stays_as_it_is(path: str) -> None:
    assert canonical(f"http://example.com{path}") == f"http://example.com{path}"


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://example.com/", ("http", "example.com", 80, "/")),
        ("https://example.com/a/b?c=d://e", ("https", "example.com", 443, "/a/b?c=d://e")),
        ("ftp://example.com:2121/x", ("ftp", "example.com", 2121, "/x")),
        ("http://[2001:db8::1]/x", ("http", "[2001:db8::1]", 80, "/x")),
        ("http://[2001:db8::1]:8080/x", ("http", "[2001:db8::1]", 8080, "/x")),
        ("gopher://example.com/1", ("gopher", "example.com", 70, "/1")),
        ("gopher://example.com:7070/1", ("gopher", "example.com", 7070, "/1")),
        ("file:///a/b", ("file", "", 0, "/a/b")),
    ],
)
def test_split_cuts_a_canonical_url(url: str, parts: tuple[str, str, int, str]) -> None:
    assert canonical(url) == url
    assert split(url) == parts


def test_keys_are_the_same_everywhere_and_fit_a_database() -> None:
    assert key_of("/") == -4667936858883809904  # as `b2sum -l 64` has it
    assert key_of("/index.html?q=%C3%A9") == 8332152869548559588
    assert all(-(2**63) <= key_of(f"/{number}") < 2**63 for number in range(1000))
    assert len({key_of(f"/{number}") for number in range(1000)}) == 1000
    assert min(key_of(f"/{number}") for number in range(1000)) < 0


PIECES = st.text(alphabet=st.sampled_from("abAZ09.-_~/\\?#%@:;&=+!$'()*,[]|^`{}<>\" \t\n\x00é。ß①xn"), max_size=24)
ESCAPES = st.lists(st.sampled_from(["%2e", "%2E", "%41", "%zz", "%", "%%", "%25", "%2f", "a", "/", ".", "?"]), max_size=8).map(
    "".join
)
HOSTS = st.one_of(
    st.sampled_from(
        ["example.com", "EXAMPLE.com.", "127.0.0.1", "[::1]", "0x7f.1..", "a..b", "xn--bcher-kva.de", "u:p@h", "h:0", "h:81"]
    ),
    PIECES,
)
SCHEMES = st.sampled_from(["http", "https", "ftp", "HTTP", "gopher", "ws", "javascript", "file", "sc"])
URLS = st.one_of(
    st.builds("{}://{}/{}{}".format, SCHEMES, HOSTS, ESCAPES, PIECES),
    st.builds("{}:{}".format, SCHEMES, PIECES),
    st.text(max_size=40),
)


@settings(deadline=None, max_examples=400)
@given(URLS)
@example("http://h/%%34%31")
@example("http://0x7f.1../")
def test_canonical_is_idempotent_and_complete(url: str) -> None:
    once = canonical(url)
    if once is None:
        return
    assert canonical(once) == once
    scheme, host, port, path = split(once)
    assert bool(host) is (scheme != "file")
    assert "@" not in host
    assert "#" not in once
    assert path.startswith("/")
    assert not host.endswith(".")
    assert once.isascii()
    if scheme in ("http", "https", "ftp", "gopher", "file"):
        assert origin(scheme, host, port) + path == once


BASES = [
    "http://example.com/",
    "http://example.com/a/b/c.html",
    "https://example.com:8443/a//b/?q=/x/y",
    "http://[::1]:8080/dir/",
    "http://example.com/100%/x",
    "ftp://example.com/pub/x",
    "gopher://example.com/1/x",
    "file:///srv/docs/x.html",
]

REFERENCES = {
    "c.html": "http://example.com/a/b/c.html",
    "c/d.html?x=1&y=/2": "http://example.com/a/b/c/d.html?x=1&y=/2",
    "../c": "http://example.com/a/c",
    "../../../c": "http://example.com/c",
    "..": "http://example.com/a/",
    "./c": "http://example.com/a/b/c",
    "/c": "http://example.com/c",
    "//other.example/c": "http://other.example/c",
    "https://other.example/c?d": "https://other.example/c?d",
    "https://other.example": "https://other.example/",
    "https:c": "https://c/",
    "http:c": "http://example.com/a/b/c",
    "?q": "http://example.com/a/b/page?q",
    "?": "http://example.com/a/b/page",
    "#top": "http://example.com/a/b/page?x",
    "": "http://example.com/a/b/page?x",
    " \tc\n ": "http://example.com/a/b/c",
    "c d": "http://example.com/a/b/c%20d",
    "c:d": None,
    "mailto:a@b.example": None,
    "javascript:void(0)": None,
    "http://user:secret@other.example/": "http://other.example/",
    "http://[": None,
    ".hidden/x": "http://example.com/a/b/.hidden/x",
    "a\\b": "http://example.com/a/b/a/b",
    "%7ea": "http://example.com/a/b/~a",
}


@pytest.mark.parametrize(("href", "expected"), REFERENCES.items())
def test_a_reference_joins_its_base(href: str, expected: str | None) -> None:
    assert Joiner("http://example.com/a/b/page?x").join(href) == expected


def _by_definition(base: str, href: str) -> str | None:
    try:
        return canonical(join_url(base, href))
    except ValueError:
        return None


PLAIN_REFERENCES = st.builds(
    "{}{}{}".format,
    st.sampled_from(
        [
            "",
            "/",
            "../",
            "../../",
            "../../../../",
            "http://a.b-c.example/",
            "https://1.2.example/",
            "//h/",
            "./",
            "https://ab.1/",
        ]
    ),
    st.text(alphabet=st.sampled_from("aZ0_~!$&()*+,;=@.-/:%"), max_size=16),
    st.sampled_from(["", "?", "?q=1", "?q=a/../b&c:d@e?", "?'", "#f"]),
)


@settings(deadline=None, max_examples=500)
@given(st.sampled_from(BASES), st.one_of(PLAIN_REFERENCES, URLS, PIECES))
@example("http://example.com/a/b/c.html", "https://a.xn--/x")
@example("http://example.com/a/b/c.html", "http://a.0x1/x")
@example("https://example.com:8443/a//b/?q=/x/y", "../../x")
def test_joining_the_quick_way_gives_what_the_standard_says(base: str, href: str) -> None:
    assert canonical(base) == base
    assert Joiner(base).join(href) == _by_definition(base, href)


def test_climbing_far_above_the_root_ends_at_the_root() -> None:
    base = "http://example.com/" + "a/" * 1000
    joiner = Joiner(base)
    assert joiner.join("../" * 999 + "x") == "http://example.com/a/x"
    assert joiner.join("../" * 50_000 + "x") == "http://example.com/x"


def test_of_a_long_url_the_beginning_its_length_and_a_hash_are_kept() -> None:
    long, other = (f"https://h.example:8443/{'x' * 5000}{end}" for end in "ab")
    short = shortened(long)
    assert short is not None
    assert short.startswith(f"https://h.example:8443/{'x' * 99}#5024-characters-")
    assert len(short) < 200
    assert split(short)[:3] == ("https", "h.example", 8443)
    assert canonical(short) != short  # so it is never taken for a URL
    assert recorded(short) == short
    assert recorded("HTTP://h.example/a#top") == "http://h.example/a"
    assert recorded("nonsense") is None
    assert shortened(other) != short
    assert shortened(f"http://{'h' * 400}.example/") is None


ARCHIVE = "http://a.test/get?id=3"


def test_the_form() -> None:
    assert member_url(ARCHIVE, "docs/a b#c?.html") == "http://a.test/get?id=3#!/docs/a%20b%23c%3F.html"


def test_no_canonical_url_is_a_members() -> None:
    """So neither a link nor a redirect can lead to one, and the archive's own row is never taken for a member's."""
    url = member_url(ARCHIVE, "a.html")
    assert canonical(url) == ARCHIVE != url
    assert canonical("http://a.test/x!/y") == "http://a.test/x!/y"


@given(st.text(max_size=60))
def test_names_come_back(raw: str) -> None:
    name = clean_name(raw)
    assert clean_name(name) == name
    assert not {"", ".", ".."} & set(name.split("/")) or name == ""
    if name:
        url = member_url(ARCHIVE, name)
        assert url.isascii()
        assert unquote(url.removeprefix(f"{ARCHIVE}#!/")) == name


def test_cleaning() -> None:
    assert clean_name("/../a\\b/./c\n.txt") == "a/b/c.txt"
    assert clean_name("c:/x") == "x"
    assert clean_name("x" * (MAX_NAME + 1)) == ""
    assert clean_name("../..") == ""
