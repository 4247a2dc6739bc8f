"""Refresh by fragment: what a visit does with tables of variable information (.TVI).

A new document with volatile markers waits for its table, if its site declares one. Then it is stored in parts. When it is due
again, its table is requested in its place, and the new document is made of the table and the stored skeleton:

| the table | what happens |
|---|---|
| 304, or with the hash that is stored | the document is unchanged |
| both hashes fit | the merged document is stored, with the links that it did not have before |
| is of another skeleton | the whole document is requested; the same table parts it |
| damaged, too large, of another document | discarded, a strike, the whole document is requested |
| 404, 410, no table, of another version, elsewhere | the document is requested with its validators; its table is forgotten |
| 401, 403 and the like | the document is requested with its validators; its table is not forgotten |
| 429, 5xx, no answer | as for a document; the next try is the document's |
| larger than half the compressed document | used, and forgotten |
| after 19 refreshes in a row | the document is requested, too; where they differ, a strike |

After three tables in a row that were not there, the site's tables are not requested until the next day.

Nothing here sends or writes: `Fragments` returns what the visit has to do, as a `Step`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import NamedTuple

import msgspec

from parcahyd.augment.markers import has_markers, may_have_markers
from parcahyd.augment.refusal import MAX_TABLE_BYTES, Consequence, Refusal, RefusalReason
from parcahyd.augment.sidecars import is_of_document, resolve
from parcahyd.augment.skeleton import merge, part_with_tvi, refreshed
from parcahyd.augment.tvi import Region, Tvi, read_tvi
from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.core.records import DueUrl, StoredVersion, TableFact
from parcahyd.core.states import Event, Reason
from parcahyd.pipeline.crawl_worker.augmented.offers import Offers
from parcahyd.pipeline.crawl_worker.document_reader import NO_PARTS, Parts, ReadDocument, is_xml
from parcahyd.pipeline.crawl_worker.known_urls import Room
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest, RequestKind, redirect_target
from parcahyd.rules.html.link_header import read_link_headers
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.rules.politeness.backoff import REDIRECTS, Failure, failure
from parcahyd.rules.politeness.validators import conditional_headers, validator

__all__ = ["AUDIT_AFTER", "Fragments", "Step"]

AUDIT_AFTER = 19
"""Refreshes by table in a row; at the next one, the audit, the document itself is requested, too."""
_HOPS = 3
_LARGEST = 8 * 1024 * 1024
"""Bytes of a document: larger ones do not wait for tables, because hashing them would hold up the event loop."""
_LARGEST_MARKED = 1024 * 1024
"""The same for documents whose markers have to be searched, because the table is of another version."""
_LARGEST_SEARCHED = 128 * 1024
"""The same for new documents, in which real markers are told from words of the text: some 20 ms at worst."""
_PIECE = 32 * 1024
_LONGEST_REFRESH = 366 * 86400
_ABSENT = frozenset((404, 410)) | REDIRECTS
_LOST = Failure(Reason.FAULT, Event.FAILURE)


class Step(NamedTuple):
    """What the visit has to do after an answer: one of these, or nothing."""

    document: ReadDocument | None = None
    """A document that waited for its table is stored."""
    result: DownloadResult | None = None
    """The new document was made of its table; it is handled as if it had been received."""
    request: PlannedRequest | None = None
    """This is requested before the next page."""
    is_fresh: bool = False
    """The stored document is current; `table`, `etag` and `modified` replace what is stored."""
    table: TableFact | None = None
    etag: str = ""
    modified: str = ""
    failed: Failure | None = None
    """The answer is a failure, which counts as a failure of the document."""


class _ValidTable(NamedTuple):
    """A table that was received, is well-formed, and belongs to the document of its request."""

    tvi: Tvi
    fact: TableFact
    size: int


class _Expected(NamedTuple):
    """What is known of a document's table while the document itself is on the wire, or being read."""

    table: _ValidTable | None = None
    """The document is parted by it."""
    sha256: bytes = b""
    """An audit: the hash that the document must have."""
    is_kept: bool = False
    """The table is requested again next time, if the document is unchanged."""
    merged: Parts | None = None
    """The document was made of its table."""


class Fragments:
    """The tables of variable information of one visit.

    `allows` says whether robots.txt allows a path; `is_busy` whether a request that is not necessary would keep pages waiting.
    """

    def __init__(
        self,
        origin: str,
        offers: Offers,
        max_bytes: int,
        allows: Callable[[str], bool],
        is_busy: Callable[[], bool],
        room: Room,
        is_off: bool = False,
    ) -> None:
        """`is_off`: no table is requested, and none used."""
        self._origin = origin
        self._offers = offers
        self._max_bytes = max_bytes
        self._allows = allows
        self._is_busy = is_busy
        self._room = room
        self._waiting: dict[int, ReadDocument] = {}
        self._expected: dict[int, _Expected] = {}
        self._is_closed = False
        self._is_off = is_off

    # --- what to request -----------------------------------------------------------------------------------------------

    def request_instead(self, item: DueUrl, now: float) -> PlannedRequest | None:
        """The request of a table in place of its stored document, or None. After a failure the document is requested."""
        if item.stored_version is None or item.tries or self._offers.are_fragments_barred(now):
            return None
        path = self._table_path(item)
        if path is None:
            return None
        table = item.stored_version.table
        # A date beside an entity tag is ignored (RFC 9110, section 13.1.3), and tables are small enough for its bytes to count.
        return _request(path, item, validators=conditional_headers(table.etag, "" if table.etag else table.modified))

    def request_table_of(self, document: ReadDocument, now: float) -> PlannedRequest | None:
        """The request of the table that a document waits for, or None. A later `Step`, or `close`, returns the document."""
        item, result = document.item, document.result
        if self._is_closed or item.key in self._expected:
            return None
        if result.status != 200 or len(result.body) > _LARGEST or not _can_have_regions(document.media_type):
            return None
        path = self._table_path(item)
        if path is None or not _has_markers(document):
            return None
        if self._is_busy() or self._offers.are_fragments_barred(now) or _has_more_outside_regions(document):
            return None
        if len(result.body) > self._room.document_bytes:
            return None  # It is stored without its table rather than held in memory.
        self._room.document_bytes -= len(result.body)
        self._waiting[item.key] = document
        return _counted(_request(path, item))

    def _take(self, key: int) -> ReadDocument | None:
        """The document that waits, if there is one; it waits no longer."""
        document = self._waiting.pop(key, None)
        if document is not None:
            self._room.document_bytes += len(document.result.body)
        return document

    def _table_path(self, item: DueUrl) -> str | None:
        """The path of a document's table, if one is declared and robots.txt allows it."""
        path = None if self._is_off else self._offers.tvi_of(item.path)
        return path if path is not None and self._allows(path) else None

    def close(self, dropped: Iterable[PlannedRequest]) -> list[ReadDocument]:
        """Request nothing more; returns the documents that waited for the dropped requests."""
        self._is_closed = True
        keys = [request.item.key for request in dropped if request.item is not None]
        return [document for key in keys if (document := self._take(key)) is not None]

    # --- what arrived --------------------------------------------------------------------------------------------------

    def answered(self, request: PlannedRequest, result: DownloadResult, failed: Failure | None, now: float) -> Step:
        """Handle the answer to the request of a table. `failed` is a failure that the answer itself does not show."""
        item = request.item
        assert item is not None  # noqa: S101 - every request for a table has its document's item
        if result.failure is not DownloadFailure.CANCELLED:
            failed = failed or failure(result)
        moved = self._moved(request, result) if failed is None and result.status in REDIRECTS and not self._is_closed else None
        if moved is not None:
            return Step(request=moved)
        document = self._take(item.key)
        if document is not None:
            document.parts = self._parts_of_waiting(request, document, result, failed, now)
            return Step(document)
        if result.failure is DownloadFailure.CANCELLED:
            return Step()
        if item.stored_version is None:
            return Step(failed=failed or _LOST)
        return self._refresh(request, item, item.stored_version, result, failed, now)

    def _parts_of_waiting(
        self, request: PlannedRequest, document: ReadDocument, result: DownloadResult, failed: Failure | None, now: float
    ) -> Parts:
        """The parts of a document that waited for this answer."""
        if result.failure is DownloadFailure.SIZE:
            self._offers.strike(now)
        if failed is not None or not 200 <= result.status <= 299:
            if result.status in _ABSENT:
                self._offers.note_tvi(now, is_there=False)
            return NO_PARTS
        if len(result.body) * 2 > len(document.result.body) and result.body.startswith(b"TVI/1"):
            return NO_PARTS  # Larger than half the document, compressed or not: it need not be read.
        table = self._read(request, document.item, result)
        if isinstance(table, Refusal):
            self._note_refusal(table, now)
            return NO_PARTS
        self._offers.note_tvi(now, is_there=True)
        return self._parted(table, document, now)

    def _refresh(
        self,
        request: PlannedRequest,
        item: DueUrl,
        stored: StoredVersion,
        result: DownloadResult,
        failed: Failure | None,
        now: float,
    ) -> Step:
        if result.failure is DownloadFailure.SIZE:
            return self._refused(item, Refusal(RefusalReason.TOO_LARGE), now)
        if failed is not None:
            if failed.event is Event.MISSING:
                self._offers.note_tvi(now, is_there=False)
                return self._document(item, _Expected())
            is_refused = failed.reason is Reason.HTTP_REFUSED
            return self._document(item, _Expected(is_kept=True)) if is_refused else Step(failed=failed)
        if result.status == 304 and (stored.table.etag or stored.table.modified):
            self._offers.note_tvi(now, is_there=True)
            return self._not_modified(item, stored, result)
        if not 200 <= result.status <= 299:
            self._offers.note_tvi(now, is_there=False)
            return self._document(item, _Expected())
        table = self._read(request, item, result)
        if isinstance(table, Refusal):
            return self._refused(item, table, now)
        self._offers.note_tvi(now, is_there=True)
        if table.tvi.hash == stored.sha256:
            return self._confirmed(item, stored, table)
        return self._merge(item, stored, table, now)

    def _not_modified(self, item: DueUrl, stored: StoredVersion, result: DownloadResult) -> Step:
        fact = msgspec.structs.replace(
            stored.table,
            etag=validator(result.header("etag")) or stored.table.etag,
            modified=validator(result.header("last-modified")) or stored.table.modified,
            merges=stored.table.merges + 1,
        )
        if stored.table.merges >= AUDIT_AFTER:
            table = _ValidTable(_table_of(stored), msgspec.structs.replace(fact, merges=0), 0)
            return self._document(item, _Expected(table, sha256=stored.sha256))
        return Step(is_fresh=True, table=fact, etag=item.etag, modified=item.modified)

    def _confirmed(self, item: DueUrl, stored: StoredVersion, table: _ValidTable) -> Step:
        if stored.table.merges >= AUDIT_AFTER:
            return self._document(item, _Expected(table, sha256=stored.sha256))
        is_small = table.size * 2 <= len(stored.skeleton) or not _is_too_large(
            table, merge(_skeleton_of(stored), _regions_of(stored))
        )
        fact = _next_fact(stored, table) if is_small else None
        etag, modified = validator(table.tvi.etag), validator(table.tvi.last_modified)
        return Step(is_fresh=True, table=fact, etag=etag or item.etag, modified=modified or item.modified)

    def _merge(self, item: DueUrl, stored: StoredVersion, table: _ValidTable, now: float) -> Step:
        skeleton, tvi = _skeleton_of(stored), table.tvi
        places = tuple([(name, offset) for name, offset, _ in stored.regions])
        document = refreshed(skeleton, tvi, places)
        if isinstance(document, Refusal):
            return self._refused(item, document, now, table)
        if len(document) > self._max_bytes:
            return self._document(item, _Expected(), is_unconditional=True)
        if stored.table.merges >= AUDIT_AFTER:
            return self._document(item, _Expected(table, sha256=tvi.hash))
        before = merge(skeleton, _regions_of(stored))
        if _is_too_large(table, document):
            parts = Parts(before=before, head=stored.head)
        else:
            parts = Parts(_spans_of(tvi.regions), _next_fact(stored, table), before, stored.head)
        self._expected[item.key] = _Expected(merged=parts)
        return Step(result=_answer_of(stored, tvi, document))

    def _refused(self, item: DueUrl, refusal: Refusal, now: float, table: _ValidTable | None = None) -> Step:
        """The document cannot be made of the table: the document itself is requested."""
        self._note_refusal(refusal, now)
        consequence = refusal.reason.consequence
        if consequence is Consequence.ABSENT:
            return self._document(item, _Expected())
        return self._document(item, _Expected(table if consequence is Consequence.STALE else None), is_unconditional=True)

    def _document(self, item: DueUrl, expected: _Expected, is_unconditional: bool = False) -> Step:
        self._expected[item.key] = expected
        request = _counted(PlannedRequest(RequestKind.PAGE, item.path, item))
        request.is_unconditional = is_unconditional
        return Step(request=request)

    def _moved(self, request: PlannedRequest, result: DownloadResult) -> PlannedRequest | None:
        """A redirect of a table is followed within its site."""
        target = redirect_target(result, self._origin + request.path)
        path = target[len(self._origin) :]
        if request.hops >= _HOPS or not target.startswith(self._origin + "/") or not self._allows(path):
            return None
        return _counted(_request(path, request.item, request.hops + 1, request.validators))

    def _read(self, request: PlannedRequest, item: DueUrl, result: DownloadResult) -> _ValidTable | Refusal:
        tvi = read_tvi(result.body)
        if isinstance(tvi, Refusal):
            return tvi
        if not self._is_of(self._origin + request.path, tvi.document, item.path):
            return Refusal(RefusalReason.DOCUMENT)
        validators = validator(result.header("etag")), validator(result.header("last-modified"))
        return _ValidTable(tvi, TableFact(*validators, min(tvi.refresh or 0, _LONGEST_REFRESH)), len(result.body))

    def _is_of(self, table_url: str, reference: str, path: str) -> bool:
        """Whether a table belongs to the document; a folder's index document is the one that has the same table."""
        if is_of_document(table_url, reference, self._origin + path):
            return True
        named = (resolve(table_url, reference) or "")[len(self._origin) :]
        is_in_folder = path.endswith("/") and named.rpartition("/")[0] + "/" == path
        return is_in_folder and self._offers.tvi_of(named) == self._offers.tvi_of(path)

    def _note_refusal(self, refusal: Refusal, now: float) -> None:
        if refusal.reason.consequence is Consequence.STRIKE:
            self._offers.strike(now)
        elif refusal.reason.consequence is Consequence.ABSENT:
            self._offers.note_tvi(now, is_there=False)

    # --- the document itself -------------------------------------------------------------------------------------------

    def unchanged(self, item: DueUrl, now: float) -> tuple[TableFact | None, bool]:
        """Of a document that its server confirmed: what is new about its table, or None; and whether the table is gone."""
        expected = self._expected.pop(item.key, None)
        if item.stored_version is None:
            return None, False
        if expected is None:
            return None, self._table_path(item) is None
        if not expected.sha256:
            return None, not expected.is_kept
        if expected.sha256 != item.stored_version.sha256:
            self._offers.strike(now)
            return None, True
        return (None, True) if expected.table is None else (expected.table.fact, False)

    def parts_of(self, document: ReadDocument, now: float) -> Parts:
        """The parts of a document that was received after its table, or made of it; none of any other."""
        expected = self._expected.pop(document.item.key, None)
        if expected is None:
            return NO_PARTS
        if expected.merged is not None:
            return expected.merged
        if expected.sha256 and sha256(document.result.body).digest() != expected.sha256:
            self._offers.strike(now)
        return NO_PARTS if expected.table is None else self._parted(expected.table, document, now)

    def forget(self, item: DueUrl) -> None:
        """The document was not received."""
        self._expected.pop(item.key, None)

    def _parted(self, table: _ValidTable, document: ReadDocument, now: float) -> Parts:
        body, media_type = document.result.body, document.media_type
        if not _can_have_regions(media_type) or _has_more_outside_regions(document):
            return NO_PARTS
        if len(body) > _LARGEST_MARKED and sha256(body).digest() != table.tvi.hash:
            return NO_PARTS
        parted = part_with_tvi(body, table.tvi, is_xml=not is_html(media_type), charset=document.charset)
        if isinstance(parted, Refusal):
            self._note_refusal(parted, now)
            return NO_PARTS
        if not parted.regions or _is_too_large(table, body):
            return NO_PARTS
        return Parts(_spans_of(parted.regions), table.fact)


def _request(path: str, item: DueUrl | None, hops: int = 0, validators: tuple[tuple[str, str], ...] = ()) -> PlannedRequest:
    return PlannedRequest(RequestKind.TVI, path, item, hops=hops, max_bytes=MAX_TABLE_BYTES, validators=validators)


def _counted(request: PlannedRequest) -> PlannedRequest:
    request.is_counted = True
    return request


def _can_have_regions(media_type: str) -> bool:
    return is_html(media_type) or is_xml(media_type)


def _has_markers(document: ReadDocument) -> bool:
    """Whether the document may have regions. Words in the text of all but large ones do not count."""
    body, is_no_html = document.result.body, not is_html(document.media_type)
    if len(body) > _LARGEST_SEARCHED:
        return may_have_markers(body, is_no_html)
    return has_markers(body, is_xml=is_no_html, charset=document.charset)


def _has_more_outside_regions(document: ReadDocument) -> bool:
    """Whether the document has links or directives in its headers or meta tags.

    A refresh by table would not update those.
    """
    result = document.result
    if (document.links is not None and document.links.robots) or result.header("x-robots-tag"):
        return True
    headers = [value for name, value in result.headers if name.lower() == "link"]
    return bool(headers) and bool(read_link_headers(headers).keys)


def _next_fact(stored: StoredVersion, table: _ValidTable) -> TableFact:
    return msgspec.structs.replace(table.fact, merges=stored.table.merges + 1)


def _is_too_large(table: _ValidTable, document: bytes) -> bool:
    """Whether the table is larger than half the compressed document, of which no more is compressed than needed for that."""
    packer = zlib.compressobj(1)
    size = 0
    for begin in range(0, len(document), _PIECE):
        size += len(packer.compress(document[begin : begin + _PIECE]))
        if size >= table.size * 2:
            return False
    return size + len(packer.flush()) < table.size * 2


# --- the stored version -------------------------------------------------------------------------------------------------


def _skeleton_of(stored: StoredVersion) -> bytes:
    """The stored skeleton; empty, so that it fits no table, where it cannot be decompressed."""
    try:
        return zlib.decompressobj().decompress(stored.skeleton, stored.length + 1)
    except zlib.error:
        return b""


def _regions_of(stored: StoredVersion) -> tuple[Region, ...]:
    return tuple([Region(*region) for region in stored.regions])


def _table_of(stored: StoredVersion) -> Tvi:
    """The table of which the stored version was made, as far as it is needed to part the document."""
    skeleton, regions = _skeleton_of(stored), _regions_of(stored)
    length = stored.length + sum([len(region.content) for region in regions])
    return Tvi("", sha256(skeleton).digest(), stored.length, stored.sha256, length, regions)


def _spans_of(regions: tuple[Region, ...]) -> tuple[tuple[str, int, int], ...]:
    """ID, begin and end of regions in the whole document."""
    spans = []
    shift = 0
    for region in regions:
        begin = region.offset + shift
        shift += len(region.content)
        spans.append((region.id, begin, begin + len(region.content)))
    return tuple(spans)


def _answer_of(stored: StoredVersion, tvi: Tvi, document: bytes) -> DownloadResult:
    """The merged document as an answer. Its validators are those of the table: the stored ones are of an earlier version."""
    charset = f"; charset={stored.charset}" if stored.charset else ""
    headers = (
        ("Content-Type", stored.media_type + charset if stored.media_type else ""),
        ("ETag", validator(tvi.etag)),
        ("Last-Modified", validator(tvi.last_modified)),
    )
    return DownloadResult(200, [(name, value) for name, value in headers if value], document)
