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

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import filterfalse, islice
from typing import TYPE_CHECKING

from parcahyd.rules.directives import MAX_RULES, NO_DIRECTIVES, Directive, meta_directives
from parcahyd.rules.known_tags import MARK, Found, KnownTags, hangs, lines_of, plain_leads
from parcahyd.rules.link_scanner import declares_utf8, scan
from parcahyd.rules.link_tags import CARRIERS, MAX_HREF, MAX_LINKS, MAX_TABLES, Sink

if TYPE_CHECKING:
    from turbohtml import Document, Element

    from parcahyd.rules.canonical_url import Prefixes

__all__ = [
    "MAX_HREF",
    "MAX_LINKS",
    "MAX_PARSED",
    "Found",
    "PageLinks",
    "collected",
    "parse_document",
    "read_at_once",
    "read_links",
    "read_tags",
    "read_tree",
]

MAX_PARSED = 8 * 1024 * 1024
"""Bytes of a document in which links are looked for; its tree may take some fifty times as many for a moment."""


class PageLinks:
    """What a document says about other documents. References are raw, in document order."""

    __slots__ = ("base", "charset", "found", "keys", "robots", "table", "tables")

    def __init__(
        self,
        charset: str,
        base: str,
        keys: Collection[bytes],
        found: Mapping[bytes, Found],
        table: bytes,
        robots: tuple[tuple[str, str], ...] = (),
        tables: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.charset = charset
        """The encoding's name in the Encoding Standard, in lower case: by byte order mark, header, `meta`, else by content."""
        self.base = base
        """The first `base href`, raw, or empty. Where it cannot be joined to the document's URL, that URL is the base."""
        self.keys = keys
        """Of its tags, in document order. Equal keys bring the same references in every document."""
        self.found = found
        """By key: what it brings. There may be more in it than this document has."""
        self.table = table
        r"""Every link once: `kind TAB reference`, then `TAB rel=nofollow` where the author asks for that, each ended by LF.

        The kinds are those of TOL/1: a, area, link, img, media, script, style, frame, form, canonical, alternate, next.
        """
        self.robots = robots
        """Name and content of each meta that may speak to robots; empty on nearly every page."""
        self.tables = tables
        """Relation (tol, tvi, augment) and raw reference of each link to tables; empty on nearly every page."""

    def leads(self, seen: set[bytes], prefixes: Prefixes | None, targets: set[str]) -> Sequence[str | bytes]:
        """Where those of its keys lead that are not in `seen`, in document order; they are now.

        A plain reference leads to a URL, which is given unless it is one of the `targets`, and is one now; all else is given as
        the key that it is. Without machine code, or without prefixes, that is everything.
        """
        if plain_leads is not None and prefixes is not None:
            return plain_leads(self.keys, seen, prefixes, targets)
        unseen = [*filterfalse(seen.__contains__, self.keys)]
        seen.update(unseen)
        return unseen

    def directives(self, token: str, now: float) -> Directive:
        """What the document itself asks of the robot with this product token; headers may ask for more."""
        return meta_directives(self.robots, token, now) if self.robots else NO_DIRECTIVES

    @property
    def follow(self) -> list[str]:
        """Other documents: `a`, `area`, `frame`, `iframe`, meta refresh, `link` as canonical, alternate, next or prev.

        Without those that only tags with `rel=nofollow` lead to.
        """
        hrefs = dict.fromkeys(href for key in self.keys for href in self.found[key].follow)
        return [href for href in hrefs if href or self.base]

    @property
    def embedded(self) -> list[str]:
        """Parts of this document: images, scripts, styles, media, icons, preloads. Without `data:` URLs."""
        return [*dict.fromkeys(href for key in self.keys for href in self.found[key].embedded if href)]

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
        links = read_at_once(body) or read_tags(scan(body))
        if links is not None:
            return links
    return read_tree(body, header_charset)


# --- scanned documents --------------------------------------------------------------------------------------------------


class _Memory:
    """The tags that this process knows. Whoever reads a document keeps to those it began with: others may take their place."""

    known = KnownTags()

    @classmethod
    def tags(cls) -> KnownTags:
        if cls.known.is_full:
            cls.known = KnownTags()
        return cls.known


def read_at_once(body: bytes) -> PageLinks | None:
    """The links of a document as `read_tags` gives them, by machine code; None where that is not there, or is not sure."""
    known = _Memory.tags()
    read = known.read(body)
    if read is None:
        return None
    keys, table, marked = read
    if not marked:
        return PageLinks("utf-8", "", keys, known.found, table)
    return PageLinks("utf-8", "", keys, known.found, table, *_asides([known.found[key] for key in marked]))


def read_tags(tags: list[bytes] | None) -> PageLinks | None:
    """The links of a document that was scanned, if it could be; None for a form within a form, too, which only a tree can tell,
    and for excesses.

    What every document goes through is done for all its tags at once, in a few calls.
    """
    known = _Memory.tags()
    if tags is None or (len(tags) > MAX_LINKS and len(set(tags)) > MAX_LINKS):
        return None
    keys = dict.fromkeys(map(known.__getitem__, tags))
    keys.pop(b"", None)
    table = b"".join(keys)
    return _read_closely(known, tags, keys, table) if MARK in table else PageLinks("utf-8", "", keys, known.found, table)


def _read_closely(known: KnownTags, tags: list[bytes], keys: dict[bytes, None], table: bytes) -> PageLinks | None:
    """The same for a document with tags of which a line does not say everything; they stand in the table as they are."""
    marked = {key: known.found[key] for key in filter(known.marked.__contains__, keys)}
    openers = {key[1:] for key, found in marked.items() if found.opens_form}
    if openers and _has_nested_form(tags, openers):
        return None
    base = next((found.base for found in marked.values() if found.base is not None), "")
    robots, tables = _asides(marked.values())
    table = _with_lines(table, keys, {key: found.lines for key, found in marked.items()})
    if table.count(b"\n") > MAX_LINKS:
        return None
    if not base:
        return PageLinks("utf-8", "", keys, known.found, table, robots, tables)
    found = {b">" + raw: known.hollow.get(raw) or known.found[known[raw]] for raw in dict.fromkeys(tags)}
    return PageLinks("utf-8", base, found, found, table, robots, tables)


def _asides(marked: Iterable[Found]) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """What tags say to robots, and the tables that they link to."""
    marked = [found for found in marked if found.robots or found.tables]
    robots = [rule for found in marked for rule in found.robots][:MAX_RULES]
    return tuple(robots), tuple([link for found in marked for link in found.tables][:MAX_TABLES])


def _with_lines(table: bytes, keys: dict[bytes, None], lines: dict[bytes, bytes]) -> bytes:
    """A table with the lines of marked tags in their places, every line once."""
    if not any(line in keys or line.count(b"\n") > 1 for line in lines.values() if line):
        first = {line: key for key, line in reversed(lines.items())}
        for key in sorted(lines, key=len, reverse=True):  # One may begin as another does.
            table = table.replace(key, lines[key] if first[lines[key]] == key else b"")
        return table
    table = b"".join(map(lines.get, keys, keys))
    return b"".join(dict.fromkeys(table.splitlines(keepends=True)))


def _has_nested_form(tags: list[bytes], openers: Set[bytes]) -> bool:
    """Whether a form opens while another is open."""
    is_open = False
    for tag in filter({*openers, b"/form"}.__contains__, tags):
        opens = tag != b"/form"
        if opens and is_open:
            return _is_nested_in_any_case(tags, openers)
        is_open = opens
    return False


def _is_nested_in_any_case(tags: list[bytes], openers: Iterable[bytes]) -> bool:
    """The same where ends of forms may be written in capitals."""
    text = MARK + MARK.join(tags)
    is_lower = all(opener.startswith(b"form") for opener in openers)
    return (not is_lower or _opens_twice(text)) and _opens_twice(text.lower())


def _opens_twice(text: bytes) -> bool:
    return any(piece.count(b"\0form") > 1 for piece in text.split(b"\0/form"))


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
    # Keys that no scanned tag has.
    found = {_key("<follow ", href): Found((href,), (), b"", hangs(href)) for href in sink.follow}
    found |= {_key("<embed ", href): Found((), (href,), b"", hangs(href)) for href in sink.embedded}
    return PageLinks(charset, sink.base or "", found, found, lines_of(sink), tuple(sink.robots), tuple(sink.tables))


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
