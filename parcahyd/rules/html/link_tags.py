"""What one start tag says about other documents: which references it holds, and what each is for.

A tag comes from a tree or from the tag reader; both have a name and attributes. Pages may be hostile, so the number of
references and the length of each are bounded.

Tested in tests/rules/html/test_known_tags.py and tests/rules/html/test_links.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from parcahyd.rules.html.encodings import query_encoded
from parcahyd.rules.robots.directives import MAX_LENGTH, MAX_RULES, speaks_to_robots

__all__ = [
    "CARRIERS",
    "EMBEDDED_RELATIONS",
    "FOLLOWED_RELATIONS",
    "MAX_HREF",
    "MAX_LINKS",
    "MAX_TABLES",
    "TABLE_RELATIONS",
    "Carrier",
    "Sink",
]

MAX_LINKS = 100_000
"""Links of one document; later ones are ignored."""
MAX_HREF = 65_536
"""Characters of a reference; a longer one is no link. It lies far above MaxUrlLength, which drops long URLs."""

MAX_TABLES = 8
"""Links of one document to tables; later ones are ignored."""
_MAX_TABLE_HREF = 2_048

_SURROUNDING = "".join(map(chr, range(33)))
_INSIDE = {ord(character): None for character in "\t\n\r"}

_BLANK = r"[\t\n\f\r ]"
# A candidate's URL runs up to white space; a comma ends it only there, and the descriptors behind it only outside of
# parentheses (HTML, section "Parsing a srcset attribute").
_CANDIDATE = re.compile(r"([^\t\n\f\r ,][^\t\n\f\r ]*+)(?:(?<=,)|(?:[^,(]++|\([^)]*+\)?+)*+)")
# HTML, section "Refresh state": a time, a separator, then the URL, perhaps after `url=` and in quotes.
_REFRESH = re.compile(
    rf"(?is){_BLANK}*+(?:[0-9]|(?=\.))[0-9.]*+(?={_BLANK}|[;,]){_BLANK}*+[;,]?{_BLANK}*+"
    rf"(?:url{_BLANK}*+={_BLANK}*+)?+(?:\"([^\"]*+)|'([^']*+)|(.+))"
)

FOLLOWED_RELATIONS = {"canonical": "canonical", "alternate": "alternate", "next": "next", "prev": "link", "previous": "link"}
EMBEDDED_RELATIONS = {
    "stylesheet": "style",
    "icon": "link",
    "apple-touch-icon": "link",
    "apple-touch-icon-precomposed": "link",
    "fluid-icon": "link",
    "mask-icon": "link",
    "manifest": "link",
    "preload": "link",
    "modulepreload": "link",
}
TABLE_RELATIONS = frozenset(("tol", "tvi", "augment"))


class Carrier(Protocol):
    """A start tag that can carry links, from a tree or from the tag reader."""

    @property
    def tag(self) -> str: ...

    def attr(self, name: str) -> str | None: ...


class Sink:
    """Collects links: of one tag, or of all the tags of a document. References are raw, in order, each once.

    In a document that is not in UTF-8, `charset` is its encoding: the query of a reference is then given as it means there.
    """

    __slots__ = ("base", "charset", "embedded", "follow", "lines", "robots", "tables")

    def __init__(self, charset: str = "") -> None:
        self.charset = charset
        self.base: str | None = None
        self.follow: dict[str, None] = {}
        self.embedded: dict[str, None] = {}
        self.lines: dict[str, None] = {}
        self.robots: list[tuple[str, str]] = []
        """Name and content of each meta that may hold rules for robots."""
        self.tables: list[tuple[str, str]] = []
        """Relation and reference of each `link` that leads to tables: tol, tvi or augment."""

    def add(self, kind: str, href: str | None, where: dict[str, None] | None, rel: str | None = None) -> None:
        if href is None or len(self.lines) >= MAX_LINKS:
            return
        href = _bare(href)
        if len(href) > MAX_HREF or (where is self.embedded and href[:5].lower() == "data:"):
            return
        if self.charset:
            href = query_encoded(href, self.charset)
        nofollow = rel is not None and "nofollow" in rel.lower().split()
        if where is not None and not nofollow:
            where[href] = None
        if href:
            self.lines[f"{kind}\t{href}\trel=nofollow" if nofollow else f"{kind}\t{href}"] = None


def _bare(href: str) -> str:
    if not href.isprintable() or href[:1] == " " or href[-1:] == " ":
        href = href.strip(_SURROUNDING).translate(_INSIDE)
    return href.partition("#")[0]


def _of_anchor(sink: Sink, element: Carrier) -> None:
    href = element.attr("href")
    if href is None:
        href = element.attr("xlink:href")
    sink.add(element.tag, href, sink.follow, element.attr("rel"))


def _of_frame(sink: Sink, element: Carrier) -> None:
    sink.add("frame", element.attr("src"), sink.follow)


def _of_base(sink: Sink, element: Carrier) -> None:
    if sink.base is None and (href := element.attr("href")) is not None:
        href = _bare(href)
        sink.base = href if len(href) <= MAX_HREF else ""


def _of_link(sink: Sink, element: Carrier) -> None:
    relations = (element.attr("rel") or "").lower().split()
    href = element.attr("href")
    # Of several words the one that says most decides: "alternate stylesheet" is a style sheet, "alternate icon" another form of
    # the icon, and "alternate tvi" a table. Only what is none of these is another form of the page.
    tables = [] if TABLE_RELATIONS.isdisjoint(relations) else relations
    followed = {} if tables else FOLLOWED_RELATIONS
    for known, where in ((EMBEDDED_RELATIONS, sink.embedded), (followed, sink.follow)):
        for relation in relations:
            if relation in known:
                sink.add(known[relation], href, where)
                return
    sink.add("link", href, None)
    if href and tables and len(href) <= _MAX_TABLE_HREF:
        found = [(relation, _bare(href)) for relation in dict.fromkeys(relations) if relation in TABLE_RELATIONS]
        sink.tables += found[: MAX_TABLES - len(sink.tables)]


def _of_meta(sink: Sink, element: Carrier) -> None:
    content = element.attr("content") or ""
    name = element.attr("name")
    if name and len(sink.robots) < MAX_RULES and speaks_to_robots(content):
        sink.robots.append((name[:MAX_LENGTH], content[:MAX_LENGTH]))
    if (element.attr("http-equiv") or "").lower() != "refresh":
        return
    refresh = _REFRESH.match(content[:MAX_HREF])
    if refresh is not None:
        sink.add("link", refresh[refresh.lastindex or 0], sink.follow)


def _of_image(sink: Sink, element: Carrier) -> None:
    sink.add("img", element.attr("src"), sink.embedded)
    _of_srcset(sink, element)


def _of_srcset(sink: Sink, element: Carrier) -> None:
    srcset = element.attr("srcset")
    if srcset:
        for candidate in _CANDIDATE.finditer(srcset):
            sink.add("img", candidate[1].rstrip(","), sink.embedded)


def _of_svg_image(sink: Sink, element: Carrier) -> None:
    sink.add("img", element.attr("href") or element.attr("xlink:href"), sink.embedded)


def _of_source(sink: Sink, element: Carrier) -> None:
    sink.add("media", element.attr("src"), sink.embedded)
    _of_srcset(sink, element)


def _of_media(sink: Sink, element: Carrier) -> None:
    sink.add("media", element.attr("src"), sink.embedded)
    sink.add("img", element.attr("poster"), sink.embedded)


def _of_embed(sink: Sink, element: Carrier) -> None:
    sink.add("media", element.attr("src"), sink.embedded)


def _of_object(sink: Sink, element: Carrier) -> None:
    sink.add("media", element.attr("data"), sink.embedded)


def _of_script(sink: Sink, element: Carrier) -> None:
    sink.add("script", element.attr("src"), sink.embedded)


def _of_input(sink: Sink, element: Carrier) -> None:
    if (element.attr("type") or "").lower() == "image":
        sink.add("img", element.attr("src"), sink.embedded)


def _of_form(sink: Sink, element: Carrier) -> None:
    sink.add("form", element.attr("action"), None)


CARRIERS: dict[str, Callable[[Sink, Carrier], None]] = {
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
"""By tag name: the function that reads such a tag into a sink."""
