"""Machine code against the patterns: a document gets the same links from both, or the machine code leaves it to the patterns.

The patterns are held against the tree in `test_link_scanner.py`.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.known_tags import IS_COMPILED
from parcahyd.rules.link_scanner import scan
from parcahyd.rules.links import read_at_once, read_tags
from tests.conformance.test_link_scanner import PIECES, cases_of_browsers, real_pages

pytestmark = pytest.mark.skipif(
    not IS_COMPILED, reason="needs the tag reader, which was not compiled: a C compiler was missing"
)


def assert_same(document: bytes) -> bool:
    """Whether machine code read the document; then the patterns read the same."""
    quick = read_at_once(document)
    if quick is None:
        return False
    links = read_tags(scan(document))
    assert links is not None, document
    assert [*quick.keys] == [*links.keys], document
    assert (quick.charset, quick.base, quick.table) == (links.charset, links.base, links.table), document
    assert (quick.robots, quick.tables) == (links.robots, links.tables), document
    assert (quick.follow, quick.embedded) == (links.follow, links.embedded), document
    return True


def test_real_pages() -> None:
    pages = real_pages()
    assert sum(map(assert_same, pages)) > 0.99 * len(pages)


def test_the_cases_that_browsers_are_tested_with() -> None:
    assert sum(map(assert_same, cases_of_browsers())) > 1000


AWKWARD = (
    *("<plaintext>", "<plaintexx>", "<SVG>", "</svg >", "<svg/>", '<svg a="b"/>', "<svg a=b/>", "<desc>d</desc>", "<use/>"),
    *("<title>x</title>", "<title", "</title", "<a/>", "<a>", "<a\x0b>", '<a href="x"\x0b>', '<a href="a\x1f#b">', "<a href"),
    *('<a href="&#35;">', '<a href="&#033;">', '<a href="&#126;&amp;">', '<a href="&AMP;">', '<a href="?q">', '<a href="é">'),
    *('<a  href="x"  >', '<a\thref="x">', '<a class="c"href="x">', '<a title="', '<a class="', '<a HREF="y" Title="t">'),
    *(
        "<FORM>",
        "</FoRm >",
        "</form\x0b>",
        "<form/>",
        "</formx>",
        "</form",
        "<base>",
        "<base href=b>",
        "<!---->",
        "<!--->",
        "--!>",
    ),
    *('<meta http-equiv="refresh" content="1;url=z">', "<meta content='x http-equiv'>", "<meta name=a content=un>", "<meta"),
    *('<img srcset="a 1x, b 2x" src=c>', '<img src="a" srcset="b">', "<link rel=icon href=x>", "<link rel=prev href=x>"),
    *(
        "<",
        "</",
        "<!",
        "<?",
        "<!-",
        "<!--",
        "</>",
        "</ x>",
        "=",
        '"',
        "'",
        ">",
        "\0",
        "x" * 40,
        " " * 20,
        "<p a=b=c>",
        "<p =x>",
    ),
)


@settings(max_examples=1000, deadline=None)
@given(st.lists(st.sampled_from(PIECES + AWKWARD), max_size=14), st.integers(0, 20))
def test_any_mixture_of_tags(pieces: list[str], cut: int) -> None:
    document = "".join(pieces).encode()
    assert_same(document[: len(document) - cut])


@settings(max_examples=1000, deadline=None)
@given(st.text(alphabet="<>/!-=\"'& \n\tahrefscriptmg#?x", max_size=60))
def test_any_text_of_the_characters_that_matter(text: str) -> None:
    assert_same(text.encode())


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes(document: bytes) -> None:
    assert_same(document)


@pytest.mark.parametrize("length", range(1, 40))
@pytest.mark.parametrize("tag", ['<a href="%s">', '<p title="%s">', "<p %s>", "<%s>", "</%s>", "%s<a href=x>", "<!--%s-->"])
def test_parts_of_any_length_are_found_to_their_end(tag: str, length: int) -> None:
    """Sixteen bytes are looked at together, where there are as many."""
    document = (tag % ("x" * length)).encode()
    assert assert_same(document)
    for end in range(len(document)):
        assert_same(document[:end])
        assert_same(document[:end] + b'<a href="y">')


ODD = (
    b"<template>",
    b"<base href=x>",
    b"<form><form>",
    b"<svg><a href=x></a></svg>",
    b"<p a=b'c>",
    b"<!-- ",
    b"\0",
    b"<select>",
)


@pytest.mark.parametrize("markup", ODD)
def test_what_wants_a_closer_look_is_left_to_others(markup: bytes) -> None:
    assert read_at_once(b'<a href="x">' + markup) is None


@pytest.mark.parametrize(
    "piece", [b"<!--", b'<a href="', b"<title>", b"<", b"<a ", b"<script>", b"</x", b"<svg>", b"<p a=b ", b"&"]
)
def test_hostile_repetition_is_read_in_one_pass(piece: bytes) -> None:
    # Anything but linear time would not come back from this.
    read_at_once(piece * (2_000_000 // len(piece)))
