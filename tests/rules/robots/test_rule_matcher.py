"""Which rule of a robots.txt decides about a path."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.robots.rule_matcher import Rule, RuleMatcher


def _rules(*lines: str) -> list[Rule]:
    pairs = [line.split(": ", 1) for line in lines]
    return [Rule(kind == "Allow", path, f"line {number}") for number, (kind, path) in enumerate(pairs, 1)]


def _decision(lines: list[str], path: str) -> str:
    rule = RuleMatcher(_rules(*lines)).deciding(path)
    return "" if rule is None else rule.record


@pytest.mark.parametrize("character", ["?", ";", ",", "&", "|", ":", "@", "!", "'", "("])
def test_a_rule_is_as_long_as_it_is_written(character: str) -> None:
    # 8 octets against 7: with the character counted as its escape, it would be 9.
    lines = ["Disallow: /search/", f"Allow: /*{character}utm*"]
    assert _decision(lines, f"/search/{character}utm=1") == "Disallow: /search/"
    lines = [f"Disallow: /*{character}a", "Allow: /shop/"]
    assert _decision(lines, f"/shop/{character}a") == "Allow: /shop/"


def test_the_longest_rule_decides_and_allow_where_two_are_equally_long() -> None:
    lines = ["Disallow: /a", "Allow: /a/b", "Disallow: /a/b/c", "Allow: /d", "Disallow: /d", "Disallow: /*e", "Allow: /fe"]
    assert [_decision(lines, path) for path in ("/a", "/a/b", "/a/b/c", "/d", "/fe", "/g")] == [
        "Disallow: /a",
        "Allow: /a/b",
        "Disallow: /a/b/c",
        "Allow: /d",
        "Allow: /fe",
        "",
    ]


def test_an_escape_counts_as_three_octets() -> None:
    assert _decision(["Disallow: /a%3Fb", "Allow: /a?b*"], "/a?b") == "Disallow: /a%3Fb"
    assert _decision(["Disallow: /%61b", "Allow: /abc"], "/abcd") == "Disallow: /%61b"


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        ("/%7Ejoe", "/~joe/", True),
        ("/~joe", "/%7ejoe/", True),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2Fb", "/a/b", False),
        ("/caf%E9", "/caf%e9", True),
        ("/caf%E9", "/caf%E8", False),
        ("/x%2A", "/x*", True),
        ("/x%2A", "/xyz", False),
        ("/x%24", "/x$", True),
        ("/a$b", "/a$bc", True),
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/a$", "/a$", False),
        ("/a%", "/a%zz", True),
        ("*", "/", True),
        ("*.pdf$", "/x.pdf", True),
        ("*.pdf$", "/x.pdf?a", False),
        ("/**a**b**$", "/xaybz", True),
        ("/*a*b$", "/abab", True),
        ("/*a*b$", "/aba", False),
        ("/*$", "/", True),
        ("a", "/a", False),
        ("$", "/", False),
    ],
)
def test_what_a_rule_matches(rule: str, path: str, matches: bool) -> None:
    assert _decision([f"Disallow: {rule}"], path) == (f"Disallow: {rule}" if matches else "")


def test_an_allowed_index_page_allows_its_folder() -> None:
    lines = ["Disallow: /", "Allow: /a/index.html", "Allow: /b/index.htm"]
    decisions = [_decision(lines, path).partition(":")[0] for path in ("/a/", "/a/index.html", "/a/x", "/b/", "/b/x")]
    assert decisions == ["Allow", "Allow", "Disallow", "Allow", "Disallow"]


PATTERNS = st.text(alphabet=st.sampled_from("ab/*$.?="), max_size=8).map("/{}".format)
PATHS = st.text(alphabet=st.sampled_from("ab/.?=$"), max_size=8).map("/{}".format)


def _matches_slowly(pattern: str, path: str) -> bool:
    """The definition: every place of the path that can be reached, octet by octet of the pattern."""
    reached = {0}
    for place, octet in enumerate(pattern):
        if octet == "$" and place == len(pattern) - 1:
            return len(path) in reached
        if octet == "*":
            reached = set(range(min(reached), len(path) + 1))
        else:
            reached = {at + 1 for at in reached if path[at : at + 1] == octet}
        if not reached:
            return False
    return True


@settings(deadline=None, max_examples=500)
@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=6), PATHS)
def test_the_decision_is_the_definitions(patterns: list[tuple[bool, str]], path: str) -> None:
    ranks = [(len(pattern), allow) for allow, pattern in patterns if _matches_slowly(pattern, path)]
    rule = RuleMatcher([Rule(allow, pattern, "") for allow, pattern in patterns]).deciding(path)
    assert (None if rule is None else (len(rule.path), rule.allow)) == max(ranks, default=None)
