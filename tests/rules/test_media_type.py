"""What kind of document an answer is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.media_type import is_html, recognise

HEADERS = {
    "text/html": ("text/html", ""),
    "text/html; charset=UTF-8": ("text/html", "utf-8"),
    'text/html;charset="utf-8"': ("text/html", "utf-8"),
    "TEXT/HTML ; Charset = 'Latin1' ": ("text/html", "latin1"),
    "text/html;;; x; charset=; charset=koi8-r; charset=utf-8": ("text/html", "koi8-r"),
    'text/html; x="a,b;charset=q"; charset=z': ("text/html", "z"),
    'text/html; charset="utf-8': ("text/html", "utf-8"),
    "text/html, text/html; charset=a": ("text/html", "a"),
    "text/html; charset=a, text/html": ("text/html", "a"),
    "text/html; charset=a, image/png": ("image/png", ""),
    "text/html; charset=a, junk": ("text/html", "a"),
    "application/xhtml+xml": ("application/xhtml+xml", ""),
    "image/svg+xml; charset=utf-8": ("image/svg+xml", "utf-8"),
    "application/x-odd.type": ("application/x-odd.type", ""),
}


@pytest.mark.parametrize(("header", "expected"), HEADERS.items())
def test_a_header_that_says_something_is_believed(header: str, expected: tuple[str, str]) -> None:
    assert recognise(header, b"%PDF-1.4") == expected


CONTENTS = {
    b"<!DOCTYPE html><p>": "text/html",
    b"\xef\xbb\xbf \n<HTML lang=en>": "text/html",
    b"<!-- <?xml --> <!-- --><body>": "text/html",
    b"<!-- only a comment": "text/html",
    b"<a href=x>": "text/html",
    b"<article>": "text/plain",
    b"<?xml version='1.0'?><rss>": "text/xml",
    b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>\n<html xmlns='http://www.w3.org/1999/xhtml'>": "application/xhtml+xml",
    b"%PDF-1.7": "application/pdf",
    b"%pdf-1.7": "text/plain",
    b"\x89PNG\r\n\x1a\n\x00": "image/png",
    b"\xff\xd8\xff\xe0": "image/jpeg",
    b"GIF89a\x00": "image/gif",
    b"RIFF\x00\x01\x02\x03WEBPVP8 ": "image/webp",
    b"PK\x03\x04\x14": "application/zip",
    b"\x1f\x8b\x08\x00": "application/gzip",
    b"hello\r\n\tw\xf6rld\x1b[0m\x0c": "text/plain",
    b"\xff\xfeh\x00i\x00": "text/plain",
    b"": "text/plain",
    b"\x00\x01": "application/octet-stream",
    b"text\x07": "application/octet-stream",
}


@pytest.mark.parametrize(("body", "expected"), CONTENTS.items())
@pytest.mark.parametrize(
    "header", ["", "junk", "text", "/html", "*/*", "application/octet-stream", "binary/octet-stream; charset=x"]
)
def test_a_header_that_says_nothing_leaves_it_to_the_bytes(header: str, body: bytes, expected: str) -> None:
    assert recognise(header, body) == (expected, "x" if "charset" in header else "")


def test_plain_text_is_never_raised_to_html() -> None:
    assert recognise("text/plain", b"<html>") == ("text/plain", "")
    assert recognise("text/plain", b"<html>\x00") == ("application/octet-stream", "")
    assert recognise("text/plain", b"%PDF-\x00") == ("application/pdf", "")
    assert recognise("text/plain; charset=UTF-16LE", b"h\x00i\x00") == ("text/plain", "utf-16le")
    assert recognise("text/plain", b"\xfe\xff\x00h") == ("text/plain", "")


def test_only_the_first_bytes_are_looked_at() -> None:
    assert recognise("text/plain", b"x" * 2000 + b"\x00") == ("text/plain", "")
    assert recognise("", b"<!--" + b"x" * 2000 + b"--><rss>") == ("text/html", "")


def test_which_types_are_read_for_links() -> None:
    assert is_html("text/html")
    assert is_html("application/xhtml+xml")
    assert not is_html("text/plain")
    assert not is_html("application/xml")


@pytest.mark.parametrize("header", ['"' * 5000, "text/html;" + '"\\' * 5000, "a/" * 5000, ";charset=" * 5000, "," * 5000])
def test_hostile_headers_are_read_to_the_end(header: str) -> None:
    media_type, charset = recognise(header, b"<html>")
    assert media_type == "text/html"
    assert charset == ""


@settings(deadline=None, max_examples=200)
@given(st.one_of(st.text(max_size=60), st.text(alphabet="texhml/;,=\"\\' charset", max_size=60)), st.binary(max_size=60))
def test_no_answer_raises_and_types_are_lower_case(header: str, body: bytes) -> None:
    media_type, charset = recognise(header, body)
    assert "/" in media_type
    assert media_type == media_type.lower()
    assert charset == charset.lower()
