"""The summary of an XML document of any kind: feeds, drawings, catalogues.

The title is the first element of that name. Links are those of feeds and XLink: the text of `link`, `loc` and `comments`, and
the attributes `href`, `src` and `url`.

Tested in tests/formats/test_format_plugins.py.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from xml.parsers import expat

from parcahyd.core.documents import MAX_HEADINGS, MAX_LINKS, MAX_TEXT, Summary
from parcahyd.formats.summaries import joined, summary
from parcahyd.rules.html.encodings import decode

__all__ = [
    "Handler",
    "XmlSummarizer",
    "read_xml",
]


# --- Reads XML as a stream of elements and text with expat, within bounds -----------------------------------------------
# Entities that a document declares are not resolved: content ends at such a declaration, so entities cannot expand. Nothing
# outside of the document is loaded. What was read before an error is kept.


_PARSED = 4 * 1024 * 1024
_ELEMENTS = 200_000
_DECLARED = re.compile(rb"[^<]{0,8}<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})").match

Handler = Callable[[str, dict[str, str]], None]


class _Enough(Exception):
    """Raised from within a handler to stop expat."""


def read_xml(
    body: bytes, charset: str, start: Handler, text: Callable[[str], None], end: Callable[[str], None] = lambda _name: None
) -> None:
    """Calls `start(name, attributes)`, `text(data)` and `end(name)` in the order of the document.

    Names are local names, without prefix; so are those of attributes, but `xml:lang`.
    """
    declared = _DECLARED(body[:400])
    source = decode(body[:_PARSED], charset or (declared[1].decode("ascii") if declared is not None else "utf-8"))
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    left = _ELEMENTS

    def on_start(name: str, attributes: dict[str, str]) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Enough
        start(_local(name), {key if key == "xml:lang" else _local(key): value for key, value in attributes.items()})

    def refuse(*_entity: object) -> None:
        raise _Enough

    parser.StartElementHandler = on_start
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = refuse
    with contextlib.suppress(_Enough, expat.ExpatError, ValueError):
        parser.Parse(source, True)


def _local(name: str) -> str:
    return name.rpartition(":")[2]


_LINKING = ("href", "src", "url")
_LINKED = frozenset(("link", "loc", "comments"))
_NOT_SHOWN = _LINKED | {"style", "script", "guid", "language", "pubDate", "lastBuildDate", "updated", "id"}


class XmlSummarizer:
    """XML that is not XHTML."""

    media_types = frozenset(("text/xml", "application/xml", "+xml"))

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        content = _XmlContent()
        read_xml(body, charset, content.start, content.text, content.end)
        if not content.elements:
            return None
        title, *headings = content.titles or [""]
        text = "".join(content.parts)
        return summary(text, title, content.language, links=joined(content.links, url), headings=headings)


class _XmlContent:
    def __init__(self) -> None:
        self.elements = 0
        self.titles: list[str] = []
        self.language = ""
        self.links: list[str] = []
        self.parts: list[str] = []
        self._size = 0
        self._inside = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        self._inside = name
        self.language = self.language or attributes.get("xml:lang", "")
        if name == "title" and len(self.titles) <= MAX_HEADINGS:
            self.titles.append("")
        self._break()
        if len(self.links) < MAX_LINKS:
            self.links.extend(attributes[key] for key in _LINKING if key in attributes)

    def text(self, data: str) -> None:
        if self._inside == "title" and self.titles:
            self.titles[-1] = (self.titles[-1] + data)[:1000]
        elif self._inside == "language":
            self.language = self.language or data[:100]
        elif self._inside in _LINKED and len(self.links) < MAX_LINKS:
            self.links.append(data.strip()[:4000])
        if self._inside not in _NOT_SHOWN and self._size < 2 * MAX_TEXT:
            self.parts.append(data)
            self._size += len(data)

    def end(self, _name: str) -> None:
        self._inside = ""
        self._break()

    def _break(self) -> None:
        if self.parts and self.parts[-1] != "\n":
            self.parts.append("\n")
