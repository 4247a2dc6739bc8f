"""Reads what was meant to be a sitemap or feed and is no XML: tag after tag, each for itself, in linear time.

Ampersands may stand alone, tags may stay open, comments may never end, and warnings of a script may stand before the root. A
reference to a character is understood with its semicolon only: `?a=1&copy=2` is a query, not a sign. Bytes that are no UTF-8
become escapes, as a path means its bytes whatever their encoding. Nothing is declared and nothing grows.
"""

from __future__ import annotations

import re
from html.entities import html5

from parcahyd.rules.sitemap_harvest import Harvest

__all__ = ["find_root", "scan"]

_ROOT = re.compile(
    rb"<(?:(!doctype[\t\n\r ]{1,16}html|html|head|body)\b"
    rb"|(?:[A-Za-z0-9_-]{1,32}:)?(?:urlsets?|site(?:maps?)?[_-]?index|sitemaps|rss|rdf|feed)[\t\n\r />])",
    re.IGNORECASE,
)
_FIRST_TAG = re.compile(rb"<(?:[A-Za-z0-9_-]{1,32}:)?[A-Za-z]")
_ROOTLESS = re.compile(rb"<(?:[A-Za-z0-9_-]{1,32}:)?(?:url|sitemap|channel|entry)[\t\n\r />]", re.IGNORECASE)
# A text, and the tag that ends it.
_TOKEN = re.compile(rb"([^<]*+)(?:<(?:(/?+)([A-Za-z_][A-Za-z0-9_.:-]{0,63}+)([^<>]*+)>?+|(!\[CDATA\[)|(!--)|[!?][^>]*+>?+|))?+")
_ATTRIBUTE = re.compile(r"([A-Za-z_][A-Za-z0-9_.:-]{0,63}+)\s*+=\s*+(?:\"([^\"]*+)\"?+|'([^']*+)'?+|([^\s\"']++))")
_REFERENCE = re.compile("&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));")
_STRAY_BYTE = re.compile("[\udc80-\udcff]")
_LONGEST_TEXT = 1 << 14
_MAX_ATTRIBUTES = 64


def find_root(data: bytes) -> int:
    """Where the first element of a sitemap or feed begins; -1 where there is none, or where a page of HTML begins before it."""
    first = _FIRST_TAG.search(data)
    if first and _ROOTLESS.match(data, first.start()):
        return first.start()
    root = _ROOT.search(data)
    return root.start() if root and not root[1] else -1


def scan(data: bytes, harvest: Harvest, start: int = 0) -> None:
    """Feeds the harvest from `start` on. Raises HarvestFull, and ForeignRoot if that is no place that `find_root` gave."""
    position, end = start, len(data)
    while position < end:
        token = _TOKEN.match(data, position)
        if token is None:  # never so: every part may be empty, and not all are
            return
        position = token.end()
        text, slash, name, rest, is_cdata, is_comment = token.groups()
        if text and not text.isspace():
            _append(_resolved(_decoded(text)), harvest)
        if name:
            tag = name.decode("ascii")
            if not slash:
                harvest.open(tag, _attributes(rest) if b"=" in rest else ())
            if slash or rest.endswith(b"/"):
                harvest.close(tag)
        elif is_cdata or is_comment:
            close = data.find(b"]]>" if is_cdata else b"-->", position)
            close = close if close >= 0 else end
            if is_cdata:
                _append(_decoded(data[position:close]), harvest)
            position = close + 3


def _append(text: str, harvest: Harvest) -> None:
    if text and not text.isspace():
        harvest.parts.append(text)


def _attributes(rest: bytes) -> list[str]:
    """Names and values by turns."""
    pairs: list[str] = []
    for name, double, single, bare in _ATTRIBUTE.findall(_decoded(rest))[:_MAX_ATTRIBUTES]:
        pairs += (name, _resolved(double or single or bare))
    return pairs


def _decoded(raw: bytes) -> str:
    """Enough of it to see that a location is too long."""
    text = raw[:_LONGEST_TEXT].decode("utf-8", "surrogateescape")
    return text if text.isascii() else _STRAY_BYTE.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", text)


def _resolved(text: str) -> str:
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name = reference.groups()
    if name:
        return html5.get(f"{name};", reference[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF or code in (0x9, 0xA, 0xD)
    return chr(code) if is_character else reference[0]
