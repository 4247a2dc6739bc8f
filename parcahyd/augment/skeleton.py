"""Splits a document into its skeleton, which stays, and its regions, which change, and merges them again.

The skeleton is the document with the contents of all regions removed; the markers stay. Merging
inserts each content at its offset: no HTML is parsed, so parsers cannot disagree. The merged document is checked against its
hash before it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec

from parcahyd.augment.differences import differences
from parcahyd.augment.markers import MarkerError, Span, find_regions
from parcahyd.augment.refusal import DEFAULT_LIMITS, Limits, Refusal, RefusalReason
from parcahyd.augment.tvi import Region, Tvi, read_tvi

__all__ = [
    "MAX_REGIONS",
    "Parted",
    "apply_tvi",
    "is_smaller",
    "merge",
    "part",
    "part_by_spans",
    "part_with_tvi",
    "rebuild",
    "refreshed",
    "share_skeleton",
    "write_regions",
]


class Parted(NamedTuple):
    """A document split into skeleton and regions."""

    skeleton: bytes
    regions: tuple[Region, ...] = ()
    errors: tuple[MarkerError, ...] = ()
    """Errors in the markers; with any, the skeleton is the whole document."""

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """ID and offset of each region; they stay the same as long as the skeleton does."""
        return tuple([(region.id, region.offset) for region in self.regions])


def part(document: bytes, *, is_xml: bool = False, charset: str = "") -> Parted:
    """A document split at its markers; without regions the skeleton is the document."""
    marked = find_regions(document, is_xml=is_xml, charset=charset)
    if not marked.spans:
        return Parted(document, (), marked.errors)
    return part_by_spans(document, marked.spans)


def part_by_spans(document: bytes, spans: Sequence[Span]) -> Parted:
    """A document split at spans that ascend and do not overlap."""
    pieces, regions = [], []
    position = length = 0
    for span in spans:
        piece = document[position : span.start]
        length += len(piece)
        pieces.append(piece)
        regions.append(Region(span.id, length, document[span.start : span.end]))
        position = span.end
    pieces.append(document[position:])
    return Parted(b"".join(pieces), tuple(regions))


def merge(skeleton: bytes, regions: Iterable[Region]) -> bytes:
    """The document with each content inserted at its offset. Nothing is checked."""
    pieces: list[bytes] = []
    position = 0
    for region in regions:
        pieces += (skeleton[position : region.offset], region.content)
        position = region.offset
    pieces.append(skeleton[position:])
    return b"".join(pieces)


def refreshed(skeleton: bytes, tvi: Tvi, places: Sequence[tuple[str, int]] | None = None) -> bytes | Refusal:
    """The document that a table describes, merged from the stored skeleton.

    It is refused unless both hashes match. `places` are those of the stored regions: they are unchanged as long as the skeleton
    is, so a table with other IDs or offsets is refused.
    """
    if len(skeleton) != tvi.base_length or sha256(skeleton).digest() != tvi.base_hash:
        return Refusal(RefusalReason.BASE)
    if places is not None and tuple(places) != tuple([(region.id, region.offset) for region in tvi.regions]):
        return Refusal(RefusalReason.REGIONS, "not those that are held")
    document = merge(skeleton, tvi.regions)
    if len(document) != tvi.length or sha256(document).digest() != tvi.hash:
        return Refusal(RefusalReason.HASH, "of the whole")
    return document


def apply_tvi(
    data: bytes,
    skeleton: bytes,
    places: Sequence[tuple[str, int]] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Tvi, bytes] | Refusal:
    """A table read from its bytes, and the document merged from it and the stored skeleton; or the refusal."""
    tvi = read_tvi(data, limits)
    if isinstance(tvi, Refusal):
        return tvi
    document = refreshed(skeleton, tvi, places)
    return document if isinstance(document, Refusal) else (tvi, document)


def part_with_tvi(document: bytes, tvi: Tvi, *, is_xml: bool = False, charset: str = "") -> Parted | Refusal:
    """A document split with the help of a table that was fetched with it.

    Where the table describes this version, the document is split at the table's regions. Where it describes another version,
    the document is split at its markers, and the skeleton must be the table's; otherwise the table is refused.
    """
    if len(document) == tvi.length and sha256(document).digest() == tvi.hash:
        return _cut(document, tvi)
    parted = part(document, is_xml=is_xml, charset=charset)
    if parted.errors:
        return Refusal(RefusalReason.MARKERS)
    if len(parted.skeleton) != tvi.base_length or sha256(parted.skeleton).digest() != tvi.base_hash:
        return Refusal(RefusalReason.BASE)
    if parted.places != tuple([(region.id, region.offset) for region in tvi.regions]):
        return Refusal(RefusalReason.REGIONS, "not those of the document")
    return parted


def _cut(document: bytes, tvi: Tvi) -> Parted | Refusal:
    spans = []
    shift = 0
    for region in tvi.regions:
        start = region.offset + shift
        shift += len(region.content)
        spans.append(Span(region.id, start, start + len(region.content)))
    parted = part_by_spans(document, spans)
    if parted.regions != tvi.regions or sha256(parted.skeleton).digest() != tvi.base_hash:
        return Refusal(RefusalReason.REGIONS, "not those of the document")
    return parted


# --- Two versions of a document as one skeleton and the regions of each, to store both in less space --------------------
# No markers are needed: the skeleton is what the versions have in common. `merge` restores each version.


MAX_REGIONS = 10_000
"""Regions of a version, at most; versions that differ in more places are stored whole."""
_ROW = 64
"""Bytes that a database needs for a row, besides its values."""


def share_skeleton(old: bytes, new: bytes) -> tuple[Parted, Parted] | None:
    """Both versions with the same skeleton, and regions at the same places of it; None where they differ in too many places."""
    found = differences(old, new)
    if len(found) > MAX_REGIONS:
        return None
    pieces, olds, news = [], [], []
    position = length = 0
    for number, part in enumerate(found, 1):
        pieces.append(old[position : part.old_start])
        length += part.old_start - position
        position = part.old_end
        olds.append(Region(str(number), length, old[part.old_start : part.old_end]))
        news.append(Region(str(number), length, new[part.new_start : part.new_end]))
    pieces.append(old[position:])
    skeleton = b"".join(pieces)
    return Parted(skeleton, tuple(olds)), Parted(skeleton, tuple(news))


def is_smaller(skeleton: int, regions: Iterable[int], whole: Iterable[int]) -> bool:
    """Whether a skeleton and the regions of some versions need less space than the versions whole; all in bytes, compressed."""
    return skeleton + _ROW + sum([length + _ROW for length in regions]) < sum([length + _ROW for length in whole])


def write_regions(regions: Iterable[Region]) -> bytes:
    """Regions as bytes for the database, not compressed: their offsets as distances, and their contents."""
    before = 0
    fields: list[tuple[int, bytes]] = []
    for region in regions:
        fields.append((region.offset - before, region.content))
        before = region.offset
    return msgspec.msgpack.encode(fields)


def rebuild(skeleton: bytes, regions: bytes) -> bytes | None:
    """The version whose regions `write_regions` wrote; None where they are damaged. The caller checks its hash."""
    try:
        fields = msgspec.msgpack.decode(regions, type=list[tuple[int, bytes]])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    offset = 0
    made = []
    for distance, content in fields:
        offset += distance
        if distance < 0 or offset > len(skeleton):
            return None
        made.append(Region("", offset, content))
    return merge(skeleton, made)
