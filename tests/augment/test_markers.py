"""Where volatile regions begin and end."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from turbohtml import parse

from parcahyd.augment import marker_tokens
from parcahyd.augment.marker_tokens import TokenReader
from parcahyd.augment.markers import MAX_MARKER_ERRORS, find_regions, has_markers


def _contents(document: bytes, is_xml: bool = False) -> dict[str, bytes]:
    marked = find_regions(document, is_xml=is_xml)
    assert marked.errors == ()
    return {span.id: document[span.start : span.end] for span in marked.spans}


HTML: dict[bytes, dict[str, bytes]] = {
    b"<p>text": {},
    b'<span data-vol="price">11</span>': {"price": b"11"},
    b"<SPAN DATA-VOL=price>11</Span >": {"price": b"11"},
    b"<div\ndata-vol='a'\n>x</div>": {"a": b"x"},
    b"<div data-vol = a >x</div>": {"a": b"x"},
    b"<div title='data-vol=\"b\"'>x</div>": {},
    b"<div title=x>y' data-vol=b>x</div>": {},
    b"<div title='a>b' data-vol=b>x</div>": {"b": b"x"},
    b'<a "b>c" data-vol=b>x</a>': {},
    b"<div =data-vol=b data-vol=c>x</div>": {"c": b"x"},
    b"<div data-vol=a data-vol=b>x</div>": {"a": b"x"},
    b"<div data-volume=a>x</div>": {},
    b"<div data-vol=a><div>x</div>y</div>z</div>": {"a": b"<div>x</div>y"},
    b"<div data-vol=a><divan></divan></div>": {"a": b"<divan></divan>"},
    b"<div data-vol=a><!-- </div> --></div>": {"a": b"<!-- </div> -->"},
    b"<div data-vol=a><script>'</div>'</script></div>": {"a": b"<script>'</div>'</script>"},
    b"<div data-vol=a><i title='</div>'></div>": {"a": b"<i title='</div>'>"},
    b"</div><p></span><div data-vol=a>x</div></i>": {"a": b"x"},
    b"<x-y data-vol=a><x-y></x-y></x-y>": {"a": b"<x-y></x-y>"},
    b"<b data-vol=a></b><b data-vol=b>1</b>": {"a": b"", "b": b"1"},
    b"<div data-vol=a><div data-vol=b>1</div><!--vol c-->2<!--/vol c--></div>": {
        "a": b"<div data-vol=b>1</div><!--vol c-->2<!--/vol c-->"
    },
    b"<span class=volatile id=a>1</span>": {"a": b"1"},
    b"<span id='a' class='x volatile y'><span class=volatile>1</span></span>": {"a": b"<span class=volatile>1</span>"},
    b"<span class=nonvolatile id=a>1</span><span class=volatile>1</span><b class=volatile id=a>1</b>": {},
    b"<span class=volatile id=a data-vol=b>1</span>": {"b": b"1"},
    b"<!--vol a-->1</div><!--/vol a-->": {"a": b"1</div>"},
    b"<!--vol a-b.c:d_e---><!--/vol a-b.c:d_e--->": {"a-b.c:d_e-": b""},
    b"<!-- vol a --><!--volume a--><!--Vol a-->": {},
    b"<!--> <!--vol a-->1<!--/vol a-->": {"a": b"1"},
    b"<!---><!--vol a-->1<!--/vol a-->": {"a": b"1"},
    b"<!-- <!--vol a--> --><!--vol b-->1<!--/vol b-->": {"b": b"1"},
    b"<!-- --!><!--vol b-->1<!--/vol b-->": {"b": b"1"},
    b"<title><!--vol a--></title><textarea><b data-vol=a></textarea><style><b data-vol=a></style>": {},
    b"<title data-vol=a>News (3)</title>": {"a": b"News (3)"},
    b"<script data-vol=a>'<b data-vol=c>'</script><b data-vol=b></b>": {"a": b"'<b data-vol=c>'", "b": b""},
    b"<script><!-- <script> </script> <b data-vol=a> --></script><b data-vol=b></b>": {"b": b""},
    b"<script><!-- </script><b data-vol=b></b>": {"b": b""},
    b"<script><!--> <script> </script><b data-vol=b></b>": {"b": b""},
    b"<xmp><b data-vol=a></xmp><iframe><b data-vol=a></iframe><noembed><b data-vol=a></noembed>": {},
    b"<plaintext><b data-vol=a></plaintext>": {},
    b"<style><b data-vol=a>": {},
    b"<noscript><b data-vol=a>1</b></noscript>": {"a": b"1"},
    b"<![CDATA[<b data-vol=a>]]><b data-vol=b></b>": {"b": b""},
    b"<?php <b data-vol=a></b>": {},
    b"<!doctype html><b data-vol=a></b>": {"a": b""},
    b"</ <b data-vol=a></b>": {},
    b"1 < 2<b data-vol=a>1 < 2</b>": {"a": b"1 < 2"},
    b"<b data-vol=a": {},
    b"<b data-vol='a>": {},
    b"<!-- <b data-vol=a>": {},
    b"<Vol1>x</Vol1>": {},
    b"\xef\xbb\xbf<b data-vol=a>\xff</b>": {"a": b"\xff"},
    "<b data-vol=a>x</b>".encode("utf-16"): {},
    "<b data-vol=a>x</b>".encode("utf-16-le"): {},
}

XML: dict[bytes, dict[str, bytes]] = {
    b"<a><Vol1>x</Vol1><Vol22 b='>'>y</Vol22></a>": {"Vol1": b"x", "Vol22": b"y"},
    b"<vol1>x</vol1><Vol>x</Vol><Vol1x>y</Vol1x><x:Vol1>z</x:Vol1>": {},
    b"<Vol1><Vol2>x</Vol2></Vol1>": {"Vol1": b"<Vol2>x</Vol2>"},
    b"<title><Vol1>x</Vol1></title><script><Vol2>y</Vol2></script>": {"Vol1": b"x", "Vol2": b"y"},
    b"<![CDATA[<Vol1>]]><!-- <Vol2> --><?pi <Vol3> ?><a b='<Vol4>'/><Vol5 ></Vol5>": {"Vol5": b""},
    b"<!DOCTYPE a [ <!ENTITY b '<Vol1>'> <!-- ' --> <?c ' ?> ]><a><Vol2>x</Vol2></a>": {"Vol2": b"x"},
    b'<!DOCTYPE a SYSTEM "]>"><Vol2>x</Vol2>': {"Vol2": b"x"},
    b"<!--vol a--><b>1</b><!--/vol a-->": {"a": b"<b>1</b>"},
    b"<b data-vol=a>1</b><span class='volatile' id='a'/>": {},
}


@pytest.mark.parametrize("document", HTML)
def test_html(document: bytes) -> None:
    assert _contents(document) == HTML[document]


@pytest.mark.parametrize("document", XML)
def test_xml(document: bytes) -> None:
    assert _contents(document, is_xml=True) == XML[document]


MISTAKES = {
    b"<b data-vol=a>\n<i data-vol=b></i>": [(1, 1, "region 'a' does not end")],
    b"<p>\n  \xc3\xa9<b data-vol=a></b><b data-vol=a></b>": [(2, 22, "region 'a' is there a second time")],
    b"<b data-vol=a></b><div data-vol=c><i data-vol=a></i></div>": [(1, 35, "region 'a' is there a second time")],
    b"<!--vol a--><b data-vol=b><!--/vol a--></b>": [(1, 13, "region 'b' begins within region 'a' and does not end in it")],
    b"<b data-vol=a><!--vol b--></b><!--/vol b-->": [
        (1, 15, "region 'b' begins within region 'a' and does not end in it"),
        (1, 31, "here a region 'b' ends that is not open"),
    ],
    b"<img data-vol=a>": [(1, 1, "this element has no end tag, so it cannot hold a region")],
    b"<b data-vol=a /></b>": [(1, 1, "this element has no end tag, so it cannot hold a region")],
    b"<b data-vol></b>": [(1, 1, "the ID is not 1 to 64 letters, digits and . _ : - that begin with a letter or digit")],
    b"<span class=volatile id='a b'></span>": [
        (1, 1, "the ID is not 1 to 64 letters, digits and . _ : - that begin with a letter or digit")
    ],
    b"<!--vol a b-->": [(1, 1, "this comment names no region: letters, digits and . _ : - are needed")],
    b"<!--/vol a-->": [(1, 1, "here a region 'a' ends that is not open")],
}


@pytest.mark.parametrize("document", MISTAKES)
def test_mistakes_have_line_and_column(document: bytes) -> None:
    marked = find_regions(document)
    assert marked.spans == ()
    assert [tuple(mistake) for mistake in marked.errors] == MISTAKES[document]


@pytest.mark.parametrize("is_xml", [False, True])
def test_only_markers_are_markers(is_xml: bool) -> None:
    documents = XML if is_xml else HTML
    assert {document: has_markers(document, is_xml=is_xml) for document in documents} == {
        document: bool(regions) for document, regions in documents.items()
    }


def test_words_in_a_text_are_no_markers() -> None:
    for text in (b"<p>A volatile price", b'<code>&lt;span class="volatile" id=x></code>', b"<p>the data-vol attribute"):
        assert not has_markers(text)
    assert has_markers(b"<p>A volatile price: <b data-vol=price>11</b>")
    assert has_markers(b"<!--vol ?-->"), "a marker with an error is one"
    lookalike = b"<span class=volatile>"
    assert not has_markers(lookalike * 199)
    assert has_markers(lookalike * 10_000), "it is not looked at to its end"


def test_an_empty_element_of_xml_is_a_mistake() -> None:
    assert len(find_regions(b"<a><Vol1/></a>", is_xml=True).errors) == 1
    assert len(find_regions(b"<Vol1><Vol1>x</Vol1></Vol1>", is_xml=True).errors) == 1


def test_charsets_in_which_ascii_means_something_else_have_no_regions() -> None:
    document = b"<b data-vol=a></b>"
    assert find_regions(document, charset="Shift_JIS").spans
    assert not find_regions(document, charset="ISO-2022-JP").spans
    assert not find_regions(document, charset="UTF-16LE").spans


def test_mistakes_are_bounded() -> None:
    assert len(find_regions(b"<img data-vol=a>" * 1000).errors) == MAX_MARKER_ERRORS


HOSTILE = [
    b"<b data-vol=a>" * 20_000,
    b"".join([b"<b data-vol=a%d>" % number for number in range(20_000)]) + b"</b>" * 20_000,
    b"".join([b"<x%d data-vol=a%d>" % (number, number) for number in range(20_000)]),
    b"".join([b"<!--vol a%d-->" % number for number in range(20_000)]) + b"<!--/vol a0-->",
    b"<b data-vol=a>" + b"<b " * 100_000,
    b"<!--vol a-->" + b"<!--" * 100_000,
    b"<!--vol a-->" + b"<![CDATA[" * 50_000,
    b"<!--vol a-->" + b"<a b='" * 50_000,
    b"<!--vol a-->" + b'<span class="volatil' * 50_000,
    b"<!--vol a-->" + b"<span class=volatil" * 50_000,
    b"<!--vol a-->" + b"<span class=" + b"v" * 300_000,
    b"<!--vol a-->" + b"<script>" * 50_000,
    b"<!--vol a-->" + b"<script><!--" + b"<script></script>" * 30_000,
    b"<!--vol a-->" + b"<title>" + b"</titl" * 60_000,
    b"<!--vol a-->" + b"<" * 300_000,
    b"<!--vol a-->" + b"-" * 300_000,
    b"<!--vol a-->" + b"<!---" + b"-!" * 150_000,
    b"<!--vol a-->" + b"<a" + b" /" * 150_000,
    b"<!--vol a-->" + b"<!DOCTYPE [" + b"<!ENTITY '" * 30_000,
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
@pytest.mark.parametrize("is_xml", [False, True])
def test_hostile_documents(number: int, is_xml: bool) -> None:
    """Whatever takes more than linear time does not come to an end here."""
    assert len(find_regions(HOSTILE[number], is_xml=is_xml).spans) == (number == 1 and not is_xml)


PIECES = [
    "<span data-vol=a>", "<span data-vol='b'>", '<span DATA-VOL="c">', "<x-y title='>' data-vol=d>", "</span>", "</x-y>",
    "<span class=x",
    " ", "/", ">", "<", "'", '"', "=", "!", "-", "--", "<!--", "-->", "--!>", "<!-", "<!", "<?", "</", "x", "\n", "<script>",
    "</script>", "<script", "</script", "<style>", "</style>", "<title>", "</title", "<textarea>", "</textarea>", "<xmp>",
    "</xmp>", "<!-->",
    "<!--->",
    "<iframe>", "</iframe>", "<a href=", "data-vol=e", " data-vol=f>",
]  # fmt: skip


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(PIECES), max_size=25))
@example(["<script>", "<!--", "<script>", "</script>", "<span data-vol=a>", "-->", "</script>", "<span data-vol='b'>"])
def test_marked_tags_are_those_that_a_browser_sees(pieces: list[str]) -> None:
    text = "<!doctype html><body>" + "".join(pieces)
    seen = [element.attr("data-vol") for element in parse(text).iter_elements(("span", "x-y")) if element.attr("data-vol")]
    tokens = TokenReader(text.encode(), False, ())
    ours = []
    while (token := tokens.next()) is not None:
        if token.id and token.name in (b"span", b"x-y"):
            ours.append(token.id)
    assert ours == seen


SOUP = [piece.encode() for piece in PIECES] + [
    b"<!--vol a-->",
    b"<!--/vol a-->",
    b"<b data-vol=g>",
    b"</b>",
    b"<b>",
    b"<div data-vol=h>",
    b"</div>",
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(SOUP), max_size=30), st.booleans())
def test_all_ways_of_skipping_lead_to_the_same_regions(pieces: list[bytes], is_xml: bool) -> None:
    document = b"".join(pieces)
    usual = find_regions(document, is_xml=is_xml)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marker_tokens, "_USUAL", frozenset())  # Every tag is looked at while a region is open.
        assert find_regions(document, is_xml=is_xml) == usual


@given(st.binary(), st.booleans())
def test_any_bytes_are_read(noise: bytes, is_xml: bool) -> None:
    find_regions(b"<b data-vol=a>" + noise, is_xml=is_xml)


@given(st.lists(st.sampled_from([piece.encode() for piece in PIECES] + [b"<!--vol a-->", b"<!--/vol a-->"]), max_size=30))
def test_regions_are_in_order_and_apart(pieces: list[bytes]) -> None:
    document = b"".join(pieces)
    position = 0
    for span in find_regions(document).spans:
        assert position < span.start <= span.end < len(document)
        position = span.end
