"""Title and language by a look at the first bytes."""

from __future__ import annotations

import unicodedata
from html import unescape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parcahyd.core.documents import MAX_TITLE
from parcahyd.formats.html_summary import HtmlSummarizer
from parcahyd.rules.html.title_and_language import ENOUGH, document_title, language_tag, one_line, resolved, title_and_language

PAGES = {
    b"<!doctype html><html lang=en><title>Hello</title>": ("Hello", "en"),
    b"<HTML LANG='de-AT'><HEAD><TITLE>Gr&uuml;&szlig;e &amp; K&#252;sse</TITLE>": ("Grüße & Küsse", "de-at"),
    b'<html class=x lang="pt_BR"><title\n id=a>\n A \t long\nline </title>': ("A long line", "pt-br"),
    b"<html xml:lang=fr><title>x</title>": ("x", "fr"),
    b"<html data-lang=xx hreflang=yy><title>x</title>": ("x", ""),
    b"<html lang=''><meta http-equiv='Content-Language' content='nl, en'><title>x</title>": ("x", "nl"),
    b"<html lang='not a tag!'><title>x</title>": ("x", ""),
    b"<!-- <title>old</title> --><title>new</title>": ("new", ""),
    b"<script>'<title>no</title>'</script><title>yes</title>": ("yes", ""),
    b"<html lang=en><body><svg><title>icon</title></svg>": ("", "en"),
    b"<svg><title>icon</title></svg><title>page</title>": ("page", ""),
    b"<titles>no</titles><title>yes</title>": ("yes", ""),
    b"<title>a <b>bold</b> title</title>": ("a <b>bold</b> title", ""),
    b"<title>a</TITLE>b": ("a", ""),
    "<title>\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u65e5\u3000\u672c\xa0 x</title>".encode(): (
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u65e5\u3000\u672c\xa0 x",
        "",
    ),
    b"<title>never ends": ("never ends", ""),
    b"<title": ("", ""),
    b"<title></title>": ("", ""),
    b"": ("", ""),
    b"\xef\xbb\xbf<html lang=en><title>\xc3\xa4</title>": ("ä", "en"),
    "<html lang=en><title>ä</title>".encode("utf-16"): ("ä", "en"),
    b"<title>a\x00b\x1bc\xc2\x85d</title>": ("a b c d", ""),
}


@pytest.mark.parametrize(("page", "expected"), PAGES.items())
def test_pages(page: bytes, expected: tuple[str, str]) -> None:
    assert title_and_language(page, "") == expected


@pytest.mark.parametrize("charset", ["windows-1251", "koi8-r", "utf-8", "utf-16le", "shift_jis"])
def test_the_charset_counts(charset: str) -> None:
    page = "<html lang=ru><title>Привет</title>".encode(charset)
    assert title_and_language(page, charset) == ("Привет", "ru")


@pytest.mark.parametrize(
    ("title", "charset", "expected"),
    [
        (b"a\x8db\x81", "windows-1252", "a b"),
        (b"\xa4\xcb\xa4\xdb", "replacement", ""),
        (b"Cr\xe8me", "x-user-defined", "Cr\uf7e8me"),
        (b"a\xff\xe4", "utf-8", "a\ufffd\ufffd"),
    ],
)
def test_what_is_declared_wrong_is_read_as_browsers_read_it(title: bytes, charset: str, expected: str) -> None:
    assert title_and_language(b"<title>" + title + b"</title>", charset)[0] == expected


def test_the_length_is_bounded() -> None:
    title, language = title_and_language(b"<html lang=en><title>" + b"word " * 100_000, "utf-8")
    assert len(title) <= MAX_TITLE
    assert title.startswith("word word")
    assert language == "en"


def test_only_the_beginning_is_looked_at() -> None:
    assert title_and_language(b"<p>" * 10_000 + b"<title>late</title>", "") == ("", "")


@pytest.mark.parametrize(
    "page",
    [b"<title" * 100_000, b"<!--<title>-->" * 50_000, b"<script><title>" * 50_000, b"<html lang=" * 50_000, b"&" * 500_000],
)
def test_hostile_pages_come_to_an_end(page: bytes) -> None:
    assert title_and_language(page, "")[1] == ""


@pytest.mark.parametrize(("text", "tag"), [("EN", "en"), ("zh_Hant_TW", "zh-hant-tw"), ("x" * 9, ""), ("", ""), ("en;", "")])
def test_language_tags(text: str, tag: str) -> None:
    assert language_tag(text) == tag


@given(st.text(alphabet="ab&;#x12am pltquo", max_size=60))
@example("&notit; &ampx &#x41 &#65;&#xD800; &;&&amp;amp;" + "&" + "a" * 50 + ";")
def test_references_are_resolved_as_everywhere(text: str) -> None:
    assert resolved(text) == unescape(text)


@given(st.text(max_size=50), st.integers(1, 20))
def test_one_line_is_one_printable_line(text: str, length: int) -> None:
    line = one_line(text, length)
    assert len(line) <= length
    assert line == line.strip(" \t\n\f\r")
    assert len(line.splitlines()) <= 1
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in line)


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="abc &amp;\n", max_size=30), st.sampled_from(["", " lang=en", " lang='de-CH'"]))
def test_ordinary_pages_have_the_title_that_the_tree_has(title: str, lang: str) -> None:
    page = f"<!doctype html><html{lang}><head><meta charset=utf-8><title>{title}</title><body><p>x".encode()
    whole = HtmlSummarizer().summarize(page, "text/html", "utf-8", "http://a.test/")
    assert whole is not None
    assert title_and_language(page, "utf-8") == (whole.title, whole.language)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=100), st.sampled_from(["", "utf-8", "utf-16", "nonsense"]))
def test_no_bytes_raise(page: bytes, charset: str) -> None:
    title_and_language(b"<html><title>" + page, charset)
    title_and_language(page, charset)


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "utf-16-be", "shift_jis", ""])
@pytest.mark.parametrize("title", ["<title>", "<TITLE>"])
@pytest.mark.parametrize("before", [0, 16_000, 16_377, 16_384])
def test_what_lies_beyond_enough_changes_nothing(charset: str, title: str, before: int) -> None:
    words = "word " * (ENOUGH // 5)
    page = f"<html lang=en>{'x' * (before - 14)}{title}{words}</title>{words}".encode(charset or "ascii")
    assert len(page) > ENOUGH
    assert title_and_language(page[:ENOUGH], charset) == title_and_language(page, charset)


TITLES = {
    "<title>x</title>": "x",
    "<title> a \n\t b\u00a0 </title>": "a b\u00a0",
    "<title>a &amp; b<b></title><title>c</title>": "a & b<b>",
    "<p>late<title>x</title>": "x",
    "<svg><title>no</title></svg><title>yes</title>": "yes",
    "<template><title>no</title></template><title>yes</title>": "yes",
    "<title></title><title>x</title>": "",
    "nothing": "",
}


@pytest.mark.parametrize(("markup", "title"), TITLES.items())
def test_html(markup: str, title: str) -> None:
    assert document_title(markup.encode(), "utf-8") == title
