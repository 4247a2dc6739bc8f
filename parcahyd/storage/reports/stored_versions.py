"""Stored versions for readers: whole, and compared with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, select

from parcahyd.config.schema import WorkConf
from parcahyd.storage.document_format import PackedRegion, UnpackingFailure, stored_whole, unpack, whole_of
from parcahyd.storage.packing import compressor, parts_of
from parcahyd.storage.reports.records import FetchReport
from parcahyd.storage.schema import documents, volatile

__all__ = ["version_reports", "whole"]


def whole(connection: Connection, fetch: int, packed: bytes, length: int) -> bytes:
    """The bytes that a fetch received: the skeleton with its volatile regions put back, or UnpackingFailure."""
    return whole_of(packed, length, _regions(connection, fetch))


def version_reports(connection: Connection, history: Sequence[Any]) -> Iterator[FetchReport]:
    """The versions of a URL, newest first, from their rows in that order."""
    regions = {row.id: _regions(connection, row.id) for row in history}
    only = {
        newer.id: _differ_in_regions(connection, newer, regions[newer.id], older, regions[older.id])
        for newer, older in pairwise(history)
    }
    for row in history:
        yield FetchReport(
            at=row.at,
            status=row.status,
            address=row.address,
            redirect=row.redirect,
            sha256=None if row.sha256 is None else row.sha256.hex(),
            length=row.length,
            regions=sum(1 for region in regions[row.id] if region.id),
            only_regions=only.get(row.id, False),
        )


def _regions(connection: Connection, fetch: int) -> list[PackedRegion]:
    columns = select(volatile.c.id, volatile.c.offset, volatile.c.length, volatile.c.content)
    ordered = columns.where(volatile.c.fetch_id == fetch).order_by(volatile.c.offset, volatile.c.region)
    return [PackedRegion(*row) for row in connection.execute(ordered)]


def _differ_in_regions(
    connection: Connection, newer: Any, its_regions: list[PackedRegion], older: Any, other_regions: list[PackedRegion]
) -> bool:
    """Whether two versions have the same skeleton, and regions with names in it."""
    if not all(region.id for region in (*its_regions, *other_regions)) or not its_regions or not other_regions:
        return False
    if not stored_whole(its_regions) and not stored_whole(other_regions):
        return bool(newer.document_id == older.document_id)
    return _skeleton(connection, newer, its_regions) == _skeleton(connection, older, other_regions)


def _skeleton(connection: Connection, row: Any, regions: list[PackedRegion]) -> bytes | None:
    columns = select(documents.c.body, documents.c.length).where(documents.c.id == row.document_id)
    document = connection.execute(columns).first()
    if document is None:
        return None
    try:
        parts = parts_of(document.body, document.length, regions, compressor(WorkConf()))
        return unpack(parts.packed, parts.length)
    except UnpackingFailure:
        return None
