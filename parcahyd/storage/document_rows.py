"""The rows of `documents`, `fetches`, `links` and `volatile`: each skeleton once, a bounded history of each URL.

Equal bytes share a row: the 64-bit fingerprint DF finds the candidates, SHA-256 confirms (statement P23 and its reading).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, exists, select

from parcahyd.storage.packing import PackedPage
from parcahyd.storage.plain_text import plain
from parcahyd.storage.tables import documents, fetches, links, volatile
from parcahyd.storage.writer import Writer

__all__ = ["DocumentRows"]


class DocumentRows:
    """Adds documents and fetches, and collects those that nothing needs; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        numbers = writer.lists.numbers

        self._by_df = writer.prepare(
            select(documents.c.sha256, documents.c.id).where(documents.c.df.in_(numbers("dfs"))), "dfs"
        )
        self._insert = writer.prepare_insert(documents, *documents.c.keys())
        self._insert_links = writer.prepare_insert(links, *links.c.keys())
        self._insert_fetch = writer.prepare_insert(fetches, *fetches.c.keys())
        self._redirects = writer.prepare(
            select(fetches.c.id, fetches.c.redirect).where(fetches.c.id.in_(numbers("ids"))), "ids"
        )

        pair = writer.lists.pairs()
        self._history = writer.prepare(
            select(fetches.c.site_id, fetches.c.key, fetches.c.id, fetches.c.document_id)
            .join_from(pair, fetches, (fetches.c.site_id == pair.c.site_id) & (fetches.c.key == pair.c.key))
            .order_by(fetches.c.id.desc()),
            *(("pairs",) if writer.engine.dialect.name == "sqlite" else ("firsts", "seconds")),
        )
        self._unreferenced = writer.prepare(
            select(documents.c.id).where(
                documents.c.id.in_(numbers("ids")), ~exists().where(fetches.c.document_id == documents.c.id)
            ),
            "ids",
        )
        self._delete = {
            table.name: writer.prepare(delete(table).where(column == bindparam("gone")), "gone")
            for table, column in (
                (documents, documents.c.id),
                (links, links.c.document_id),
                (fetches, fetches.c.id),
                (volatile, volatile.c.fetch_id),
            )
        }

    def share(self, pages: Iterable[PackedPage]) -> dict[bytes, int]:
        """The document of each page by its SHA-256; those that are new are added."""
        bodies = {packed.sha256: packed for packed in pages if packed.sha256}
        if not bodies:
            return {}
        candidates = self._writer.lists.bind(sorted({packed.df for packed in bodies.values()}))
        found = {bytes(sha256): number for sha256, number in self._writer.rows(self._by_df, candidates)}
        new: list[tuple[Any, ...]] = []
        tables: list[tuple[Any, ...]] = []
        for sha256, packed in bodies.items():
            if sha256 in found:
                continue
            found[sha256] = number = self._writer.new_id(documents)
            page = packed.page
            new.append((number, packed.df, sha256, packed.length, plain(page.media_type), plain(page.charset), packed.packed))
            if packed.packed_links:
                tables.append((number, packed.packed_links))
        self._writer.many(self._insert, new)
        self._writer.many(self._insert_links, tables)
        return found

    def redirects(self, ids: Collection[int]) -> Mapping[int, str | None]:
        """Where each of the fetches was redirected to."""
        if not ids:
            return {}
        return dict(map(tuple, self._writer.rows(self._redirects, self._writer.lists.bind(list(ids)))))

    def new_fetch(self) -> int:
        return self._writer.new_id(fetches)

    def add_fetches(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Rows in the order of the table's columns."""
        self._writer.many(self._insert_fetch, rows)

    def trim(self, places: Sequence[tuple[int, int]], keep: int) -> None:
        """Bounds the history of URLs, newest first, and drops documents that no fetch refers to any more.

        A URL's own document is that of its newest fetch, which is always kept, so the fetches tell what is needed.
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
        self._writer.many(self._delete[volatile.name], dropped)
        self._writer.many(self._delete[fetches.name], dropped)
        if candidates:
            unused = [tuple(row) for row in self._writer.rows(self._unreferenced, self._writer.lists.bind(sorted(candidates)))]
            self._writer.many(self._delete[links.name], unused)
            self._writer.many(self._delete[documents.name], unused)
