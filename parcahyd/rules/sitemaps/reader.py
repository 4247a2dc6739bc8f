"""Reads sitemaps and feeds: which pages a site names, and when each changed, before any of them is asked for.

The content decides what a file is: a sitemap or an index of sitemaps (sitemaps.org), a list of addresses, RSS 0.9 to 2.0, Atom;
each plain or as gzip. Not followed: images, videos and news of the extensions, enclosures and comments of feeds, and what a
feed says about itself.

XML is read tag after tag, each for itself, because many files on the Web are not well-formed. Ampersands may stand alone, tags
may stay open, comments may never end, and warnings of a script may stand before the root. A reference to a character is
understood with its semicolon only: `?a=1&copy=2` is a query, not a sign. Bytes that are no UTF-8 become escapes, as a path
means its bytes whatever their encoding. The first thing that is wrong is noted in a sentence.

Files may be hostile: bytes, tags, locations and their length are bounded, time is linear in the bytes, no entity is declared or
fetched, and no input raises. A file that lists itself does no harm, because a visit reads each file once.
"""

from __future__ import annotations

import codecs
import re
from html.entities import html5
from itertools import chain, islice
from typing import NamedTuple

from parcahyd.rules.sitemaps.content import MAX_DECODED, plain_utf8
from parcahyd.rules.sitemaps.sitemap_parser import MAX_ENTRIES, MAX_LOCATION, ROOTS, Kind, SitemapParser, spelt

__all__ = ["MAX_DECODED", "MAX_ENTRIES", "MAX_LOCATION", "MAX_TAGS", "Entry", "Kind", "Sitemap", "read_sitemap"]

MAX_TAGS = 1_000_000
"""Tags of one file that are looked at. A full sitemap with ten alternates for each page has four fifths of them."""

_PIECE = 1 << 20
_BLANKS = b"\t\n\r\f "

Entry = tuple[str, float | None]
"""A location as it stands in the file, references to characters resolved and blanks around it
removed, perhaps relative to the file's own URL; and when it changed, in seconds since the epoch, if the file says so credibly.
For RSS that is when it was published."""


class Sitemap(NamedTuple):
    """What was read from one file. Entries are in document order, each location once."""

    kind: Kind
    entries: list[Entry]
    """Pages, then the other versions of them that are not listed as pages."""
    children: list[Entry]
    """The sitemaps that an index names."""
    was_cut: bool
    """There is more than was read."""
    failures: tuple[str, ...]
    """What is wrong with the file, in sentences for people; a handful at most."""


def read_sitemap(body: bytes, media_type: str = "", charset: str = "") -> Sitemap:
    """Reads a file, whatever it holds; one that is neither sitemap nor feed is of kind NONE and has no entries.

    `media_type` and `charset` are what its header says. The type matters only to a text that begins with an address, which is
    no list if it came as a page or a script; the charset only where the file itself is silent.
    """
    data, was_cut, failures = plain_utf8(body, charset)
    if _LIST.match(data) and not _NO_LIST.fullmatch(media_type):
        return _read_list(data, was_cut, failures)
    data = data.lstrip(_BLANKS)
    within = _within_tags(data)
    return _read_tags(within, was_cut or len(within) < len(data), failures)


def _within_tags(data: bytes) -> bytes:
    """As much of it as holds MAX_TAGS tags, give or take a piece."""
    if data.count(b"<") <= MAX_TAGS:
        return data
    end = tags = 0
    while tags < MAX_TAGS:
        tags += data.count(b"<", end, end + _PIECE)
        end += _PIECE
    return data[:end]


def _sitemap(parser: SitemapParser, was_cut: bool, failures: tuple[str, ...]) -> Sitemap:
    if parser.too_long:
        failures = (*failures, f"{parser.too_long} of its locations are longer than {MAX_LOCATION} characters and left out")
    pages = parser.pages
    others = ((location, None) for location in parser.alternates if location not in pages)
    entries = list(islice(chain(pages.items(), others), MAX_ENTRIES))
    return Sitemap(parser.kind, entries, list(parser.children.items()), was_cut or parser.is_full, failures)


# --- lists of addresses -------------------------------------------------------------------------------------------------

_MAX_LINES = 4 * MAX_ENTRIES
_LINE = re.compile(rb"[^\r\n]++")
_ADDRESS = re.compile(rb"[\t ]*+(https?://[^\t]++)", re.IGNORECASE)
_LIST = re.compile(rb"(?:[\t\n\r ]++|#[^\r\n]*+)*+https?://", re.IGNORECASE)
_NO_LIST = re.compile(
    r"(?:image|audio|video|font)/.*+|text/(?:html|css|javascript)|application/(?:xhtml\+xml|javascript|json|pdf)"
)


def _read_list(data: bytes, was_cut: bool, failures: tuple[str, ...]) -> Sitemap:
    """One address per line; anything after a tab, and lines that are no address, are left out."""
    parser = SitemapParser()
    parser.kind = Kind.TEXT
    not_addresses = 0
    lines = _LINE.finditer(data)
    for line in islice(lines, _MAX_LINES):
        address = _ADDRESS.match(line[0])
        if address:
            parser.add(parser.pages, address[1][: 4 * MAX_LOCATION + 1].decode("utf-8", "replace").strip(), None)
            if parser.is_full:
                break
        else:
            not_addresses += not line[0].isspace()
    was_cut = was_cut or next(lines, None) is not None
    return _sitemap(parser, was_cut, (*failures, f"{not_addresses} of its lines are no address") if not_addresses else failures)


# --- tags ---------------------------------------------------------------------------------------------------------------

_SPACE = rb"[\t\n\r ]"
_PREFIX = rb"(?:[A-Za-z0-9_-]{1,32}:)?"
_PROLOG = re.compile(rb"(?:[\t\n\r ]++|<\?[^>]*+>|<!--[^-]*+(?:-(?!->)[^-]*+)*+-->)*+")
_ROOT = re.compile(
    rb"<(?:(!doctype[\t\n\r ]{1,16}html|html|head|body)\b"
    rb"|(%b(?:urlsets?|site(?:maps?)?[_-]?index|sitemaps|rss|rdf|feed))[\t\n\r />])" % _PREFIX,
    re.IGNORECASE,
)
_FIRST_TAG = re.compile(rb"<%b[A-Za-z]" % _PREFIX)
_ROOTLESS = re.compile(rb"<(%b(?:url|sitemap|channel|entry))[\t\n\r />]" % _PREFIX, re.IGNORECASE)

# A text, and what ends it: an element that holds only text, a tag, the beginning of a CDATA section or of a comment, a
# declaration, or a `<` that means nothing. A value in quotes may hold `>`, and nothing in a tag holds `<`.
_NAME = rb"[A-Za-z_][A-Za-z0-9_.:-]{0,63}+"
_TOKEN = re.compile(
    rb"([^<]*+)(?:<(?:(%(name)b)>([^<]*+)</\2>"
    rb"|(/?+)(%(name)b)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+[^<>]*+)(>?+)"
    rb"|(!\[CDATA\[|!--)|[!?][^>]*+>|([!?][^>]*+|)))?+" % {b"name": _NAME}
)
_ATTRIBUTE = re.compile(r"([A-Za-z_][A-Za-z0-9_.:-]{0,63}+)\s*+=\s*+(?:\"([^\"]*+)\"?+|'([^']*+)'?+|([^\s\"']++))")
_SOUND_ATTRIBUTES = re.compile(
    rb"(?:%(space)b++[^\t\n\r \"'=/]++%(space)b*+=%(space)b*+(?:\"[^\"]*+\"|'[^']*+'))*+%(space)b*+/?+" % {b"space": _SPACE}
)
_REFERENCE = re.compile("&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));")
_SOUND_REFERENCE = re.compile("&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});")
_STRAY_BYTE = re.compile("[\udc80-\udcff]")
_CONTROLS = bytes({*range(32)} - {*b"\t\n\r"})
_LONGEST_TEXT = 1 << 14
_MAX_ATTRIBUTES = 64


def _read_tags(data: bytes, was_cut: bool, failures: tuple[str, ...]) -> Sitemap:
    """Reads XML, or what was meant to be XML."""
    root, failure = _find_root(data)
    if root < 0:
        return Sitemap(Kind.NONE, [], [], was_cut, (*failures, failure))
    reader = _TagReader(data, failure, was_cut)
    reader.read(root)
    return _sitemap(reader.parser, was_cut, (*failures, reader.failure) if reader.failure else failures)


def _find_root(data: bytes) -> tuple[int, str]:
    """Where the first element of a sitemap or feed begins, and what is wrong with what stands before it.

    -1 where there is none, or where a page of HTML begins before it.
    """
    prolog = _PROLOG.match(data)
    start = prolog.end() if prolog else 0
    first = _FIRST_TAG.search(data, start)
    root = _ROOTLESS.match(data, first.start()) if first else None
    failure = "it has no root: its first element is an item" if root else ""
    if root is None:
        root = _ROOT.search(data, start)
        if root is None or root[1] or spelt(root[2]) not in ROOTS:
            return -1, "its first element is none of a sitemap or feed"
    elif spelt(root[1]) not in ROOTS:
        return -1, "its first element is none of a sitemap or feed"
    if root.start() > start:
        has_type = data[start : start + 9].lower() == b"<!doctype"
        failure = "it has a document type declaration, which is not read" if has_type else "it does not begin with its root"
    return root.start(), failure


class _TagReader:
    """Goes through a document from tag to tag, and notes the first thing that is wrong with it."""

    def __init__(self, data: bytes, failure: str, was_cut: bool) -> None:
        self.parser = SitemapParser(self._plain)
        self.failure = failure
        self._data = data
        self._was_cut = was_cut
        self._open: list[bytes] = []
        """The names of the elements that are open."""
        self._has_begun = False
        self._token: re.Match[bytes] | None = None
        """The match that is being read."""

    def read(self, root: int) -> None:
        """Reads from the root's start tag on."""
        position, end = root, len(self._data)
        while position < end and not self.parser.is_full:
            position = self._read_to_section(position)
        if not self.parser.is_full:
            self._end()

    def _read_to_section(self, start: int) -> int:
        """Reads up to the end of the next comment or CDATA section, and returns that position; without one, reads the rest.

        Each match begins where the previous one ended, because the pattern takes any text and any `<`.
        """
        parser = self.parser
        for token in _TOKEN.finditer(self._data, start):
            self._token = token
            text, leaf, content, slash, name, rest, close, section, stray = token.groups()
            if text and not text.isspace():
                self._text(text)
            if leaf is not None:
                if not self._open:
                    self._outside()
                parser.leaf(leaf, content)
            elif name is not None:
                self._tag(name, rest, slash, close)
            elif section is not None:
                return self._section(token.end(), section != b"!--")
            elif stray is not None:
                self._note("a < begins no tag")
            if parser.is_full:
                break
        return len(self._data)

    def _text(self, text: bytes) -> None:
        if not self._open:
            self._note("text stands outside of the root")
        plain = self._plain(text)
        if plain and not plain.isspace():
            self.parser.text(plain)

    def _tag(self, name: bytes, rest: bytes, slash: bytes, close: bytes) -> None:
        if not close:
            self._note("a tag does not end")
        is_empty = rest.endswith(b"/")
        if slash:
            if not self._open or self._open.pop() != name:
                self._note(f"the end tag of {name.decode('ascii')} ends nothing")
        else:
            if not self._open:
                self._outside()
            if not is_empty:
                self._open.append(name)
            self.parser.start_tag(name, self._attributes(rest) if rest and rest != b"/" else ())
        if slash or is_empty:
            self.parser.end_tag(name)

    def _outside(self) -> None:
        if self._has_begun:
            self._note("there is more than one root")
        self._has_begun = True

    def _section(self, position: int, is_cdata: bool) -> int:
        """Takes the CDATA section or skips the comment that begins at `position`; returns the position behind it."""
        close = self._data.find(b"]]>" if is_cdata else b"-->", position)
        if close < 0:
            close = len(self._data)
            self._note("a CDATA section does not end" if is_cdata else "a comment does not end", position)
        if is_cdata:
            plain = _decoded(self._data[position : min(close, position + _LONGEST_TEXT)])
            if plain and not plain.isspace():
                self.parser.text(plain)
        elif not self.failure and self._data.find(b"--", position, close) >= 0:
            self._note("a comment holds two hyphens", position)
        return close + 3

    def _attributes(self, rest: bytes) -> list[str]:
        """Names and values by turns."""
        if not self.failure and not _SOUND_ATTRIBUTES.fullmatch(rest):
            self._note("the attributes of a tag are not well-formed")
        pairs: list[str] = []
        for name, double, single, bare in _ATTRIBUTE.findall(_decoded(rest))[:_MAX_ATTRIBUTES]:
            value = double or single or bare
            pairs += (name, self._resolved(value) if "&" in value else value)
        return pairs

    def _plain(self, raw: bytes) -> str:
        """The text that bytes of the file stand for; an ampersand that begins no reference is noted."""
        text = _decoded(raw)
        return self._resolved(text) if "&" in text else text

    def _resolved(self, text: str) -> str:
        ampersands = text.count("&")
        if text.count("&amp;") == ampersands:
            return text.replace("&amp;", "&")
        if not self.failure and len(_SOUND_REFERENCE.findall(text)) < ampersands:
            self._note("an ampersand begins no reference")
        return _REFERENCE.sub(_character, text)

    def _end(self) -> None:
        self.parser.finish()
        if self._open and not self._was_cut:
            self._note(f"{self._open[-1].decode('ascii')} is not closed", len(self._data))
        if not self.failure and not _is_text(self._data):
            self.failure = "it is not well-formed: it holds bytes that are no text"

    def _note(self, what: str, at: int | None = None) -> None:
        """Notes what is wrong at a position, by default that of the token, unless something was noted before."""
        if self.failure:
            return
        if at is None:
            at = self._token.start() if self._token is not None else 0
        if not self._was_cut or at < len(self._data) - _LONGEST_TEXT:  # What was cut ends anywhere.
            self.failure = f"it is not well-formed in line {self._data.count(10, 0, at) + 1}: {what}"


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


def _is_text(data: bytes) -> bool:
    """Whether it is UTF-8 without control characters; the last character may have been cut."""
    if len(data.translate(None, _CONTROLS)) < len(data):
        return False
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _PIECE):
            decoder.decode(data[start : start + _PIECE])
    except UnicodeDecodeError:
        return False
    return True
