"""`Link` headers (RFC 8288): links that stand beside a document, of the same kinds as those of its `link` elements.

Their references are relative to the document's URL; a `base` in the document does not apply to them (section 3.1). A link
without `rel` means nothing, and one with an `anchor` outside of the document is about another document: both are dropped
(sections 3.2 and 3.3). What is not understood ends with the next comma; everything is bounded, and nothing raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from parcahyd.rules.html.link_tags import CARRIERS, Sink
from parcahyd.rules.html.links import PageLinks, collected
from parcahyd.rules.urls.canonical_url import Joiner

__all__ = ["MAX_HEADERS", "MAX_HEADER_LENGTH", "add_header_links", "read_link_headers"]

MAX_HEADERS = 100
"""Headers that are read."""
MAX_HEADER_LENGTH = 65_536
"""Characters of each that are read."""

_TARGET = re.compile(r"[\t ,]*+<([^>]*+)>").match
_PARAMETER = re.compile(
    r"""[\t ]*+;[\t ]*+([^\t ;,="]*+)[\t ]*+(?:=[\t ]*+(?:"((?:[^"\\]|\\.)*+)"?|([^;,]*+)))?+""", re.DOTALL
).match
_UP_TO_COMMA = re.compile("[^,]*+").match
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class _LinkElement:
    """A link of a header in the shape of a `link` element."""

    __slots__ = ("_attributes",)
    tag = "link"

    def __init__(self, attributes: dict[str, str]) -> None:
        self._attributes = attributes

    def attr(self, name: str) -> str | None:
        return self._attributes.get(name)


def read_link_headers(values: Sequence[str], url: str = "") -> PageLinks:
    """What the headers lead to, as links of a document without a base; absolute where the document's `url` is given."""
    sink = Sink()
    join = Joiner(url).join if url else None
    for value in values[:MAX_HEADERS]:
        for attributes in _links(value[:MAX_HEADER_LENGTH]):
            if "rel" in attributes and attributes.get("anchor", "")[:1] in ("", "#"):
                if join is not None:
                    attributes["href"] = join(attributes["href"]) or attributes["href"]
                CARRIERS["link"](sink, _LinkElement(attributes))
    return collected(sink, "")


def add_header_links(links: PageLinks, values: Sequence[str], url: str) -> None:
    """Puts the links of the headers behind those that the document itself holds. `url` is the document's, canonical."""
    beside = read_link_headers(values, url if links.base else "")
    links.found = {**{key: links.found[key] for key in links.keys}, **beside.found}
    links.keys = links.found
    links.tables += beside.tables
    known = set(links.table.splitlines(keepends=True))
    links.table += b"".join([line for line in beside.table.splitlines(keepends=True) if line not in known])


def _links(header: str) -> Iterator[dict[str, str]]:
    """The parameters of each link by lower-case name, the first of each name; its target is `href`."""
    place = 0
    while target := _TARGET(header, place):
        place = target.end()
        attributes: dict[str, str] = {}
        while parameter := _PARAMETER(header, place):
            place = parameter.end()
            name, quoted, plain = parameter.groups()
            value = (plain or "").rstrip("\t ") if quoted is None else _ESCAPE.sub(r"\1", quoted)
            attributes.setdefault(name.lower(), value)
        attributes["href"] = target[1]
        yield attributes
        rest = _UP_TO_COMMA(header, place)
        place = rest.end() if rest else place
