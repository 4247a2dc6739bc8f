"""Differences are exact on any input, and stay bounded on made-up ones."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.differences import MAX_GAP, MAX_PIECES, Difference, differences

_PIECES = st.sampled_from(
    [b"<p>", b"</p>", b"\n", b" ", b"12:34", b"12:35", b"word", b"\xc3\xa9", b">", b"<", b"\x00", b"a", b"b"]
)
_DOCUMENT = st.lists(_PIECES, max_size=60).map(b"".join) | st.binary(max_size=200)


def _changed(old: bytes, new: bytes) -> list[tuple[bytes, bytes]]:
    found = differences(old, new, whole_words=True)
    return [(old[part.old_start : part.old_end], new[part.new_start : part.new_end]) for part in found]


def _is_exact(old: bytes, new: bytes, found: list[Difference]) -> bool:
    ends = [Difference(0, 0, 0, 0), *found, Difference(len(old), len(old), len(new), len(new))]
    between = all(
        first.old_end <= second.old_start and old[first.old_end : second.old_start] == new[first.new_end : second.new_start]
        for first, second in pairwise(ends)
    )
    return between and all(part.old_start < part.old_end or part.new_start < part.new_end for part in found)


@given(_DOCUMENT, _DOCUMENT, st.booleans())
def test_what_lies_between_differences_is_equal(old: bytes, new: bytes, whole_words: bool) -> None:
    assert _is_exact(old, new, differences(old, new, whole_words=whole_words))


@given(_DOCUMENT, st.lists(st.tuples(st.integers(0, 200), st.integers(0, 9), _PIECES), max_size=5))
def test_an_edited_document(old: bytes, edits: list[tuple[int, int, bytes]]) -> None:
    new = old
    for at, length, piece in edits:
        new = new[:at] + piece + new[at + length :]
    found = differences(old, new)
    assert _is_exact(old, new, found)
    assert bool(found) == (old != new)


def test_words_are_whole() -> None:
    assert _changed(b"<b>It is 12:34</b>", b"<b>It is 12:37</b>") == [(b"12:34", b"12:37")]
    assert differences(b"<b>It is 12:34</b>", b"<b>It is 12:37</b>") == [Difference(13, 14, 13, 14)]
    assert _changed("<b>\u00e4\u00f6</b>".encode(), "<b>\u00e4\u00fc</b>".encode()) == [
        ("\u00e4\u00f6".encode(), "\u00e4\u00fc".encode())
    ]


def test_each_change_is_found_for_itself() -> None:
    old = b"<p>one</p>\n<p>two</p>\n<p>three</p>\n<p>four</p>\n"
    new = b"<p>1</p>\n<p>two</p>\n<p>new</p>\n<p>three</p>\n<p>4</p>\n"
    assert [pair for pair in _changed(old, new) if b"three" in pair[0] + pair[1] or b"two" in pair[0] + pair[1]] == []
    assert len(_changed(old, new)) == 3


def test_repeated_lines_and_one_long_line() -> None:
    row = b"<tr><td>0</td></tr>"
    rows = [row] * 100
    changed = [*rows[:50], b"<tr><td>7</td></tr>", *rows[51:]]
    assert _changed(b"".join(rows), b"".join(changed)) == [(b"0", b"7")]
    words = [b"w%d" % number for number in range(1000)]
    other = [b"new" if number in (100, 900) else word for number, word in enumerate(words)]
    assert _changed(b" ".join(words), b" ".join(other)) == [(b"w100", b"new"), (b"w900", b"new")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"x" + b">" * (MAX_GAP + 5) + b"y", b"z" + b">" * (MAX_GAP + 9) + b"z"),
        (b"x" + b"\n" * (MAX_PIECES + 5) + b"y", b"z" + b"\n" * (MAX_PIECES + 9) + b"z"),
    ],
)
def test_what_is_too_much_is_one_difference(old: bytes, new: bytes) -> None:
    assert differences(old, new) == [Difference(0, len(old), 0, len(new))]


def test_made_up_versions_end() -> None:
    numbers = [b"%d" % number for number in range(MAX_PIECES - 1)]
    for old, new in (
        (b"\n".join(numbers), b"\n".join(reversed(numbers))),
        (b"ab\n" * 100_000, b"ba\n" * 100_000),
        (b"<" * 300_000, b"<" * 200_000 + b">" + b"<" * 100_000),
    ):
        assert _is_exact(old, new, differences(old, new, whole_words=True))
