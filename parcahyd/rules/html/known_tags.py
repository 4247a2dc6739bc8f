"""The tags that one process has read, each kept with what it brings: nearly every tag of a page occurs on an earlier page, too.

The compiled tag reader (`native/`) finds the tags that can carry links. It asks `KnownTags.learn` about each tag that it meets
for the first time, and remembers the answer.

A tag is known by its *key*. The key of most tags is their one line in the table of links, so the keys of a page joined are its
table. A tag that brings nothing has the empty key. Some tags say more than a line can hold: rules for robots, links to tables,
several lines, or a line that means something else in another tag. Their key is `MARK` and the tag as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import unescape
from typing import NamedTuple

from turbohtml import parse

from parcahyd.rules.html.link_tags import CARRIERS, EMBEDDED_RELATIONS, FOLLOWED_RELATIONS, TABLE_RELATIONS, Carrier, Sink
from parcahyd.rules.urls.canonical_url import plain_way

try:
    from parcahyd.rules.html._tag_reader import TagReader, plain_leads
except ImportError:  # It was not compiled: every page is read by way of its tree.
    TagReader = plain_leads = None  # type: ignore[assignment,misc] # not compiled, so without a type

__all__ = ["IS_COMPILED", "MARK", "NOTHING", "Found", "KnownTags", "hangs", "lines_of", "plain_leads"]

IS_COMPILED = TagReader is not None
"""Whether the tag reader is there; without it there are no `KnownTags`."""

MARK = b"\0"
"""The first byte of a key that is no line. No page that the tag reader reads has such a byte."""

_ANCHOR = b"a\t"
_REFERENCE = ord('"')
"""The first byte of what stands for an anchor of which only the reference matters."""

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
    """A reference is empty or begins with a query: what it leads to depends on more than the page's directory."""
    robots: tuple[tuple[str, str], ...] = ()
    """Name and content of a meta that may hold rules for robots."""
    tables: tuple[tuple[str, str], ...] = ()
    """Relation and reference of a link to tables."""
    way: tuple[int, str] | None = None
    """Where the tag brings one reference to follow: the `plain_way` of that reference, if it has one."""


NOTHING = Found((), (), b"")
_new_found: Callable[[tuple[object, ...]], Found] = partial(tuple.__new__, Found)  # A third of the time of calling it.


def _plain_found(href: str, line: bytes) -> Found:
    """What a tag brings that has one reference to follow and nothing else."""
    return _new_found(((href,), (), line, href[0] == "?", (), (), plain_way(href)))


class _FoundTags(dict[bytes, Found]):
    """By key: what its tags bring. For a plain anchor it is computed from the key at the first lookup."""

    def __missing__(self, key: bytes) -> Found:
        if key[:2] != _ANCHOR or b"\t" in key[2:]:
            raise KeyError(key)
        self[key] = found = _plain_found(key[2:-1].decode(), key)
        return found


class KnownTags:
    """A tag reader and all tags that it has read. Several threads may use one."""

    def __init__(self) -> None:
        self._reader = TagReader()
        self.found = _FoundTags({b"": NOTHING})
        self._long = 0
        self._lines = 0
        """Of tags that have several: one can have hundreds."""

    @property
    def is_full(self) -> bool:
        """Whether a new `KnownTags` should replace it. A page may always add its own tags, a bounded number of them."""
        known = max(len(self._reader), len(self.found))
        return known > _MOST_KNOWN or self._long > _MOST_LONG or self._lines > _MOST_LINES

    def read(self, body: bytes) -> tuple[list[bytes], bytes, list[bytes]] | None:
        """The keys of a page's tags, each once, its table, and those of its keys that are no lines.

        None where the tree must be built: for a page that is not ordinary, and while another thread teaches the reader a tag.
        """
        return self._reader.read(body, self.learn)

    def learn(self, raw: bytes) -> tuple[bytes, bytes]:
        """The key of a tag, and its lines."""
        key = self._key(raw, _found_in_link(raw) or _found_in_anchor(raw) or _found_in(raw))
        if len(raw) > _LONGEST_KNOWN and key:
            self._long += len(raw)
        return key, self.found[key].lines

    def _key(self, raw: bytes, found: Found) -> bytes:
        key = found.lines
        lines = key.count(b"\n")
        self._lines += lines if lines > 1 else 0
        if found.robots or found.tables or lines > 1 or (key and self.found.setdefault(key, found) != found):
            key = MARK + raw
            self.found[key] = found
        return key


_HANGING = frozenset(("", "?"))


def hangs(href: str) -> bool:
    """Whether what the reference leads to depends on more than the page's directory."""
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
    return _plain_found(href, line) if kind else _new_found(((), (), line, False, (), (), None))


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
        return _new_found(((), (), f"a\t{href}\trel=nofollow\n".encode(), False, (), (), None))
    return _plain_found(href, f"a\t{href}\n".encode())


def _found_in(raw: bytes) -> Found:
    """Read one tag. The page has no base, so an empty reference leads nowhere."""
    sink = Sink()
    if raw[0] == _REFERENCE:
        sink.add("a", unescape(raw[1:].decode("utf-8", "replace")), sink.follow)
    else:
        tag = _carrier(raw)
        CARRIERS[tag.tag](sink, tag)
    follow, embedded = tuple(filter(None, sink.follow)), tuple(filter(None, sink.embedded))
    hangs_on_page = any(map(hangs, (*follow, *embedded)))
    way = plain_way(follow[0]) if len(follow) == 1 and not embedded else None
    return Found(follow, embedded, lines_of(sink), hangs_on_page, tuple(sink.robots), tuple(sink.tables), way)


class _Tag:
    """A start tag as it stands in the page; its attributes are given without character references."""

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


# References that mean the same to `html.unescape` as to a browser: complete ones, of printable characters.
_WHOLE_REFERENCE = re.compile(
    r"&(?:amp|quot|lt|gt|apos|nbsp|#(?:3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6])|#[xX](?:[2-6][0-9a-fA-F]|7[0-9a-eA-E]));"
)


def _carrier(raw: bytes) -> Carrier:
    """The tag; where it has character references that are not whole, the parser reads it."""
    text = raw.decode("utf-8", "replace")
    name = _TAG_NAME(text)
    tag = name[0].lower() if name else ""
    if "&" not in text or len(_WHOLE_REFERENCE.findall(text)) == text.count("&"):
        return _Tag(tag, text)
    return next(parse(f"<{text}>").iter_elements((tag,)))
