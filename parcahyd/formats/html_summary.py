"""The summary of an HTML document, from the tree that browsers build (turbohtml).

Its text is what a reader without scripting sees, judged by elements alone: blocks end lines, inline elements do not, and
scripts, styles, templates and the like are left out.

Tested in tests/formats/test_format_plugins.py.
"""

from __future__ import annotations

from turbohtml import Document, Element, Text, parse

from parcahyd.core.documents import MAX_HEADINGS, MAX_TEXT, MAX_TITLE, Summary
from parcahyd.formats.summaries import joined, summary
from parcahyd.rules.html.links import read_links
from parcahyd.rules.html.title_and_language import language_tag

__all__ = ["HtmlSummarizer"]

_PARSED = 2 * 1024 * 1024
_NODES = 200_000
_META = 200
_LEFT_OUT = (
    *("audio", "canvas", "iframe", "math", "noembed", "noframes", "object", "script", "select", "style", "svg", "template"),
    *("textarea", "title", "video"),
)
_INLINE = frozenset(
    (
        *(
            "a",
            "abbr",
            "acronym",
            "b",
            "bdi",
            "bdo",
            "big",
            "cite",
            "code",
            "data",
            "del",
            "dfn",
            "em",
            "font",
            "i",
            "ins",
            "kbd",
        ),
        *("label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup"),
        *("time", "tt", "u", "var", "wbr"),
    )
)
_HEADINGS = ("h1", "h2", "h3")


class HtmlSummarizer:
    """HTML and XHTML."""

    media_types = frozenset(("text/html", "application/xhtml+xml"))

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        body = body[:_PARSED]
        document = _parse(body, charset)
        meta = _meta(document)
        title = _title(document)
        language = _language(document) or meta.get("content-language", "").partition(",")[0]
        links = read_links(body, charset)
        base = next(iter(joined([links.base], url)), url) if links.base else url
        for element in list(document.iter_elements(_LEFT_OUT)):
            element.decompose()
        # Headings can be nested, and each may then contain the whole document, so their text is cut.
        found = zip(document.iter_elements(_HEADINGS), range(MAX_HEADINGS), strict=False)
        headings = [element.text[: 10 * MAX_TITLE] for element, _ in found]
        text = _visible(document)
        return summary(
            text, title, language, keywords=meta.get("keywords", ""), links=joined(links.follow, base), headings=headings
        )


def _parse(body: bytes, charset: str) -> Document:
    if charset:
        try:
            return parse(body, encoding=charset, positions=False)
        except LookupError:  # a label that the Encoding Standard does not know
            pass
    return parse(body, detect_encoding=True, positions=False)


def _title(document: Document) -> str:
    """The first title that is not within an SVG."""
    for element, _ in zip(document.iter_elements(("title",)), range(20), strict=False):
        if element.parent is None or element.closest("svg") is None:
            return element.text
    return ""


def _language(document: Document) -> str:
    for element in document.iter_elements(("html",)):
        return language_tag((element.attr("lang") or element.attr("xml:lang") or "")[:100])
    return ""


def _meta(document: Document) -> dict[str, str]:
    """The contents of `meta` elements by lower-case name; the first of each name counts."""
    found: dict[str, str] = {}
    for element, _ in zip(document.iter_elements(("meta",)), range(_META), strict=False):
        name = (element.attr("name") or element.attr("http-equiv") or "").strip().lower()
        found.setdefault(name, element.attr("content") or "")
    return found


def _visible(document: Document) -> str:
    parts: list[str] = []
    size = 0
    for node, _ in zip(document.descendants, range(_NODES), strict=False):
        if isinstance(node, Text):
            parts.append(node.data)
            size += len(node.data)
            if size > 2 * MAX_TEXT:
                break
        elif isinstance(node, Element) and node.tag not in _INLINE:
            parts.append("\n")
    return "".join(parts)
