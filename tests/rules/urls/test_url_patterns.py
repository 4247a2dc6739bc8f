"""Include and Exclude."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.rules.urls.url_patterns import UrlPatterns

H = "https://h.example"


@pytest.mark.parametrize(
    ("pattern", "url", "fits"),
    [
        (f"{H}/docs/*", f"{H}/docs/", True),
        (f"{H}/docs/*", f"{H}/docs", False),
        ("*/private/*", f"{H}/a/private/b", True),
        ("*.pdf", f"{H}/a.pdf", True),
        ("*.pdf", f"{H}/a.pdf?x", False),
        (f"{H}/", f"{H}/", True),
        (f"{H}/", f"{H}/a", False),
        ("*?*", f"{H}/a?b", True),
        ("*?*", f"{H}/a", False),
        ("*[a]*", f"{H}/a", False),
        ("ab*ba", "aba", False),
        ("*", "", True),
        ("**", f"{H}/", True),
        (r"re:\.pdf$", f"{H}/a.pdf", True),
        (r"re:^https://h\.example/(a|b)/", f"{H}/b/c", True),
        (r"re:^https://h\.example/(a|b)/", f"{H}/c/b/", False),
        ("re:", f"{H}/", True),
    ],
)
def test_patterns(pattern: str, url: str, fits: bool) -> None:
    assert UrlPatterns((pattern,), ()).admits(url) is fits
    assert UrlPatterns((), (pattern,)).admits(url) is not fits


@given(st.text(alphabet="ab*", max_size=12), st.text(alphabet="ab", max_size=20))
def test_wildcards_mean_what_they_mean_to_a_shell(pattern: str, text: str) -> None:
    assert UrlPatterns((pattern,), ()).admits(text) == fnmatch.fnmatchcase(text, pattern)


def test_the_rule_that_decided_is_told() -> None:
    patterns = UrlPatterns(("*/docs/*", "*/news/*"), ("*/docs/old/*",))
    assert patterns.verdict(f"{H}/news/1") == (True, 'Include has "*/news/*"')
    assert patterns.verdict(f"{H}/docs/old/1") == (False, 'Exclude has "*/docs/old/*"')
    assert patterns.verdict(f"{H}/shop") == (False, "no pattern of Include fits")
    assert UrlPatterns((), ("*/x",)).verdict(f"{H}/shop") == (True, "no pattern of Exclude fits")


@pytest.mark.parametrize("is_included", [True, False])
def test_an_expression_that_takes_too_long_refuses(is_included: bool) -> None:
    """Without the bound this would not end."""
    slow = (r"re:(a+)+(b+)+(a+)+$",)
    patterns = UrlPatterns(slow, ()) if is_included else UrlPatterns((), slow)
    admitted, sentence = patterns.verdict("ab" * 1900 + "c" + "a" * 60 + "!")
    assert not admitted
    assert "too many steps" in sentence


def test_many_wildcards_stay_linear() -> None:
    assert not UrlPatterns(("*a" * 500 + "b",), ()).admits("a" * 4000)


def test_no_pattern_costs_nothing() -> None:
    assert UrlPatterns.of((), ()) is None
    assert UrlPatterns.of(("*",), ()) is UrlPatterns.of(("*",), ())


def test_what_is_no_expression_is_told() -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        UrlPatterns(("re:(a",), ())
