"""Two versions of a document as one skeleton and the regions of each, for keeping both in less space than whole.

Nothing need be marked or learned: the skeleton is what the versions have in common. Putting them together again is `merge`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from parcahyd.augment.differences import differences
from parcahyd.augment.tvi import Region
from parcahyd.augment.volatile import Parted, merge

__all__ = ["MAX_REGIONS", "is_smaller", "rebuild", "share", "write_regions"]

MAX_REGIONS = 10_000
"""Regions of a version; versions that differ in more places are kept whole."""
_ROW = 64
"""Bytes that a database needs for a row, besides what is in it."""


def share(old: bytes, new: bytes) -> tuple[Parted, Parted] | None:
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
    """Regions for the database, not compressed: their places as distances, and their contents."""
    before = 0
    fields: list[tuple[int, bytes]] = []
    for region in regions:
        fields.append((region.offset - before, region.content))
        before = region.offset
    return msgspec.msgpack.encode(fields)


def rebuild(skeleton: bytes, regions: bytes) -> bytes | None:
    """The version whose regions `write_regions` wrote; None where they are damaged. Its hash is the caller's to check."""
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
