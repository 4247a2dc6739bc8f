"""The links of an HTML document, as a crawler without scripting sees them.

An ordinary document is scanned for the tags that carry links (`link_scanner`), nearly all of which stood on a page before and
are known as they are. A document that is odd in any way becomes a tree. The tree is the one that browsers build (turbohtml
follows the WHATWG's parsing algorithm), so tag soup, comments, scripts and raw text hold no surprises:

- comments, `script`, `style`, `title`, `textarea`, `xmp`, `noframes`, `noembed` and the inside of `iframe` are text: no links;
- scripting is off, so `noscript` is content and its links count;
- `template` is inert and its links do not count, except in a declarative shadow root, which is shown without scripting;
- `a` and `image` of embedded SVG count, with `href` or `xlink:href`;
- XHTML is read as HTML: where that differs (CDATA sections, a self-closed `<script/>`), as a browser reads it from text/html;
  for what is served as XML there is `xml_links`.

A reference is kept as it stands, but for what every URL parser drops anyway: spaces and control characters around it, tabs and
newlines in it, and its fragment. What is left empty points to the document itself and is dropped, unless a `base` makes it
point elsewhere. In a document that is not in UTF-8, the query of a reference is escaped as the document's encoding asks
(`query_encoding`), so that what is done with references needs no encoding.

`rel=nofollow` on `a` and `area` is obeyed: the link stays in the table and is not followed, unless another tag has it without.
`ugc` and `sponsored` say who placed a link and ask for nothing.

Page authors are adversaries, so everything is bounded: the bytes that are parsed, the number of links and the length of each.
The time is linear in the bytes, and no input raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import compress, islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from parcahyd.rules.directives import MAX_RULES, NO_DIRECTIVES, Directive, meta_directives
from parcahyd.rules.link_scanner import REFERENCE, declares_utf8, scan
from parcahyd.rules.link_tags import CARRIERS, MAX_HREF, MAX_LINKS, MAX_TABLES, Carrier, Sink

if TYPE_CHECKING:
    from turbohtml import Document, Element

__all__ = [
    "MAX_HREF",
    "MAX_LINKS",
    "MAX_PARSED",
    "Found",
    "PageLinks",
    "collected",
    "parse_document",
    "read_links",
    "read_tags",
    "read_tree",
]

MAX_PARSED = 8 * 1024 * 1024
"""Bytes of a document in which links are looked for; its tree may take some fifty times as many for a moment."""


class Found(NamedTuple):
    """What one tag brings."""

    follow: tuple[str, ...]
    embedded: tuple[str, ...]
    lines: bytes
    """Its lines of the table, each ended by LF."""
    is_rare: bool = False
    """It holds a base, opens a form, speaks to robots or leads to tables."""
    base: str | None = None
    opens_form: bool = False
    hangs_on_page: bool = False
    """A reference is empty or begins with a query: what it leads to depends on more than the document's directory."""
    robots: tuple[tuple[str, str], ...] = ()
    """Name and content of a meta that may speak to robots."""
    tables: tuple[tuple[str, str], ...] = ()
    """Relation and reference of a link to tables."""


class PageLinks:
    """What a document says about other documents. References are raw, in document order."""

    __slots__ = ("base", "charset", "robots", "table", "tables", "tags")

    def __init__(
        self,
        charset: str,
        base: str,
        tags: dict[bytes, Found],
        table: bytes,
        robots: tuple[tuple[str, str], ...] = (),
        tables: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.charset = charset
        """The encoding's name in the Encoding Standard, in lower case: by byte order mark, header, `meta`, else by content."""
        self.base = base
        """The first `base href`, raw, or empty. Where it cannot be joined to the document's URL, that URL is the base."""
        self.tags = tags
        """By tag: what it brings. Equal keys bring the same references in every document."""
        self.table = table
        r"""Every link once: `kind TAB reference`, then `TAB rel=nofollow` where the author asks for that, each ended by LF.

        The kinds are those of TOL/1: a, area, link, img, media, script, style, frame, form, canonical, alternate, next.
        """
        self.robots = robots
        """Name and content of each meta that may speak to robots; empty on nearly every page."""
        self.tables = tables
        """Relation (tol, tvi, augment) and raw reference of each link to tables; empty on nearly every page."""

    def directives(self, token: str, now: float) -> Directive:
        """What the document itself asks of the robot with this product token; headers may ask for more."""
        return meta_directives(self.robots, token, now) if self.robots else NO_DIRECTIVES

    @property
    def follow(self) -> list[str]:
        """Other documents: `a`, `area`, `frame`, `iframe`, meta refresh, `link` as canonical, alternate, next or prev.

        Without those that only tags with `rel=nofollow` lead to.
        """
        hrefs = dict.fromkeys(href for found in self.tags.values() for href in found.follow)
        return [href for href in hrefs if href or self.base]

    @property
    def embedded(self) -> list[str]:
        """Parts of this document: images, scripts, styles, media, icons, preloads. Without `data:` URLs."""
        return [*dict.fromkeys(href for found in self.tags.values() for href in found.embedded if href)]

    @property
    def lines(self) -> list[str]:
        """Every link, as `table` has it."""
        return self.table.decode().split("\n")[:-1]


def read_links(body: bytes, header_charset: str) -> PageLinks:
    """The links of a document; `header_charset` is what its Content-Type says, or empty.

    A charset that the Encoding Standard does not know counts as none.
    """
    body = body[:MAX_PARSED]
    if declares_utf8(body, header_charset):
        tags = scan(body)
        if tags is not None:
            links = read_tags(tags)
            if links is not None:
                return links
    return read_tree(body, header_charset)


# --- scanned documents --------------------------------------------------------------------------------------------------

_NOTHING = Found((), (), b"")
_SLASH = ord("/")
_KNOWN_TAGS = 40_000
_LONGEST_KNOWN = 600


class _KnownTags(dict[bytes, Found]):
    """Tags of documents before: nearly every tag of a document stood on the one before it. Others are read when asked for."""

    def __missing__(self, raw: bytes) -> Found:
        found = _found_in(raw)
        if len(self) >= _KNOWN_TAGS:
            self.clear()
        if len(raw) <= _LONGEST_KNOWN:
            self[raw] = found
        return found


_known = _KnownTags()
_lines_of, _is_rare = itemgetter(2), itemgetter(3)


def read_tags(tags: list[bytes]) -> PageLinks | None:
    """The links of a scanned document; None for a form within a form, which only a tree can tell, and for excesses.

    What every document goes through is done for all its tags at once, in a few calls.
    """
    found = dict(zip(tags, map(_known.__getitem__, tags), strict=True))
    base = ""
    robots: tuple[tuple[str, str], ...] = ()
    tables: tuple[tuple[str, str], ...] = ()
    rare = [*compress(found, map(_is_rare, found.values()))]
    if rare:
        if _has_nested_form(tags, found, {raw for raw in rare if found[raw].opens_form}):
            return None
        base = next((href for raw in rare if (href := found[raw].base) is not None), "")
        robots = tuple([rule for raw in rare for rule in found[raw].robots][:MAX_RULES])
        tables = tuple([link for raw in rare for link in found[raw].tables][:MAX_TABLES])
    blocks = dict.fromkeys(map(_lines_of, found.values()))
    table = b"".join(blocks)
    lines = table.count(b"\n")
    if lines >= len(blocks):  # Some tag has several lines, perhaps another's.
        table = b"".join(dict.fromkeys(table.splitlines(keepends=True)))
    return None if lines > MAX_LINKS else PageLinks("utf-8", base, found, table, robots, tables)


def _has_nested_form(tags: list[bytes], distinct: Iterable[bytes], openers: set[bytes]) -> bool:
    """Whether a form opens while another is open; most pages have one form, or one after the other."""
    if sum(map(tags.count, openers)) < 2:
        return False
    ends = {raw for raw in distinct if raw[:1] == b"/"}
    is_open = False
    for raw in filter((openers | ends).__contains__, tags):
        if is_open and raw in openers:
            return True
        is_open = raw in openers
    return False


def _found_in(raw: bytes) -> Found:
    """Read one scanned tag."""
    if not raw or raw[0] == _SLASH:  # What stands around the tags, and the end of a form.
        return _NOTHING
    sink = Sink()
    opens_form = False
    if raw[0] == REFERENCE:
        href = raw[1:].decode("utf-8", "replace").replace("&amp;", "&")
        if _IS_PLAIN(href):
            return _new_found(((href,), (), f"a\t{href}\n".encode(), False, None, False, href[0] == "?", (), ()))
        sink.add("a", href, sink.follow)
    else:
        tag = _carrier(raw)
        CARRIERS[tag.tag](sink, tag)
        opens_form = tag.tag == "form"
    hangs = any(href[:1] in _HANGING for where in (sink.follow, sink.embedded) for href in where)
    robots, tables = tuple(sink.robots), tuple(sink.tables)
    is_rare = opens_form or sink.base is not None or bool(robots) or bool(tables)
    follow, embedded = tuple(sink.follow), tuple(sink.embedded)
    return _new_found((follow, embedded, _table(sink), is_rare, sink.base, opens_form, hangs, robots, tables))


_IS_PLAIN = re.compile(r"[!-~]{1,1000}").fullmatch


_HANGING = frozenset(("", "?"))
"""With which a reference begins that depends on more than the document's directory."""
_new_found = Found._make  # A third of the time of calling it.


def _table(sink: Sink) -> bytes:
    return ("\n".join(sink.lines) + "\n").encode("utf-8", "replace") if sink.lines else b""


class _Tag:
    """A scanned start tag whose attributes stand as they are meant."""

    __slots__ = ("_attributes", "tag")

    def __init__(self, tag: str, text: str) -> None:
        self.tag = tag
        self._attributes: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(text, len(tag)):
            value = double or single or bare
            self._attributes.setdefault(name.lower(), unescape(value) if "&" in value else value)

    def attr(self, name: str) -> str | None:
        return self._attributes.get(name)


_TAG_NAME = re.compile(r"[^\t\n\f\r /]*").match
_ATTRIBUTE = re.compile(r"""([^\t\n\f\r />"'=<]+)(?:[\t\n\f\r ]*=(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r "'>=<`]+)))?""")


# References that mean the same to `html.unescape` as to a browser: those that end as they should, of printable characters.
_WHOLE_REFERENCE = re.compile(
    r"&(?:amp|quot|lt|gt|apos|nbsp|#(?:3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6])|#[xX](?:[2-6][0-9a-fA-F]|7[0-9a-eA-E]));"
)


def _carrier(raw: bytes) -> Carrier:
    """A scanned tag; where character references stand in it that are not whole, the parser reads them."""
    text = raw.decode("utf-8", "replace")
    name = _TAG_NAME(text)
    tag = name[0].lower() if name else ""
    if "&" not in text or len(_WHOLE_REFERENCE.findall(text)) == text.count("&"):
        return _Tag(tag, text)
    from turbohtml import parse

    return next(parse(f"<{text}>").iter_elements((tag,)))


# --- trees --------------------------------------------------------------------------------------------------------------

_TAGS = (*CARRIERS, "template")


def read_tree(body: bytes, header_charset: str) -> PageLinks:
    """The links of a document by way of its tree, which is right for every document."""
    document = parse_document(body, header_charset)
    charset = (document.encoding or "").lower()
    sink = Sink("" if charset == "utf-8" else charset)
    lines = sink.lines
    elements = document.iter_elements(_TAGS)
    for element in elements:
        if len(lines) >= MAX_LINKS:
            break
        if element.tag == "template":
            _skip_inert(element, elements)
        else:
            CARRIERS[element.tag](sink, element)
    return collected(sink, charset)


def collected(sink: Sink, charset: str) -> PageLinks:
    """The links of a whole document that one sink has taken in."""
    # Keys that no scanned tag has: there, references stand as they were written, here as they are meant.
    tags = {_key("<follow ", href): Found((href,), (), b"", hangs_on_page=href[:1] in _HANGING) for href in sink.follow}
    tags |= {_key("<embed ", href): Found((), (href,), b"", hangs_on_page=href[:1] in _HANGING) for href in sink.embedded}
    return PageLinks(charset, sink.base or "", tags, _table(sink), tuple(sink.robots), tuple(sink.tables))


def _key(kind: str, href: str) -> bytes:
    return (kind + href).encode("utf-8", "surrogatepass")


def parse_document(body: bytes, header_charset: str) -> Document:
    """The tree of a document; its `encoding` is the one that was found."""
    from turbohtml import parse  # Many sites have no page that needs it.

    body = body[:MAX_PARSED]
    if header_charset:
        try:
            return parse(
                body, encoding=header_charset, detect_encoding=True, positions=False, allow_declarative_shadow_roots=False
            )
        except LookupError:
            pass
    return parse(body, detect_encoding=True, positions=False, allow_declarative_shadow_roots=False)


def _skip_inert(template: Element, elements: Iterator[Element]) -> None:
    """Moves on to behind a template, unless it is a declarative shadow root (left as a template by `parse_document`)."""
    if (template.attr("shadowrootmode") or "").lower() not in ("open", "closed"):
        inside = sum(1 for _ in template.iter_elements(_TAGS))
        next(islice(elements, inside, inside), None)
