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
_TAG = re.compile(rb"<(?:(!\[CDATA\[)|(!--)|[!?][^>]*+>?+|(/?+)([A-Za-z_][A-Za-z0-9_.:-]{0,63}+)([^<>]*+)>?+|)")
_CDATA, _COMMENT, _SLASH, _NAME, _REST = range(1, 6)
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
        mark = data.find(b"<", position)
        if mark != position:
            _take_text(data[position : mark if mark >= 0 else end], harvest)
            if mark < 0:
                return
        tag = _TAG.match(data, mark)
        if tag is None:  # the last alternative is empty, so this is never so
            return
        position = tag.end()
        if tag[_NAME]:
            _take_tag(tag, harvest)
        elif tag[_CDATA]:
            close = data.find(b"]]>", position)
            _append(_decoded(data[position : close if close >= 0 else end]), harvest)
            position = close + 3 if close >= 0 else end
        elif tag[_COMMENT]:
            close = data.find(b"-->", position)
            position = close + 3 if close >= 0 else end


def _take_text(raw: bytes, harvest: Harvest) -> None:
    if not raw.isspace():
        text = _decoded(raw)
        _append(_REFERENCE.sub(_character, text) if "&" in text else text, harvest)


def _append(text: str, harvest: Harvest) -> None:
    if text and not text.isspace():
        harvest.parts.append(text)


def _take_tag(tag: re.Match[bytes], harvest: Harvest) -> None:
    name, rest = tag[_NAME].decode("ascii"), tag[_REST]
    if tag[_SLASH]:
        harvest.close(name)
        return
    harvest.open(name, _attributes(rest) if b"=" in rest else ())
    if rest.endswith(b"/"):
        harvest.close(name)


def _attributes(rest: bytes) -> list[str]:
    """Names and values by turns."""
    pairs: list[str] = []
    for name, double, single, bare in _ATTRIBUTE.findall(_decoded(rest))[:_MAX_ATTRIBUTES]:
        pairs += (name, _REFERENCE.sub(_character, double or single or bare))
    return pairs


def _decoded(raw: bytes) -> str:
    """Enough of it to see that a location is too long."""
    text = raw[:_LONGEST_TEXT].decode("utf-8", "surrogateescape")
    return text if text.isascii() else _STRAY_BYTE.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", text)


def _character(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name = reference.groups()
    if name:
        return html5.get(f"{name};", reference[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF or code in (0x9, 0xA, 0xD)
    return chr(code) if is_character else reference[0]
