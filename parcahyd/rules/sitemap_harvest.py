"""What the elements of a sitemap or feed mean: tags and text go in, in document order, and locations with their dates come out.

All formats have one shape: items (`url`, `sitemap`, `item`, `entry`) in an outer element, and fields in an item. Everything
else is an aside, and nothing counts in it: the `loc` of an image or video is no page, nor is the `link` of a channel's logo.
Prefixes are not looked up, because namespaces of real files are wrong or missing; only those of the well-known extensions tell
an element apart.

Fed by a parser of XML (`sitemap_xml`), tags are balanced. Fed by the scanner of what is no XML (`sitemap_scanner`), they are
not: then the harvest is lenient, and a tag that must belong elsewhere ends what should have been ended before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ada_url import join_url

from parcahyd.rules.sitemap_dates import moment
from parcahyd.rules.sitemap_elements import (
    ASIDE,
    DATE,
    GUID,
    HREF,
    INNER,
    LESSER_DATE,
    LOCATION,
    OUTER,
    PAGE,
    ROOTS,
    Kind,
    spelt,
)

__all__ = ["MAX_ENTRIES", "MAX_LOCATION", "ForeignRoot", "Harvest", "HarvestFull"]

MAX_ENTRIES = 50_000
"""Locations of one file that are used: what the protocol allows. Alternates take what the pages leave of it."""
MAX_LOCATION = 2_048
"""Characters of a location; longer ones are left out, as the protocol forbids them."""


class HarvestFull(Exception):
    """There are more locations than are used; what was gathered stays."""


class ForeignRoot(Exception):
    """The first element belongs to no format that is known here."""


_MAX_NAMES = 1_000
_WEB = re.compile("https?://", re.IGNORECASE).match


class Harvest:
    """Gathers from one file: `open`, `close` and `parts.append` are what a parser calls for start tags, end tags and text."""

    __slots__ = (
        "_aside",
        "_aside_depth",
        "_base",
        "_field",
        "_fields",
        "_hrefs",
        "_is_lenient",
        "_item",
        "_item_base",
        "_meaning",
        "_meanings",
        "_outer",
        "_spelt",
        "alternates",
        "children",
        "kind",
        "pages",
        "parts",
        "too_long",
    )

    def __init__(self, *, is_lenient: bool) -> None:
        self.kind = Kind.NONE
        self.parts: list[str] = []
        """The text since the last tag; within a field, since the field's tag. If lenient, never blank text."""
        self.pages: dict[str, float | None] = {}
        """By location, in document order: when it changed, as the file says."""
        self.alternates: dict[str, float | None] = {}
        self.children: dict[str, float | None] = {}
        self.too_long = 0
        """Locations that were left out for their length."""
        self._is_lenient = is_lenient
        self._spelt: dict[str, str] = {}
        self._outer: dict[str, int] = {}
        self._meanings: dict[str, int] = {}
        self._aside = ""
        self._aside_depth = 0
        self._item = self._item_base = self._base = ""
        self._field = ""
        self._meaning = 0
        self._fields: dict[int, str] = {}
        self._hrefs: list[str] = []

    def open(self, name: str, attributes: Sequence[str]) -> None:
        """A start tag, with names and values of its attributes by turns."""
        local = self._spelt.get(name) or self._learn(name)
        if self._is_lenient:
            self._mend_before(local)
        if self._field:
            return  # such as `<loc><url>https://...`: seen in the wild
        self.parts.clear()
        if self._aside:
            self._aside_depth += local == self._aside
            return
        if not self._outer:
            self._begin(local, attributes)
        meaning = self._meanings.get(local, ASIDE)
        if meaning <= GUID:
            if meaning != GUID or _attribute(attributes, "ispermalink").lower() != "false":
                self._field, self._meaning = local, meaning
        elif meaning >= PAGE:
            self._item, self._meanings = local, INNER[local]
            self._item_base = _attribute(attributes, "xml:base") if attributes else ""
        elif meaning == HREF:
            self._take_href(attributes)
        elif meaning == ASIDE:
            self._aside, self._aside_depth = local, 1

    def close(self, name: str) -> None:
        """An end tag."""
        local = self._spelt.get(name) or self._learn(name)
        if local == self._field:
            self._end_field()
            return
        if self._is_lenient and local == self._item:
            self._end_field()
            self._aside = ""
        if self._field:
            return
        if self._aside:
            self._aside_depth -= local == self._aside
            if not self._aside_depth:
                self._aside = ""
        elif local == self._item:
            self._end_item()
        self.parts.clear()

    def finish(self) -> None:
        """The document ends, perhaps in the middle of an item; its location counts if its field was closed."""
        if self._item and not self._field:
            self.parts.clear()
            self._end_item()

    def add(self, locations: dict[str, float | None], location: str, lastmod: float | None) -> None:
        """Notes a location; a date that comes later counts only if there was none. Raises HarvestFull."""
        if len(location) > MAX_LOCATION:
            self.too_long += 1
        elif location in locations:
            if lastmod is not None and locations[location] is None:
                locations[location] = lastmod
        elif len(locations) < MAX_ENTRIES:
            locations[location] = lastmod
        elif locations is not self.alternates:
            raise HarvestFull

    def _begin(self, local: str, attributes: Sequence[str]) -> None:
        kind = ROOTS.get(local)
        if kind is None:
            raise ForeignRoot
        self.kind = kind
        self._outer = self._meanings = OUTER[kind]
        self._base = _attribute(attributes, "xml:base")

    def _end_field(self) -> None:
        """The first text of a kind counts."""
        if not self._field:
            return
        self._field = ""
        text = "".join(self.parts).strip()
        self.parts.clear()
        if not text:
            return
        if self._item:
            self._fields.setdefault(self._meaning, text)
        else:
            self.add(self.pages, text, None)

    def _end_item(self) -> None:
        item, fields, hrefs = self._item, self._fields, self._hrefs
        self._item, self._meanings, self._fields, self._hrefs = "", self._outer, {}, []
        lastmod = moment(fields.get(DATE) or fields.get(LESSER_DATE, ""))
        location = fields.get(LOCATION) or self._makeshift(item, fields)
        if location:
            self.add(self.children if item == "sitemap" else self.pages, location, lastmod)
        for href in hrefs:
            self.add(self.pages, href, lastmod)

    def _makeshift(self, item: str, fields: dict[int, str]) -> str:
        """Where no field holds the location: the bare text of a `sitemap` or `url`, as seen in the wild; a guid that is one."""
        if item in ("sitemap", "url"):
            return "".join(self.parts).strip()
        guid = fields.get(GUID, "")
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
        """Ends a field that has its text and was not closed; a new item ends everything that is open."""
        if self._field and not self.parts:
            return
        if self._outer.get(local, 0) >= PAGE:
            self._end_field()
            self._aside = ""
            if self._item:
                self._end_item()
        elif self._field and local in self._meanings:
            self._end_field()

    def _learn(self, name: str) -> str:
        known = spelt(name)
        if len(self._spelt) < _MAX_NAMES:
            self._spelt[name] = known
        return known


def _attribute(attributes: Sequence[str], name: str) -> str:
    for index in range(0, len(attributes) - 1, 2):
        if attributes[index].lower() == name:
            return attributes[index + 1]
    return ""
