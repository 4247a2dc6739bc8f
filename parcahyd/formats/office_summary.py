"""The summary of an office document or a book: a ZIP archive with XML in it (OOXML, OpenDocument, EPUB).

Only the parts that are needed are unpacked, each within bounds.

Tested in tests/formats/test_format_plugins.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from parcahyd.core.documents import MAX_HEADINGS, MAX_LINKS, MAX_TEXT, Summary
from parcahyd.formats.summaries import first_line, joined, summary
from parcahyd.formats.unpacking import zip_parts
from parcahyd.formats.xml_summary import read_xml

__all__ = ["OfficeSummarizer"]

_OOXML = "application/vnd.openxmlformats-officedocument."
_PARTS_BYTES = 16 * 1024 * 1024
_PARTS = 300
_ENTRIES = 5000

_PROPERTIES = r"docProps/core\.xml|meta\.xml|[^/]+\.opf|[^/]+/[^/]+\.opf"
_CONTENT = (
    r"word/document\.xml|xl/sharedStrings\.xml|ppt/slides/slide\d+\.xml|content\.xml"
    r"|(?!META-INF/)[^\x00]{1,200}\.x?html?"
)
_RELATIONS = r"(?:word|ppt/slides|xl/worksheets)/_rels/[\w.]+\.rels"
_is_property = re.compile(_PROPERTIES).fullmatch
_is_content = re.compile(_CONTENT).fullmatch
_is_wanted = re.compile(f"{_PROPERTIES}|{_CONTENT}|{_RELATIONS}").fullmatch
_NUMBERS = re.compile(r"\d{1,9}")

_LINE_ENDS = frozenset(("p", "h", "si", "br", "tr", "h1", "h2", "h3", "h4", "li", "div", "title"))
_NOT_SHOWN = frozenset(("style", "script", "instrText", "delText", "head"))
_HEADING = frozenset(("h", "h1", "h2", "h3"))


class OfficeSummarizer:
    """Texts, tables and presentations of the current formats, and books. The older binary formats are not read."""

    media_types = frozenset(
        (
            f"{_OOXML}wordprocessingml.document",
            f"{_OOXML}spreadsheetml.sheet",
            f"{_OOXML}presentationml.presentation",
            "application/vnd.oasis.opendocument.text",
            "application/vnd.oasis.opendocument.spreadsheet",
            "application/vnd.oasis.opendocument.presentation",
            "application/epub+zip",
        )
    )

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        parts = zip_parts(body, lambda name: _is_wanted(name) is not None, _PARTS, _PARTS_BYTES, _ENTRIES)
        if not parts:
            return None
        properties, content, links = _Properties(), _Content(), _Relations()
        for name in sorted(parts, key=_in_order):
            if _is_property(name):
                read_xml(parts[name], "", properties.start, properties.text, properties.end)
            elif _is_content(name):
                content.begin()
                read_xml(parts[name], "", content.start, content.text, content.end)
            else:
                read_xml(parts[name], "", links.start, lambda _data: None)
        found = properties.found
        text = "".join(content.parts)
        return summary(
            text,
            found.get("title", "").strip() or first_line(text),
            found.get("language", ""),
            keywords=found.get("keywords") or found.get("keyword") or found.get("subject", ""),
            links=joined(_outside([*content.links, *links.links]), url),
            headings=content.headings,
        )


def _in_order(name: str) -> list[tuple[int, str]]:
    """A sort key: slide 10 comes after slide 9."""
    return [(int(number), "") for number in _NUMBERS.findall(name)] or [(0, name)]


def _outside(hrefs: Iterable[str]) -> list[str]:
    """The absolute references; relative ones refer to parts of the container."""
    return [href for href in hrefs if ":" in href[:12]]


class _Properties:
    """The elements of Dublin Core and their like, by local name; the first of each counts."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._name = ""

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        self._name = name if len(self.found) < 100 and name not in self.found else ""

    def text(self, data: str) -> None:
        if self._name:
            self.found[self._name] = (self.found.get(self._name, "") + data)[:5000]

    def end(self, _name: str) -> None:
        self._name = ""


class _Content:
    """Text in the order of the document; the end of a paragraph is the end of a line."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.links: list[str] = []
        self.headings: list[str] = []
        self._size = 0
        self._hidden = 0
        self._heading = False

    def begin(self) -> None:
        """Begins a part; the one before may have been cut."""
        self._hidden = 0
        self._heading = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _NOT_SHOWN:
            self._hidden += 1
        elif name in _HEADING and len(self.headings) < MAX_HEADINGS:
            self._heading = True
            self.headings.append("")
        elif name in ("tab", "s"):
            self.text(" ")
        elif name == "a" and "href" in attributes and len(self.links) < MAX_LINKS:
            self.links.append(attributes["href"])

    def text(self, data: str) -> None:
        if self._hidden or self._size > 2 * MAX_TEXT:
            return
        self._size += len(data)
        self.parts.append(data)
        if self._heading:
            self.headings[-1] = (self.headings[-1] + data)[:1000]

    def end(self, name: str) -> None:
        if name in _NOT_SHOWN:
            self._hidden -= 1
        elif name in _LINE_ENDS:
            self._heading = False
            self.text("\n")


class _Relations:
    """The hyperlinks of an OOXML part (ECMA-376 part 2, section 9.3)."""

    def __init__(self) -> None:
        self.links: list[str] = []

    def start(self, _name: str, attributes: dict[str, str]) -> None:
        if attributes.get("TargetMode") == "External" and attributes.get("Type", "").endswith("/hyperlink"):
            self.links.append(attributes.get("Target", ""))
