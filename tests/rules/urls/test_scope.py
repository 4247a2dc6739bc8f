"""What belongs to the crawl."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.urls.scope import Scope, is_public_suffix, registrable_domain


def _scope(kind: str, *seeds: tuple[str, str, int]) -> Scope:
    scope = Scope(kind)
    for seed in seeds:
        scope.add_seed(*seed)
    return scope


def test_a_site_is_scheme_host_and_port() -> None:
    scope = _scope("site", ("https", "example.com", 443), ("http", "[::1]", 8080))
    assert scope.admits("https", "example.com", 443)
    assert scope.admits("http", "[::1]", 8080)
    for other in (
        ("http", "example.com", 443),
        ("https", "www.example.com", 443),
        ("https", "example.com", 8443),
        ("http", "[::1]", 80),
    ):
        assert not scope.admits(*other)


@pytest.mark.parametrize(
    ("seed", "host", "admitted"),
    [
        ("www.example.com", "example.com", True),
        ("example.com", "a.b.example.com", True),
        ("example.com", "notexample.com", False),
        ("example.com", "example.org", False),
        ("www.example.co.uk", "docs.example.co.uk", True),
        ("www.example.co.uk", "other.co.uk", False),
        ("alice.github.io", "alice.github.io", True),
        ("alice.github.io", "bob.github.io", False),
        ("github.io", "github.io", True),
        ("github.io", "alice.github.io", False),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn", True),
        ("localhost", "localhost", True),
        ("localhost", "a.localhost", False),
        ("intranet", "other", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "128.0.0.1", False),
        ("10.0.0.1", "11.0.0.1", False),
        ("[::1]", "[::1]", True),
        ("[::1]", "[::2]", False),
        ("a..b", "c..b", False),
    ],
)
def test_a_domain_is_a_registrable_domain(seed: str, host: str, admitted: bool) -> None:
    assert _scope("domain", ("http", seed, 80)).admits("https", host, 8443) == admitted


def test_a_domain_holds_for_http_and_https_and_else_for_its_own_scheme() -> None:
    scope = _scope("domain", ("ftp", "ftp.example.com", 21))
    assert scope.admits("ftp", "example.com", 2121)
    assert not scope.admits("http", "example.com", 80)
    assert not _scope("domain", ("http", "example.com", 80)).admits("gopher", "example.com", 0)


def test_any_is_everything() -> None:
    assert _scope("any").admits("http", "example.com", 80)
    assert not _scope("site").admits("http", "example.com", 80)
    assert not _scope("domain").admits("http", "example.com", 80)


@pytest.mark.parametrize(
    ("domain", "host", "admitted"),
    [
        ("example.org", "example.org", True),
        ("example.org", "a.b.example.org", True),
        ("example.org", "notexample.org", False),
        ("=www.example.org", "www.example.org", True),
        ("=www.example.org", "a.www.example.org", False),
        ("EXAMPLE.org", "www.example.org", True),
        ("bücher.example", "www.xn--bcher-kva.example", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("[::1]", "[::1]", True),
    ],
)
def test_domains_belong_besides(domain: str, host: str, admitted: bool) -> None:
    scope = Scope("site", (domain,))
    assert scope.admits("http", host, 8080) is admitted
    assert scope.admits("https", host, 443) is admitted
    assert not scope.admits("ftp", host, 21)


def test_the_verdict_names_the_rule_that_decided() -> None:
    scope = Scope("site", ("b.example",), ("*/docs/*",), ("*.zip",))
    scope.add_seed("http", "a.example", 80)
    for url, verdict in {
        "http://a.example/docs/": (True, 'its site is a seed\'s own (Scope = "site"); Include has "*/docs/*"'),
        "https://www.b.example/docs/1": (True, 'Domains has "b.example"; Include has "*/docs/*"'),
        "http://a.example/docs/a.zip": (False, 'Exclude has "*.zip"'),
        "http://a.example/": (False, "no pattern of Include fits"),
        "http://c.example/docs/": (False, 'its site is outside (Scope = "site")'),
    }.items():
        assert scope.verdict(url) == verdict
    assert Scope("any").verdict("http://x.example/") == (True, 'everything is inside (Scope = "any")')
    kin = Scope("domain")
    kin.add_seed("http", "www.a.example", 80)
    assert kin.verdict("https://a.example/") == (True, 'its site is of a seed\'s registrable domain (Scope = "domain")')


def test_an_unknown_kind_is_a_bug() -> None:
    with pytest.raises(ValueError, match="none of"):
        Scope("page")


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(["site", "domain", "any"]), st.sampled_from(["http", "https", "ftp"]), st.text(alphabet="ab.-c", min_size=1)
)
def test_a_seed_is_in_its_scope(kind: str, scheme: str, host: str) -> None:
    assert _scope(kind, (scheme, host, 80)).admits(scheme, host, 80)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("a.b.example.com", "example.com"),
        ("alice.github.io", "alice.github.io"),
        ("x.alice.github.io", "alice.github.io"),
        ("github.io", "github.io"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("localhost", "localhost"),
    ],
)
def test_registrable_domain(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


@pytest.mark.parametrize(
    ("name", "is_suffix"),
    [("com", True), ("co.uk", True), ("github.io", True), ("localhost", True), ("example.com", False), ("192.0.2.1", False)],
)
def test_public_suffixes(name: str, is_suffix: bool) -> None:
    assert is_public_suffix(name) is is_suffix
