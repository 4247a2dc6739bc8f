"""Bytes to text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.rules.decoding import codec_of, decode


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
