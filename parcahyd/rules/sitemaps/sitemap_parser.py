"""What the elements of a sitemap or feed mean: tags and text go in, in document order, and locations with their dates come out.

All formats have one shape: items (`url`, `sitemap`, `item`, `entry`) in an outer element, and fields in an item. Everything
else stands apart, and nothing counts in it: the `loc` of an image or video is no page, nor is the `link` of a channel's logo.
Prefixes are not looked up, because namespaces of real files are wrong or missing; only the prefixes of the well-known
extensions tell an element apart.

Real files are often not balanced. A tag that can only belong elsewhere ends what should have been ended before it.

Tested in tests/rules/sitemaps/test_reader.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum

from ada_url import join_url

from parcahyd.rules.sitemaps.dates import parse_date

__all__ = ["MAX_ENTRIES", "MAX_LOCATION", "ROOTS", "Kind", "SitemapParser", "spelt"]

MAX_ENTRIES = 50_000
"""Locations of one file that are used: what the protocol allows. Alternates take what the pages leave of it."""
MAX_LOCATION = 2_048
"""Characters of a location; longer ones are left out, as the protocol forbids them."""

_MAX_NAMES = 1_000
_WEB = re.compile("https?://", re.IGNORECASE).match


# --- the vocabulary -----------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    """What a file turned out to be."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"
    NONE = "none"


# What an element means where it stands. Fields come first: their text counts. Items come last.
_LOCATION, _DATE, _LESSER_DATE, _GUID = 1, 2, 3, 4
_HREF, _THROUGH, _APART = 5, 6, 7
_PAGE, _CHILD, _FEED_ITEM = 8, 9, 10

_SITEMAP = {"url": _PAGE, "sitemap": _CHILD, "urlset": _THROUGH, "sitemapindex": _THROUGH, "sitemaps": _THROUGH}
_RSS = {"item": _FEED_ITEM, "link": _LOCATION, "channel": _THROUGH, "rss": _THROUGH, "rdf": _THROUGH}
_ATOM = {"entry": _FEED_ITEM, "link": _HREF, "feed": _THROUGH}

_OUTER = {Kind.URLSET: _SITEMAP, Kind.INDEX: _SITEMAP, Kind.RSS: _RSS, Kind.ATOM: _ATOM}
"""What elements mean outside items, by kind. An index may hold pages and a sitemap children: authors mix them up."""
_INNER = {
    "url": {"loc": _LOCATION, "lastmod": _DATE, "link": _HREF, "changefreq": _THROUGH, "priority": _THROUGH},
    "sitemap": {"loc": _LOCATION, "lastmod": _DATE},
    "item": {"link": _LOCATION, "pubdate": _DATE, "date": _LESSER_DATE, "guid": _GUID},
    "entry": {"link": _HREF, "updated": _DATE, "modified": _DATE, "published": _LESSER_DATE, "issued": _LESSER_DATE},
}
"""What elements mean in an item, by the item's name."""
ROOTS = {
    "urlset": Kind.URLSET,
    "sitemapindex": Kind.INDEX,
    "sitemaps": Kind.INDEX,
    "rss": Kind.RSS,
    "rdf": Kind.RSS,
    "feed": Kind.ATOM,
    # Where the root is missing:
    "url": Kind.URLSET,
    "sitemap": Kind.INDEX,
    "channel": Kind.RSS,
    "entry": Kind.ATOM,
}
"""The kind of file that begins with an element."""

_SPELLINGS = {
    "urlsets": "urlset",
    "siteindex": "sitemapindex",
    "sitemapsindex": "sitemapindex",
    "location": "loc",
    "lastmodified": "lastmod",
    "lastmodification": "lastmod",
}
_EXTENSIONS = frozenset(("image", "video", "news", "mobile", "media", "content", "itunes", "pagemap"))


def spelt(name: bytes) -> str:
    """An element's name in its usual spelling, never empty; without a prefix, unless that is an extension's."""
    prefix, _, local = name.decode("ascii").lower().rpartition(":")
    local = local.replace("-", "").replace("_", "")
    local = _SPELLINGS.get(local, local) or "?"
    return f"{prefix}:{local}" if prefix in _EXTENSIONS else local


# --- the parser ---------------------------------------------------------------------------------------------------------


class SitemapParser:
    """Collects the locations of one file. Its first tag is one whose usual spelling is in `ROOTS`.

    `decode` makes text of the bytes of an element.
    """

    __slots__ = (
        "_apart",
        "_apart_depth",
        "_base",
        "_decode",
        "_field",
        "_fields",
        "_hrefs",
        "_item",
        "_item_base",
        "_meaning",
        "_meanings",
        "_nested",
        "_outer",
        "_parts",
        "_spelt",
        "alternates",
        "children",
        "is_full",
        "kind",
        "pages",
        "too_long",
    )

    def __init__(self, decode: Callable[[bytes], str] = bytes.decode) -> None:
        self.kind = Kind.NONE
        self._decode = decode
        self.pages: dict[str, float | None] = {}
        """By location, in document order: when it changed, as the file says."""
        self.alternates: dict[str, float | None] = {}
        self.children: dict[str, float | None] = {}
        self.too_long = 0
        """Locations that were left out for their length."""
        self.is_full = False
        """There are more locations than are used; the rest need not be read."""
        self._parts: list[str] = []
        self._spelt: dict[bytes, str] = {}
        self._outer: dict[str, int] = {}
        self._meanings: dict[str, int] = {}
        self._apart = ""
        self._apart_depth = 0
        self._item = self._item_base = self._base = ""
        self._field = ""
        self._nested = 0
        """Open elements of the item's name within the open field, or within what stands apart."""
        self._meaning = 0
        self._fields: dict[int, str] = {}
        self._hrefs: list[str] = []

    def start_tag(self, name: bytes, attributes: Sequence[str]) -> None:
        """A start tag, with names and values of its attributes by turns."""
        local = self._spelt.get(name) or self._learn(name)
        self._mend_before(local)
        if self._field:  # such as `<loc><url>https://...`: seen in the wild
            self._nested += local == self._item
            return
        self._parts.clear()
        if self._apart:
            self._nested += local == self._item
            self._apart_depth += local == self._apart
            return
        self._nested = 0
        if not self._outer:
            self._begin(local, attributes)
        meaning = self._meanings.get(local, _APART)
        if meaning <= _GUID:
            if meaning != _GUID or _attribute(attributes, "ispermalink").lower() != "false":
                self._field, self._meaning = local, meaning
        elif meaning >= _PAGE:
            self._item, self._meanings = local, _INNER[local]
            self._item_base = _attribute(attributes, "xml:base") if attributes else ""
        elif meaning == _HREF:
            self._take_href(attributes)
        elif meaning == _APART:
            self._apart, self._apart_depth = local, 1

    def text(self, text: str) -> None:
        self._parts.append(text)

    def end_tag(self, name: bytes) -> None:
        local = self._spelt.get(name) or self._learn(name)
        if local == self._field:
            self._end_field()
            return
        if local == self._item:
            if self._nested:
                self._nested -= 1
            else:
                self._end_field()
                self._apart = ""
        if self._field:
            return
        if self._apart:
            self._apart_depth -= local == self._apart
            if not self._apart_depth:
                self._apart = ""
        elif local == self._item:
            self._end_item()
        self._parts.clear()

    def leaf(self, name: bytes, raw: bytes) -> None:
        """A start tag without attributes, its text, and its end tag: most of what a file consists of.

        The text is decoded only where it counts, or where a reference in it may be wrong.
        """
        local = self._spelt.get(name) or self._learn(name)
        if self._item and not self._field and not self._apart:
            meaning = self._meanings.get(local, _APART)
            if meaning < _GUID:
                self._parts.clear()
                text = self._decode(raw).strip()
                if text:
                    self._fields.setdefault(meaning, text)
                return
            if meaning == _THROUGH or (meaning == _APART and self._outer.get(local, 0) < _PAGE):
                self._parts.clear()
                if b"&" in raw:
                    self._decode(raw)
                return
        self.start_tag(name, ())
        text = self._decode(raw)
        if text:
            self._parts.append(text)
        self.end_tag(name)

    def finish(self) -> None:
        """The document ends, perhaps in the middle of an item; its location counts if its field was closed."""
        if self._item and not self._field:
            self._parts.clear()
            self._end_item()

    def add(self, locations: dict[str, float | None], location: str, lastmod: float | None) -> None:
        """Notes a location; a date that comes later counts only if there was none."""
        if len(location) > MAX_LOCATION:
            self.too_long += 1
        elif location in locations:
            if lastmod is not None and locations[location] is None:
                locations[location] = lastmod
        elif len(locations) < MAX_ENTRIES:
            locations[location] = lastmod
        elif locations is not self.alternates:
            self.is_full = True

    def _begin(self, local: str, attributes: Sequence[str]) -> None:
        self.kind = ROOTS[local]
        self._outer = self._meanings = _OUTER[self.kind]
        self._base = _attribute(attributes, "xml:base")

    def _end_field(self) -> None:
        """The first text of a kind counts."""
        if not self._field:
            return
        self._field = ""
        text = "".join(self._parts).strip()
        self._parts.clear()
        if not text:
            return
        if self._item:
            self._fields.setdefault(self._meaning, text)
        else:
            self.add(self.pages, text, None)

    def _end_item(self) -> None:
        item, fields, hrefs = self._item, self._fields, self._hrefs
        self._item, self._meanings, self._fields, self._hrefs = "", self._outer, {}, []
        lastmod = parse_date(fields.get(_DATE) or fields.get(_LESSER_DATE, ""))
        location = fields.get(_LOCATION) or self._makeshift(item, fields)
        if location:
            self.add(self.children if item == "sitemap" else self.pages, location, lastmod)
        for href in hrefs:
            self.add(self.pages, href, lastmod)

    def _makeshift(self, item: str, fields: dict[int, str]) -> str:
        """Where no field holds the location: the bare text of a `sitemap` or `url`, as seen in the wild; a guid that is one."""
        if item in ("sitemap", "url"):
            return "".join(self._parts).strip()
        guid = fields.get(_GUID, "")
        return guid if _WEB(guid) else ""

    def _take_href(self, attributes: Sequence[str]) -> None:
        """A `link` element that leads to the page or to another version of it; not to the feed, an enclosure, a comment."""
        href = _attribute(attributes, "href").strip()
        rel = _attribute(attributes, "rel").lower()
        if not href or (rel and "alternate" not in rel.split()):
            return
        href = self._joined(href)
        if self._item == "url":
            self.add(self.alternates, href, None)
        elif self._item:
            self._hrefs.append(href)
        else:
            self.add(self.pages, href, None)

    def _joined(self, href: str) -> str:
        """With an absolute `xml:base` (RFC 4287, section 2) the location is absolute, else it stays as it is."""
        base = self._item_base or self._base
        try:
            return join_url(base, href) if base else href
        except ValueError:
            return href

    def _mend_before(self, local: str) -> None:
        """Ends a field that has its text and was not closed. A new item ends everything that is open, unless it stands in a
        part of another item that does not count."""
        if (self._field and not self._parts) or (self._apart and self._item):
            return
        if self._outer.get(local, 0) >= _PAGE:
            self._end_field()
            self._apart = ""
            if self._item:
                self._end_item()
        elif self._field and local in self._meanings:
            self._end_field()

    def _learn(self, name: bytes) -> str:
        known = spelt(name)
        if len(self._spelt) < _MAX_NAMES:
            self._spelt[name] = known
        return known


def _attribute(attributes: Sequence[str], name: str) -> str:
    for index in range(0, len(attributes) - 1, 2):
        if attributes[index].lower() == name:
            return attributes[index + 1]
    return ""
