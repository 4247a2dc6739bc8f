"""The words of a page, as the paper has them (X10): without markup, scripts and numbers, in lower case.

Only the beginning of a page is read, until there are enough words: that takes some 20 µs. What is read
depends on the bytes of the page alone. Words are UTF-8. No input raises, and the time is linear in the bytes.

Tested in tests/topics/test_words.py.
"""

from __future__ import annotations

import pcre2

from parcahyd.rules.html.encodings import codec_of, decode

__all__ = ["MOST_WORDS", "html_words", "text_words"]

MOST_WORDS = 200
"""Words of a page that are looked at, from its beginning."""
_PARTS = (6 * 1024, 48 * 1024, 512 * 1024)
"""Bytes that are read: more where too few words stand in them."""
_ENOUGH_WORDS = 80
_LETTERS_OF_WORD = 12
"""Of a word and what divides it from the next one: a text is cut before it is divided."""

# Comments, elements whose text is no prose, tags, and character references. What has no end goes on to the end of the page.
_NO_TEXT = pcre2.compile(
    rb"(?is)<(?:!--.*?(?:-->|\z)|(script|style|template|svg)(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*+>|\z)|[!/?a-z][^>]*+(?:>|\z))"
    rb"|&#?+[a-z0-9]++;?+"
)
# In UTF-8: Latin-1 signs, general punctuation, ideographic space and full stop, and the byte order mark.
_SIGNS = pcre2.compile(rb"\xc2[\x80-\xbf]|\xc3[\x97\xb7]|\xe2[\x80\x81][\x80-\xbf]|\xe3\x80[\x80-\x8f]|\xef\xbb\xbf")
_LETTERS = bytes(byte + 32 if 65 <= byte <= 90 else byte if 97 <= byte <= 122 or byte >= 128 else 32 for byte in range(256))
_WIDE = frozenset(("utf-16-le", "utf-16-be"))
_MARKS = frozenset((b"\xfe\xff", b"\xff\xfe"))


def html_words(body: bytes, charset: str = "", most: int = MOST_WORDS) -> list[bytes]:
    """The first words of an HTML page, at most so many. `charset` is what is known of its encoding, or empty."""
    if codec_of(charset) in _WIDE or body[:2] in _MARKS:
        body, charset = decode(body[: 2 * _PARTS[-1]], charset).encode("utf-8", "replace"), "utf-8"
    words: list[bytes] = []
    try:
        for size in _PARTS:
            if most > MOST_WORDS and size < min(len(body), _PARTS[-1]):
                continue  # Everything is wanted.
            words = _words(_NO_TEXT.sub(b" ", body if size >= len(body) else body[:size]), charset, most)
            if len(words) >= _ENOUGH_WORDS or size >= len(body):
                break
    except pcre2.LibraryError:
        return []
    return words


def text_words(text: str, most: int = MOST_WORDS) -> list[bytes]:
    """The first words of a text that was read already."""
    return _words(text[: _LETTERS_OF_WORD * most].encode("utf-8", "replace"), "utf-8", most)


def _words(text: bytes, charset: str, most: int) -> list[bytes]:
    if text.isascii():
        return text.translate(_LETTERS).split(None, most)[:most]
    if codec_of(charset) != "utf-8":
        text = decode(text, charset).encode("utf-8", "replace")
    words = _SIGNS.sub(b" ", text).translate(_LETTERS).split(None, most)[:most]
    # To lower what is not ASCII takes ten times as long as all the rest, and few words have it.
    return [word if word.isascii() else word.decode("utf-8", "replace").lower().encode() for word in words]
