"""Sitemaps and feeds as tables of links: which pages a site names, and when each changed, before any of them is asked for.

What a file is, its content tells: a sitemap or an index of sitemaps (sitemaps.org), a list of addresses, RSS 0.9 to 2.0, Atom;
each plain or as gzip. The usual sitemap is read at a glance and other XML by expat; what is no XML is read again by a scanner
that forgives (`sitemap_scanner`). Not followed: images, videos and news of the extensions, enclosures and comments of feeds,
and whatever a feed says about itself.

Authors are adversaries: bytes, tags, locations and their length are bounded, time is linear in the bytes, nothing is declared
or fetched, and no input raises. A file that lists itself is a matter of the visit, which reads each once.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import NamedTuple

from parcahyd.rules.sitemap_bytes import MAX_DECODED, plain_utf8
from parcahyd.rules.sitemap_elements import Kind
from parcahyd.rules.sitemap_glance import read_at_a_glance
from parcahyd.rules.sitemap_harvest import MAX_ENTRIES, MAX_LOCATION, ForeignRoot, Harvest, HarvestFull
from parcahyd.rules.sitemap_scanner import find_root, scan
from parcahyd.rules.sitemap_xml import read_strictly

__all__ = ["MAX_DECODED", "MAX_ENTRIES", "MAX_LOCATION", "MAX_TAGS", "Entry", "Kind", "Sitemap", "read_sitemap"]

MAX_TAGS = 1_000_000
"""Tags of one file that are looked at. A full sitemap with ten alternates for each page has four fifths of them."""

_PIECE = 1 << 20
_MAX_LINES = 4 * MAX_ENTRIES
_LINE = re.compile(rb"[^\r\n]++")
_ADDRESS = re.compile(rb"[\t ]*+(https?://[^\t]++)", re.IGNORECASE)
_LIST = re.compile(rb"(?:[\t\n\r ]++|#[^\r\n]*+)*+https?://", re.IGNORECASE)
_BLANKS = b"\t\n\r\f "
_NO_LIST = re.compile(
    r"(?:image|audio|video|font)/.*+|text/(?:html|css|javascript)|application/(?:xhtml\+xml|javascript|json|pdf)"
)

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
    faults: tuple[str, ...]
    """What is wrong with the file, in sentences for people; a handful at most."""


def read_sitemap(body: bytes, media_type: str = "", charset: str = "") -> Sitemap:
    """Reads a file, whatever it holds; one that is neither sitemap nor feed is of kind NONE and has no entries.

    `media_type` and `charset` are what its header says. The type matters only to a text that begins with an address, which is
    no list if it came as a page or a script; the charset only where the file itself is silent.
    """
    data, was_cut, faults = plain_utf8(body, charset)
    if _LIST.match(data) and not _NO_LIST.fullmatch(media_type):
        return _read_list(data, was_cut, faults)
    data = data.lstrip(_BLANKS)
    within = _within_tags(data)
    was_cut = was_cut or len(within) < len(data)
    if within.startswith(b"<"):
        return _read_xml(within, was_cut, faults)
    return _read_soup(within, was_cut, (*faults, "it does not begin as a sitemap or feed does"))


def _within_tags(data: bytes) -> bytes:
    """As much of it as holds MAX_TAGS tags, give or take a piece."""
    if data.count(b"<") <= MAX_TAGS:
        return data
    end = tags = 0
    while tags < MAX_TAGS:
        tags += data.count(b"<", end, end + _PIECE)
        end += _PIECE
    return data[:end]


def _read_xml(data: bytes, was_cut: bool, faults: tuple[str, ...]) -> Sitemap:
    harvest = Harvest(is_lenient=False)
    try:
        if read_at_a_glance(data, harvest):
            return _sitemap(harvest, was_cut, faults)
        harvest = Harvest(is_lenient=False)
        fault = read_strictly(data, harvest, is_whole=not was_cut)
    except HarvestFull:
        return _sitemap(harvest, True, faults)
    if fault:
        return _read_soup(data, was_cut, (*faults, fault))
    return _sitemap(harvest, was_cut, faults)


def _read_soup(data: bytes, was_cut: bool, faults: tuple[str, ...]) -> Sitemap:
    root = find_root(data)
    harvest = Harvest(is_lenient=True)
    try:
        if root >= 0:
            scan(data, harvest, root)
            harvest.finish()
    except HarvestFull:
        was_cut = True
    except ForeignRoot:
        pass  # such as `<urlset:other>`: the name only begins like a root
    return _sitemap(harvest, was_cut, faults)


def _read_list(data: bytes, was_cut: bool, faults: tuple[str, ...]) -> Sitemap:
    """One address per line; anything after a tab, and lines that are no address, are left out."""
    harvest = Harvest(is_lenient=True)
    harvest.kind = Kind.TEXT
    strange = 0
    lines = _LINE.finditer(data)
    try:
        for line in islice(lines, _MAX_LINES):
            address = _ADDRESS.match(line[0])
            if address:
                harvest.add(harvest.pages, address[1][: 4 * MAX_LOCATION + 1].decode("utf-8", "replace").strip(), None)
            else:
                strange += not line[0].isspace()
        was_cut = was_cut or next(lines, None) is not None
    except HarvestFull:
        was_cut = True
    return _sitemap(harvest, was_cut, (*faults, f"{strange} of its lines are no address") if strange else faults)


def _sitemap(harvest: Harvest, was_cut: bool, faults: tuple[str, ...]) -> Sitemap:
    if harvest.too_long:
        faults = (*faults, f"{harvest.too_long} of its locations are longer than {MAX_LOCATION} characters and left out")
    pages = harvest.pages
    others = ((location, None) for location in harvest.alternates if location not in pages)
    entries = list(islice(chain(pages.items(), others), MAX_ENTRIES))
    return Sitemap(harvest.kind, entries, list(harvest.children.items()), was_cut, faults)
