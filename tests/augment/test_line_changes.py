"""Changed lines: what is said to be common is, also of texts that were made to cost time."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment import line_changes
from parcahyd.augment.line_changes import Block, Compared, compare_lines
from parcahyd.augment.markers import Span


def _compared(old: bytes, new: bytes, *volatile: list[Span], is_markup: bool = False) -> Compared:
    compared = compare_lines(old, new, *volatile, is_markup=is_markup)
    assert compared is not None
    assert _lines(old, compared.old_offsets) != []
    _check(old, new, compared)
    return compared


def _lines(text: bytes, offsets: object) -> list[bytes]:
    assert isinstance(offsets, list)
    return [text[start:end] for start, end in pairwise(offsets)]


def _check(old: bytes, new: bytes, compared: Compared) -> None:
    """The lines outside the blocks are the same in both texts, in the same order."""
    olds, news = _lines(old, compared.old_offsets), _lines(new, compared.new_offsets)
    assert b"".join(olds) == old
    assert b"".join(news) == new
    made = []
    at = 0
    for block in compared.blocks:
        assert at <= block.old_start
        made += olds[at : block.old_start]
        assert len(made) == block.new_start
        assert olds[block.old_start : block.old_end] != news[block.new_start : block.new_end]
        made += news[block.new_start : block.new_end]
        at = block.old_end
    assert made + olds[at:] == news


def _blocks(compared: Compared) -> list[tuple[int, ...]]:
    return [block[:4] for block in compared.blocks]


@pytest.mark.parametrize(
    ("old", "new", "blocks"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n", [(1, 2, 1, 2)]),
        (b"a\nc\n", b"a\nb\nc\n", [(1, 1, 1, 2)]),
        (b"a\nb\nc\n", b"a\nc\n", [(1, 2, 1, 1)]),
        (b"<li>a</li>\n<li>c</li>\n", b"<li>a</li>\n<li>b</li>\n<li>c</li>\n", [(1, 1, 1, 2)]),
        (b"", b"a\n", [(0, 0, 0, 1)]),
        (b"a\n", b"", [(0, 1, 0, 0)]),
        (b"a", b"a\n", [(0, 1, 0, 1)]),
        (b"same\n" * 9, b"same\n" * 8, [(8, 9, 8, 8)]),
        (b"1\n" + b"x\n" * 9 + b"2\n", b"3\n" + b"x\n" * 9 + b"4\n", [(0, 1, 0, 1), (10, 11, 10, 11)]),
    ],
)
def test_blocks_of_lines(old: bytes, new: bytes, blocks: list[tuple[int, ...]]) -> None:
    compared = compare_lines(old, new)
    assert compared is not None
    _check(old, new, compared)
    assert _blocks(compared) == blocks
    assert not compared.is_cut


def test_a_page_that_is_one_line_is_cut_at_its_tags() -> None:
    rows = [f"<tr><td>{number}</td><td>kettle <b>no.</b> {number}</td></tr>" for number in range(40)]
    old = "<table>" + "".join(rows) + "</table>"
    new = old.replace("<td>7</td>", "<td>seven</td>")
    compared = _compared(old.encode(), new.encode(), is_markup=True)
    (block,) = compared.blocks
    assert compared.is_cut
    assert _lines(old.encode(), compared.old_offsets)[block.old_start : block.old_end] == [b"<td>7</td>"]
    assert _lines(new.encode(), compared.new_offsets)[block.new_start : block.new_end] == [b"<td>seven</td>"]


@pytest.mark.parametrize("before", [b"", b"<p>text</p><script>"])
def test_a_long_script_is_cut_at_its_statements(before: bytes) -> None:
    old = before + b"".join(b"f(%d,'x');" % number for number in range(300))
    compared = _compared(old, old.replace(b"f(200,", b"g(200,"), is_markup=bool(before))
    (block,) = compared.blocks
    assert _lines(old, compared.old_offsets)[block.old_start : block.old_end] == [b"f(200,"]


_OLD = b"<p>\n<i id=clock>12:30</i>\n<p>stays\n<b>old</b>\n"
_NEW = b"<p>\n<i id=clock>12:31</i>\n<p>stays\n<b>new</b>\n"
_CLOCK = [Span("clock", 16, 21)]


def test_volatile_places_are_told_apart() -> None:
    clock, text = _compared(_OLD, _NEW, _CLOCK, _CLOCK).blocks
    assert clock == Block(1, 2, 1, 2, ("clock",), True)
    assert text == Block(3, 4, 3, 4, (), False)


def test_places_that_are_known_of_one_version_only() -> None:
    clock, text = _compared(_OLD, _NEW, [], [Span("", 16, 21)]).blocks
    assert (clock.volatile, clock.is_volatile, text.volatile) == (("",), True, ())


def test_a_line_with_a_volatile_place_and_another_change() -> None:
    (block,) = _compared(b"the <i>12:30</i> clock", b"the <i>12:31</i> bell", [Span("a", 7, 12)], [Span("a", 7, 12)]).blocks
    assert (block.volatile, block.is_volatile) == (("a",), False)


def test_what_is_added_beside_a_volatile_place_is_not_in_it() -> None:
    (block,) = _compared(b"[12:30]", b"[at 12:30]", [Span("a", 1, 6)], [Span("a", 4, 9)]).blocks
    assert (block.volatile, block.is_volatile) == ((), False)


_TEXT = st.lists(
    st.sampled_from([b"a", b"bb", b"\n", b"<p>", b"</p>", b" ", b"x" * 600, b"y;" * 600, b"\r\n", "é".encode()])
).map(b"".join)


@given(_TEXT, _TEXT, st.booleans())
def test_any_two_texts(old: bytes, new: bytes, is_markup: bool) -> None:
    compared = compare_lines(old, new, is_markup=is_markup)
    assert compared is not None
    _check(old, new, compared)
    assert bool(compared.blocks) == (old != new)


def test_a_large_page_with_changes_at_both_ends() -> None:
    middle = b"".join(b"<p>%d</p>\n" % number for number in range(80_000))
    compared = _compared(b"1\n" + middle + b"1\n", b"2\n" + middle + b"2\n", is_markup=True)
    assert _blocks(compared) == [(0, 1, 0, 1), (80_001, 80_002, 80_001, 80_002)]


@pytest.mark.parametrize("piece", [b"<", b"<a", b">", b"\n", b"ab ", b"<a>", b";", b"a\n"])
def test_texts_that_were_made_to_cost_time(piece: bytes) -> None:
    """They are compared or refused; a quadratic algorithm would not come to an end."""
    size = line_changes.MAX_TEXT // len(piece)
    chance = random.Random(1)
    places = sorted(chance.sample(range(size), 1000))
    old = bytearray(piece * size)
    for place in places:
        old[place * len(piece)] ^= 1
    compare_lines(bytes(old), piece * size, is_markup=True)


def test_texts_that_are_too_large_are_refused() -> None:
    assert compare_lines(b"x" * (line_changes.MAX_TEXT + 1), b"") is None
    assert compare_lines(b"", b"\n" * (line_changes.MAX_LINES + 1)) is None
    assert compare_lines(b"<a" * (line_changes.MAX_LINES + 1), b"", is_markup=True) is None
