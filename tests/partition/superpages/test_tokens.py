from __future__ import annotations

import pytest

from parcahyd.partition.superpages.tokens import MOST_LETTERS, MOST_TOKENS, key_of, site_of, token_path, tokens_of


def test_the_papers_own_url() -> None:
    tokens = token_path("gcs.almaden.ibm.com", "/docs/Slides/Tspaces/index.htm")
    assert tokens == ("com", "ibm", "almaden", "gcs", "/docs", "/Slides", "/Tspaces", "/index.htm")
    # The paper's tokens are those without the slash, by which a folder differs from a subdomain.
    assert [token.lstrip("/") for token in tokens] == ["com", "ibm", "almaden", "gcs", "docs", "Slides", "Tspaces", "index.htm"]
    assert token_path("www.ibm.com", "/docs") != token_path("docs.www.ibm.com", "")


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("www.example.org", "/"),
        ("www.example.org", "/a//b/"),
        ("www.example.org", "/a/b.php?q=/c/d?e"),
        ("192.0.2.1", "/a"),
        ("[2001:db8::1]", "/a"),
        ("..", "//"),
        ("a\udcff.example", "/\udcff"),
        ("m\u00fcnchen.example", "/"),
    ],
)
def test_a_key_leads_back_to_its_tokens(host: str, path: str) -> None:
    tokens = token_path(host, path)
    key_of(tokens).encode()
    for length in range(1, len(tokens) + 1):
        assert tokens_of(key_of(tokens[:length])) == tokens[:length]


def test_the_parts_of_an_address_are_no_domains() -> None:
    assert token_path("192.0.2.1", "/a") == ("192.0.2.1", "/a")


def test_sites_are_named_as_moves_name_them() -> None:
    tokens = token_path("www.example.org", "/a/b/c.html?q")
    assert [site_of(tokens[:length]) for length in (3, 4, 5)] == ["www.example.org", "www.example.org/a", "www.example.org/a/b"]


def test_a_token_path_is_bounded() -> None:
    tokens = token_path("a." * 100_000, "/b" * 100_000 + "?" + "c" * 100_000)
    assert len(tokens) == MOST_TOKENS
    assert max(map(len, token_path("x" * 100_000, "/" + "y" * 100_000))) <= MOST_LETTERS
