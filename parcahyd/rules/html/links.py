"""The links of an HTML page, as a crawler without scripting sees them.

`read_links` has two readers, which give the same links. The tag reader in C, where it could be compiled, goes once through an
ordinary page in UTF-8 and takes the tags that can carry links; it knows most of them from earlier pages (`known_tags`). Every
other page becomes a tree. The tree is the one that browsers build (turbohtml follows the WHATWG's parsing algorithm), so tag
soup, comments, scripts and raw text are read as in a browser:

- comments, `script`, `style`, `title`, `textarea`, `xmp`, `noframes`, `noembed` and the inside of `iframe` are text: no links;
- scripting is off, so `noscript` is content and its links count;
- `template` is inert and its links do not count, except in a declarative shadow root, which is shown without scripting;
- `a` and `image` of embedded SVG count, with `href` or `xlink:href`;
- XHTML is read as HTML: where that differs (CDATA sections, a self-closed `<script/>`), as a browser reads it from text/html;
  for what is served as XML there is `xml_links`.

The tag reader leaves a page to the tree where the tree builder could drop or add a link: odd attributes, comments or raw text
without an end, a script with `<!--`, a NUL, a form within a form, `base`, `template`, `math`, `select`, `frameset`, `frame`,
`image`, `plaintext`, or an `svg` that is more than a plain drawing. One difference is left. The tree builder moves what stands
in a table outside of its cells to before the table, so the order of links can differ there, never their set.
`tests/conformance/test_link_readers.py` compares the two.

A reference is kept as it stands, but for what every URL parser drops anyway: spaces and control characters around it, tabs and
newlines in it, and its fragment. What is left empty points to the page itself and is dropped, unless a `base` makes it point
elsewhere. In a page that is not in UTF-8, the query of a reference is escaped in the page's encoding (`encodings`), so
that later steps need no encoding.

A link with `rel=nofollow` on `a` and `area` is in the table, and in `nofollow` instead of `follow`, unless another tag has it
without.
`ugc` and `sponsored` say who placed a link and ask for nothing.

Pages may be hostile, so everything is bounded: the bytes that are parsed, the number of links and the length of each. The time
is linear in the bytes, and no input raises.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse, islice
from typing import TYPE_CHECKING

from turbohtml import Document, Element, parse

from parcahyd.rules.html.known_tags import IS_COMPILED, Found, KnownTags, hangs, lines_of, plain_leads
from parcahyd.rules.html.link_tags import CARRIERS, MAX_HREF, MAX_LINKS, MAX_TABLES, Sink
from parcahyd.rules.robots.directives import MAX_RULES, NO_DIRECTIVES, Directive, meta_directives

if TYPE_CHECKING:
    from parcahyd.rules.urls.canonical_url import Prefixes

__all__ = [
    "MAX_HREF",
    "MAX_LINKS",
    "MAX_PARSED",
    "Found",
    "PageLinks",
    "collected",
    "declares_utf8",
    "parse_document",
    "read_compiled",
    "read_links",
    "read_tree",
]

MAX_PARSED = 8 * 1024 * 1024
"""Bytes of a document in which links are looked for; its tree may take some fifty times as many while it is read."""


_NOFOLLOW_MARK = b"\trel=nofollow\n"
_NOFOLLOW_LINES = re.compile(rb"(?m)^[a-z]++\t([^\t\n]++)\trel=nofollow$")


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
        """The encoding's name in the Encoding Standard, in lower case: by byte order mark, header, `meta`, XML declaration, or
        else by content."""
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
        """Name and content of each meta that may hold rules for robots; empty on nearly every page."""
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
    def nofollow(self) -> list[str]:
        """What tags with `rel=nofollow` lead to; other tags may lead there as well."""
        if _NOFOLLOW_MARK not in self.table:  # Nearly every page.
            return []
        return [href.decode("utf-8", "replace") for href in _NOFOLLOW_LINES.findall(self.table)]

    @property
    def embedded(self) -> list[str]:
        """Parts of this document: images, scripts, styles, media, icons, preloads. Without `data:` URLs."""
        return [*dict.fromkeys(href for key in self.keys for href in self.found[key].embedded if href)]

    @property
    def lines(self) -> list[str]:
        """Every link, as `table` has it."""
        return self.table.decode().split("\n")[:-1]


def read_links(body: bytes, header_charset: str) -> PageLinks:
    """The links of a page; `header_charset` is what its Content-Type says, or empty.

    A charset that the Encoding Standard does not know counts as none.
    """
    if len(body) > MAX_PARSED:
        body = _without_cut_tag(body[:MAX_PARSED])
    if IS_COMPILED and declares_utf8(body, header_charset):
        links = read_compiled(body)
        if links is not None:
            return links
    return read_tree(body, header_charset)


def _without_cut_tag(body: bytes) -> bytes:
    """The start of a page, which may end within a tag. The tree drops such a tag; the tag reader would refuse the page."""
    tag = body.rfind(b"<")
    return body[:tag] if tag >= 0 and b">" not in body[tag:] else body


_META_UTF8 = re.compile(
    rb"""<meta\s+(?:charset\s*=\s*["']?utf-8["'\s/>]"""
    rb"""|http-equiv\s*=\s*["']?content-type["']?\s+content\s*=\s*["'][^"'<>]*;\s*charset\s*=\s*utf-8\s*["'])"""
)
"""For text in lower case: `re` finds a literal beginning several times quicker than one in any case."""
_COMMENT = re.compile(rb"(?s)<!(?=--).*?-->")
"""A comment as browsers end it while they look for the encoding: the dashes of `<!-->` serve twice."""
_PRESCANNED = 1024
_UTF_16_MARKS = (b"\xfe\xff", b"\xff\xfe")
_MOST_METAS = 200
"""Of a document with an XML declaration that are looked at for an encoding; each costs some microseconds."""
_XML_DECLARATION = re.compile(
    rb"<\?xml(?:(?!encoding)[^>])*+encoding[\x00-\x20]*+=[\x00-\x20]*+(?:\"([^\">\x00-\x20]++)\"|'([^'>\x00-\x20]++)')[^>]*+>"
).match
_CHARSET_OF_CONTENT = re.compile(r"""(?is).*?charset\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s;"']++))""").match


def declares_utf8(body: bytes, header_charset: str) -> bool:
    """Whether the page is in UTF-8 by its header, or by a `meta` in the part of it that browsers look at first."""
    if body.startswith(_UTF_16_MARKS):
        return False
    if header_charset:
        return header_charset.lower() in ("utf-8", "utf8")
    start = body[:_PRESCANNED].lower()
    found = _META_UTF8.search(start)
    # Only the first declaration counts, and none within a comment.
    if found is None or start.find(b"charset") < found.start():
        return False
    before = start[: found.start()]
    return b"<!--" not in before or b"<!--" not in _COMMENT.sub(b"", before)


# --- by the tag reader --------------------------------------------------------------------------------------------------


class _TagMemory:
    """The tags that this process knows. A page keeps to those that its reading began with: new ones may take their place."""

    known: KnownTags | None = None

    @classmethod
    def tags(cls) -> KnownTags:
        known = cls.known
        if known is None or known.is_full:
            known = cls.known = KnownTags()
        return known


def read_compiled(body: bytes) -> PageLinks | None:
    """The links of a page in UTF-8, by the compiled tag reader; None where the tree must be built."""
    known = _TagMemory.tags()
    read = known.read(body)
    if read is None:
        return None
    keys, table, marked = read
    if not marked:
        return PageLinks("utf-8", "", keys, known.found, table)
    return PageLinks("utf-8", "", keys, known.found, table, *_asides([known.found[key] for key in marked]))


def _asides(marked: Iterable[Found]) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """What tags say to robots, and the tables that they link to."""
    marked = [found for found in marked if found.robots or found.tables]
    robots = [rule for found in marked for rule in found.robots][:MAX_RULES]
    return tuple(robots), tuple([link for found in marked for link in found.tables][:MAX_TABLES])


# --- by the tree --------------------------------------------------------------------------------------------------------------

_TAGS = (*CARRIERS, "template")


def read_tree(body: bytes, header_charset: str) -> PageLinks:
    """The links of a page by way of its tree, which is right for every page."""
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
    """The links of a whole page that one sink has taken in."""
    # Keys that the tag reader never gives.
    found = {_key("<follow ", href): Found((href,), (), b"", hangs(href)) for href in sink.follow}
    found |= {_key("<embed ", href): Found((), (href,), b"", hangs(href)) for href in sink.embedded}
    return PageLinks(charset, sink.base or "", found, found, lines_of(sink), tuple(sink.robots), tuple(sink.tables))


def _key(kind: str, href: str) -> bytes:
    return (kind + href).encode("utf-8", "surrogatepass")


def parse_document(body: bytes, header_charset: str) -> Document:
    """The tree of a document; its `encoding` is the one that was found."""
    body = body[:MAX_PARSED]
    if header_charset and (document := _parse(body, header_charset)) is not None:
        return document
    document = parse(body, detect_encoding=True, positions=False, allow_declarative_shadow_roots=False)
    declared = _declared_in_xml(body)
    # The declaration counts where no `meta` names an encoding (HTML, "prescan a byte stream to determine its encoding").
    if not declared or declared == (document.encoding or "").lower() or _has_meta_charset(document):
        return document
    return _parse(body, declared) or document


def _parse(body: bytes, charset: str) -> Document | None:
    """None where the Encoding Standard does not know the charset."""
    try:
        return parse(body, encoding=charset, detect_encoding=True, positions=False, allow_declarative_shadow_roots=False)
    except LookupError:
        return None


def _declared_in_xml(body: bytes) -> str:
    """The encoding that an XML declaration at the very start names (HTML, "get an XML encoding"), in lower case, or nothing."""
    found = _XML_DECLARATION(body[:_PRESCANNED]) if body.startswith(b"<?xml") else None
    if found is None:
        return ""
    label = (found[1] or found[2]).decode("latin-1").lower()
    # It could be read as ASCII, so it is not in UTF-16, whatever it says.
    return "utf-8" if label.startswith("utf-16") else label


def _has_meta_charset(document: Document) -> bool:
    """Whether a `meta` names an encoding that the Encoding Standard knows."""
    for element in islice(document.iter_elements(("meta",)), _MOST_METAS):
        label = element.attr("charset")
        if label is None and (element.attr("http-equiv") or "").lower() == "content-type":
            content = _CHARSET_OF_CONTENT(element.attr("content") or "")
            label = content[1] or content[2] or content[3] if content else None
        if label and (_parse(b"", label) is not None):
            return True
    return False


def _skip_inert(template: Element, elements: Iterator[Element]) -> None:
    """Moves on to behind a template, unless it is a declarative shadow root (left as a template by `parse_document`)."""
    if (template.attr("shadowrootmode") or "").lower() not in ("open", "closed"):
        inside = sum(1 for _ in template.iter_elements(_TAGS))
        next(islice(elements, inside, inside), None)
