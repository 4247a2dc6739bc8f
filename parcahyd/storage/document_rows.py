"""The rows of `documents`, `fetches` and `links`: each skeleton once, a bounded history of each URL.

Equal bytes share a row: the 64-bit fingerprint DF finds the candidates, SHA-256 confirms (statement P23 and its reading).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from parcahyd.storage.packed import PackedPage
from parcahyd.storage.plain_text import plain
from parcahyd.storage.writer import Writer

__all__ = ["DocumentRows"]


class DocumentRows:
    """Adds documents and fetches, and collects those that nothing needs; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._by_df = writer.statements["document_rows.by_df"]
        self._insert = writer.statements["document_rows.insert"]
        self._insert_links = writer.statements["document_rows.insert_links"]
        self._insert_summary = writer.statements["document_rows.insert_summary"]
        self._insert_fetch = writer.statements["document_rows.insert_fetch"]
        self._history = writer.statements["document_rows.history"]
        self._unreferenced = writer.statements["document_rows.unreferenced"]
        self._delete = writer.statements["document_rows.delete"]
        self._delete_links = writer.statements["document_rows.delete_links"]
        self._delete_summary = writer.statements["document_rows.delete_summary"]
        self._delete_fetch = writer.statements["document_rows.delete_fetch"]
        self._delete_tvi = writer.statements["document_rows.delete_tvi"]
        self._delete_learned = writer.statements["document_rows.delete_learned"]
        self._delete_volatile = writer.statements["document_rows.delete_volatile"]

    def share(self, pages: Iterable[PackedPage]) -> dict[bytes, int]:
        """The document of each page by its SHA-256; those that are new are added.

        A skeleton that is there already gets links and summary of the newest version that has it: they are of the whole.
        """
        bodies = {packed.sha256: packed for packed in pages if packed.sha256}
        if not bodies:
            return {}
        candidates = self._writer.lists.bind(sorted({packed.df for packed in bodies.values()}))
        found = {bytes(sha256): number for sha256, number in self._writer.rows(self._by_df, candidates)}
        new: list[tuple[Any, ...]] = []
        tables: list[tuple[Any, ...]] = []
        summaries: list[tuple[Any, ...]] = []
        stale: list[tuple[int]] = []
        for sha256, packed in bodies.items():
            if sha256 in found:
                if packed.whole is None:
                    continue
                number = found[sha256]
                stale.append((number,))
            else:
                found[sha256] = number = self._writer.new_id("documents")
                page = packed.page
                kind = (plain(page.media_type), plain(page.charset), plain(packed.title), plain(packed.language))
                new.append((number, packed.df, sha256, packed.length, *kind, packed.similarity, packed.packed))
            if packed.packed_links:
                tables.append((number, packed.packed_links))
            if packed.packed_summary:
                summaries.append((number, packed.packed_summary))
        self._writer.many(self._insert, new)
        self._writer.many(self._delete_links, stale)
        self._writer.many(self._delete_summary, stale)
        self._writer.many(self._insert_links, tables)
        self._writer.many(self._insert_summary, summaries)
        return found

    def new_fetch(self) -> int:
        return self._writer.new_id("fetches")

    def add_fetches(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Rows in the order of the table's columns."""
        self._writer.many(self._insert_fetch, rows)

    def trim(self, places: Sequence[tuple[int, int]], keep: int) -> None:
        """Bounds the history of URLs, newest first, and drops documents that no fetch refers to any more.

        A URL's own document is that of its newest fetch, so the fetches tell what is needed.
        """
        if not places:
            return
        kept: dict[tuple[int, int], int] = {}
        dropped: list[tuple[int]] = []
        candidates: set[int] = set()
        for site, key, number, document in self._writer.rows(self._history, *self._writer.lists.bind_pairs(places)):
            versions = kept.get((site, key), 0)
            if versions < keep:
                kept[site, key] = versions + 1
                continue
            dropped.append((number,))
            if document is not None:
                candidates.add(document)
        for statement in (self._delete_volatile, self._delete_tvi, self._delete_learned, self._delete_fetch):
            self._writer.many(statement, dropped)
        self.collect(candidates)

    def collect(self, candidates: Collection[int]) -> None:
        """Drops those of the documents that no fetch refers to."""
        if candidates:
            unused = self._writer.rows(self._unreferenced, self._writer.lists.bind(sorted(candidates)))
            self._writer.many(self._delete_links, unused)
            self._writer.many(self._delete_summary, unused)
            self._writer.many(self._delete, unused)
