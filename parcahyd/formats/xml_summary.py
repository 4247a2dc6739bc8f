"""The summary of an XML document of any kind: feeds, drawings, catalogues.

The title is the first element of that name. Links are what feeds and XLink make them: the text of `link`, `loc` and `guid`, and
the attributes `href`, `src` and `url`.
"""

from __future__ import annotations

from parcahyd.core.documents import MAX_HEADINGS, MAX_LINKS, MAX_TEXT, Summary
from parcahyd.formats.summaries import joined, summary
from parcahyd.formats.xml_reading import read_xml

__all__ = ["XmlSummarizer"]

_LINKING = ("href", "src", "url")
_LINKED = frozenset(("link", "loc", "comments"))
_NOT_SHOWN = _LINKED | {"style", "script", "guid", "language", "pubDate", "lastBuildDate", "updated", "id"}


class XmlSummarizer:
    """XML that is not XHTML."""

    media_types = frozenset(("text/xml", "application/xml", "+xml"))

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        reading = _Reading()
        read_xml(body, charset, reading.start, reading.text, reading.end)
        if not reading.elements:
            return None
        title, *headings = reading.titles or [""]
        text = "".join(reading.parts)
        return summary(text, title, reading.language, links=joined(reading.links, url), headings=headings)


class _Reading:
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
