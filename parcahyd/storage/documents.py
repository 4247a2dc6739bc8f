"""The rows of `documents`, `fetches`, `links` and `summaries`: each skeleton once, a bounded history of each URL.

Equal bytes share a row: the 64-bit fingerprint DF finds the candidates, SHA-256 confirms (statement P23 and its reading).

Tested in tests/storage/test_pages.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, exists, insert, select

from parcahyd.storage.document_format import PackedPage
from parcahyd.storage.expressions import bound, filled, same
from parcahyd.storage.schema import documents, fetches, learned, links, summaries, tvis, volatile
from parcahyd.storage.values import numbers, pairs, plain
from parcahyd.storage.writer import Writer

__all__ = ["DocumentRows"]


_PAIR = pairs()
_BY_DF = select(documents.c.sha256, documents.c.id).where(documents.c.df.in_(numbers("dfs")))
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
    *(delete(table).where(*same(table, "fetch_id")) for table in (volatile, tvis, learned)),
    delete(fetches).where(fetches.c.id == bindparam("fetch_id")),
)
"""A fetch and the rows that are deleted with it."""


class DocumentRows:
    """Inserts documents and fetches, and deletes unused ones; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def share(self, pages: Iterable[PackedPage]) -> dict[bytes, int]:
        """The document of each page by its SHA-256; new ones are inserted.

        A skeleton that is stored already gets the links and the summary of its newest version: they are of the whole page.
        """
        bodies = {packed.sha256: packed for packed in pages if packed.sha256}
        if not bodies:
            return {}
        candidates = self._writer.lists.bind({packed.df for packed in bodies.values()})
        found = {bytes(sha256): number for sha256, number in self._writer.rows(_BY_DF, dfs=candidates)}
        new: list[dict[str, Any]] = []
        tables: list[dict[str, Any]] = []
        made_summaries: list[dict[str, Any]] = []
        stale: list[dict[str, int]] = []
        for sha256, packed in bodies.items():
            if sha256 in found:
                if packed.whole is None:
                    continue
                number = found[sha256]
                stale.append({"document_id": number})
            else:
                found[sha256] = number = self._writer.new_id(documents)
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
