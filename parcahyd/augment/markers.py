"""Where the volatile regions of a document begin and end, by the markers that its author set.

HTML: an element with `data-vol="ID"`, or `<span class="volatile" id="ID">`. XML: elements `Vol1`, `Vol2`, ... Both:
`<!--vol ID-->` ... `<!--/vol ID-->`. Tokens are those of the WHATWG's tokenizer: text in comments, CDATA sections,
attribute values and raw text (`script`, `style`, `title`, `textarea`, ...) is no marker. No tree is built; the end of a marked
element is found by counting start and end tags of its name, so malformed tags around a region cannot move it.

A region within a region is content of the outer one. It is still tracked, so that crossing regions are reported.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pcre2

from parcahyd.augment.marker_tokens import TokenReader
from parcahyd.augment.tvi import REGION_ID

__all__ = ["MAX_MARKER_ERRORS", "Marked", "MarkerError", "Span", "find_regions", "has_markers", "may_have_markers"]

MAX_MARKER_ERRORS = 100
"""Errors of one document that are reported; further errors are dropped."""

_MOST_LOOKALIKES = 200
_IS_ID = re.compile(REGION_ID)
_VOID = frozenset(b"area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split())
_NOT_ASCII_COMPATIBLE = (
    "utf-16",
    "utf16",
    "utf-32",
    "utf32",
    "utf-7",
    "utf7",
    "ucs",
    "iso-2022",
    "iso2022",
    "hz",
    "ibm",
    "cp037",
)
_BYTE_ORDER_MARKS = (b"\xfe\xff", b"\xff\xfe")


class Span(NamedTuple):
    """A region in its document: the bytes from `start` to before `end`, between its markers."""

    id: str
    start: int
    end: int


class MarkerError(NamedTuple):
    """An error in the markers, for the author, and its place; line and column count from 1, the column in characters."""

    line: int
    column: int
    sentence: str


class Marked(NamedTuple):
    """The outermost regions of a document, in order; no regions where there are errors."""

    spans: tuple[Span, ...] = ()
    errors: tuple[MarkerError, ...] = ()


def has_markers(document: bytes, *, is_xml: bool = False, charset: str = "") -> bool:
    """Whether a document has a marker, right or wrong. The words `volatile` and `data-vol` in its text are none.

    After many tags that only look like markers the answer is yes: time is not spent on a document that was made to cost it.
    """
    if not may_have_markers(document, is_xml) or charset.lower().startswith(_NOT_ASCII_COMPATIBLE):
        return False
    tokens = TokenReader(document, is_xml, ())
    for _ in range(_MOST_LOOKALIKES):
        token = tokens.next()
        if token is None or token.is_comment or token.id is not None:
            return token is not None
    return True


def find_regions(document: bytes, *, is_xml: bool = False, charset: str = "") -> Marked:
    """The regions of a document; `charset` is its encoding's name where it is known.

    Documents in encodings that are not ASCII-compatible have no regions.
    """
    if not may_have_markers(document, is_xml) or charset.lower().startswith(_NOT_ASCII_COMPATIBLE):
        return Marked()
    markers = _Markers()
    tokens = TokenReader(document, is_xml, markers.levels)
    while (token := tokens.next()) is not None:
        if token.is_comment:
            markers.comment(token.id, token.is_end, token.start, token.end)
        elif token.is_end:
            markers.end_tag(token.name, token.start)
        elif token.id is not None:
            is_empty = token.is_self_closed or (not is_xml and token.name in _VOID)
            markers.marked_tag(token.name, token.id, token.start, token.end, is_empty)
        else:
            markers.start_tag(token.name, token.is_self_closed and is_xml)
    markers.unclosed()
    if markers.errors:
        places = sorted(markers.errors)[:MAX_MARKER_ERRORS]
        return Marked((), tuple([MarkerError(*_line_and_column(document, at), sentence) for at, sentence in places]))
    return Marked(tuple(markers.spans))


# Every marker contains "vol". The pattern searches for that first, which is fast, and then checks the text around it.
_HTML_MARKER = pcre2.compile(
    rb"(?i)vol(?:(?<=data-vol)|(?-i:(?<=[\t\n\f\r \"'=]vol)atile[\t\n\f\r \"'>])|(?-i:(?<=<!--vol)|(?<=<!--/vol)) )"
)
_XML_MARKER = pcre2.compile(rb"(?:(?<=<!--)|(?<=<!--/))vol |(?<=<)Vol[0-9]")


def may_have_markers(document: bytes, is_xml: bool) -> bool:
    """A fast test without reading tokens; false for nearly all documents."""
    if document.startswith(_BYTE_ORDER_MARKS):
        return False
    return (_XML_MARKER if is_xml else _HTML_MARKER).search(document) is not None


def _line_and_column(document: bytes, at: int) -> tuple[int, int]:
    begin = document.rfind(b"\n", 0, at) + 1
    return document.count(b"\n", 0, at) + 1, len(document[begin:at].decode("utf-8", "replace")) + 1


class _Open(NamedTuple):
    """A region that is still open."""

    id: str
    at: int
    """Where its marker begins."""
    start: int
    name: bytes
    """The element's name; empty for a comment."""
    level: int
    """How many elements of that name are open since the first marked one, this one included."""


class _Markers:
    """Tracks open regions through a document. Every marker is removed once, so the time is linear in their number."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.errors: list[tuple[int, str]] = []
        self._stack: list[_Open] = []
        self._ids: set[str] = set()
        self.levels: dict[bytes, int] = {}
        """By name of an element whose tags are counted at this time: how many are open since the first marked one."""
        self._of_name: dict[bytes, list[_Open]] = {}
        self._comments: dict[str, _Open] = {}

    def marked_tag(self, name: bytes, identity: str, at: int, end: int, is_empty: bool) -> None:
        if is_empty:
            self.errors.append((at, "this element has no end tag, so it cannot hold a region"))
            return
        if not self._take_id(identity, at):
            self.start_tag(name, is_empty)
            return
        level = self.levels[name] = self.levels.get(name, 0) + 1
        region = _Open(identity, at, end, name, level)
        self._of_name.setdefault(name, []).append(region)
        self._stack.append(region)

    def start_tag(self, name: bytes, is_empty: bool) -> None:
        if name in self.levels and not is_empty:
            self.levels[name] += 1

    def end_tag(self, name: bytes, at: int) -> None:
        level = self.levels.get(name)
        if level is None:
            return
        self.levels[name] = level - 1
        region = self._of_name[name][-1]
        if region.level == level:
            self._close(region, at)

    def comment(self, identity: str | None, is_end: bool, at: int, end: int) -> None:
        if identity is None:
            self.errors.append((at, "this comment names no region: letters, digits and . _ : - are needed"))
        elif not is_end:
            if self._take_id(identity, at):
                region = self._comments[identity] = _Open(identity, at, end, b"", 0)
                self._stack.append(region)
        elif identity in self._comments:
            self._close(self._comments[identity], at)
        else:
            self.errors.append((at, f"here a region {identity!r} ends that is not open"))

    def unclosed(self) -> None:
        """Reports the regions that are still open at the end of the document."""
        self.errors += [(region.at, f"region {region.id!r} does not end") for region in self._stack]

    def _take_id(self, identity: str, at: int) -> bool:
        if _IS_ID.fullmatch(identity) is None:
            self.errors.append((at, "the ID is not 1 to 64 letters, digits and . _ : - that begin with a letter or digit"))
        elif identity in self._ids:
            self.errors.append((at, f"region {identity!r} is there a second time"))
        else:
            self._ids.add(identity)
            return True
        return False

    def _close(self, region: _Open, at: int) -> None:
        while (inner := self._stack.pop()) is not region:
            self.errors.append((inner.at, f"region {inner.id!r} begins within region {region.id!r} and does not end in it"))
            self._forget(inner)
        self._forget(region)
        if not self._stack:
            self.spans.append(Span(region.id, region.start, at))

    def _forget(self, region: _Open) -> None:
        if not region.name:
            del self._comments[region.id]
            return
        same_name = self._of_name[region.name]
        same_name.pop()  # Regions are removed from the top of the stack, so it is the last of its name.
        if not same_name:
            del self._of_name[region.name], self.levels[region.name]
