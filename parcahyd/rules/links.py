"""The links of an HTML document, as a crawler without scripting sees them.

An ordinary document is scanned for the tags that carry links (`link_scanner`), nearly all of which stood on a page before and
are known as they are. A document that is odd in any way becomes a tree. The tree is the one that browsers build (turbohtml
follows the WHATWG's parsing algorithm), so tag soup, comments, scripts and raw text hold no surprises:

- comments, `script`, `style`, `title`, `textarea`, `xmp`, `noframes`, `noembed` and the inside of `iframe` are text: no links;
- scripting is off, so `noscript` is content and its links count;
- `template` is inert and its links do not count, except in a declarative shadow root, which is shown without scripting;
- `a` and `image` of embedded SVG count, with `href` or `xlink:href`;
- XHTML is read as HTML: where that differs (CDATA sections, a self-closed `<script/>`), as a browser reads it from text/html.

A reference is kept as it stands, but for what every URL parser drops anyway: spaces and control characters around it, tabs and
newlines in it, and its fragment. What is left empty points to the document itself and is dropped, unless a `base` makes it
point elsewhere.

Page authors are adversaries, so everything is bounded: the bytes that are parsed, the number of links and the length of each.
The time is linear in the bytes, and no input raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple, Protocol

from turbohtml import Document, Element, parse

from parcahyd.rules.link_scanner import REFERENCE, declares_utf8, scan

__all__ = ["MAX_HREF", "MAX_LINKS", "MAX_PARSED", "PageLinks", "read_links", "read_tags", "read_tree"]

MAX_PARSED = 8 * 1024 * 1024
"""Bytes of a document in which links are looked for; its tree may take some fifty times as many for a moment."""
MAX_LINKS = 100_000
"""Links of one document; those after are not seen."""
MAX_HREF = 65_536
"""Characters of a reference; a longer one is no link. It lies far above MaxUrlLength, which drops long URLs."""


class PageLinks(NamedTuple):
    """What a document says about other documents. References are raw, in document order, each once in its list."""

    charset: str
    """The encoding's name in the Encoding Standard, in lower case: by byte order mark, header, `meta`, else by content."""
    base: str
    """The first `base href`, raw, or empty. Where it cannot be joined to the document's URL, that URL is the base."""
    follow: list[str]
    """Other documents: `a`, `area`, `frame`, `iframe`, meta refresh, `link` as canonical, alternate, next or prev."""
    embedded: list[str]
    """Parts of this document: images, scripts, styles, media, icons, preloads. Without `data:` URLs, which need no request."""
    lines: list[str]
    """Every link, as `table` writes it."""

    def table(self) -> bytes:
        r"""Every link once: `kind TAB reference`, then `TAB rel=nofollow` where the author asks for that, each ended by LF.

        The kinds are those of TOL/1: a, area, link, img, media, script, style, frame, form, canonical, alternate, next.
        """
        return "".join([f"{line}\n" for line in self.lines]).encode("utf-8", "replace")


_SURROUNDING = "".join(map(chr, range(33)))
_INSIDE = {ord(character): None for character in "\t\n\r"}

_BLANK = r"[\t\n\f\r ]"
# A candidate's URL runs up to white space; a comma ends it only there (HTML, section "Parsing a srcset attribute").
_CANDIDATE = re.compile(r"([^\t\n\f\r ,][^\t\n\f\r ]*+)(?:(?<=,)|[^,]*+)")
# HTML, section "Refresh state": a time, a separator, then the URL, perhaps after `url=` and in quotes.
_REFRESH = re.compile(
    rf"{_BLANK}*+(?:[0-9]|(?=\.))[0-9.]*+(?={_BLANK}|[;,]){_BLANK}*+[;,]?{_BLANK}*+"
    rf"(?:url{_BLANK}*+={_BLANK}*+)?+(?:\"([^\"]*+)|'([^']*+)|(.+))",
    re.IGNORECASE | re.DOTALL,
)

_FOLLOWED_RELATIONS = {"canonical": "canonical", "alternate": "alternate", "next": "next", "prev": "link", "previous": "link"}
_EMBEDDED_RELATIONS = {
    "stylesheet": "style",
    "icon": "link",
    "apple-touch-icon": "link",
    "mask-icon": "link",
    "manifest": "link",
    "preload": "link",
    "modulepreload": "link",
}


class _Carrier(Protocol):
    """A start tag that can carry links, of a tree or of a scanned document."""

    @property
    def tag(self) -> str: ...

    def attr(self, name: str) -> str | None: ...


class _Sink:
    """Collects the links of one document."""

    __slots__ = ("base", "embedded", "follow", "form_is_open", "lines")

    def __init__(self) -> None:
        self.base: str | None = None
        self.form_is_open = False
        self.follow: dict[str, None] = {}
        self.embedded: dict[str, None] = {}
        self.lines: dict[str, None] = {}

    def add(self, kind: str, href: str | None, where: dict[str, None] | None, rel: str | None = None) -> None:
        if href is None or len(self.lines) >= MAX_LINKS:
            return
        href = _bare(href)
        if len(href) > MAX_HREF or (where is self.embedded and href[:5].lower() == "data:"):
            return
        if where is not None:
            where[href] = None
        if href:
            nofollow = rel is not None and "nofollow" in rel.lower().split()
            self.lines[f"{kind}\t{href}\trel=nofollow" if nofollow else f"{kind}\t{href}"] = None

    def take_rare(self, base: str | None, opens_form: bool) -> bool:
        """A base, of which the first counts, or a form; False for a form within a form."""
        if self.base is None:
            self.base = base
        if opens_form:
            if self.form_is_open:
                return False
            self.form_is_open = True
        return True


def _bare(href: str) -> str:
    if not href.isprintable() or href[:1] == " " or href[-1:] == " ":
        href = href.strip(_SURROUNDING).translate(_INSIDE)
    return href.partition("#")[0]


def _of_anchor(sink: _Sink, element: _Carrier) -> None:
    href = element.attr("href")
    if href is None:
        href = element.attr("xlink:href")
    sink.add(element.tag, href, sink.follow, element.attr("rel"))


def _of_frame(sink: _Sink, element: _Carrier) -> None:
    sink.add("frame", element.attr("src"), sink.follow)


def _of_base(sink: _Sink, element: _Carrier) -> None:
    if sink.base is None and (href := element.attr("href")) is not None:
        href = _bare(href)
        sink.base = href if len(href) <= MAX_HREF else ""


def _of_link(sink: _Sink, element: _Carrier) -> None:
    relations = (element.attr("rel") or "").lower().split()
    # "alternate stylesheet" is a style sheet, so what is embedded is looked for first.
    for known, where in ((_EMBEDDED_RELATIONS, sink.embedded), (_FOLLOWED_RELATIONS, sink.follow)):
        for relation in relations:
            if relation in known:
                sink.add(known[relation], element.attr("href"), where)
                return
    sink.add("link", element.attr("href"), None)


def _of_meta(sink: _Sink, element: _Carrier) -> None:
    if (element.attr("http-equiv") or "").lower() != "refresh":
        return
    refresh = _REFRESH.match((element.attr("content") or "")[:MAX_HREF])
    if refresh is not None:
        sink.add("link", refresh[refresh.lastindex or 0], sink.follow)


def _of_image(sink: _Sink, element: _Carrier) -> None:
    sink.add("img", element.attr("src"), sink.embedded)
    _of_srcset(sink, element)


def _of_srcset(sink: _Sink, element: _Carrier) -> None:
    srcset = element.attr("srcset")
    if srcset:
        for candidate in _CANDIDATE.finditer(srcset):
            sink.add("img", candidate[1].rstrip(","), sink.embedded)


def _of_svg_image(sink: _Sink, element: _Carrier) -> None:
    sink.add("img", element.attr("href") or element.attr("xlink:href"), sink.embedded)


def _of_source(sink: _Sink, element: _Carrier) -> None:
    sink.add("media", element.attr("src"), sink.embedded)
    _of_srcset(sink, element)


def _of_media(sink: _Sink, element: _Carrier) -> None:
    sink.add("media", element.attr("src"), sink.embedded)
    sink.add("img", element.attr("poster"), sink.embedded)


def _of_embed(sink: _Sink, element: _Carrier) -> None:
    sink.add("media", element.attr("src"), sink.embedded)


def _of_object(sink: _Sink, element: _Carrier) -> None:
    sink.add("media", element.attr("data"), sink.embedded)


def _of_script(sink: _Sink, element: _Carrier) -> None:
    sink.add("script", element.attr("src"), sink.embedded)


def _of_input(sink: _Sink, element: _Carrier) -> None:
    if (element.attr("type") or "").lower() == "image":
        sink.add("img", element.attr("src"), sink.embedded)


def _of_form(sink: _Sink, element: _Carrier) -> None:
    sink.add("form", element.attr("action"), None)


_READERS: dict[str, Callable[[_Sink, _Carrier], None]] = {
    "a": _of_anchor,
    "area": _of_anchor,
    "audio": _of_media,
    "base": _of_base,
    "embed": _of_embed,
    "form": _of_form,
    "frame": _of_frame,
    "iframe": _of_frame,
    "image": _of_svg_image,
    "img": _of_image,
    "input": _of_input,
    "link": _of_link,
    "meta": _of_meta,
    "object": _of_object,
    "script": _of_script,
    "source": _of_source,
    "track": _of_embed,
    "video": _of_media,
}
_TAGS = (*_READERS, "template")


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


def read_tree(body: bytes, header_charset: str) -> PageLinks:
    """The links of a document by way of its tree, which is right for every document."""
    document = _parse(body[:MAX_PARSED], header_charset)
    sink = _Sink()
    lines = sink.lines
    elements = document.iter_elements(_TAGS)
    for element in elements:
        if len(lines) >= MAX_LINKS:
            break
        if element.tag == "template":
            _skip_inert(element, elements)
        else:
            _READERS[element.tag](sink, element)
    return _page_links((document.encoding or "").lower(), sink)


def _page_links(charset: str, sink: _Sink) -> PageLinks:
    if not sink.base:
        sink.follow.pop("", None)
    sink.embedded.pop("", None)
    return PageLinks(charset, sink.base or "", list(sink.follow), list(sink.embedded), list(sink.lines))


# --- scanned documents --------------------------------------------------------------------------------------------------


class _Tag:
    """A scanned start tag whose attributes stand as they are meant."""

    __slots__ = ("_attributes", "tag")

    def __init__(self, tag: str, text: str) -> None:
        self.tag = tag
        self._attributes: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(text, len(tag)):
            self._attributes.setdefault(name.lower(), double or single or bare)

    def attr(self, name: str) -> str | None:
        return self._attributes.get(name)


_TAG_NAME_ENDS = re.compile(r"[\t\n\f\r /]|$")
_ATTRIBUTE = re.compile(r"""([^\t\n\f\r />"'=<]+)(?:[\t\n\f\r ]*=(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r "'>=<`]+)))?""")


def _carrier(raw: bytes) -> _Carrier:
    """A scanned tag; where character references stand in it, the parser reads them."""
    text = raw.decode("utf-8", "replace")
    tag = _TAG_NAME_ENDS.split(text, maxsplit=1)[0].lower()
    if "&" not in text:
        return _Tag(tag, text)
    return next(parse(f"<{text}>").iter_elements((tag,)))


_Found = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str | None, bool] | None]
"""What a tag brings: what to follow, what is embedded, its lines; for few, its base and whether it opens a form."""

_SLASH = ord("/")
_KNOWN_TAGS = 20_000
_LONGEST_KNOWN = 600
_known: dict[bytes, _Found] = {}


def _found_in(raw: bytes) -> _Found:
    """Read one scanned tag, and remember it: the next page most likely has it too."""
    sink = _Sink()
    opens_form = False
    if raw[0] == REFERENCE:
        sink.add("a", raw[1:].decode("utf-8", "replace"), sink.follow)
    else:
        tag = _carrier(raw)
        _READERS[tag.tag](sink, tag)
        opens_form = tag.tag == "form"
    rare = (sink.base, opens_form) if opens_form or sink.base is not None else None
    found = (tuple(sink.follow), tuple(sink.embedded), tuple(sink.lines), rare)
    if len(raw) <= _LONGEST_KNOWN:
        if len(_known) >= _KNOWN_TAGS:
            _known.clear()
        _known[raw] = found
    return found


def read_tags(tags: list[bytes]) -> PageLinks | None:
    """The links of a scanned document; None for a form within a form, which only a tree can tell."""
    sink = _Sink()
    follow, embedded, lines = sink.follow, sink.embedded, sink.lines
    known = _known
    for raw in tags:
        found = known.get(raw)
        if found is None:
            if not raw or raw[0] == _SLASH:  # What stands around the tags, and the end of a form.
                sink.form_is_open = sink.form_is_open and not raw
                continue
            found = _found_in(raw)
        for href in found[0]:
            follow[href] = None
        for line in found[2]:
            lines[line] = None
        if found[1]:
            embedded.update(dict.fromkeys(found[1]))
        if found[3] is not None and not sink.take_rare(*found[3]):
            return None
        if len(lines) >= MAX_LINKS:
            break
    return _page_links("utf-8", sink)


# --- trees --------------------------------------------------------------------------------------------------------------


def _parse(body: bytes, header_charset: str) -> Document:
    if header_charset:
        try:
            return parse(
                body, encoding=header_charset, detect_encoding=True, positions=False, allow_declarative_shadow_roots=False
            )
        except LookupError:
            pass
    return parse(body, detect_encoding=True, positions=False, allow_declarative_shadow_roots=False)


def _skip_inert(template: Element, elements: Iterator[Element]) -> None:
    """Moves on to behind a template, unless it is a declarative shadow root (left as a template by `_parse`)."""
    if (template.attr("shadowrootmode") or "").lower() not in ("open", "closed"):
        inside = sum(1 for _ in template.iter_elements(_TAGS))
        next(islice(elements, inside, inside), None)
