"""The rows of `documents`, `fetches`, `links` and `summaries`: each skeleton once, a bounded history of each URL.

Equal bytes share a row: the 64-bit fingerprint DF finds the candidates, SHA-256 confirms (statement P23 and its reading).
Regions, tables and what was learned of a version are rows of `volatile`, `tvis` and `learned`.

Tested in tests/storage/test_pages.py and tests/storage/test_regions.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import bindparam, delete, exists, func, insert, select, update

from parcahyd.core.records import DueUrl, SiteLease, StoredVersion, TableFact
from parcahyd.core.states import State
from parcahyd.rules.politeness.validators import validator
from parcahyd.storage.expressions import MOST, bound, filled, numbers, pairs, plain, same
from parcahyd.storage.heads import head_of
from parcahyd.storage.packing import PackedPage, PackedRegion, StoredBytes, UnpackingFailure, parts_of
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import (
    documents,
    exchanges,
    fetches,
    head_bases,
    learned,
    links,
    own_bodies,
    summaries,
    tvis,
    urls,
    volatile,
)
from parcahyd.storage.writer import Writer

__all__ = [
    "LEASE_BYTES",
    "PAIR_BYTES",
    "DocumentRows",
    "LearnedRow",
    "PriorVersion",
    "SharedDocument",
    "VersionRows",
    "VersionsForVisit",
]


_PAIR = pairs()
_BY_DF = select(documents.c.sha256, documents.c.id, documents.c.coded_sha256).where(documents.c.df.in_(numbers("dfs")))
_HISTORY = (
    select(fetches.c.site_id, fetches.c.key, fetches.c.id, fetches.c.document_id)
    .join_from(_PAIR, fetches, (fetches.c.site_id == _PAIR.c.site_id) & (fetches.c.key == _PAIR.c.key))
    .order_by(fetches.c.id.desc())
)
_UNREFERENCED = select(documents.c.id).where(
    documents.c.id.in_(numbers("ids")), ~exists().where(fetches.c.document_id == documents.c.id)
)
_INSERT = insert(documents)
_INSERT_LINKS = insert(links)
_INSERT_SUMMARY = insert(summaries)
_INSERT_FETCH = insert(fetches).values({**bound(*fetches.c.keys()), "redirect": filled("redirect")})
_DELETE = delete(documents).where(*same(documents, "id"))
_DELETE_BESIDE = tuple(delete(table).where(*same(table, "document_id")) for table in (links, summaries))
"""Rows that are deleted with their document."""
_DELETE_FETCH = (
    *(delete(table).where(*same(table, "fetch_id")) for table in (volatile, tvis, learned, own_bodies, exchanges)),
    delete(fetches).where(fetches.c.id == bindparam("fetch_id")),
)
"""A fetch and the rows that are deleted with it."""


class SharedDocument(NamedTuple):
    """A document that pages share."""

    id: int
    coded_sha256: bytes | None
    """Of the server's bytes; None where those are not stored."""


class DocumentRows:
    """Inserts documents and fetches, and deletes unused ones; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def share(self, pages: Iterable[PackedPage]) -> dict[bytes, SharedDocument]:
        """The document of each page by its SHA-256; new ones are inserted.

        A skeleton that is stored already gets the links and the summary of its newest version: they are of the whole page.
        """
        bodies = {packed.sha256: packed for packed in pages if packed.sha256}
        if not bodies:
            return {}
        candidates = self._writer.lists.bind({packed.df for packed in bodies.values()})
        found = {bytes(sha256): SharedDocument(*row) for sha256, *row in self._writer.rows(_BY_DF, dfs=candidates)}
        new: list[dict[str, Any]] = []
        tables: list[dict[str, Any]] = []
        made_summaries: list[dict[str, Any]] = []
        stale: list[dict[str, int]] = []
        for sha256, packed in bodies.items():
            if sha256 in found:
                if packed.whole is None:
                    continue
                number = found[sha256].id
                stale.append({"document_id": number})
            else:
                number = self._writer.new_id(documents)
                coded = packed.coded_sha256 if packed.coding else None
                found[sha256] = SharedDocument(number, coded)
                page = packed.page
                new.append(
                    {
                        "id": number,
                        "df": packed.df,
                        "sha256": sha256,
                        "length": packed.length,
                        "media_type": plain(page.media_type),
                        "charset": plain(page.charset),
                        "title": plain(packed.title),
                        "language": plain(packed.language),
                        "similarity": packed.similarity,
                        "body": packed.packed,
                        "coding": packed.coding,
                        "coded_sha256": coded,
                        "topic": plain(page.topic),
                    }
                )
            if packed.packed_links:
                tables.append({"document_id": number, "content": packed.packed_links})
            if packed.packed_summary:
                made_summaries.append({"document_id": number, "content": packed.packed_summary})
        self._writer.many(_INSERT, new)
        for statement in _DELETE_BESIDE:
            self._writer.many(statement, stale)
        self._writer.many(_INSERT_LINKS, tables)
        self._writer.many(_INSERT_SUMMARY, made_summaries)
        return found

    def new_fetch(self) -> int:
        return self._writer.new_id(fetches)

    def add_fetches(self, rows: Sequence[dict[str, Any]]) -> None:
        """Rows with every column of the table; `redirect` is empty where there is none."""
        self._writer.many(_INSERT_FETCH, rows)

    def trim(self, places: Sequence[tuple[int, int]], keep: int) -> None:
        """Keeps the newest `keep` fetches of URLs, and deletes documents that no fetch refers to any more.

        A URL's own document is that of its newest fetch, so a document without a fetch is unused.
        """
        if not places:
            return
        kept: dict[tuple[int, int], int] = {}
        dropped: list[dict[str, int]] = []
        candidates: set[int] = set()
        for site, key, number, document in self._writer.rows(_HISTORY, **self._writer.lists.pairs(places)):
            versions = kept.get((site, key), 0)
            if versions < keep:
                kept[site, key] = versions + 1
                continue
            dropped.append({"fetch_id": number})
            if document is not None:
                candidates.add(document)
        for statement in _DELETE_FETCH:
            self._writer.many(statement, dropped)
        self.collect(candidates)

    def collect(self, candidates: Collection[int]) -> None:
        """Deletes those of the documents that no fetch refers to."""
        if candidates:
            unused = self._writer.rows(_UNREFERENCED, ids=self._writer.lists.bind(candidates))
            for statement in _DELETE_BESIDE:
                self._writer.many(statement, [{"document_id": number} for (number,) in unused])
            self._writer.many(_DELETE, [{"id": number} for (number,) in unused])


# --- The rows of `volatile`, `tvis` and `learned` that belong to a version, and the versions that a visit gets ----------
# A page without regions, without a table and without anything learned has no such rows.


PAIR_BYTES = 2 * 1024 * 1024
"""Bytes of compressed skeletons and regions in one lease; further URLs are left to the site's next visit."""
LEASE_BYTES = 16 * 1024 * 1024
"""The same for all leases of one transaction; further URLs get conditional requests."""

_STORED = int(State.STORED)


class PriorVersion(NamedTuple):
    """The columns of a fetch that the next one is compared with."""

    id: int
    redirect: str | None
    sha256: bytes | None
    """Of the whole, as the length."""
    length: int | None
    document_id: int | None
    tvi: int | None
    """Not None where a table of variable information refreshes it."""
    skeleton_sha256: bytes | None
    """Of the skeleton that was learned; None where nothing was learned."""
    learned: bytes | None
    marks: int = 0


class LearnedRow(NamedTuple):
    """What is known of how a page changes: a row of `learned`."""

    skeleton_sha256: bytes
    content: bytes
    """Empty: nothing is known, and there is no row."""


_LEARNED_CONTENT = (learned.c.skeleton_sha256, learned.c.content)
_VERSIONS = (
    select(
        *(fetches.c.id, fetches.c.redirect, fetches.c.sha256, fetches.c.length, fetches.c.document_id),
        *(tvis.c.fetch_id.label("tvi"), *_LEARNED_CONTENT, fetches.c.marks),
    )
    .join(tvis, tvis.c.fetch_id == fetches.c.id, isouter=True)
    .join(learned, learned.c.fetch_id == fetches.c.id, isouter=True)
    .where(fetches.c.id.in_(numbers("ids")))
)
_LEARNED = (
    select(learned.c.fetch_id, fetches.c.document_id, fetches.c.length, *_LEARNED_CONTENT)
    .join(fetches, fetches.c.id == learned.c.fetch_id)
    .where(learned.c.fetch_id.in_(numbers("ids")))
)
_LENGTHS = select(fetches.c.id, fetches.c.length).where(fetches.c.id.in_(numbers("ids")), fetches.c.length.is_not(None))
_DOCUMENT = select(documents.c.body, documents.c.length, documents.c.coding).where(*same(documents, "id"))
_REGIONS = (
    select(volatile.c.id, volatile.c.offset, volatile.c.length, volatile.c.content)
    .where(*same(volatile, "fetch_id"))
    .order_by(volatile.c.region)
)
_USERS = select(fetches.c.id).where(*same(fetches, "document_id")).limit(MOST)
_OWN_CODED = select(documents.c.coded_sha256).where(
    documents.c.id == fetches.c.document_id, documents.c.coding == fetches.c.coding
)
_MOVE = (
    update(fetches)
    .where(*same(fetches, "id"))
    .values(
        document_id=bindparam("new_document"),
        coded_sha256=func.coalesce(fetches.c.coded_sha256, _OWN_CODED.scalar_subquery()),
    )
)
"""A fetch gets another document. The digest of its coded bytes stays with it: they may go with the one that it had."""
_INSERT_VOLATILE, _INSERT_TVI, _INSERT_LEARNED = insert(volatile), insert(tvis), insert(learned)
_DELETE_VOLATILE = delete(volatile).where(*same(volatile, "fetch_id"))
_DELETE_TVI = delete(tvis).where(*same(tvis, "fetch_id"))
_DELETE_LEARNED = delete(learned).where(*same(learned, "fetch_id"))


class VersionRows:
    """Reads and writes the rows that belong to fetches; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    # --- reading --------------------------------------------------------------------------------------------------------

    def of(self, fetch_ids: Collection[int]) -> dict[int, PriorVersion]:
        """The versions by their fetches, in one query. Without fetches, as in a first crawl, there is no query."""
        if not fetch_ids:
            return {}
        rows = self._writer.rows(_VERSIONS, ids=self._writer.lists.bind(list(fetch_ids)))
        return {row[0]: PriorVersion._make(row) for row in rows}

    def lengths(self, fetch_ids: Collection[int]) -> list[tuple[int, int]]:
        """The fetches that have a document, with its length."""
        return self._writer.rows(_LENGTHS, ids=self._writer.lists.bind(list(fetch_ids))) if fetch_ids else []

    def learned(self, fetch_ids: Collection[int]) -> list[tuple[int, int, int, bytes, bytes]]:
        """For the fetches with a row in `learned`: fetch, document, length of the whole, skeleton and content."""
        return self._writer.rows(_LEARNED, ids=self._writer.lists.bind(list(fetch_ids))) if fetch_ids else []

    def packed(self, document: int) -> StoredBytes:
        """The bytes of a document as they are stored."""
        for body, length, coding in self._writer.rows(_DOCUMENT, id=document):
            return StoredBytes(bytes(body), length, coding)
        raise UnpackingFailure("it is not there")

    def regions(self, fetch: int) -> list[PackedRegion]:
        """The regions of a version, ascending."""
        return [PackedRegion._make(row) for row in self._writer.rows(_REGIONS, fetch_id=fetch)]

    def is_alone(self, document: int) -> bool:
        """Whether one fetch, and no other, refers to a document."""
        return len(self._writer.rows(_USERS, document_id=document, most=2)) == 1

    # --- writing --------------------------------------------------------------------------------------------------------

    def add_regions(self, regions: Mapping[int, Sequence[PackedRegion]]) -> None:
        """Inserts regions by their fetch."""
        rows = [
            {
                "fetch_id": fetch,
                "region": number,
                "offset": region.offset,
                "content": region.packed,
                "id": region.id,
                "length": region.length,
            }
            for fetch, its_regions in regions.items()
            for number, region in enumerate(its_regions, 1)
        ]
        self._writer.many(_INSERT_VOLATILE, rows)

    def repack(self, versions: Mapping[int, tuple[int, Sequence[PackedRegion]]]) -> None:
        """Gives fetches other documents and regions that make up the same bytes."""
        if versions:
            self._writer.many(_DELETE_VOLATILE, [{"fetch_id": fetch} for fetch in versions])
            self._writer.many(_MOVE, [{"id": fetch, "new_document": document} for fetch, (document, _) in versions.items()])
            self.add_regions({fetch: regions for fetch, (_, regions) in versions.items()})

    def set_tables(self, facts: Mapping[int, TableFact | None]) -> None:
        """Sets the tables that refresh fetches; None: no table any more."""
        if facts:
            self._writer.many(_DELETE_TVI, [{"fetch_id": fetch} for fetch in facts])
            rows = [
                {
                    "fetch_id": fetch,
                    "etag": validator(fact.etag),
                    "modified": validator(fact.modified),
                    "refresh": fact.refresh,
                    "merges": fact.merges,
                }
                for fetch, fact in facts.items()
                if fact is not None
            ]
            self._writer.many(_INSERT_TVI, rows)

    def set_learned(self, rows_by_fetch: Mapping[int, LearnedRow]) -> None:
        """Replaces what was learned, by fetch."""
        if rows_by_fetch:
            self._writer.many(_DELETE_LEARNED, [{"fetch_id": fetch} for fetch in rows_by_fetch])
            rows = [{"fetch_id": fetch, **row._asdict()} for fetch, row in rows_by_fetch.items() if row.content]
            self._writer.many(_INSERT_LEARNED, rows)


_WITH_TABLE = (
    select(
        *(urls.c.site_id, urls.c.key, urls.c.fetch_id, urls.c.document_id, fetches.c.sha256),
        *(func.length(documents.c.body).label("size"), documents.c.media_type, documents.c.charset),
        *(fetches.c.status, fetches.c.headers, fetches.c.head, fetches.c.head_base, head_bases.c.content),
        *(tvis.c.etag, tvis.c.modified, tvis.c.refresh, tvis.c.merges),
    )
    .join_from(_PAIR, urls, (urls.c.site_id == _PAIR.c.site_id) & (urls.c.key == _PAIR.c.key))
    .join(tvis, tvis.c.fetch_id == urls.c.fetch_id)
    .join(fetches, fetches.c.id == urls.c.fetch_id)
    .join(documents, documents.c.id == urls.c.document_id)
    .join(head_bases, head_bases.c.id == fetches.c.head_base, isouter=True)
)


class _StoredHead(NamedTuple):
    """The columns of a fetch that its head is read from."""

    status: int
    headers: bytes
    head: bytes | None
    head_base: int | None


class VersionsForVisit:
    """Reads versions that have a table of variable information; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState) -> None:
        self._writer = writer
        self._state = state
        self._versions = VersionRows(writer)

    def give(self, pairs: Sequence[SiteLease]) -> list[SiteLease]:
        """The leases, with the stored versions that have a table; one query where there are none."""
        places = [(pair.site, url.key) for pair in pairs for url in pair.urls if url.state == _STORED]
        if not places:
            return list(pairs)
        found = {row[:2]: row[2:] for row in self._writer.rows(_WITH_TABLE, **self._writer.lists.pairs(places))}
        if not found:
            return list(pairs)
        left = LEASE_BYTES
        given = []
        for pair in pairs:
            urls, used = self._with_versions(pair, found, min(left, PAIR_BYTES))
            left -= used
            if self._state.allowance is not None:
                self._state.allowance.spend(len(urls) - len(pair.urls))
            given.append(msgspec.structs.replace(pair, urls=urls) if used else pair)
        return given

    def _with_versions(self, pair: SiteLease, found: dict[Any, Any], most: int) -> tuple[tuple[DueUrl, ...], int]:
        """The URLs of a lease with their versions, and the bytes of these.

        A URL whose version exceeds the limit is left out and stays due. Before the first version that fits, it is included
        without one.
        """
        urls = []
        used = 0
        for url in pair.urls:
            row = found.get((pair.site, url.key)) if url.state == _STORED else None
            is_small = row is not None and used + row[3] <= most
            held = self._version(row) if is_small else None
            if held is not None and used + _size(held) <= most:
                used += _size(held)
                urls.append(msgspec.structs.replace(url, stored_version=held))
            elif row is None or not used or (is_small and held is None):
                urls.append(url)
        return tuple(urls), used

    def _version(self, row: Any) -> StoredVersion | None:
        fetch, document, sha256, _, media_type, charset, status, headers, head, head_base, base, *fact = row
        try:
            came_with = head_of(_StoredHead(status, bytes(headers), head, head_base), base)
            parts = parts_of(self._versions.packed(document), self._versions.regions(fetch), self._state.compress)
        except UnpackingFailure:  # The visit fetches the whole document; `verify` reports the damage.
            return None
        kind = (media_type, charset, came_with)
        return StoredVersion(parts.packed, parts.length, bytes(sha256), parts.regions, TableFact(*fact), *kind)


def _size(held: StoredVersion) -> int:
    """Its approximate bytes in a message."""
    return len(held.skeleton) + len(held.head) + sum(len(name) + len(content) + 16 for name, _, content in held.regions)
