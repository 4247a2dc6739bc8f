"""How a document is stored, how it is packed for that, and how it is read.

| MergeMode | `documents` has | a row of `volatile` has |
|---|---|---|
| lazy | the skeleton | the region's content |
| eager | the whole version | where the region is, and no content: the skeleton is what is left without the regions |

Each version shows which of the two it is, so the setting may change between runs.

Tested in tests/storage/test_packing.py and tests/storage/test_regions.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from parcahyd.core.records import PageRecord

__all__ = [
    "PackedPage",
    "PackedRegion",
    "Parts",
    "UnpackingFailure",
    "rebuild",
    "region_content",
    "region_spans",
    "stored_whole",
    "unpack",
    "whole_of",
]


class UnpackingFailure(Exception):
    """Bytes in the database that differ from what was stored."""


class PackedRegion(NamedTuple):
    """A volatile region of a version, as a row of the database has it."""

    id: str
    offset: int
    """In the skeleton."""
    length: int | None
    packed: bytes
    """Empty where the document is the whole version and holds the content."""


class PackedPage(msgspec.Struct, frozen=True, gc=False):
    """A page with its fingerprint and compressed bytes. It is made once, even if its batch is written several times."""

    page: PageRecord
    """Without its body, links, summary and regions."""
    # Of the document: the skeleton, or the whole page where that is what is stored.
    df: int
    sha256: bytes
    """Empty where there is no document: for a redirect, and for a page with noindex or noarchive."""
    length: int
    packed: bytes
    packed_links: bytes
    """Empty where links are not kept, or where there are none."""
    packed_summary: bytes = b""
    title: str = ""
    language: str = ""
    similarity: int | None = None
    """The similarity fingerprint of its text; None where it was not taken."""
    regions: tuple[PackedRegion, ...] = ()
    whole: tuple[bytes, int] | None = None
    """SHA-256 and length of the page, where the document is only its skeleton."""

    @property
    def version(self) -> tuple[bytes, int]:
        """SHA-256 and length of what the fetch brought."""
        return self.whole or (self.sha256, self.length)


def unpack(packed: bytes, length: int | None = None) -> bytes:
    """The bytes of a zlib stream; UnpackingFailure if it is none, does not end, or has another length.

    No more than the expected length is ever unpacked, so a damaged database cannot fill the memory.
    """
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(packed, 0 if length is None else length + 1)
    except zlib.error as error:
        raise UnpackingFailure(f"it cannot be decompressed: {error}") from None
    if length is not None and len(content) != length:
        raise UnpackingFailure(f"it has {'more' if len(content) > length else 'fewer'} than the recorded {length} bytes")
    if not stream.eof:
        raise UnpackingFailure("its compressed bytes end too early")
    return content


def rebuild(skeleton: bytes, regions: Iterable[tuple[int, bytes]]) -> bytes:
    """The whole document: each region's content put back at its offset in the skeleton, in the given order."""
    pieces: list[bytes] = []
    done = 0
    for offset, content in regions:
        pieces += (skeleton[done:offset], content)
        done = offset
    pieces.append(skeleton[done:])
    return b"".join(pieces)


# --- versions in parts --------------------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """A version in parts, for a refresh by fragment."""

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
    """The version that a document and regions make up; UnpackingFailure where they do not fit."""
    document = unpack(packed, length)
    if stored_whole(regions):
        region_spans(regions, length)
        return document
    return rebuild(document, [(region.offset, region_content(region, length)) for region in regions])


def region_content(region: PackedRegion, length: int) -> bytes:
    """What a region holds; `length` is that of the skeleton."""
    if not region.packed or not 0 <= region.offset <= length:
        raise UnpackingFailure("a region is not where its document has room for it")
    return unpack(region.packed, region.length)


def region_spans(regions: Sequence[PackedRegion], length: int) -> list[tuple[int, int]]:
    """Where the regions begin and end in a whole version."""
    spans = []
    shift = done = 0
    for region in regions:
        begin = region.offset + shift
        end = begin + (region.length or 0)
        if begin < done or end > length:
            raise UnpackingFailure("a region is not where its document has room for it")
        spans.append((begin, end))
        shift += end - begin
        done = end
    return spans
