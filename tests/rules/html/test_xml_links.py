"""The links of documents that are served as XML."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turbohtml import detect

from parcahyd.rules.html.xml_links import read_xml_links, xml_text
from parcahyd.rules.robots.directives import Directive

STRICT = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">'


def _xhtml(inside: str) -> str:
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{inside}</body></html>'


FOLLOWED = {
    _xhtml('<a href="x"/><map><area href="y"/></map>'): ["x", "y"],
    _xhtml('<script/><a href="x"/>'): ["x"],
    _xhtml('<title/><a href="x"/>'): ["x"],
    _xhtml('<![CDATA[<a href="x"/>]]><a href="y"/>'): ["y"],
    _xhtml('<!-- <a href="x"/> --><a href="y"/>'): ["y"],
    _xhtml('<noscript><a href="x"/></noscript><xmp><a href="y"/></xmp>'): ["x", "y"],
    _xhtml('<iframe src="x"><a href="y"/></iframe>'): ["x", "y"],
    _xhtml('<template><a href="x"/><template/><a href="y"/></template><a href="z"/>'): ["z"],
    _xhtml('<A href="x"/><a HREF="y"/>'): [],
    _xhtml('<a href="x?a=1&amp;b=2#c"/>'): ["x?a=1&b=2"],
    _xhtml('<a href="x" rel="nofollow"/><link rel="canonical" href="y"/>'): ["y"],
    _xhtml('<meta http-equiv="refresh" content="0; url=x"/>'): ["x"],
    _xhtml('<svg xmlns="http://www.w3.org/2000/svg"><a href="x"/></svg>'): ["x"],
    _xhtml('<a xmlns="urn:other" href="x"/><h:a xmlns:h="http://www.w3.org/1999/xhtml" href="y"/>'): ["y"],
    STRICT + _xhtml('&nbsp;<a href="caf&eacute;"/>'): ["café"],
    '<!DOCTYPE html SYSTEM "about:legacy-compat">' + _xhtml('<a href="x"/>'): ["x"],
    '<doc xmlns:l="http://www.w3.org/1999/xlink"><p l:href="x"/><q href="y"/></doc>': ["x"],
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><a xlink:href="x"/></svg>': ["x"],
    # Not well-formed: read as HTML.
    _xhtml('<p><a href="x"/>&nbsp;<br>') + "</p>": ["x"],
    '<html><body><a href="x">&nbsp;</a><script>"<a href=y>"</script></body></html>': ["x"],
    '<!DOCTYPE html [<!ENTITY e "x">]>' + _xhtml('<a href="y"/>&e;'): ["y"],
    "": [],
}


@settings(max_examples=500, deadline=None)
@given(
    st.binary(max_size=12)
    | st.lists(st.sampled_from(b"\xc3\xa9\xe2\x82\xac\xed\xa0\x80\xf0\x9f\x98\xf4\x90\xc0\xafA")).map(bytes)
)
def test_utf_8_is_decoded_as_the_encoding_standard_has_it(body: bytes) -> None:
    assert detect  # It brings the codec.
    found = xml_text(b"x" + body, "utf-8")
    assert found == ((b"x" + body).decode("whatwg-utf-8"), "utf-8")


@pytest.mark.parametrize(("document", "expected"), FOLLOWED.items())
def test_links_to_other_documents(document: str, expected: list[str]) -> None:
    assert read_xml_links(document.encode(), "utf-8").follow == expected


def test_parts_of_the_document() -> None:
    page = read_xml_links(
        b"<?xml version='1.0'?><?xml-stylesheet type='text/css' href='a?x=1&amp;y'?><?xml-stylesheet href='#here'?>"
        b"<?other href='no'?>"
        b'<doc xmlns:l="http://www.w3.org/1999/xlink"><?xml-stylesheet href="late"?><i l:href="b" l:show="embed"/>'
        b'<svg xmlns="http://www.w3.org/2000/svg"><image l:href="c"/><script l:href="d"/><script href="e"/><script/></svg>'
        b"</doc>",
        "",
    )
    assert page.embedded == ["a?x=1&y", "b", "c", "d", "e"]
    assert page.lines == ["style\ta?x=1&y", "media\tb", "img\tc", "script\td", "script\te"]
    assert page.follow == []


def test_a_base_and_a_word_for_robots() -> None:
    page = read_xml_links(
        _xhtml('<base href="/b/"/><meta name="robots" content="noindex"/><a href="" xml:base="/c/"/>').encode(), ""
    )
    assert page.base == "/b/"
    assert page.follow == [""]
    assert page.directives("parcahyd", 0.0) == Directive.NOINDEX


CHARSETS = [
    ("<?xml version='1.0' encoding='windows-1251'?>", "windows-1251", "", "windows-1251"),
    ("<?xml version='1.0' encoding='windows-1251'?>", "koi8-r", "KOI8-R", "koi8-r"),
    ("<?xml version='1.0' encoding='koi8-r'?>", "utf-8-sig", "windows-1251", "utf-8"),
    ("<?xml version='1.0' encoding='utf-16'?>", "utf-8", "", "utf-8"),
    ("<?xml version='1.0' encoding='utf-7'?>", "utf-8", "no-such-thing", "utf-8"),
    ("<?xml version='1.0' encoding='utf-16'?>", "utf-16", "", "utf-16le"),
    ("<?xml version='1.0' encoding='utf-16'?>", "utf-16-le", "", "utf-16le"),
    ("<?xml version='1.0'?>", "utf-16-be", "", "utf-16be"),
    ("", "utf-8", "", "utf-8"),
]


@pytest.mark.parametrize(("declaration", "written", "header", "charset"), CHARSETS)
def test_the_encoding_is_found(declaration: str, written: str, header: str, charset: str) -> None:
    page = read_xml_links((declaration + _xhtml('<a href="я?я"/>')).encode(written), header)
    query = {"windows-1251": "%FF", "koi8-r": "%D1"}.get(charset, "я")
    assert (page.charset, page.follow) == (charset, [f"я?{query}"])


HOSTILE = [
    "<a>" * 300_000,
    "<a b='" * 200_000,
    "<a " + " ".join([f"b{number}='c'" for number in range(50_000)]) + "/>",
    "<!DOCTYPE a [" + "<!ENTITY b '&b;'>" * 10_000 + "]><a/>",
    "<!DOCTYPE a [<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;]><a/>",
    "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a>&b;</a>",
    "<?xml-stylesheet " + "href=" * 100_000 + "?><a/>",
    "<?xml " + " encoding=" * 200 + "?><a/>",
    "\x00" * 1000,
]


@pytest.mark.parametrize("document", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_documents_come_to_an_end(document: str) -> None:
    assert read_xml_links(document.encode(), "").follow == []


MARKUP = [
    "<a href='x'>",
    "</a>",
    "<a/>",
    "<?xml-stylesheet href='y'?>",
    "<![CDATA[",
    "]]>",
    "<template>",
    "</template>",
    "<!--",
]
PIECES = [*MARKUP, "&lt;", "&nbsp;", "&", "<", ">", "é"]
LABELS = ["", "utf-8", "utf-16", "x", "\x00", "shift_jis", "replacement", "x-user-defined"]


@settings(deadline=None)
@given(
    st.one_of(st.lists(st.sampled_from(PIECES)).map("".join).map(_xhtml).map(str.encode), st.binary(max_size=99)),
    st.sampled_from(LABELS),
)
def test_no_document_raises(body: bytes, label: str) -> None:
    page = read_xml_links(body, label)
    assert len(page.lines) == len(set(page.lines))
    text = xml_text(body, label)
    assert text is None or text[1]
