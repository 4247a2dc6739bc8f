"""Bytes to text."""

from __future__ import annotations

import pytest
from ada_url import join_url
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.html.encodings import codec_of, decode, query_encoded
from parcahyd.rules.html.links import read_links


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        (b"gr\xfc\xdfe", "iso-8859-1", "grüße"),
        (b"\x80", "latin1", "€"),
        ("grüße".encode(), "", "grüße"),
        (b"gr\xfc\xdfe", "", "grüße"),
        ("grüße".encode(), "UTF-8 ", "grüße"),
        ("grüß".encode()[:-1], "", "grü"),
        ("日本".encode("shift_jis"), "shift_jis", "日本"),
        ("中国".encode("gbk"), "gb2312", "中国"),
        ("hi".encode("utf-16-le"), "utf-16", "hi"),
        ("hi".encode("utf-16"), "iso-8859-1", "hi"),
        (b"\xef\xbb\xbfhi", "koi8-r", "hi"),
        (b"\xff", "utf-8", "\ufffd"),
    ],
)
def test_by_mark_by_label_and_by_content(data: bytes, charset: str, text: str) -> None:
    assert decode(data, charset) == text


@pytest.mark.parametrize("charset", ["punycode", "undefined", "unicode_escape", "idna", "zlib", "utf-7", "nonsense"])
def test_codecs_that_no_document_has_are_not_looked_up(charset: str) -> None:
    assert codec_of(charset) == ""
    assert decode(b"plain", charset) == "plain"


@given(st.binary(max_size=50), st.sampled_from(["", "utf-8", "big5", "iso-2022-jp", "euc-kr", "utf-16be", "x"]))
def test_no_bytes_raise(data: bytes, charset: str) -> None:
    decode(data, charset)


CASES = [
    ("x?q=é", "windows-1252", "x?q=%E9"),
    ("é?q=é#é", "windows-1252", "é?q=%E9#é"),
    ("é", "windows-1252", "é"),
    ("x?q=%E9&é", "windows-1252", "x?q=%E9&%E9"),
    ("x?q='é' <b>", "windows-1252", "x?q=%27%E9%27%20%3Cb%3E"),
    ("x?q=€日", "windows-1252", "x?q=%80%26%2326085%3B"),
    ("x?q=€", "iso-8859-2", "x?q=%26%238364%3B"),
    ("https://example.com/é?é", "windows-1252", "https://example.com/é?%E9"),
    ("HTTP:?é", "windows-1252", "HTTP:?%E9"),
    ("mailto:x?subject=é", "windows-1252", "mailto:x?subject=é"),
    ("wss://example.com/?é", "windows-1252", "wss://example.com/?é"),
    ("x?q=é", "utf-8", "x?q=é"),
    ("x?q=é", "utf-16le", "x?q=é"),
    ("x?q=é", "replacement", "x?q=é"),
    ("x?q=\uf7e9é", "x-user-defined", "x?q=%E9%26%23233%3B"),
    ("x?\ud800é", "windows-1252", "x?%26%2365533%3B%E9"),
    ("x?q=я", "koi8-r", "x?q=%D1"),
    ("x?q=я", "windows-1251", "x?q=%FF"),
    ("x?q=日本", "shift_jis", "x?q=%93%FA%96{"),
    ("x?q=−¥‾ｱ", "shift_jis", "x?q=%81|\\~%B1"),  # noqa: RUF001
    ("x?q=①ⅰ∵", "shift_jis", "x?q=%87@%FA@%81%E6"),
    ("x?q=日本", "euc-jp", "x?q=%C6%FC%CB%DC"),
    ("x?q=ｱ", "euc-jp", "x?q=%8E%B1"),
    ("x?q=日a本", "iso-2022-jp", "x?q=%1B$BF|%1B(Ba%1B$BK\\%1B(B"),
    ("x?q=ｶﾞ¥\\", "iso-2022-jp", "x?q=%1B$B%+!+%1B(J\\%1B(B\\"),
    ("x?q=é日\x0e", "iso-2022-jp", "x?q=%26%23233%3B%1B$BF|%1B(B%26%2365533%3B"),
    ("x?q=中€", "gbk", "x?q=%D6%D0%80"),
    ("x?q=中€é😀", "gb18030", "x?q=%D6%D0%A2%E3%A8%A6%949%FC6"),
    ("x?q=中十═", "big5", "x?q=%A4%A4%A4Q%F9%F9"),
    ("x?q=한", "euc-kr", "x?q=%C7%D1"),
]


@pytest.mark.parametrize(("href", "charset", "expected"), CASES)
def test_the_query_is_in_the_documents_encoding(href: str, charset: str, expected: str) -> None:
    assert query_encoded(href, charset) == expected


def test_documents_give_references_that_join_right() -> None:
    page = read_links('<a href="/é?q=é">'.encode("windows-1252"), "windows-1252")
    assert page.follow == ["/é?q=%E9"]
    assert page.lines == ["a\t/é?q=%E9"]
    assert join_url("http://example.com/", page.follow[0]) == "http://example.com/%C3%A9?q=%E9"


SINGLE = [
    "windows-1252",
    "iso-8859-2",
    "koi8-r",
    "koi8-u",
    "macintosh",
    "windows-874",
    "ibm866",
    "iso-8859-8-i",
    "x-user-defined",
]
DOUBLE = ["shift_jis", "euc-jp", "gbk", "gb18030", "big5", "euc-kr", "iso-2022-jp"]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=20), st.sampled_from([*SINGLE, *DOUBLE]))
def test_whatever_stands_in_a_query_comes_out_in_ascii(query: str, charset: str) -> None:
    encoded = query_encoded("x?" + query, charset)
    assert encoded.partition("#")[0].isascii()
    assert encoded.startswith("x?")
