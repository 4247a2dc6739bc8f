"""The query of a reference in a document that is not in UTF-8.

By the URL standard ("percent-encode after encoding"), the query is encoded in the document's encoding: `?q=é` in a page in
windows-1252 asks for `?q=%E9`. The path is in UTF-8 everywhere. What the encoding lacks becomes a character reference,
`%26%238364%3B`. Only schemes that browsers know (`http`, `https`, `ftp`, `file`) are treated so, and UTF-16 counts as UTF-8.

The encoders are the Encoding Standard's decoders turned round, of several spellings the one that the standard's encoder takes;
what Python calls `big5` or `shift_jis` is something else.
"""

from __future__ import annotations

import re
from functools import lru_cache

import turbohtml.detect  # noqa: F401 - it registers the codecs `whatwg-...`

__all__ = ["query_encoded"]

_ENCODED_AS_UTF8 = frozenset(("", "utf-8", "utf-16le", "utf-16be", "replacement"))
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):").match
_WITH_ENCODED_QUERY = frozenset(("http", "https", "ftp", "file"))
_ESCAPED = frozenset(b"\"#<>'") | frozenset(range(33)) | frozenset(range(127, 256))
"""The special-query percent-encode set, as bytes."""

_SURROGATE = re.compile("[\ud800-\udfff]")

_LEADS = {
    "big5": range(0xA1, 0xFF),
    "euc-jp": range(0x8E, 0xFF),
    "euc-kr": range(0x81, 0xFF),
    "gb18030": range(0x81, 0xFF),
    "gbk": range(0x81, 0xFF),
    # Without the doubles of NEC's and IBM's characters, and without what is for private use.
    "shift_jis": (*range(0x81, 0xED), *range(0xFA, 0xFD)),
}
"""The first bytes of pairs that an encoder writes."""
_LAST_OF_BIG5 = frozenset("═╞╡╪十卅")
_SPELT_OTHERWISE = {"−": "－", "¥": "\\", "‾": "~"}  # noqa: RUF001 - the standard's Japanese encoders write one for the other
_JAPANESE = frozenset(("euc-jp", "shift_jis"))


def query_encoded(href: str, charset: str) -> str:
    """The reference with its query as it means in a document of this encoding; the same text where that changes nothing.

    `charset` is a name of the Encoding Standard in lower case. What comes out can be joined like any reference.
    """
    if href.isascii() or charset in _ENCODED_AS_UTF8:
        return href
    start, mark, query = href.partition("?")
    scheme = _SCHEME(start)
    if query.isascii() or (scheme is not None and scheme[1].lower() not in _WITH_ENCODED_QUERY):
        return href
    query, fragment_mark, fragment = _scalar(query).partition("#")
    encoded = _in_iso_2022_jp(query) if charset == "iso-2022-jp" else query.translate(_escapes(charset))
    return f"{start}{mark}{encoded}{fragment_mark}{fragment}"


def _scalar(text: str) -> str:
    """URLs are made of scalar values: a lone surrogate becomes U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def _reference(code: int) -> str:
    return f"%26%23{code}%3B"


def _escaped(encoded: bytes) -> str:
    return "".join([f"%{byte:02X}" if byte in _ESCAPED else chr(byte) for byte in encoded])


class _Escapes(dict[int, str]):
    """By character: what stands for it in a query; found when it is asked for."""

    def __init__(self, charset: str) -> None:
        super().__init__()
        self._encoder = _encoder(charset)
        self._has_all = charset == "gb18030"

    def __missing__(self, code: int) -> str:
        encoded = self._encoder.get(code)
        if encoded is None:
            if not self._has_all or code == 0xE5E5:
                return _reference(code)
            encoded = chr(code).encode("gb18030")  # four bytes, by arithmetic
        self[code] = _escaped(encoded)
        return self[code]


@lru_cache(maxsize=8)
def _escapes(charset: str) -> _Escapes:
    return _Escapes(charset)


@lru_cache(maxsize=8)  # the largest takes three megabytes
def _encoder(charset: str) -> dict[int, bytes]:
    """By character: the bytes that the standard's encoder writes."""
    encoder: dict[int, bytes] = {}
    for byte in reversed(range(256)):
        character = bytes((byte,)).decode(f"whatwg-{charset}")
        if len(character) == 1 and character != "\ufffd":
            encoder[ord(character)] = bytes((byte,))
    if charset == "gb18030":
        encoder.pop(ord("€"), None)  # Its decoder also takes the single byte of GBK.
    for lead in _LEADS.get(charset, ()):
        _add_pairs(encoder, charset, lead)
    if charset in _JAPANESE:
        encoder |= {ord(character): encoder[ord(other)] for character, other in _SPELT_OTHERWISE.items()}
    return encoder


def _add_pairs(encoder: dict[int, bytes], charset: str, lead: int) -> None:
    """All pairs with one first byte, in one decoding: no pair ends in a line feed, so each ends with its line."""
    pairs = [bytes((lead, trail)) for trail in range(0x40, 0xFF)]
    for pair, text in zip(pairs, b"\n".join(pairs).decode(f"whatwg-{charset}").split("\n"), strict=True):
        if len(text) == 1 and text != "\ufffd":
            if charset == "big5" and text in _LAST_OF_BIG5:
                encoder[ord(text)] = pair
            else:
                encoder.setdefault(ord(text), pair)


_ASCII, _ROMAN, _PAIRS = "%1B(B", "%1B(J", "%1B$B"
"""The states of ISO-2022-JP, by the escape sequence that leads to each."""


def _in_iso_2022_jp(query: str) -> str:
    """Escape sequences lead from ASCII to pairs, which are those of EUC-JP without their high bits, and back."""
    encoded: list[str] = []
    state = _ASCII
    for character in query:
        wanted, text = _of_iso_2022_jp(character, state)
        if wanted != state:
            encoded.append(wanted)
            state = wanted
        encoded.append(text)
    return "".join(encoded) + ("" if state == _ASCII else _ASCII)


def _of_iso_2022_jp(character: str, state: str) -> tuple[str, str]:
    """The state in which a character is written, and how."""
    plain = _ASCII if state == _PAIRS else state
    if character in "\x0e\x0f\x1b":  # They would switch the state.
        return plain, _reference(0xFFFD)
    if character.isascii():
        return (_ASCII if character in "\\~" else plain), _escaped(character.encode())
    if character in "¥‾":
        return _ROMAN, _SPELT_OTHERWISE[character]
    pair = _encoder("euc-jp").get(ord(_FULL_WIDTH.get(character, character)), b"")
    if len(pair) != 2:
        return plain, _reference(ord(character))
    return _PAIRS, _escaped(bytes([byte & 0x7F for byte in pair]))


_KATAKANA = (
    "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソ"
    "タチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜"
)
_FULL_WIDTH = {chr(0xFF61 + index): character for index, character in enumerate(_KATAKANA)}
