"""Bytes to text, for what is shown and summarised: labels as the Encoding Standard has them, codecs as Python has them.

Python knows codecs that no document uses and that an author could name to do harm (`punycode` takes quadratic time,
`undefined` raises), so only the encodings of the standard are looked up. No input raises.
"""

from __future__ import annotations

import re
from functools import lru_cache

import turbohtml.detect  # noqa: F401 - it registers the codecs `whatwg-...`

__all__ = [
    "codec_of",
    "decode",
    "query_encoded",
]

_CODECS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "cp1252": "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso88591 iso_8859-1 latin1 latin-1 l1 ascii us-ascii"
    " ansi_x3.4-1968 iso-ir-100 csisolatin1 cp819 ibm819",
    "cp866": "ibm866 866 cp866 csibm866",
    "iso8859-2": "iso-8859-2 iso8859-2 iso88592 iso_8859-2 latin2 l2 csisolatin2 iso-ir-101",
    "iso8859-3": "iso-8859-3 iso8859-3 iso88593 iso_8859-3 latin3 l3 csisolatin3 iso-ir-109",
    "iso8859-4": "iso-8859-4 iso8859-4 iso88594 iso_8859-4 latin4 l4 csisolatin4 iso-ir-110",
    "iso8859-5": "iso-8859-5 iso8859-5 iso88595 iso_8859-5 cyrillic csisolatincyrillic iso-ir-144",
    "iso8859-6": "iso-8859-6 iso8859-6 iso88596 iso_8859-6 arabic asmo-708 ecma-114 iso-ir-127 iso-8859-6-e iso-8859-6-i",
    "iso8859-7": "iso-8859-7 iso8859-7 iso88597 iso_8859-7 greek greek8 ecma-118 elot_928 iso-ir-126 sun_eu_greek",
    "iso8859-8": "iso-8859-8 iso8859-8 iso88598 iso_8859-8 hebrew visual iso-ir-138 iso-8859-8-e iso-8859-8-i logical",
    "iso8859-10": "iso-8859-10 iso8859-10 iso885910 latin6 l6 csisolatin6 iso-ir-157",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "iso-8859-15 iso8859-15 iso885915 iso_8859-15 latin9 l9 csisolatin9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r koi koi8 koi8_r cskoi8r",
    "koi8-u": "koi8-u koi8-ru",
    "mac-roman": "macintosh mac x-mac-roman csmacintosh",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251",
    "cp1253": "windows-1253 cp1253 x-cp1253",
    "cp1254": "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 latin5 l5 csisolatin5 iso-ir-148",
    "cp1255": "windows-1255 cp1255 x-cp1255",
    "cp1256": "windows-1256 cp1256 x-cp1256",
    "cp1257": "windows-1257 cp1257 x-cp1257",
    "cp1258": "windows-1258 cp1258 x-cp1258",
    "gb18030": "gb18030 gbk gb2312 gb_2312 gb_2312-80 x-gbk chinese csgb2312 iso-ir-58 csiso58gb231280",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "euc-jp x-euc-jp cseucpkdfmtjapanese",
    "iso2022-jp": "iso-2022-jp csiso2022jp",
    "cp932": "shift_jis shift-jis sjis x-sjis ms932 ms_kanji windows-31j csshiftjis",
    "cp949": "euc-kr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 cseuckr csksc56011987 iso-ir-149",
    "utf-16-be": "utf-16be unicodefffe",
    "utf-16-le": "utf-16le utf-16 unicode ucs-2 iso-10646-ucs-2 csunicode unicodefeff",
}
_BY_LABEL = {label: codec for codec, labels in _CODECS.items() for label in labels.split()}
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))


def codec_of(charset: str) -> str:
    """Python's name for an encoding; empty for what the Encoding Standard does not know or does not decode."""
    return _BY_LABEL.get(charset) or _BY_LABEL.get(charset.strip().lower(), "")


def decode(data: bytes, charset: str = "") -> str:
    """The text: by byte order mark, else by `charset`, else as UTF-8 where it is that, else as windows-1252."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace")
    codec = codec_of(charset)
    if codec:
        return data.decode(codec, "replace")
    if data.isascii():
        return data.decode("ascii")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A text that was cut may end within a character.
        whole = error.start if error.start > len(data) - 4 and error.reason == "unexpected end of data" else -1
    return data[:whole].decode("utf-8") if whole >= 0 else data.decode("cp1252", "replace")


# --- The query of a reference in a document that is not in UTF-8 --------------------------------------------------------
# By the URL standard ("percent-encode after encoding"), the query is encoded in the document's encoding: `?q=é` in a page in
# windows-1252 asks for `?q=%E9`. The path is in UTF-8 everywhere. What the encoding lacks becomes a character reference,
# `%26%238364%3B`. Only schemes that browsers know (`http`, `https`, `ftp`, `file`) are treated so, and UTF-16 counts as UTF-8.
#
# The encoders are the inverse of the Encoding Standard's decoders; of several spellings, the one that the standard's encoder
# writes. Python's `big5` and `shift_jis` are other encodings.


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
