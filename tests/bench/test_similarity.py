"""The truth that fingerprints are held against, and the changes that are done to pages."""

from __future__ import annotations

import random

from bench.changes import changes
from bench.similarity import cost, text_of, words_in_common

_PAGE = b"""<html><head><title>Some title</title><script>var hidden = "<p>";</script></head>
<body class="page"><!-- hidden <b> --><p class="text">Read <a href="/more">more</a> of 2024.</p></body></html>"""


def test_the_text_is_what_a_page_shows() -> None:
    assert text_of(_PAGE) == b"Some title Read more of 2024.".split()


def test_what_two_pages_have_in_common() -> None:
    one, other = frozenset({(b"a",), (b"b",), (b"c",)}), frozenset({(b"b",), (b"c",), (b"d",)})
    assert words_in_common(one, one) == 1
    assert words_in_common(one, other) == 0.5
    assert words_in_common(frozenset(), frozenset()) == 0


def test_every_change_is_one_and_markup_leaves_the_text_alone() -> None:
    changed = dict(changes(_PAGE, [b"other", b"words"] * 30, random.Random(1)))
    assert len(changed) == 7
    for name in ("a session id in every link", "every class renamed", "a script, a style sheet, a comment"):
        assert changed[name] != _PAGE
        assert text_of(changed[name]) == text_of(_PAGE), name
    assert text_of(changed["a date at its end"])[:6] == text_of(_PAGE)
    assert len(text_of(changed["an advertisement of 40 words"])) == len(text_of(_PAGE)) + 40


def test_every_change_takes_a_page_without_tags() -> None:
    assert all(changed for _, changed in changes(b"plain text", [b"other"], random.Random(1)))


def test_cost_calls_every_way_in_turn() -> None:
    calls: list[tuple[str, bytes]] = []
    cost([b"1", b"2"], (lambda page: calls.append(("a", page)), lambda page: calls.append(("b", page))))
    assert calls[:4] == [("a", b"1"), ("b", b"1"), ("a", b"2"), ("b", b"2")]
