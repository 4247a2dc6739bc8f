"""Scanned tags and their keys: a document is read by keys as it is read by its tree."""

from __future__ import annotations

import pytest

from parcahyd.rules.known_tags import MARK, KnownTags
from parcahyd.rules.link_scanner import scan
from parcahyd.rules.links import MAX_LINKS, read_links, read_tags, read_tree


def _same_as_the_tree(markup: str) -> None:
    tags = scan(markup.encode())
    assert tags is not None
    quick, tree = read_tags(tags), read_tree(markup.encode(), "utf-8")
    assert quick is not None
    assert (quick.base, quick.follow, quick.embedded, quick.lines) == (tree.base, tree.follow, tree.embedded, tree.lines)


@pytest.mark.parametrize(
    ("tag", "key"),
    [
        (b'"x', b"a\tx\n"),
        (b'"x?a=1&amp;b=&#64;', b"a\tx?a=1&b=@\n"),
        (b'"\xc3\xa9', b"a\t\xc3\xa9\n"),
        (b'a rel="nofollow" href="x"', b"a\tx\trel=nofollow\n"),
        (b"", b""),
        (b'"', b""),
        (b"/form", b""),
        (b'form action="x"', MARK + b'form action="x"'),
        (b'base href="x"', MARK + b'base href="x"'),
        (b'meta name="robots" content="noindex"', MARK + b'meta name="robots" content="noindex"'),
        (b'img src="x" srcset="y 2x"', MARK + b'img src="x" srcset="y 2x"'),
        (b'img src="" srcset="y"', MARK + b'img src="" srcset="y"'),
    ],
)
def test_a_key_is_a_line_or_the_marked_tag(tag: bytes, key: bytes) -> None:
    known = KnownTags()
    assert known[tag] == key
    assert tag in known
    assert key in known.found


def test_a_line_that_means_something_else_in_another_tag_is_no_key() -> None:
    known = KnownTags()
    icon, previous = b'link rel="icon" href="x"', b'link rel="prev" href="x"'
    assert [known[icon], known[previous]] == [b"link\tx\n", MARK + previous]
    assert known.found[known[icon]].embedded == ("x",)
    assert known.found[known[previous]].follow == ("x",)


def test_what_was_handed_out_outlives_forgetting() -> None:
    known = KnownTags()
    key, found = known[b'"x'], known.found
    known.forget()
    assert not known
    assert found[key].follow == ("x",)


def test_long_tags_are_not_remembered() -> None:
    known = KnownTags()
    tag = b'"' + b"x" * 1000
    assert known[tag] == b"a\t" + b"x" * 1000 + b"\n"
    assert not known


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


@pytest.mark.parametrize("form", ["form", "FORM", "Form"])
def test_a_form_within_a_form_is_left_to_the_tree(form: str) -> None:
    tags = scan(f'<{form} action="x"><a href="y"><form action="z"></form></{form}>'.encode())
    assert tags is not None
    assert read_tags(tags) is None


def test_many_forms_are_read_in_linear_time() -> None:
    markup = b"".join(b"<form action=%d></form>" % number for number in range(30_000))
    assert len(read_links(markup, "utf-8").lines) == 30_000


def test_excesses_are_left_to_the_tree() -> None:
    tags = [b'"%d' % number for number in range(MAX_LINKS + 1)]
    assert read_tags(tags) is None
    assert read_tags(tags[:10] * MAX_LINKS) is not None
