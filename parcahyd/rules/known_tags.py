"""Scanned tags, each read once: nearly every tag of a document stood on the one before it.

A tag is known by its *key*, which is its one line of the table of links. A document's keys joined are its table then, and what
a key leads to is looked up only where a visit has not met it. Tags that bring nothing have the empty key. Where a line does
not say everything (a base, a form, words to robots, links to tables, several lines, a line that means something else in another
tag), the key is `MARK` and the tag as it stands, and the document is looked at more closely.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import unescape
from typing import NamedTuple

from parcahyd.rules.canonical_url import plain_way
from parcahyd.rules.link_scanner import REFERENCE
from parcahyd.rules.link_tags import CARRIERS, EMBEDDED_RELATIONS, FOLLOWED_RELATIONS, TABLE_RELATIONS, Carrier, Sink

try:
    from parcahyd.rules._tag_reader import TagReader, plain_leads
except ImportError:  # It was not compiled: the patterns of `link_scanner` read the same, in more time.
    TagReader = plain_leads = None  # type: ignore[assignment,misc] # what is not there has no type

__all__ = ["IS_COMPILED", "MARK", "NOTHING", "Found", "KnownTags", "hangs", "lines_of", "plain_leads"]

IS_COMPILED = TagReader is not None
"""Whether `KnownTags.read` can do anything."""

MARK = b"\0"
"""With which the keys begin that are no lines; scanned documents have no such byte."""

_ANCHOR = b"a\t"

_SLASH = ord("/")
_MOST_KNOWN = 40_000
_LONGEST_KNOWN = 600
_MOST_LONG = 4 << 20
_MOST_LINES = 4 * _MOST_KNOWN


class Found(NamedTuple):
    """What one tag brings."""

    follow: tuple[str, ...]
    embedded: tuple[str, ...]
    lines: bytes
    """Its lines of the table, each ended by LF."""
    hangs_on_page: bool = False
    """A reference is empty or begins with a query: what it leads to depends on more than the document's directory."""
    base: str | None = None
    opens_form: bool = False
    robots: tuple[tuple[str, str], ...] = ()
    """Name and content of a meta that may speak to robots."""
    tables: tuple[tuple[str, str], ...] = ()
    """Relation and reference of a link to tables."""
    way: tuple[int, str] | None = None
    """Where it brings one reference to follow, that one's `plain_way`, if it has one."""


NOTHING = Found((), (), b"")
_new_found: Callable[[tuple[object, ...]], Found] = partial(tuple.__new__, Found)  # A third of the time of calling it.


def _plain_found(href: str, line: bytes) -> Found:
    """What a tag brings that has one reference to follow and nothing else."""
    return _new_found(((href,), (), line, href[0] == "?", None, False, (), (), plain_way(href)))


class _FoundTags(dict[bytes, Found]):
    """By key: what its tags bring. Those of plain anchors are read out of their keys when they are asked for."""

    def __missing__(self, key: bytes) -> Found:
        if key[:2] != _ANCHOR or b"\t" in key[2:]:
            raise KeyError(key)
        self[key] = found = _plain_found(key[2:-1].decode(), key)
        return found


class KnownTags(dict[bytes, bytes]):
    """By tag as it stands: its key. Tags that are not known are read when they are asked for. Nothing is forgotten.

    Several threads may use one.
    """

    def __init__(self) -> None:
        super().__init__()
        self._reader = TagReader() if IS_COMPILED else None
        self.found = _FoundTags({b"": NOTHING})
        self.marked: set[bytes] = set()
        """The keys that are no lines."""
        self.hollow: dict[bytes, Found] = {}
        """By tag: those with an empty reference only, which means something in a document with a base."""
        self._long = 0
        self._lines = 0
        """Of tags that have several: one can have hundreds."""

    @property
    def is_full(self) -> bool:
        """Whether it is time for others in their place. A document may always add its own tags, whose number and bytes are
        bounded."""
        known = len(self) + (0 if self._reader is None else len(self._reader))
        return max(known, len(self.found)) > _MOST_KNOWN or self._long > _MOST_LONG or self._lines > _MOST_LINES

    def read(self, body: bytes) -> tuple[list[bytes], bytes, list[bytes]] | None:
        """The keys of a document's tags, each once, its table, and those of its keys that are no lines.

        By machine code. None where that is not there or at work, and where the document wants a closer look.
        """
        return None if self._reader is None else self._reader.read(body, self.learn)

    def __missing__(self, raw: bytes) -> bytes:
        key, _ = self.learn(raw)
        if len(raw) <= _LONGEST_KNOWN:
            self[raw] = key
        return key

    def learn(self, raw: bytes) -> tuple[bytes, bytes]:
        """The key of a tag, and its lines."""
        if len(raw) <= _LONGEST_KNOWN and _IS_PLAIN(raw):
            href = raw[1:].decode()
            if "&" in href:
                href = _meant(href)
            key = f"a\t{href}\n".encode()
            return key, key
        key = self._key(raw, _found_in_link(raw) or _found_in_anchor(raw) or _found_in(raw))
        if len(raw) > _LONGEST_KNOWN and (key or raw in self.hollow):
            self._long += len(raw)
        return key, self.found[key].lines

    def _key(self, raw: bytes, found: Found) -> bytes:
        is_hollow = "" in found.follow or "" in found.embedded
        is_rare = found.base is not None or found.opens_form or found.robots or found.tables
        key = found.lines
        lines = key.count(b"\n")
        self._lines += lines if lines > 1 else 0
        if is_rare or lines > 1 or (key and (is_hollow or self.found.setdefault(key, found) != found)):
            key = MARK + raw
            self.found[key] = found
            self.marked.add(key)
        elif is_hollow:
            self.hollow[raw] = found
        return key


_IS_PLAIN = re.compile(rb'"[!-~]+').fullmatch
_MEANINGS = {"amp": "&"} | {f"#{number}": chr(number) for number in range(33, 127)}


def _meant(href: str) -> str:
    """A reference without the character references that the scanner lets stand in one, in a third of `unescape`'s time."""
    first, *others = href.split("&")
    return first + "".join([_MEANINGS[name] + rest for name, _, rest in [other.partition(";") for other in others]])


_HANGING = frozenset(("", "?"))


def hangs(href: str) -> bool:
    """Whether what the reference leads to depends on more than the document's directory."""
    return href[:1] in _HANGING


def lines_of(sink: Sink) -> bytes:
    """Every link once, as the table has it."""
    return ("\n".join(sink.lines) + "\n").encode("utf-8", "replace") if sink.lines else b""


_PLAIN_HREF = r'href="([!$%\'-~]{1,1000})"'
# A link of the commonest form, as generators write it on every page with another title: `rel="next" title="..." href="..."`.
_ABOUT = r'(?: (?:title|type|hreflang)="[^"]*+")*+'
_PLAIN_LINK = re.compile(rf'link rel="([a-z]+)"{_ABOUT} {_PLAIN_HREF}{_ABOUT} ?/?'.encode()).fullmatch
_READ_CLOSELY = frozenset(EMBEDDED_RELATIONS) | TABLE_RELATIONS


def _found_in_link(raw: bytes) -> Found | None:
    """What `_found_in` gives, for links of that form, in a third of its time."""
    link = _PLAIN_LINK(raw)
    if link is None or (relation := link[1].decode()) in _READ_CLOSELY:
        return None
    href = link[2].decode()
    kind = FOLLOWED_RELATIONS.get(relation)
    line = f"{kind or 'link'}\t{href}\n".encode()
    return _plain_found(href, line) if kind else _new_found(((), (), line, False, None, False, (), (), None))


# An anchor that has a relation beside its reference: `nofollow` to the source of each page, `noopener` to other sites.
_SPACE = r"[\t\n\f\r ]++"
_BESIDE = rf'(?:{_SPACE}(?:class|title|target|id)="[^"]*+")*+'
_RELATION = r'rel="([a-z ]++)"'
_IN_ANY_ORDER = f"{_PLAIN_HREF}{_BESIDE}{_SPACE}{_RELATION}|{_RELATION}{_BESIDE}{_SPACE}{_PLAIN_HREF}"
_PLAIN_ANCHOR = re.compile(f"a{_BESIDE}{_SPACE}(?:{_IN_ANY_ORDER}){_BESIDE}(?:{_SPACE})?".encode()).fullmatch


def _found_in_anchor(raw: bytes) -> Found | None:
    """What `_found_in` gives, for anchors of that form."""
    anchor = _PLAIN_ANCHOR(raw)
    if anchor is None:
        return None
    href = (anchor[1] or anchor[4]).decode()
    if b"nofollow" in (anchor[2] or anchor[3]).split():
        return _new_found(((), (), f"a\t{href}\trel=nofollow\n".encode(), False, None, False, (), (), None))
    return _plain_found(href, f"a\t{href}\n".encode())


def _found_in(raw: bytes) -> Found:
    """Read one scanned tag."""
    if not raw or raw[0] == _SLASH:  # What stands around the tags, and the end of a form.
        return NOTHING
    sink = Sink()
    opens_form = False
    if raw[0] == REFERENCE:
        sink.add("a", unescape(raw[1:].decode("utf-8", "replace")), sink.follow)
    else:
        tag = _carrier(raw)
        CARRIERS[tag.tag](sink, tag)
        opens_form = tag.tag == "form"
    follow, embedded = tuple(sink.follow), tuple(sink.embedded)
    hangs_on_page = not _HANGING.isdisjoint([href[:1] for href in (*follow, *embedded)])
    asides = tuple(sink.robots), tuple(sink.tables)
    way = plain_way(follow[0]) if len(follow) == 1 and not embedded else None
    return Found(follow, embedded, lines_of(sink), hangs_on_page, sink.base, opens_form, *asides, way)


class _Tag:
    """A scanned start tag whose attributes stand as they are meant."""

    __slots__ = ("_attributes", "tag")

    def __init__(self, tag: str, text: str) -> None:
        self.tag = tag
        self._attributes: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(text, len(tag)):
            value = double or single or bare
            self._attributes.setdefault(name.lower(), unescape(value) if "&" in value else value)

    def attr(self, name: str) -> str | None:
        return self._attributes.get(name)


_TAG_NAME = re.compile(r"[^\t\n\f\r /]*").match
_ATTRIBUTE = re.compile(r"""([^\t\n\f\r />"'=<]+)(?:[\t\n\f\r ]*=(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r "'>=<`]+)))?""")


# References that mean the same to `html.unescape` as to a browser: those that end as they should, of printable characters.
_WHOLE_REFERENCE = re.compile(
    r"&(?:amp|quot|lt|gt|apos|nbsp|#(?:3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6])|#[xX](?:[2-6][0-9a-fA-F]|7[0-9a-eA-E]));"
)


def _carrier(raw: bytes) -> Carrier:
    """A scanned tag; where character references stand in it that are not whole, the parser reads them."""
    text = raw.decode("utf-8", "replace")
    name = _TAG_NAME(text)
    tag = name[0].lower() if name else ""
    if "&" not in text or len(_WHOLE_REFERENCE.findall(text)) == text.count("&"):
        return _Tag(tag, text)
    from turbohtml import parse

    return next(parse(f"<{text}>").iter_elements((tag,)))
