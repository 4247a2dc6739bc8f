"""What belongs to the crawl."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.scope import Scope


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


def test_an_unknown_kind_is_a_bug() -> None:
    with pytest.raises(ValueError, match="none of"):
        Scope("page")


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(["site", "domain", "any"]), st.sampled_from(["http", "https", "ftp"]), st.text(alphabet="ab.-c", min_size=1)
)
def test_a_seed_is_in_its_scope(kind: str, scheme: str, host: str) -> None:
    assert _scope(kind, (scheme, host, 80)).admits(scheme, host, 80)
