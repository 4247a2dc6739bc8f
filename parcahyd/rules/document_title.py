"""A document's title as a browser's `document.title`: the text of the first `title` element, without superfluous white space.

It reads the whole document, and is for comparing and for tools, not for every page of a crawl.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from parcahyd.rules.links import parse_document
from parcahyd.rules.xml_links import xml_text

__all__ = ["document_title", "xml_title"]

_BLANKS = re.compile(r"[\t\n\f\r ]++")
_TITLE = "http://www.w3.org/1999/xhtml title"


def document_title(body: bytes, header_charset: str) -> str:
    """The title of an HTML document, or empty."""
    from turbohtml import DocumentFragment, Namespace

    for title in parse_document(body, header_charset).iter_elements(("title",)):
        # The titles of drawings are theirs, and what stands in a template is not in the document.
        if title.namespace is Namespace.HTML and not any(isinstance(above, DocumentFragment) for above in title.ancestors):
            return _collapsed(title.text)
    return ""


def xml_title(body: bytes, header_charset: str) -> str:
    """The title of XHTML that is served as XML; of what is not well-formed, as `document_title` gives it."""
    found = xml_text(body, header_charset)
    title = _TitleReader().read(found[0]) if found is not None else None
    return document_title(body, header_charset) if title is None else title


def _collapsed(text: str) -> str:
    return _BLANKS.sub(" ", text).strip(" ")


class _TitleReader:
    """Collects the text that stands directly in the first title."""

    def __init__(self) -> None:
        self._pieces: list[str] | None = None
        self._open = 0
        """Elements that are open from the title on."""

    def read(self, text: str) -> str | None:
        """The title, or None where the document is not well-formed."""
        parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add
        parser.EntityDeclHandler = _refuse
        try:
            parser.Parse(text.encode("utf-8", "replace"), True)
        except (expat.ExpatError, _Refused):
            return None
        return _collapsed("".join(self._pieces or ()))

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        if self._open:
            self._open += 1
        elif name == _TITLE and self._pieces is None:
            self._open, self._pieces = 1, []

    def _end(self, _name: str) -> None:
        self._open -= self._open > 0

    def _add(self, text: str) -> None:
        if self._open == 1 and self._pieces is not None:
            self._pieces.append(text)


class _Refused(Exception):
    """The document declares entities."""


def _refuse(*_declaration: object) -> None:
    raise _Refused
