"""A row of `fetches`: what is stored of the answer that brought a version.

Tested in tests/end_to_end/test_exchange.py.
"""

from __future__ import annotations

from typing import Any

from parcahyd.storage.documents import SharedDocument
from parcahyd.storage.exchanges import ExchangeRows
from parcahyd.storage.heads import HeadRows, RequestRows
from parcahyd.storage.packing import PackedPage

__all__ = ["FetchRows"]


class FetchRows:
    """Makes the rows of new versions, with heads and bodies that belong to them; used inside a transaction of the writer."""

    def __init__(self, heads: HeadRows, requests: RequestRows, exchanges: ExchangeRows) -> None:
        self._heads = heads
        self._requests = requests
        self._exchanges = exchanges

    def row(
        self,
        fetch: int,
        key: int,
        packed: PackedPage,
        shared: SharedDocument | None,
        document: int | None,
        redirect: str | None,
    ) -> dict[str, Any]:
        """`shared` is the document that the page's bytes are stored in, `document` the one that the version has."""
        page = packed.page
        sha256, length = packed.version if document is not None else (None, None)
        head, head_base = self._heads.pack(page.site, page.head)
        coded_sha256 = _coded_sha256(packed, shared)
        self._exchanges.body_of(fetch, packed, coded_sha256)
        return {
            "id": fetch,
            "site_id": page.site,
            "key": key,
            "at": page.fetched_at,
            "status": page.status,
            "address": page.address,
            "headers": b"",
            "redirect": redirect or "",
            "document_id": document,
            "sha256": sha256,
            "length": length,
            "coding": page.coding,
            "coded_sha256": coded_sha256,
            "head": head,
            "head_base": head_base,
            "marks": page.marks,
            "protocol": page.protocol,
            "started_at": page.started_at or None,
            "seconds": page.seconds or None,
            "request_id": self._requests.number(page.request),
        }


def _coded_sha256(packed: PackedPage, shared: SharedDocument | None) -> bytes | None:
    """Of the bytes that were transferred, where the document of the page does not have them."""
    if not packed.coded_sha256 or (shared is not None and shared.coded_sha256 == packed.coded_sha256):
        return None
    return packed.coded_sha256
