"""Bytes to text, for what is shown and summarised: labels as the Encoding Standard has them, codecs as Python has them.

Python knows codecs that no document uses and that an author could name to do harm (`punycode` takes quadratic time,
`undefined` raises), so only the encodings of the standard are looked up. No input raises.
"""

from __future__ import annotations

__all__ = ["codec_of", "decode"]

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
        # What was cut may end within a character.
        whole = error.start if error.start > len(data) - 4 and error.reason == "unexpected end of data" else -1
    return data[:whole].decode("utf-8") if whole >= 0 else data.decode("cp1252", "replace")
