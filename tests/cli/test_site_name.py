"""A site in any spelling."""

from __future__ import annotations

import pytest

from parcahyd.cli.site_name import site_name
from parcahyd.core.errors import UserError


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("WWW.Example.org", "www.example.org"),
        ("www.example.org:80", "www.example.org:80"),
        ("HTTPS://www.example.org:443/tea.html", "https://www.example.org"),
        ("http://www.example.org:8080", "http://www.example.org:8080"),
        ("[2001:DB8::1]", "[2001:db8::1]"),
    ],
)
def test_a_site_in_the_spelling_of_the_crawl(given: str, name: str) -> None:
    assert site_name(given) == name


@pytest.mark.parametrize("given", ["", "a/b", "http://[", "mailto:x"])
def test_what_is_no_site(given: str) -> None:
    with pytest.raises(UserError, match="is not a site"):
        site_name(given)
