"""Bytes within a line of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.escapes import escaped, unescaped


@given(st.binary())
def test_what_is_escaped_comes_back(content: bytes) -> None:
    text = escaped(content)
    assert unescaped(text) == content
    assert not any(byte < 0x20 or byte == 0x7F for byte in text)
    text.decode()


@given(st.binary())
def test_a_reader_takes_any_bytes(text: bytes) -> None:
    assert unescaped(text) is None or b"\n" not in text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"11.00 EUR", b"11.00 EUR"),
        (b"\\ \t \n \r", rb"\\ \t \n \r"),
        (b"\x00\x1b\x7f", rb"\x00\x1b\x7f"),
        (b"\xff\xe9", rb"\xff\xe9"),
        ("é\x85 😀".encode(), "é\x85 😀".encode()),
        (b"\xed\xa0\x80", rb"\xed\xa0\x80"),
    ],
)
def test_spellings(content: bytes, text: bytes) -> None:
    assert escaped(content) == text
    assert unescaped(text) == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (rb"\x41\x5cn", b"A\\n"),
        (rb"\\x41\\u0041\\101", rb"\x41\u0041\101"),
        (b"\xff\\n\xc3\xa9\\xe9", b"\xff\n\xc3\xa9\xe9"),
    ],
)
def test_each_escape_is_undone_once_and_nothing_else(text: bytes, content: bytes) -> None:
    assert unescaped(text) == content


@pytest.mark.parametrize("text", [b"\\", rb"\a", rb"\x4", rb"\xFF", rb"\x0A", rb"\N", b"\\\n", b"a\tb", b"\x00"])
def test_no_escapes(text: bytes) -> None:
    assert unescaped(text) is None
