from __future__ import annotations

import pytest

from parcahyd.rules.registrable_domain import is_public_suffix, registrable_domain


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
