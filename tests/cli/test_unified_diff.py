from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.line_changes import compare_lines
from parcahyd.augment.markers import Span
from parcahyd.cli.unified_diff import unified_lines


def _diff(old: bytes, new: bytes, *volatile: list[Span], is_markup: bool = False, is_coloured: bool = False) -> list[str]:
    compared = compare_lines(old, new, *volatile, is_markup=is_markup)
    assert compared is not None
    return "".join(unified_lines(old, new, compared, is_coloured=is_coloured)).splitlines()


def test_hunks_are_those_of_diff() -> None:
    lines = [f"line {number}\n" for number in range(40)]
    changed = [*lines[:5], "new\n", *lines[6:9], *lines[10:30], "more\n", *lines[30:]]
    old, new = "".join(lines).encode(), "".join(changed).encode()
    expected = "".join(difflib.unified_diff(lines, changed, n=3)).splitlines()[2:]
    assert _diff(old, new) == expected


_LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "a b\n", "\n"]), max_size=30)


@given(_LINES, _LINES)
def test_what_is_there_leads_from_one_to_the_other(old: list[str], new: list[str]) -> None:
    shown = _diff("".join(old).encode(), "".join(new).encode())
    made: list[str] = []
    at = 0
    for line in shown:
        if line.startswith("@@"):
            start, count = map(int, line.split()[1][1:].split(","))
            begin = start - 1 if count else start
            made += old[at:begin]
            at = begin
        elif line[0] == "+":
            made.append(f"{line[1:]}\n")
        else:
            assert old[at] == f"{line[1:]}\n"
            made += [old[at]] if line[0] == " " else []
            at += 1
    assert made + old[at:] == new


def test_volatile_places_are_marked() -> None:
    old, new = b"<b>1</b>\n<i>2</i>\n", b"<b>7</b>\n<i>8</i> 9\n"
    places = [Span("count\x1b", 3, 4), Span("clock", 12, 13)]
    assert _diff(old, new, places, places) == [
        "@@ -1,2 +1,2 @@",
        "-<b>1</b>",
        "-<i>2</i>",
        "+<b>7</b>",
        "+<i>8</i> 9",
        "\\ volatile in part: count\\x1b; clock",
    ]
    assert _diff(old, b"<b>7</b>\n<i>2</i>\n", places, places)[-2:] == [
        "\\ volatile: count\\x1b",
        " <i>2</i>",
    ]


def test_control_characters_are_written_out_and_tabs_stay() -> None:
    shown = _diff(b"a\x1b[31m\tb\n", "a\u202e\tb\n".encode())
    assert shown == ["@@ -1,1 +1,1 @@", "-a\\x1b[31m\tb", "+a\\u202e\tb"]
    assert _diff(b"\xff\n", b"x\n")[1] == "-\ufffd"


def test_line_ends() -> None:
    assert _diff(b"a\r\nb\r\n", b"a\r\nc\r\n") == ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]
    assert _diff(b"a\r\n", b"a\n") == ["@@ -1,1 +1,1 @@", "-a\\r", "+a"]
    assert _diff(b"a\n", b"a") == ["@@ -1,1 +1,1 @@", "-a", "+a", "\\ No newline at end of file"]


def test_of_a_long_line_the_part_that_differs_is_there() -> None:
    old = "é".encode() * 5000 + b"OLD" + b"x" * 5000
    new = "é".encode() * 5000 + b"NEW" + b"x" * 5000
    _, minus, _, plus, _ = _diff(old, new)
    assert minus == "-[9,940 bytes]..." + "é" * 30 + "OLD" + "x" * 60 + "...[4,940 bytes]"
    assert plus == minus.replace("OLD", "NEW").replace("-", "+", 1)
    _, minus, *_ = _diff(b"x" * 9000, b"y" * 9000)
    assert minus == "-" + "x" * 2000 + "...[7,000 bytes]"


@pytest.mark.parametrize("is_coloured", [True, False])
def test_colours(is_coloured: bool) -> None:
    shown = "\n".join(_diff(b"a\n", b"b\n", is_coloured=is_coloured))
    assert ("\x1b[31m-a\x1b[0m" in shown) == is_coloured
    assert ("\x1b" in shown) == is_coloured
