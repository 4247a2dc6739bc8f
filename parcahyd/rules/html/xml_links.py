"""The links of a document that is served as XML: XHTML, SVG, and XML with a style sheet or XLinks.

Browsers read `application/xhtml+xml` and other XML by the rules of XML, and where that makes a difference, so do we: names are
case-sensitive and have namespaces, `<script/>` and `<title/>` are closed, CDATA is text, and what HTML takes for raw text
(`noscript`, `iframe`, `textarea`, `xmp`) may hold elements. Of a document that is not well-formed, a browser shows what stands
before the error; we read it as HTML instead, because its author means all its links.

- elements of XHTML carry links as in HTML; `template` is inert; `base` counts, `xml:base` does not;
- `a`, `image` and `script` of SVG carry `href` or `xlink:href`;
- elsewhere `xlink:href` is a link, to a part of the document where `xlink:show` is `embed`;
- the processing instruction `xml-stylesheet` brings a style.

The encoding is that of the byte order mark, the header, the XML declaration, else UTF-8. Nothing is fetched. A document that
declares entities is read as HTML, so none can grow; XHTML's own entities are known by its public identifiers.
"""

from __future__ import annotations

import re
from html import unescape
from html.entities import name2codepoint
from xml.parsers import expat

import turbohtml.detect  # noqa: F401 - it registers the codecs `whatwg-...`
from turbohtml import parse

from parcahyd.rules.html.link_tags import CARRIERS, Sink
from parcahyd.rules.html.links import MAX_PARSED, PageLinks, collected, read_links

__all__ = ["read_xml_links", "xml_text"]

_XHTML, _SVG, _XLINK = "http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_TEMPLATE = f"{_XHTML} template"
_HTML_CARRIERS = CARRIERS.keys() - {"image"}  # which only HTML's parser takes for `img`
_SVG_CARRIERS = frozenset(("a", "image", "script"))

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_UNMARKED_UTF_16 = ((b"\0<\0?", "utf-16be"), (b"<\0?\0", "utf-16le"))
_DECLARATION = re.compile(rb"""<\?xml[\t\n\r ][^>]*?[\t\n\r ]encoding[\t\n\r ]*=[\t\n\r ]*["']([A-Za-z][A-Za-z0-9._-]*)["']""")
_LONGEST_DECLARATION = 1024
_UTF_8 = frozenset(("utf-8", "utf8"))
_PSEUDO_ATTRIBUTE = re.compile(r"""([A-Za-z]++)[\t\n\r ]*+=[\t\n\r ]*+(?:"([^"]*+)"|'([^']*+)')""")
_PUBLIC_XHTML = re.compile(r"-//(?:W3C|WAPFORUM)//DTD (?:XHTML|MathML)[ A-Za-z0-9.+]*+//EN").fullmatch
_XHTML_ENTITIES = "".join([f'<!ENTITY {name} "&#38;#{code};">' for name, code in name2codepoint.items()])


def read_xml_links(body: bytes, header_charset: str) -> PageLinks:
    """The links of a document that is served as XML; where it is not well-formed, those that reading it as HTML gives."""
    found = xml_text(body, header_charset)
    if found is not None:
        text, charset = found
        reader = _Reader("" if charset == "utf-8" else charset)
        if reader.read(text):
            return collected(reader.sink, charset)
    return read_links(body, header_charset)


def xml_text(body: bytes, header_charset: str) -> tuple[str, str] | None:
    """The document as text, and its encoding's name in lower case; None where it cannot be decoded."""
    body = body[:MAX_PARSED]
    charset = _charset(body, header_charset)
    if charset == "utf-8":
        return body.decode("utf-8", "replace").removeprefix("\ufeff"), charset
    try:
        return body.decode(f"whatwg-{charset}").removeprefix("\ufeff"), charset
    except (LookupError, ValueError):
        return None


def _charset(body: bytes, header_charset: str) -> str:
    marked = next((charset for mark, charset in _MARKS if body.startswith(mark)), "")
    if marked or (marked := _known_name(header_charset)):
        return marked
    declaration = _DECLARATION.match(body[:_LONGEST_DECLARATION])
    if declaration is None:
        return next((charset for start, charset in _UNMARKED_UTF_16 if body.startswith(start)), "utf-8")
    declared = _known_name(declaration[1].decode())
    # A declaration that could be read as ASCII is not in UTF-16, whatever it says.
    return declared if declared and not declared.startswith("utf-16") else "utf-8"


def _known_name(label: str) -> str:
    """The name of the encoding with this label in the Encoding Standard, or empty."""
    if not label:
        return ""
    if label.strip("\t\n\f\r ").lower() in _UTF_8:
        return "utf-8"
    try:
        return (parse(b"", encoding=label).encoding or "").lower()
    except (LookupError, ValueError):
        return ""


class _Refused(Exception):
    """The document declares entities."""


class _Element:
    """A start tag as `link_tags` reads it."""

    __slots__ = ("_attributes", "tag")

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self._attributes = attributes

    def attr(self, name: str) -> str | None:
        return self._attributes.get(name)


class _Reader:
    """Takes the links of one document into a sink, tag by tag; there is no tree."""

    def __init__(self, charset: str) -> None:
        self.sink = Sink(charset)
        self._templates = 0
        self._in_prolog = True
        self._trusts_entities = False
        self._parser = parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_UNLESS_STANDALONE)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.ProcessingInstructionHandler = self._instruct
        parser.EntityDeclHandler = self._declare
        parser.ExternalEntityRefHandler = self._refer

    def read(self, text: str) -> bool:
        """Whether the document is well-formed and was read to its end."""
        try:
            self._parser.Parse(text.encode("utf-8", "replace"), True)
        except (expat.ExpatError, _Refused):
            return False
        return True

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._in_prolog = False
        if name == _TEMPLATE:
            self._templates += 1
        if self._templates:
            return
        namespace, _, local = name.rpartition(" ")
        if namespace == _XHTML:
            if local in _HTML_CARRIERS:
                CARRIERS[local](self.sink, _Element(local, attributes))
            return
        xlink = attributes.get(f"{_XLINK} href")
        if namespace == _SVG:
            if local in _SVG_CARRIERS:
                self._of_svg(local, attributes.get("href", xlink), attributes)
        elif xlink is not None:
            is_part = attributes.get(f"{_XLINK} show") == "embed"
            self.sink.add("media" if is_part else "a", xlink, self.sink.embedded if is_part else self.sink.follow)

    def _of_svg(self, tag: str, href: str | None, attributes: dict[str, str]) -> None:
        if href is not None:
            CARRIERS[tag](self.sink, _Element(tag, attributes | {"src" if tag == "script" else "href": href}))

    def _end(self, name: str) -> None:
        if name == _TEMPLATE:
            self._templates -= 1

    def _instruct(self, target: str, data: str) -> None:
        if self._in_prolog and target == "xml-stylesheet":
            pseudo = {name: double or single for name, double, single in _PSEUDO_ATTRIBUTE.findall(data)}
            self.sink.add("style", unescape(pseudo["href"]) if "href" in pseudo else None, self.sink.embedded)

    def _declare(self, *_declaration: object) -> None:
        if not self._trusts_entities:
            raise _Refused

    def _refer(self, context: str | None, _base: str | None, _system: str | None, public: str | None) -> int:
        """In place of a DTD that is not fetched: of XHTML's, the entities; of others, nothing."""
        if public is not None and _PUBLIC_XHTML(public):
            self._trusts_entities = True
            self._parser.ExternalEntityParserCreate(context).Parse(_XHTML_ENTITIES, True)
            self._trusts_entities = False
        return 1
