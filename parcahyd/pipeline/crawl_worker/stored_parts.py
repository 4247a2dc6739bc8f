"""The stored version of a document that has regions, as its next visit uses it."""

from __future__ import annotations

import zlib
from hashlib import sha256

from parcahyd.augment.tvi import Region, Tvi
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import Held
from parcahyd.pipeline.crawl_worker.answers import sendable

__all__ = ["answer_of", "regions_of", "skeleton_of", "spans_of", "table_of"]


def skeleton_of(held: Held) -> bytes:
    """The stored skeleton; what cannot be read is none, and fits no table."""
    try:
        return zlib.decompressobj().decompress(held.skeleton, held.length + 1)
    except zlib.error:
        return b""


def regions_of(held: Held) -> tuple[Region, ...]:
    return tuple([Region(*region) for region in held.regions])


def table_of(held: Held) -> Tvi:
    """The table that made what is stored, as far as it is needed to part the document."""
    skeleton, regions = skeleton_of(held), regions_of(held)
    length = held.length + sum([len(region.content) for region in regions])
    return Tvi("", sha256(skeleton).digest(), held.length, held.sha256, length, regions)


def spans_of(regions: tuple[Region, ...]) -> tuple[tuple[str, int, int], ...]:
    """ID, begin and end of regions in the whole document."""
    spans = []
    shift = 0
    for region in regions:
        begin = region.offset + shift
        shift += len(region.content)
        spans.append((region.id, begin, begin + len(region.content)))
    return tuple(spans)


def answer_of(held: Held, tvi: Tvi, document: bytes) -> DownloadResult:
    """The merged document. Its validators are those that its table names: what is stored are an earlier version's."""
    charset = f"; charset={held.charset}" if held.charset else ""
    headers = (
        ("Content-Type", held.media_type + charset if held.media_type else ""),
        ("ETag", sendable(tvi.etag)),
        ("Last-Modified", sendable(tvi.last_modified)),
    )
    return DownloadResult(200, [(name, value) for name, value in headers if value], document)
