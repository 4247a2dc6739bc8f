"""Refresh by fragment: what a visit does with tables of variable information (.TVI).

A document that came whole and has volatile markers waits for its table, if its site declares one; then it is stored in parts.
When it is due again the table is asked for in its place, and makes the new document of the stored skeleton:

| the table | what happens |
|---|---|
| 304, or with the hash that is stored | the document is unchanged |
| both hashes fit | the merged document is stored, with the links that it did not have before |
| is of another skeleton | the whole document is asked for; the same table parts it |
| damaged, too large, of another document | discarded, a strike, the whole document is asked for |
| 404, 410, no table, of another version, elsewhere | the document is asked for with its validators; its table is forgotten |
| 401, 403 and the like | the document is asked for with its validators; its table is not forgotten |
| 429, 5xx, no answer | as for a document; the next try is the document's |
| larger than half the compressed document | used, and forgotten |
| after 19 refreshes in a row | the document is asked for, too; where they differ, a strike |

After three tables in a row that were not there, none of the site's is asked for until the next day.

Nothing here asks or writes: `Fragments` says what to do, as a step.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import NamedTuple, Protocol

import msgspec

from parcahyd.augment.limits import MAX_TABLE_BYTES
from parcahyd.augment.markers import may_have_markers
from parcahyd.augment.refusal import Consequence, Fault, Refusal
from parcahyd.augment.sidecars import is_of_document, resolve
from parcahyd.augment.tvi import Tvi, read_tvi
from parcahyd.augment.volatile import first_visit, merge, refreshed
from parcahyd.core.life_cycle import Event, Reason
from parcahyd.core.ports import DownloadFault, DownloadResult
from parcahyd.core.records import DueUrl, Held, TableFact
from parcahyd.pipeline.crawl_worker.answers import location, sendable, validating
from parcahyd.pipeline.crawl_worker.asks import Ask, AskKind
from parcahyd.pipeline.crawl_worker.documents import Page, Parts, Reading, is_xml
from parcahyd.pipeline.crawl_worker.stored_parts import answer_of, regions_of, skeleton_of, spans_of, table_of
from parcahyd.rules.link_header import read_link_headers
from parcahyd.rules.media_type import is_html
from parcahyd.rules.retries import REDIRECTS, Failure

__all__ = ["AUDIT_AFTER", "Fragments", "Step", "Tables"]

AUDIT_AFTER = 19
"""Refreshes by table in a row; with the next one the document itself is asked for, too."""
_HOPS = 3
_LARGEST = 8 * 1024 * 1024
"""Bytes of a document: larger ones do not wait for tables, because hashing them would hold up the event loop."""
_LARGEST_MARKED = 1024 * 1024
"""The same where its markers have to be found, because its table is of another version."""
_PIECE = 32 * 1024
_LONGEST_REFRESH = 366 * 86400
_ABSENT = frozenset((404, 410)) | REDIRECTS
_NO_PARTS = Parts()
_LOST = Failure(Reason.FAULT, Event.FAILURE)


class Tables(Protocol):
    """What is known of the tables of one site."""

    def tvi_of(self, path: str) -> str | None:
        """The path of a document's table; None where none is declared."""
        ...

    def is_fragments_barred(self, now: float) -> bool:
        """Whether the site's tables were wrong too often, or are believed to be missing."""
        ...

    def strike(self, now: float) -> None:
        """A table was wrong."""
        ...

    def note_tvi(self, now: float, *, is_there: bool) -> None:
        """Whether a table is there."""
        ...


class Step(NamedTuple):
    """What to do about an answer: one of these, or nothing."""

    page: Page | None = None
    """A document that waited for its table is stored, with its `parts`."""
    parts: Parts = _NO_PARTS
    document: DownloadResult | None = None
    """The new document was made; it is taken as if it had come itself."""
    ask: Ask | None = None
    """This is to be asked for before the next page."""
    is_fresh: bool = False
    """The stored document is current; `table`, `etag` and `modified` are what is known now."""
    table: TableFact | None = None
    etag: str = ""
    modified: str = ""
    failed: Failure | None = None
    """What came is a failure, as it would be of the document."""


class _InHand(NamedTuple):
    """A table that came: sound by itself, and of the document asked for."""

    tvi: Tvi
    fact: TableFact
    size: int


class _Beside(NamedTuple):
    """What is known of a page's table while the document itself is on its way, or being read."""

    table: _InHand | None = None
    """The document is parted by it."""
    expected: bytes = b""
    """An audit: the hash that the document must have."""
    is_kept: bool = False
    """The table is asked for again next time, if the document is unchanged."""
    merged: Parts | None = None
    """The document was made of its table."""


class Fragments:
    """The tables of variable information of one visit.

    `allows` says whether robots.txt lets a path be asked for; `is_short` whether the worker has no room for requests that could
    be done without.
    """

    def __init__(
        self, origin: str, tables: Tables, max_bytes: int, allows: Callable[[str], bool], is_short: Callable[[], bool]
    ) -> None:
        self._origin = origin
        self._tables = tables
        self._max_bytes = max_bytes
        self._allows = allows
        self._is_short = is_short
        self._waiting: dict[int, Page] = {}
        self._beside: dict[int, _Beside] = {}
        self._is_closed = False

    # --- what to ask ---------------------------------------------------------------------------------------------------

    def instead(self, item: DueUrl, now: float) -> Ask | None:
        """The table to be asked for in place of a stored document. After a failure it is the document's turn."""
        if item.held is None or item.tries or self._tables.is_fragments_barred(now):
            return None
        path = self._table_of(item)
        return None if path is None else _ask(path, item)

    def wait(self, page: Page, now: float) -> Ask | None:
        """The table that a document in hand is to wait for; it comes back with a `Keep`, or from `close`."""
        item, result = page.item, page.result
        if self._is_closed or item.key in self._beside:
            return None
        if result.status != 200 or len(result.body) > _LARGEST or not _can_have_regions(page.media_type):
            return None
        path = self._table_of(item)
        if path is None or not may_have_markers(result.body, is_xml=not is_html(page.media_type)):
            return None
        if self._is_short() or self._tables.is_fragments_barred(now) or _says_more(result, page.reading):
            return None
        self._waiting[item.key] = page
        return _counted(_ask(path, item))

    def _table_of(self, item: DueUrl) -> str | None:
        """The path of a document's table, where it may be asked for."""
        path = self._tables.tvi_of(item.path)
        return path if path is not None and self._allows(path) else None

    def validators(self, ask: Ask) -> tuple[tuple[str, str], ...]:
        """The validators of the table that a stored document is refreshed by."""
        item = ask.item
        if item is None or item.held is None or item.key in self._waiting:
            return ()
        table = item.held.table
        # A date beside an entity tag is ignored (RFC 9110, section 13.1.3), and tables are small enough for its bytes to count.
        return validating(table.etag, "" if table.etag else table.modified)

    def close(self, dropped: Iterable[Ask]) -> list[Page]:
        """Nothing more is asked for. Gives the documents that waited for what was dropped."""
        self._is_closed = True
        keys = [ask.item.key for ask in dropped if ask.item is not None]
        return [self._waiting.pop(key) for key in keys if key in self._waiting]

    # --- what came back ------------------------------------------------------------------------------------------------

    def answered(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> Step:
        """What an answer to a table's request means. `failed` says why it is none."""
        item = ask.item
        assert item is not None  # noqa: S101 - every ask for a table has its document's item
        moved = self._moved(ask, result) if failed is None and result.status in REDIRECTS and not self._is_closed else None
        if moved is not None:
            return Step(ask=moved)
        page = self._waiting.pop(item.key, None)
        if page is not None:
            return Step(page, self._first(ask, page, result, failed, now))
        if result.fault is DownloadFault.CANCELLED:
            return Step()
        if item.held is None:
            return Step(failed=failed or _LOST)
        return self._refresh(ask, item, item.held, result, failed, now)

    def _first(self, ask: Ask, page: Page, result: DownloadResult, failed: Failure | None, now: float) -> Parts:
        """The parts of a document that waited for this answer."""
        if result.fault is DownloadFault.SIZE:
            self._tables.strike(now)
        if failed is not None or not 200 <= result.status <= 299:
            if result.status in _ABSENT:
                self._tables.note_tvi(now, is_there=False)
            return _NO_PARTS
        if len(result.body) * 2 > len(page.result.body) and result.body.startswith(b"TVI/1"):
            return _NO_PARTS  # Larger than half the document, packed or not: it need not be read.
        table = self._read(ask, page.item, result)
        if isinstance(table, Refusal):
            self._blame(table, now)
            return _NO_PARTS
        self._tables.note_tvi(now, is_there=True)
        return self._parted(table, page.result, page.media_type, page.reading, now)

    def _refresh(self, ask: Ask, item: DueUrl, held: Held, result: DownloadResult, failed: Failure | None, now: float) -> Step:
        if result.fault is DownloadFault.SIZE:
            return self._refused(item, Refusal(Fault.TOO_LARGE), now)
        if failed is not None:
            if failed.event is Event.MISSING:
                self._tables.note_tvi(now, is_there=False)
                return self._document(item, _Beside())
            is_refused = failed.reason is Reason.HTTP_REFUSED
            return self._document(item, _Beside(is_kept=True)) if is_refused else Step(failed=failed)
        if result.status == 304 and (held.table.etag or held.table.modified):
            self._tables.note_tvi(now, is_there=True)
            return self._not_modified(item, held, result)
        if not 200 <= result.status <= 299:
            self._tables.note_tvi(now, is_there=False)
            return self._document(item, _Beside())
        table = self._read(ask, item, result)
        if isinstance(table, Refusal):
            return self._refused(item, table, now)
        self._tables.note_tvi(now, is_there=True)
        if table.tvi.hash == held.sha256:
            return self._confirmed(item, held, table)
        return self._merge(item, held, table, now)

    def _not_modified(self, item: DueUrl, held: Held, result: DownloadResult) -> Step:
        fact = msgspec.structs.replace(
            held.table,
            etag=sendable(result.header("etag")) or held.table.etag,
            modified=sendable(result.header("last-modified")) or held.table.modified,
            merges=held.table.merges + 1,
        )
        if held.table.merges >= AUDIT_AFTER:
            table = _InHand(table_of(held), msgspec.structs.replace(fact, merges=0), 0)
            return self._document(item, _Beside(table, expected=held.sha256))
        return Step(is_fresh=True, table=fact, etag=item.etag, modified=item.modified)

    def _confirmed(self, item: DueUrl, held: Held, table: _InHand) -> Step:
        if held.table.merges >= AUDIT_AFTER:
            return self._document(item, _Beside(table, expected=held.sha256))
        is_small = table.size * 2 <= len(held.skeleton) or not _is_too_large(table, merge(skeleton_of(held), regions_of(held)))
        fact = _after(held, table) if is_small else None
        etag, modified = sendable(table.tvi.etag), sendable(table.tvi.last_modified)
        return Step(is_fresh=True, table=fact, etag=etag or item.etag, modified=modified or item.modified)

    def _merge(self, item: DueUrl, held: Held, table: _InHand, now: float) -> Step:
        skeleton, tvi = skeleton_of(held), table.tvi
        places = tuple([(name, offset) for name, offset, _ in held.regions])
        document = refreshed(skeleton, tvi, places)
        if isinstance(document, Refusal):
            return self._refused(item, document, now, table)
        if len(document) > self._max_bytes:
            return self._document(item, _Beside(), is_whole=True)
        if held.table.merges >= AUDIT_AFTER:
            return self._document(item, _Beside(table, expected=tvi.hash))
        before = merge(skeleton, regions_of(held))
        if _is_too_large(table, document):
            parts = Parts(before=before, headers=held.headers)
        else:
            parts = Parts(spans_of(tvi.regions), _after(held, table), before, held.headers)
        self._beside[item.key] = _Beside(merged=parts)
        return Step(document=answer_of(held, tvi, document))

    def _refused(self, item: DueUrl, refusal: Refusal, now: float, table: _InHand | None = None) -> Step:
        """A table that does not make the document: the document itself is asked for."""
        self._blame(refusal, now)
        consequence = refusal.fault.consequence
        if consequence is Consequence.ABSENT:
            return self._document(item, _Beside())
        return self._document(item, _Beside(table if consequence is Consequence.STALE else None), is_whole=True)

    def _document(self, item: DueUrl, beside: _Beside, is_whole: bool = False) -> Step:
        self._beside[item.key] = beside
        ask = _counted(Ask(AskKind.PAGE, item.path, item))
        ask.is_whole = is_whole
        return Step(ask=ask)

    def _moved(self, ask: Ask, result: DownloadResult) -> Ask | None:
        """A table that is elsewhere on its site is followed there."""
        target = location(result, self._origin + ask.path)
        path = target[len(self._origin) :]
        if ask.hops >= _HOPS or not target.startswith(self._origin + "/") or not self._allows(path):
            return None
        return _counted(_ask(path, ask.item, ask.hops + 1))

    def _read(self, ask: Ask, item: DueUrl, result: DownloadResult) -> _InHand | Refusal:
        tvi = read_tvi(result.body)
        if isinstance(tvi, Refusal):
            return tvi
        if not self._is_of(self._origin + ask.path, tvi.document, item.path):
            return Refusal(Fault.DOCUMENT)
        validators = sendable(result.header("etag")), sendable(result.header("last-modified"))
        return _InHand(tvi, TableFact(*validators, min(tvi.refresh or 0, _LONGEST_REFRESH)), len(result.body))

    def _is_of(self, table_url: str, reference: str, path: str) -> bool:
        """Whether a table speaks of the document asked for; a folder's index document is the one that has the same table."""
        if is_of_document(table_url, reference, self._origin + path):
            return True
        named = (resolve(table_url, reference) or "")[len(self._origin) :]
        is_in_folder = path.endswith("/") and named.rpartition("/")[0] + "/" == path
        return is_in_folder and self._tables.tvi_of(named) == self._tables.tvi_of(path)

    def _blame(self, refusal: Refusal, now: float) -> None:
        if refusal.fault.consequence is Consequence.STRIKE:
            self._tables.strike(now)
        elif refusal.fault.consequence is Consequence.ABSENT:
            self._tables.note_tvi(now, is_there=False)

    # --- the document itself -------------------------------------------------------------------------------------------

    def unchanged(self, item: DueUrl, now: float) -> tuple[TableFact | None, bool]:
        """What is known of the table of a document that its server confirmed, None for nothing new; and whether it is gone."""
        beside = self._beside.pop(item.key, None)
        if item.held is None:
            return None, False
        if beside is None:
            return None, self._table_of(item) is None
        if not beside.expected:
            return None, not beside.is_kept
        if beside.expected != item.held.sha256:
            self._tables.strike(now)
            return None, True
        return (None, True) if beside.table is None else (beside.table.fact, False)

    def parts(self, page: Page, now: float) -> Parts:
        """The parts of a document that came after its table, or was made of it; none of any other."""
        beside = self._beside.pop(page.item.key, None)
        if beside is None:
            return _NO_PARTS
        if beside.merged is not None:
            return beside.merged
        if beside.expected and sha256(page.result.body).digest() != beside.expected:
            self._tables.strike(now)
        if beside.table is None:
            return _NO_PARTS
        return self._parted(beside.table, page.result, page.media_type, page.reading, now)

    def forget(self, item: DueUrl) -> None:
        """The document did not come."""
        self._beside.pop(item.key, None)

    def _parted(self, table: _InHand, result: DownloadResult, media_type: str, reading: Reading, now: float) -> Parts:
        if not _can_have_regions(media_type) or _says_more(result, reading):
            return _NO_PARTS
        if len(result.body) > _LARGEST_MARKED and sha256(result.body).digest() != table.tvi.hash:
            return _NO_PARTS
        parted = first_visit(result.body, table.tvi, is_xml=not is_html(media_type), charset=reading.charset)
        if isinstance(parted, Refusal):
            self._blame(parted, now)
            return _NO_PARTS
        if not parted.regions or _is_too_large(table, result.body):
            return _NO_PARTS
        return Parts(spans_of(parted.regions), table.fact)


def _ask(path: str, item: DueUrl | None, hops: int = 0) -> Ask:
    return Ask(AskKind.FRAGMENT, path, item, hops=hops, max_bytes=MAX_TABLE_BYTES)


def _counted(ask: Ask) -> Ask:
    ask.is_counted = True
    return ask


def _can_have_regions(media_type: str) -> bool:
    return is_html(media_type) or is_xml(media_type)


def _says_more(result: DownloadResult, reading: Reading) -> bool:
    """Whether more than the document's bytes tells of its links: a table could not bring that."""
    if (reading.links is not None and reading.links.robots) or result.header("x-robots-tag"):
        return True
    beside = [value for name, value in result.headers if name.lower() == "link"]
    return bool(beside) and bool(read_link_headers(beside).keys)


def _after(held: Held, table: _InHand) -> TableFact:
    return msgspec.structs.replace(table.fact, merges=held.table.merges + 1)


def _is_too_large(table: _InHand, document: bytes) -> bool:
    """Whether the table is larger than half the compressed document, of which no more is compressed than tells that."""
    packer = zlib.compressobj(1)
    size = 0
    for begin in range(0, len(document), _PIECE):
        size += len(packer.compress(document[begin : begin + _PIECE]))
        if size >= table.size * 2:
            return False
    return size + len(packer.flush()) < table.size * 2
