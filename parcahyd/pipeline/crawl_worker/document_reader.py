"""Reads documents of every format: their links, their summaries, and the members of archives.

HTML is read on the event loop, as quickly as possible. Everything else, and every document that is to be summarised, may take
long and is read in a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import Member, Summary
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl, TableFact
from parcahyd.core.states import Reason
from parcahyd.rules.html.link_header import add_header_links
from parcahyd.rules.html.link_tags import Sink
from parcahyd.rules.html.links import PageLinks, collected, read_links
from parcahyd.rules.html.xml_links import read_xml_links
from parcahyd.rules.listings.ftp_listing import FTP_LISTING, ftp_references
from parcahyd.rules.listings.gopher_menu import GOPHER_MENU, gopher_references
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.rules.robots.directives import NO_DIRECTIVES, Directive, header_directives
from parcahyd.rules.robots.robots_file import product_token
from parcahyd.rules.sitemaps.reader import Kind, Sitemap, read_sitemap
from parcahyd.rules.urls.parameters import Canon, joining
from parcahyd.topics.focus import Focus
from parcahyd.topics.model import TopicModel
from parcahyd.topics.words import html_words

__all__ = [
    "NO_PARTS",
    "DocumentReader",
    "DocumentTools",
    "Parts",
    "ReadDocument",
    "is_sitemap",
    "is_xml",
    "reason_not_to_keep",
]

_SMALL_XML = 64 * 1024
"""Bytes of XML that do not hold up the event loop."""

_XHTML = "application/xhtml+xml"
_XML = frozenset(("text/xml", "application/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml"))
_LISTINGS = {FTP_LISTING: ftp_references, GOPHER_MENU: gopher_references}
"""By media type: what gives the references of documents that are lists by their protocol."""
_HEADERS_READ = frozenset(("x-robots-tag", "link"))
_INITIALS = frozenset("lLxX")
_DIRECTIVES = {"noindex": Directive.NOINDEX, "nofollow": Directive.NOFOLLOW, "noarchive": Directive.NOARCHIVE}


class _Summarizers(Protocol):
    def can_read(self, media_type: str) -> bool: ...

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None: ...


class _Expanders(Protocol):
    def can_expand(self, media_type: str) -> bool: ...

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]: ...


class DocumentTools(Protocol):
    """The plugins that read documents; summarizers and expanders are constructed at their first use."""

    def recognise(self, content_type: str, body: bytes) -> tuple[str, str]:
        """The media type, and the charset that the header names."""
        ...

    @property
    def summarizers(self) -> _Summarizers: ...

    @property
    def expanders(self) -> _Expanders: ...

    @property
    def topics(self) -> TopicModel | None:
        """What labels documents; None: nothing does."""
        ...


class Parts(msgspec.Struct, frozen=True):
    """What a table of variable information says about a document; all empty where there is no table."""

    regions: tuple[tuple[str, int, int], ...] = ()
    """ID, begin and end."""
    table: TableFact | None = None
    before: bytes | None = None
    """The stored version of which this one was made; the links of that version are known."""
    head: bytes = b""
    """The head that the stored version came with."""


NO_PARTS = Parts()


class ReadDocument(msgspec.Struct):
    """A document that was received, and what was read in it. The reader fills it in; then it is stored."""

    item: DueUrl
    result: DownloadResult
    media_type: str
    charset: str
    at: float
    """When it was received, or when its reading in a thread ended."""
    links: PageLinks | None = None
    title: str = ""
    language: str = ""
    summary: bytes = b""
    members: tuple[Member, ...] = ()
    sitemaps: tuple[str, ...] = ()
    """References to the sitemaps that an index names."""
    lastmods: tuple[tuple[str, float], ...] = ()
    """The dates in a sitemap: paths of its own site, and when each changed."""
    topic: str = ""
    directives: Directive = NO_DIRECTIVES
    """The robots directives of the page that the settings obey."""
    parts: Parts = NO_PARTS


class DocumentReader:
    """Reads the documents of one worker."""

    __slots__ = ("_is_full", "_obeyed", "_tools", "_topics", "_work", "focus", "obeys_nofollow", "recognise")

    def __init__(self, work: WorkConf, tools: DocumentTools) -> None:
        self._work = work
        self._tools = tools
        self._is_full = work.Summaries == "full"
        self._obeyed = Directive(sum(_DIRECTIVES[word] for word in set(work.Directives)))
        self.obeys_nofollow = bool(self._obeyed & Directive.NOFOLLOW)
        """Of pages and of single links."""
        self.recognise = tools.recognise
        self._topics = tools.topics
        self.focus = Focus(work.FollowTopics, work.OtherTopics)
        """Says which links are followed first."""

    def is_quick(self, media_type: str) -> bool:
        """Whether documents of this type are read by `read_html`, on the event loop."""
        return not self._is_full and is_html(media_type) and media_type != _XHTML

    def is_read(self, media_type: str, is_sitemap: bool) -> bool:
        """Whether a document that is not quick to read has anything that is read."""
        return (
            is_sitemap
            or is_xml(media_type)
            or media_type in _LISTINGS
            or (self._is_full and self._tools.summarizers.can_read(media_type))
            or (self._work.Expand and self._tools.expanders.can_expand(media_type))
        )

    def is_slow(self, media_type: str, size: int) -> bool:
        """Whether such a document is read in a thread."""
        return size > _SMALL_XML or not is_xml(media_type) or self._is_full or self._work.Expand

    def read_html(self, document: ReadDocument) -> None:
        document.links = links = read_links(document.result.body, document.charset)
        document.charset = links.charset

    def read(self, document: ReadDocument, url: str, is_sitemap: bool) -> None:
        """Read everything that the settings ask for; this may take seconds."""
        media_type, body = document.media_type, document.result.body
        if is_html(media_type) and media_type != _XHTML:
            self.read_html(document)
        elif media_type in _LISTINGS:
            document.links = _collected("a", _LISTINGS[media_type](body), document.charset)
        else:
            self._read_xml(document, url, is_sitemap)
        if self._is_full and self._tools.summarizers.can_read(media_type):
            summary = self._tools.summarizers.summarize(body, media_type, document.charset, url)
            if summary is not None:
                _add_summary(document, summary)
        if self._work.Expand and self._tools.expanders.can_expand(media_type):
            document.members = tuple(self._tools.expanders.expand(body, media_type, url))

    def _read_xml(self, document: ReadDocument, url: str, is_sitemap: bool) -> None:
        media_type, body, charset = document.media_type, document.result.body, document.charset
        if is_sitemap or (is_xml(media_type) and media_type != _XHTML):
            sitemap = read_sitemap(body, media_type, charset)
            if sitemap.kind is not Kind.NONE:
                document.links = _links_of_sitemap(sitemap, charset)
                document.sitemaps = tuple(location for location, _ in sitemap.children)
                document.lastmods = _lastmods(url, Canon.of(self._work), sitemap)
                return
        if is_xml(media_type):
            document.links = links = read_xml_links(body, charset)
            document.charset = links.charset

    def label(self, document: ReadDocument) -> None:
        """Note what an HTML document is about. Its first words are taken from its bytes, without a tree."""
        if self._topics is not None and is_html(document.media_type):
            words = html_words(document.result.body, document.charset)
            document.topic = self._topics.topic_of(words, document.item.path)

    def newer_links(self, document: ReadDocument, links: PageLinks, before: bytes) -> PageLinks:
        """The `links` of a document without those of its version before, of which only regions have changed."""
        known = self._links_before(before, document.media_type, document.charset)
        if known is None or known.base != links.base:
            return links
        known_keys = frozenset(known.keys)
        keys = [key for key in links.keys if key not in known_keys]
        return PageLinks(links.charset, links.base, keys, links.found, links.table, links.robots)

    def _links_before(self, body: bytes, media_type: str, charset: str) -> PageLinks | None:
        if self.is_quick(media_type):
            return read_links(body, charset)
        if self.is_slow(media_type, len(body)):
            return None
        if media_type != _XHTML:
            sitemap = read_sitemap(body, media_type, charset)
            if sitemap.kind is not Kind.NONE:
                return _links_of_sitemap(sitemap, charset)
        return read_xml_links(body, charset)

    def directives_of(
        self, links: PageLinks | None, headers: Sequence[tuple[str, str]], url: str, user_agent: str, now: float
    ) -> Directive:
        """The robots directives of a page, in its headers and in its text. The links of its headers are added to `links`.

        `user_agent` is the one that is sent to its host: directives may be for one robot only.
        """
        read = [(name.lower(), value) for name, value in headers if name[:1] in _INITIALS and name.lower() in _HEADERS_READ]
        if not read and (links is None or not links.robots):
            return NO_DIRECTIVES  # Nearly every page; combining flags would take microseconds.
        asked, token = NO_DIRECTIVES, product_token(user_agent)
        if read:
            asked |= header_directives([value for name, value in read if name == "x-robots-tag"], token, now)
            found = [value for name, value in read if name == "link"]
            if found and links is not None:
                add_header_links(links, found, url)
        if links is not None and links.robots:
            asked |= links.directives(token, now)
        return asked & self._obeyed

    def lets_follow(self, user_agent: str, robots: str) -> bool:
        """Whether the robots directives of a page, written as in a header, let its links be followed."""
        token = product_token(user_agent)
        return not robots or not header_directives([robots], token, 0.0) & self._obeyed & Directive.NOFOLLOW


def reason_not_to_keep(directives: Directive) -> Reason | None:
    """Why a document is not stored, or None if its directives permit that."""
    if directives & Directive.NOINDEX:
        return Reason.NOINDEX
    return Reason.NOARCHIVE if directives & Directive.NOARCHIVE else None


def is_sitemap(path: str, media_type: str) -> bool:
    """Whether a document that no robots.txt names is read as a sitemap: the media type of compressed ones does not show it."""
    return media_type == "application/gzip" and ("sitemap" in path or path.endswith(".xml.gz"))


def is_xml(media_type: str) -> bool:
    """Whether documents of this type are XML, XHTML included."""
    return media_type in _XML or media_type.endswith("+xml")


def _links_of_sitemap(sitemap: Sitemap, charset: str) -> PageLinks:
    return _collected("link", [location for location, _ in (*sitemap.children, *sitemap.entries)], charset)


def _collected(kind: str, references: Sequence[str], charset: str) -> PageLinks:
    sink = Sink()
    for reference in references:
        sink.add(kind, reference, sink.follow)
    return collected(sink, charset)


def _lastmods(url: str, canon: Canon | None, sitemap: Sitemap) -> tuple[tuple[str, float], ...]:
    """When pages of the sitemap's own site changed. Feeds are left out: their dates are of publication."""
    if sitemap.kind is not Kind.URLSET:
        return ()
    origin = url[: url.index("/", url.index("//") + 2)]
    join, start = joining(url, canon), len(origin)
    return tuple(
        (target[start:], lastmod)
        for location, lastmod in sitemap.entries
        if lastmod is not None and (target := join(location)) is not None and target.startswith(origin + "/")
    )


def _add_summary(document: ReadDocument, summary: Summary) -> None:
    if document.links is None and summary.links:
        document.links = _collected("a", summary.links, document.charset)
    document.title = summary.title or document.title
    document.language = summary.language or document.language
    document.summary = msgspec.msgpack.encode(summary)
