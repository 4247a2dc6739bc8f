"""A document in two parts, and whole again: the skeleton, which stays, and the regions, which change.

The skeleton is the document with the contents of all regions removed; the markers stay. Putting it together again is to insert
each content at its offset: no HTML is parsed, so parsers cannot disagree. What comes out is checked against its hash before
anybody sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from parcahyd.augment.limits import DEFAULT_LIMITS, Limits
from parcahyd.augment.markers import Mistake, Span, find_regions
from parcahyd.augment.refusal import Fault, Refusal
from parcahyd.augment.tvi import Region, Tvi, read_tvi

__all__ = ["Parted", "apply_tvi", "first_visit", "merge", "part", "part_by_spans", "refreshed"]


class Parted(NamedTuple):
    """A document in its parts."""

    skeleton: bytes
    regions: tuple[Region, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    """What is wrong with the markers; the skeleton is then the whole document."""

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """ID and offset of each region: what stays the same while the skeleton does."""
        return tuple([(region.id, region.offset) for region in self.regions])


def part(document: bytes, *, is_xml: bool = False, charset: str = "") -> Parted:
    """A document parted by its markers; without regions the skeleton is the document."""
    marked = find_regions(document, is_xml=is_xml, charset=charset)
    if not marked.spans:
        return Parted(document, (), marked.mistakes)
    return part_by_spans(document, marked.spans)


def part_by_spans(document: bytes, spans: Sequence[Span]) -> Parted:
    """A document parted at spans that ascend and do not overlap."""
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
    """The document: each content at its offset. Nothing is checked."""
    pieces: list[bytes] = []
    position = 0
    for region in regions:
        pieces += (skeleton[position : region.offset], region.content)
        position = region.offset
    pieces.append(skeleton[position:])
    return b"".join(pieces)


def refreshed(skeleton: bytes, tvi: Tvi, places: Sequence[tuple[str, int]] | None = None) -> bytes | Refusal:
    """The document that a table describes, made of the skeleton that we hold.

    Both hashes fit, else it is refused. `places` are those of the regions that we hold: with the skeleton unchanged they are
    too, and a table that calls a region by another name is refused.
    """
    if len(skeleton) != tvi.base_length or sha256(skeleton).digest() != tvi.base_hash:
        return Refusal(Fault.BASE)
    if places is not None and tuple(places) != tuple([(region.id, region.offset) for region in tvi.regions]):
        return Refusal(Fault.REGIONS, "not those that are held")
    document = merge(skeleton, tvi.regions)
    if len(document) != tvi.length or sha256(document).digest() != tvi.hash:
        return Refusal(Fault.HASH, "of the whole")
    return document


def apply_tvi(
    data: bytes,
    skeleton: bytes,
    places: Sequence[tuple[str, int]] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Tvi, bytes] | Refusal:
    """A table as it arrived, and the document that it makes of the skeleton that we hold; or why it makes none."""
    tvi = read_tvi(data, limits)
    if isinstance(tvi, Refusal):
        return tvi
    document = refreshed(skeleton, tvi, places)
    return document if isinstance(document, Refusal) else (tvi, document)


def first_visit(document: bytes, tvi: Tvi, *, is_xml: bool = False, charset: str = "") -> Parted | Refusal:
    """The parts of a document that came together with a table of it.

    Where the table describes this very version, its spans are cut. Where it describes another one, the markers part the
    document, and the skeleton must be the table's. Else the two do not belong together yet.
    """
    if len(document) == tvi.length and sha256(document).digest() == tvi.hash:
        return _cut(document, tvi)
    parted = part(document, is_xml=is_xml, charset=charset)
    if parted.mistakes:
        return Refusal(Fault.MARKERS)
    if len(parted.skeleton) != tvi.base_length or sha256(parted.skeleton).digest() != tvi.base_hash:
        return Refusal(Fault.BASE)
    if parted.places != tuple([(region.id, region.offset) for region in tvi.regions]):
        return Refusal(Fault.REGIONS, "not those of the document")
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
        return Refusal(Fault.REGIONS, "not those of the document")
    return parted
