"""A document in hand, of whatever format: its links, its summary, and the members of an archive.

HTML is read on the spot, as quickly as can be. Everything else, and whatever somebody wants summarised, may take long: it is
read beside the event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import Member, Summary
from parcahyd.core.life_cycle import Reason
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl, TableFact
from parcahyd.rules.directives import NO_DIRECTIVES, Directive, header_directives
from parcahyd.rules.media_type import is_html
from parcahyd.rules.parameters import Canon, joining
from parcahyd.rules.robots import product_token

if TYPE_CHECKING:
    from parcahyd.pipeline.crawl_worker.table_links import Told
    from parcahyd.rules.links import PageLinks
    from parcahyd.rules.sitemap import Sitemap

__all__ = [
    "Aside",
    "DocumentReader",
    "DocumentTools",
    "Page",
    "Parts",
    "Reading",
    "Then",
    "is_sitemap",
    "is_xml",
    "wish_not_to_be_kept",
]

_ON_THE_SPOT = 64 * 1024
"""Bytes of XML that do not hold up the event loop."""

_XHTML = "application/xhtml+xml"
_XML = frozenset(("text/xml", "application/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml"))
_SPOKEN = frozenset(("x-robots-tag", "link"))
_INITIALS = frozenset("lLxX")
_WORDS = {"noindex": Directive.NOINDEX, "nofollow": Directive.NOFOLLOW, "noarchive": Directive.NOARCHIVE}


class _Summarizers(Protocol):
    def can_read(self, media_type: str) -> bool: ...

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None: ...


class _Expanders(Protocol):
    def can_expand(self, media_type: str) -> bool: ...

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]: ...


class DocumentTools(Protocol):
    """The plugins that read documents; summarizers and expanders are made when they are first asked for."""

    def recognise(self, content_type: str, body: bytes) -> tuple[str, str]:
        """The media type, and the charset that the header names."""
        ...

    @property
    def summarizers(self) -> _Summarizers: ...

    @property
    def expanders(self) -> _Expanders: ...


class Reading(msgspec.Struct, frozen=True):
    """What was read in a document."""

    charset: str
    links: PageLinks | None = None
    title: str = ""
    language: str = ""
    summary: bytes = b""
    members: tuple[Member, ...] = ()
    sitemaps: tuple[str, ...] = ()
    """References to the sitemaps that an index names."""
    lastmods: tuple[tuple[str, float], ...] = ()
    """What a sitemap says: paths of its own site, and when each changed."""
    told: Told | None = None
    """What was read was no document but a table of links."""


Then = Callable[[Reading | None, Exception | None, float], str]
"""Takes what was read, or why nothing was, and the time; a sentence tells of a failure."""
Aside = Callable[[Callable[[], Reading], Then], None]
"""Has a document read beside the event loop."""


class Page(NamedTuple):
    """A document in hand that was read."""

    item: DueUrl
    result: DownloadResult
    media_type: str
    reading: Reading
    asked: Directive
    """What it asks of robots."""
    at: float
    """When it came."""


class Parts(msgspec.Struct, frozen=True):
    """What a table of variable information tells of a document: nothing where there is none."""

    regions: tuple[tuple[str, int, int], ...] = ()
    """ID, begin and end."""
    table: TableFact | None = None
    before: bytes | None = None
    """The stored version of which this one was made, and whose links are known."""
    headers: bytes = b""
    """Those that the stored version came with."""


class DocumentReader:
    """Reads the documents of one worker."""

    __slots__ = ("_is_full", "_obeyed", "_read_links", "_tools", "_work", "recognise")

    def __init__(self, work: WorkConf, tools: DocumentTools) -> None:
        self._work = work
        self._tools = tools
        self._is_full = work.Summaries == "full"
        self._obeyed = Directive(sum(_WORDS[word] for word in set(work.Directives)))
        self._read_links: Callable[[bytes, str], PageLinks] = self._read_first
        self.recognise = tools.recognise

    def _read_first(self, body: bytes, charset: str) -> PageLinks:
        """What reads links takes long to load, so that is left until the first request is on its way."""
        from parcahyd.rules.links import read_links

        self._read_links = read_links
        return read_links(body, charset)

    def is_quick(self, media_type: str) -> bool:
        """Whether documents of this type are read on the spot."""
        return not self._is_full and is_html(media_type) and media_type != _XHTML

    def is_read(self, media_type: str, is_sitemap: bool) -> bool:
        """Whether anything is looked for in documents of this type that is not read on the spot."""
        return (
            is_sitemap
            or is_xml(media_type)
            or (self._is_full and self._tools.summarizers.can_read(media_type))
            or (self._work.Expand and self._tools.expanders.can_expand(media_type))
        )

    def is_slow(self, media_type: str, size: int) -> bool:
        """Whether such a document is read beside the event loop."""
        return size > _ON_THE_SPOT or not is_xml(media_type) or self._is_full or self._work.Expand

    def read_html(self, body: bytes, charset: str) -> Reading:
        links = self._read_links(body, charset)
        return Reading(links.charset, links)

    def newer_links(self, links: PageLinks, before: bytes, media_type: str, charset: str) -> PageLinks:
        """The links of a document without those that stood in its version before, whose regions alone have changed."""
        if self.is_quick(media_type):
            known = self._read_links(before, charset)
        elif self.is_slow(media_type, len(before)):
            return links
        else:
            known = _read_other(before, media_type, charset, False, _no_lastmods).links or links
        if known.base != links.base:
            return links
        from parcahyd.rules.links import PageLinks

        before_it = frozenset(known.keys)
        keys = [key for key in links.keys if key not in before_it]
        return PageLinks(links.charset, links.base, keys, links.found, links.table, links.robots)

    def read(self, body: bytes, media_type: str, charset: str, url: str, is_sitemap: bool) -> Reading:
        """Everything that settings want of a document; may take seconds."""
        if is_html(media_type) and media_type != _XHTML:
            reading = self.read_html(body, charset)
        else:
            reading = _read_other(body, media_type, charset, is_sitemap, partial(_lastmods, url, Canon.of(self._work)))
        if self._is_full and self._tools.summarizers.can_read(media_type):
            summary = self._tools.summarizers.summarize(body, media_type, reading.charset, url)
            if summary is not None:
                reading = _with_summary(reading, summary)
        if self._work.Expand and self._tools.expanders.can_expand(media_type):
            reading = msgspec.structs.replace(reading, members=tuple(self._tools.expanders.expand(body, media_type, url)))
        return reading

    def heed(
        self, links: PageLinks | None, headers: Sequence[tuple[str, str]], url: str, user_agent: str, now: float
    ) -> Directive:
        """What the page asks of robots, in its headers and in itself; links of its headers are added to its own.

        `user_agent` is the one that its host gets: pages may ask something of it by name.
        """
        spoken = [(name.lower(), value) for name, value in headers if name[0] in _INITIALS and name.lower() in _SPOKEN]
        if not spoken and (links is None or not links.robots):
            return NO_DIRECTIVES  # Nearly every page; combining flags would take microseconds.
        asked, token = NO_DIRECTIVES, product_token(user_agent)
        if spoken:
            asked |= header_directives([value for name, value in spoken if name == "x-robots-tag"], token, now)
            found = [value for name, value in spoken if name == "link"]
            if found and links is not None:
                from parcahyd.rules.link_header import add_header_links  # As other formats: not every site has them.

                add_header_links(links, found, url)
        if links is not None and links.robots:
            asked |= links.directives(token, now)
        return asked & self._obeyed

    def lets_follow(self, user_agent: str, robots: str) -> bool:
        """Whether what a page asks of robots, as a header would say it, lets its links be followed."""
        token = product_token(user_agent)
        return not robots or not header_directives([robots], token, 0.0) & self._obeyed & Directive.NOFOLLOW


def wish_not_to_be_kept(asked: Directive) -> Reason | None:
    """Why a document is not stored, if its page does not want it to be."""
    if asked & Directive.NOINDEX:
        return Reason.NOINDEX
    return Reason.NOARCHIVE if asked & Directive.NOARCHIVE else None


def is_sitemap(path: str, media_type: str) -> bool:
    """Whether a document that nobody calls a sitemap is worth being read as one: packed ones do not say what is in them."""
    return media_type == "application/gzip" and ("sitemap" in path or path.endswith(".xml.gz"))


def is_xml(media_type: str) -> bool:
    """Whether documents of this type are XML, XHTML included."""
    return media_type in _XML or media_type.endswith("+xml")


def _read_other(
    body: bytes, media_type: str, charset: str, is_sitemap: bool, lastmods: Callable[[Sitemap], tuple[tuple[str, float], ...]]
) -> Reading:
    from parcahyd.rules.link_tags import Sink
    from parcahyd.rules.links import collected
    from parcahyd.rules.sitemap import Kind, read_sitemap
    from parcahyd.rules.xml_links import read_xml_links

    if is_sitemap or (is_xml(media_type) and media_type != _XHTML):
        sitemap = read_sitemap(body, media_type, charset)
        if sitemap.kind is not Kind.NONE:
            sink = Sink()
            for location, _ in (*sitemap.children, *sitemap.entries):
                sink.add("link", location, sink.follow)
            children = tuple(location for location, _ in sitemap.children)
            return Reading(charset, collected(sink, charset), sitemaps=children, lastmods=lastmods(sitemap))
    if not is_xml(media_type):
        return Reading(charset)
    links = read_xml_links(body, charset)
    return Reading(links.charset, links)


def _lastmods(url: str, canon: Canon | None, sitemap: Sitemap) -> tuple[tuple[str, float], ...]:
    """When pages of the sitemap's own site changed, as it says; dates of feeds tell when a page was published."""
    from parcahyd.rules.sitemap import Kind

    if sitemap.kind is not Kind.URLSET:
        return ()
    origin = url[: url.index("/", url.index("//") + 2)]
    join, start = joining(url, canon), len(origin)
    return tuple(
        (target[start:], lastmod)
        for location, lastmod in sitemap.entries
        if lastmod is not None and (target := join(location)) is not None and target.startswith(origin + "/")
    )


def _no_lastmods(_sitemap: Sitemap) -> tuple[tuple[str, float], ...]:
    return ()


def _with_summary(reading: Reading, summary: Summary) -> Reading:
    links = reading.links
    if links is None and summary.links:
        from parcahyd.rules.link_tags import Sink
        from parcahyd.rules.links import collected

        sink = Sink()
        for link in summary.links:
            sink.add("a", link, sink.follow)
        links = collected(sink, reading.charset)
    return msgspec.structs.replace(
        reading,
        links=links,
        title=summary.title or reading.title,
        language=summary.language or reading.language,
        summary=msgspec.msgpack.encode(summary),
    )
