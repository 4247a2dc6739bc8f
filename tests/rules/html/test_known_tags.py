"""Tags and their keys: a page is read by keys as it is read by its tree."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.html.known_tags import IS_COMPILED, MARK, KnownTags
from parcahyd.rules.html.links import MAX_LINKS, read_compiled, read_links, read_tree

if not IS_COMPILED:
    pytest.skip("needs the tag reader, which was not compiled: a C compiler was missing", allow_module_level=True)


def _same_as_the_tree(markup: str) -> None:
    quick, tree = read_links(markup.encode(), "utf-8"), read_tree(markup.encode(), "utf-8")
    assert (quick.base, quick.follow, quick.embedded, quick.lines) == (tree.base, tree.follow, tree.embedded, tree.lines)


@pytest.mark.parametrize(
    ("tag", "key"),
    [
        (b'"x', b"a\tx\n"),
        (b'"x?a=1&amp;b=&#64;', b"a\tx?a=1&b=@\n"),
        (b'"\xc3\xa9', b"a\t\xc3\xa9\n"),
        (b'a rel="nofollow" href="x"', b"a\tx\trel=nofollow\n"),
        (b'"', b""),
        (b'form action="x"', b"form\tx\n"),
        (b'img src="" srcset="y"', b"img\ty\n"),
        (b'meta name="robots" content="noindex"', MARK + b'meta name="robots" content="noindex"'),
        (b'img src="x" srcset="y 2x"', MARK + b'img src="x" srcset="y 2x"'),
    ],
)
def test_a_key_is_a_line_or_the_marked_tag(tag: bytes, key: bytes) -> None:
    known = KnownTags()
    assert known.learn(tag)[0] == key
    assert known.found[key].lines == (key if key[:1] != MARK else known.learn(tag)[1])


def test_a_line_that_means_something_else_in_another_tag_is_no_key() -> None:
    known = KnownTags()
    icon, previous = b'link rel="icon" href="x"', b'link rel="prev" href="x"'
    keys = [known.learn(tag)[0] for tag in (icon, previous)]
    assert keys == [b"link\tx\n", MARK + previous]
    assert [known.found[key].embedded for key in keys] == [("x",), ()]
    assert [known.found[key].follow for key in keys] == [(), ("x",)]


def test_what_was_handed_out_stays_when_other_tags_take_the_place_of_the_known() -> None:
    links = read_links(b'<a href="x"><img src="y">', "utf-8")
    for number in range(3):
        read_links(b"".join(b'<a href="%d-%d">' % (number, each) for each in range(50_000)), "utf-8")
    assert (links.follow, links.embedded) == (["x"], ["y"])


def test_threads_read_side_by_side() -> None:
    """More tags than are remembered, so that others take their place all the time."""

    def read(thread: int) -> bool:
        pages = [[f"{thread % 2}-{page}-{link}" for link in range(900)] for page in range(60)]
        markup = ["".join(f'<a class=c href="{href}"><img src="{href}">' for href in page).encode() for page in pages]
        found = [read_links(page, "utf-8") for page in markup]
        return [(links.follow, links.embedded) for links in found] == [(page, page) for page in pages]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(read, range(4)))
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("tag", [b'"%d%b', b"img src='y' srcset='%d%b 2x'"])
def test_what_long_tags_bring_is_bounded_in_bytes(tag: bytes) -> None:
    known = KnownTags()
    for number in range(100):
        known.learn(tag % (number, b"x" * 60_000))
        if known.is_full:
            break
    assert 50 < number < 99
    known = KnownTags()
    for number in range(100):
        assert known.learn(b'img src="data:,%d%b"' % (number, b"x" * 60_000)) == (b"", b"")
        assert known.learn(b"a href='' title='%d%b'" % (number, b"x" * 60_000)) == (b"", b"")
    assert not known.is_full


def test_tags_with_many_lines_are_bounded_by_their_lines() -> None:
    known = KnownTags()
    for number in range(3000):
        known.learn(b'img srcset="%s"' % b", ".join(b"%d-%d" % (number, each) for each in range(50)))
    assert not known.is_full
    for number in range(3000, 3500):
        known.learn(b'img srcset="%s"' % b", ".join(b"%d-%d" % (number, each) for each in range(50)))
    assert known.is_full


@pytest.mark.parametrize(
    "markup",
    [
        '<link rel="icon" href="x"><link rel="prev" href="x"><link rel="up" href="x">',
        '<a href="x"><a rel="me" href="x"><a href="x#y"><area href="x">',
        '<base href="/b/"><a href="#top"><a href="x"><a href=""><img src="" srcset="y">',
        '<a href="#top"><a href="x"><a href="?q"><a id="i"><a xlink:href="z"><a id="j" xlink:href="z">',
        '<form action="x"></form><a href="x"><form action="y"></form><form action="x"></form>',
        '<FORM action="x"></FORM><form action="y"></form>',
        '<img src="a" srcset="b, c"><img src="b"><img src="c">',
        '<a href="&#35;x"><a href="&#32;y"><a href="z&#35;w"><a href="&#63;v">',
    ],
)
def test_keys_say_what_the_tree_says(markup: str) -> None:
    _same_as_the_tree(markup)


@pytest.mark.parametrize("number", [number for number in range(33, 127) if number != ord("#")])
def test_references_to_characters_mean_what_they_mean_to_the_tree(number: int) -> None:
    _same_as_the_tree(f'<a href="x&#{number};y?a&amp;b&#{number};">')


_ATTRIBUTES = st.sampled_from(
    (
        ' href="x"',
        ' href="?x"',
        ' href=""',
        ' href="y#z"',
        ' href="a&amp;b"',
        ' href=" x "',
        " href=x",
        ' HREF="x"',
        ' rel="nofollow"',
        ' rel="noopener noreferrer"',
        ' rel="ugc nofollow"',
        ' rel="NoFollow"',
        ' rel="nofollowed"',
        ' rel=""',
        ' class="c"',
        '\n   title="t > u"',
        ' target="_blank"',
        ' id="i"',
        ' xlink:href="w"',
        " download",
        " ",
    )
)


@settings(max_examples=600)
@given(st.lists(st.lists(_ATTRIBUTES, max_size=5).map("".join), min_size=1, max_size=3))
def test_anchors_are_read_as_the_tree_reads_them(anchors: list[str]) -> None:
    _same_as_the_tree("".join(f"<a{attributes}></a>" for attributes in anchors))


@pytest.mark.parametrize("form", ["form", "FORM", "Form"])
def test_a_form_within_a_form_is_left_to_the_tree(form: str) -> None:
    markup = f'<{form} action="x"><a href="y"><form action="z"></form></{form}>'
    assert read_compiled(markup.encode()) is None
    _same_as_the_tree(markup)


def test_many_forms_are_read_in_linear_time() -> None:
    markup = b"".join(b"<form action=%d></form>" % number for number in range(30_000))
    assert len(read_links(markup, "utf-8").lines) == 30_000


def test_excesses_are_left_to_the_tree() -> None:
    links = [b'<a href="%d">' % number for number in range(MAX_LINKS + 1)]
    assert read_compiled(b"".join(links)) is None
    assert len(read_links(b"".join(links), "utf-8").lines) == MAX_LINKS
    assert read_compiled(b"".join(links[:-1])) is not None


_PIECES = st.sampled_from(
    (
        '<a href="x">',
        '<a href="x" rel="nofollow">',
        '<a href="z">',
        '<form action="x">',
        '<form action="x" id="y">',
        "</form>",
        "</FORM>",
        '<form action="">',
        '<FORM action="z">',
        '<img src="x" srcset="y 2x">',
        '<img src="y">',
        '<base href="b/">',
        '<link rel="next" title="t" href="x">',
        '<link rel="prev" href="x" />',
        '<link rel="index" title="&amp;" href="x"/>',
        '<link rel="icon" href="x">',
        '<link rel="tol" href="x">',
        '<link rel="alternate" hreflang="de" href="?x">',
        '<link rel="next" href="x#y">',
        '<link rel="next" href="a&amp;b">',
        '<link rel="canonical" type="t" href="">',
        '<meta name="robots" content="noindex">',
        '<input type="image" src="x">',
        '<link rel="next prev" href="x">',
    )
)


@settings(max_examples=400)
@given(st.lists(_PIECES, max_size=12))
def test_whatever_tags_stand_together_the_table_is_that_of_the_tree(pieces: list[str]) -> None:
    body = "".join(pieces).encode()
    quick, tree = read_links(body, "utf-8"), read_tree(body, "utf-8")
    assert (quick.base, quick.follow, quick.embedded, quick.lines) == (tree.base, tree.follow, tree.embedded, tree.lines)
    assert ({*quick.robots}, {*quick.tables}) == ({*tree.robots}, {*tree.tables})


def test_forms_in_capitals_end_forms() -> None:
    one_by_one = '<form action="x"></FORM><form action="x"></form><form action="y"></form>'
    assert read_compiled(one_by_one.encode()) is not None
    _same_as_the_tree(one_by_one)
