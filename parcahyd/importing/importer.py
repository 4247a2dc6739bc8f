"""Stores the answers of archives in the database of a crawl, by the way that pages of a crawl take.

Documents are read, judged and packed as in a Crawl Worker and in Update Database, with the same settings. What differs is that
nothing here was asked for: an answer is marked as imported, it is not read as robots.txt, a sitemap's dates do not count, and
every link in it is judged by the scope as a link to another site would be.

Tested in tests/end_to_end/test_import.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.messages import BufferRecord
from parcahyd.core.records import Assignment, DueUrl, LinksRecord, PageRecord, SiteLease
from parcahyd.importing.archive_files import ArchiveFile
from parcahyd.importing.captures import Capture, captures
from parcahyd.importing.records import MOST_HEADER, Limits
from parcahyd.importing.revisits import Revisits
from parcahyd.pipeline.crawl_worker.document_reader import (
    DocumentReader,
    DocumentTools,
    ReadDocument,
    is_sitemap,
    reason_not_to_keep,
)
from parcahyd.pipeline.crawl_worker.exchange_facts import exchange_of
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.link_budget import LinkBudget
from parcahyd.pipeline.crawl_worker.new_links import NewLinkFinder, NewLinks
from parcahyd.pipeline.crawl_worker.planned_request import redirect_target
from parcahyd.pipeline.crawl_worker.record_writer import RecordWriter
from parcahyd.rules.html.links import PageLinks
from parcahyd.rules.media_types.media_type import AcceptedTypes
from parcahyd.rules.politeness.backoff import REDIRECTS, failure
from parcahyd.rules.robots.directives import Directive
from parcahyd.rules.urls.canonical_url import canonical, key_of, split
from parcahyd.rules.urls.cross_links import cross_refusal
from parcahyd.rules.urls.parameters import Canon
from parcahyd.storage.imports import ImportedExchange, ImportWritten
from parcahyd.storage.packing import PackedPage, compressor, pack_all
from parcahyd.storage.reports import Reports
from parcahyd.storage.sites import Origin
from parcahyd.storage.store import Store

__all__ = ["ImportReport", "Importer", "Listener"]

_SCHEMES = frozenset(("http", "https", "ftp", "gopher"))
_BATCH = 200
_BATCH_BYTES = 4 * 1024 * 1024
_LINKS = 100_000
_MOST_REQUESTS = 1000
"""Kinds of requests that are kept of one import: some programs send other headers with every request."""

_Record = PageRecord | LinksRecord | ImportedExchange


class Listener(msgspec.Struct, frozen=True):
    """Who is told of an import while it goes on."""

    progress: Callable[[int, int], None]
    """How many of how many bytes of the files were read."""
    damaged: Callable[[str, int, str], None]
    """The name of a file, the place of a damaged record in it, and what is wrong with that."""
    unresolved: Callable[[str, int, str], None]
    """The same for a record that refers to one that is not there."""


class ImportReport(msgspec.Struct):
    """What became of the records of archives."""

    files: int = 0
    records: Counter[str] = msgspec.field(default_factory=Counter)
    """All records that were read, by their kinds."""
    written: ImportWritten = msgspec.field(default_factory=ImportWritten)
    ignored: Counter[str] = msgspec.field(default_factory=Counter)
    """Records that were not taken, by what they are."""
    damaged: int = 0
    unresolved: int = 0
    sites: int = 0
    sites_in_scope: int = 0


class Importer:
    """Imports files into the database of a store whose run has begun. `reports` reads the same database."""

    def __init__(
        self,
        store: Store,
        reports: Reports,
        work: WorkConf,
        tools: DocumentTools,
        local_schemes: frozenset[str],
        now: Callable[[], float],
        listener: Listener,
        ignores_digests: bool = False,
    ) -> None:
        self._limits = Limits(work.MaxBytes + MOST_HEADER, ignores_digests)
        self._store = store
        self._work = work
        self._documents = DocumentReader(work, tools)
        self._accepted = AcceptedTypes(work.MediaTypes)
        self._canon = Canon.of(work)
        self._compress = compressor(work)
        self._local_schemes = local_schemes
        self._now = now
        self._listener = listener
        self.report = ImportReport()
        """What was done so far."""
        self._revisits = Revisits(reports, work.MaxBytes)
        self._sites: dict[Origin, tuple[int, bool]] = {}
        self._requests: set[bytes] = set()
        self._waiting: list[tuple[Capture, str]] = []
        self._size = 0

    def run(self, files: Sequence[ArchiveFile]) -> None:
        """Imports the files in their order. What was committed stays, whatever happens afterwards."""
        total = sum(file.size for file in files)
        done = 0
        for file in files:

            def passed(at: int, before: int = done) -> None:
                self._listener.progress(before + at, total)

            records = file.records(self._limits, self._damaged, passed)
            for capture in captures(
                records, self._work.MaxBytes, self._now(), self.report.records, self._ignore, self._damaged
            ):
                self._take(capture)
            self._flush()
            done += file.size
            self.report.files += 1
            self._listener.progress(done, total)

    def _damaged(self, label: str, at: int, sentence: str) -> None:
        self.report.damaged += 1
        self._listener.damaged(label, at, sentence)

    def _ignore(self, what: str) -> None:
        self.report.ignored[what] += 1

    # --- one answer -----------------------------------------------------------------------------------------------------

    def _take(self, capture: Capture) -> None:
        if capture.method not in ("", "GET"):
            self._ignore("answers to other requests than GET")
            return
        url = self._admitted(capture.url)
        if url is None:
            return
        if capture.revisited is not None and capture.result.status != 304:
            self._flush()  # What it refers to may be in there.
            if not self._revisits.resolve(capture, canonical):
                self.report.unresolved += 1
                self._listener.unresolved(capture.label, capture.offset, f"the answer that it refers to is not here ({url})")
                return
        self._revisits.note(capture, url)
        self._waiting.append((capture, url))
        self._size += len(capture.result.body) + len(capture.result.transferred)
        if len(self._waiting) >= _BATCH or self._size >= _BATCH_BYTES:
            self._flush()

    def _admitted(self, text: str) -> str | None:
        """The canonical form of a URL that a link could lead to; others are counted."""
        url = canonical(text) if len(text) <= 4 * self._work.MaxUrlLength else None
        if url is None:
            self._ignore("answers of what is no URL of a server")
            return None
        scheme, _, port, _ = split(url)
        if scheme not in _SCHEMES or cross_refusal("", scheme, port, self._local_schemes) is not None:
            self._ignore(f"answers of the scheme {scheme[:20]}")
            return None
        url = url if self._canon is None else self._canon.apply(url)
        if len(url) > self._work.MaxUrlLength:
            self._ignore("answers of URLs longer than MaxUrlLength")
            return None
        return url

    # --- a batch --------------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        """Commits the answers that wait."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        if not waiting:
            return
        self._find_sites([split(url)[:3] for _, url in waiting])
        records: list[_Record] = []
        for capture, url in waiting:
            records += self._records(capture, url)
        if records:
            self.report.written.add(self._store.store_imported(self._packed(records), self._now()))

    def _find_sites(self, origins: Sequence[Origin]) -> None:
        new = {origin for origin in origins if origin not in self._sites}
        if not new:
            return
        if len(self._sites) > _LINKS:
            self._sites.clear()
            new.update(origins)
        found = self._store.sites_of(new)
        self._sites.update(found)
        self.report.sites += len(found)
        self.report.sites_in_scope += sum(inside for _, inside in found.values())

    def _packed(self, records: Sequence[_Record]) -> list[PackedPage | LinksRecord | ImportedExchange]:
        work = self._work
        pages = [record for record in records if isinstance(record, PageRecord)]
        facts = (work.KeepLinks, work.Summaries != "none", work.Similarity, work.MergeMode == "eager")
        packed = iter(pack_all(pages, self._compress, *facts))
        return [next(packed) if isinstance(record, PageRecord) else record for record in records]

    def _records(self, capture: Capture, url: str) -> list[_Record]:
        scheme, host, port, path = split(url)
        result, work = capture.result, self._work
        site = self._sites[scheme, host, port][0]
        item = DueUrl(key_of(path), path, capture.depth, capture.hops)
        request = self._request(capture)
        if capture.is_conversion:
            result.marks |= ExchangeMark.MERGED
        target = redirect_target(result, url, self._canon) if result.status in REDIRECTS else ""
        if result.status == 304 or failure(result) is not None or (result.status in REDIRECTS and not target):
            facts = (capture.at, result.status, capture.address, exchange_of(result, request))
            return [ImportedExchange(site, item.key, path, url, item.depth, *facts)]
        emitted: list[BufferRecord] = []
        lease = SiteLease(0, site, scheme, host, port, ())
        assignment = Assignment(lease, capture.address, (), 0.0, 0)
        writer = RecordWriter(assignment, work, emitted.append, LinkBudget(lease, work), request)
        if target:
            writer.redirect(item, result, target[: work.MaxUrlLength], (), capture.at)
        else:
            self._write_document(writer, item, capture, url, lease)
        return [_marked(record) for record in emitted if isinstance(record, PageRecord | LinksRecord)]

    def _write_document(self, writer: RecordWriter, item: DueUrl, capture: Capture, url: str, lease: SiteLease) -> None:
        result, documents = capture.result, self._documents
        media_type, charset = documents.recognise(result.header("content-type"), result.body)
        if not self._accepted.admits(media_type):
            self._ignore("documents of a type that MediaTypes leaves out")
            return
        document = ReadDocument(item, result, media_type, charset, capture.at)
        as_sitemap = is_sitemap(item.path, media_type)
        if documents.is_quick(media_type):
            documents.read_html(document)
        elif documents.is_read(media_type, as_sitemap):
            documents.read(document, url, as_sitemap)
        document.lastmods = ()
        agent = self._work.UserAgent
        document.directives = documents.directives_of(document.links, result.headers, url, agent, capture.at)
        if document.directives and reason_not_to_keep(document.directives) is not None:
            self._ignore("documents that ask not to be kept (Directives)")
            return
        documents.label(document)
        links = document.links
        new = NewLinks([], [], []) if links is None else self._links(document, links, url, lease)
        writer.page(document, new, links.table if links is not None and self._work.KeepLinks else b"")
        for member in document.members:
            if not member.skipped:
                writer.member(item, member, *documents.recognise("", member.body), document.at)

    def _links(self, document: ReadDocument, links: PageLinks, url: str, lease: SiteLease) -> NewLinks:
        """The links of a document, all of them as URLs of other sites: so each passes the scope."""
        room = Room(0, _LINKS, _LINKS)
        known = KnownUrls(b"", True, room)
        finder = NewLinkFinder(
            lease.origin, known, room, self._work.MaxUrlLength, canon=self._canon, budget=LinkBudget(lease, self._work)
        )
        asks_nofollow = bool(document.directives and document.directives & Directive.NOFOLLOW)
        new = NewLinks([], [], []) if asks_nofollow else finder.find(url, links, self._work.Embedded)
        finder.add_nofollow(url, links, new, asks_nofollow, self._documents.obeys_nofollow)
        origin = lease.origin
        external = [*(origin + path for _, path in new.internal), *new.external]
        refused = [(word, origin + text if text.startswith("/") else text) for word, text in new.refused]
        return NewLinks([], external, refused, new.left_out, new.left_out_external)

    def _request(self, capture: Capture) -> bytes:
        if capture.request not in self._requests:
            if len(self._requests) >= _MOST_REQUESTS:
                return b""
            self._requests.add(capture.request)
        return capture.request


def _marked(record: PageRecord | LinksRecord) -> PageRecord | LinksRecord:
    if isinstance(record, LinksRecord) or record.marks & ExchangeMark.IMPORTED:
        return record
    return msgspec.structs.replace(record, marks=record.marks | ExchangeMark.IMPORTED)
