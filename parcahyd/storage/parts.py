"""A version as it lies in the database, and whole again.

| MergeMode | `documents` has | a row of `volatile` has |
|---|---|---|
| lazy | the skeleton | the region's content |
| eager | the whole version | where the region is, and no content: the skeleton is what is left without the regions |

Each version says for itself which of the two it is, so the setting may change between runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from parcahyd.storage.packed import Damaged, PackedRegion, rebuild, unpack

__all__ = ["Parts", "parts_of", "stored_whole", "whole_of"]


class Parts(NamedTuple):
    """A version in its parts, as a refresh by fragment needs them."""

    packed: bytes
    """The skeleton, a zlib stream."""
    length: int
    """Of the skeleton."""
    regions: tuple[tuple[str, int, bytes], ...]
    """ID, offset in the skeleton, and content, ascending."""


def stored_whole(regions: Sequence[PackedRegion]) -> bool:
    """Whether the document of a version with these regions is the whole version."""
    return not any(region.packed for region in regions)


def whole_of(packed: bytes, length: int, regions: Sequence[PackedRegion]) -> bytes:
    """The version that a document and regions make; Damaged where they cannot."""
    document = unpack(packed, length)
    if stored_whole(regions):
        _spans(regions, length)
        return document
    return rebuild(document, [(region.offset, _content(region, length)) for region in regions])


def parts_of(packed: bytes, length: int, regions: Sequence[PackedRegion], level: int) -> Parts:
    """The skeleton and the regions of a version; Damaged where they cannot be told."""
    if not regions:
        return Parts(packed, length, ())
    if not stored_whole(regions):
        unpacked = [(region.id, region.offset, _content(region, length)) for region in regions]
        return Parts(packed, length, tuple(unpacked))
    document = unpack(packed, length)
    pieces, found, done = [], [], 0
    for region, (begin, end) in zip(regions, _spans(regions, length), strict=True):
        pieces.append(document[done:begin])
        found.append((region.id, region.offset, document[begin:end]))
        done = end
    skeleton = b"".join([*pieces, document[done:]])
    from parcahyd.storage.packing import compress  # Loaded where a version is parted: few crawls do.

    return Parts(compress(skeleton, level), len(skeleton), tuple(found))


def _content(region: PackedRegion, length: int) -> bytes:
    if not region.packed or not 0 <= region.offset <= length:
        raise Damaged("a region is not where its document has room for it")
    return unpack(region.packed, region.length)


def _spans(regions: Sequence[PackedRegion], length: int) -> list[tuple[int, int]]:
    """Where the regions begin and end in a whole version."""
    spans = []
    shift = done = 0
    for region in regions:
        begin = region.offset + shift
        end = begin + (region.length or 0)
        if begin < done or end > length:
            raise Damaged("a region is not where its document has room for it")
        spans.append((begin, end))
        shift += end - begin
        done = end
    return spans
