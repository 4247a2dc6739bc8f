"""Marks what differs between two versions of a page as an author would: the same regions in both, by comments.

A marker cannot stand in a tag, in a comment or in the text of a script, so a region is widened until it holds these whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from parcahyd.augment.differences import Difference, differences

__all__ = ["mark_both"]

_UNBROKEN = re.compile(
    rb"""(?is)<!--.*?-->|<(script|style|title|textarea)\b[^>]*>.*?</\1\s*>|<[a-z/!?](?:"[^"]*"|'[^']*'|[^>"'])*>"""
)


def mark_both(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Copies of both versions with markers around what differs; as they are where nothing does."""
    whole = _Whole(old), _Whole(new)
    regions = differences(old, new, whole_words=True)
    while (wider := _widened(regions, *whole)) != regions:
        regions = wider
    return _marked(old, [part[:2] for part in regions]), _marked(new, [part[2:] for part in regions])


class _Whole:
    """Which parts of a document must not be broken."""

    def __init__(self, document: bytes) -> None:
        spans = [found.span() for found in _UNBROKEN.finditer(document)]
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]

    def around(self, at: int) -> tuple[int, int]:
        """How far it is from here to where a marker can stand, to the left and to the right."""
        number = bisect_right(self._starts, at) - 1
        if number < 0 or not self._starts[number] < at < self._ends[number]:
            return 0, 0
        return at - self._starts[number], self._ends[number] - at


def _widened(regions: Sequence[Difference], old: _Whole, new: _Whole) -> list[Difference]:
    """Each region by what it breaks in either version; what lies between regions is equal, so both are widened alike."""
    wide: list[Difference] = []
    for region in regions:
        left = max(old.around(region.old_start)[0], new.around(region.new_start)[0])
        right = max(old.around(region.old_end)[1], new.around(region.new_end)[1])
        old_start, new_start = region.old_start - left, region.new_start - left
        old_end, new_end = region.old_end + right, region.new_end + right
        if wide and (old_start <= wide[-1].old_end or new_start <= wide[-1].new_end):
            before = wide.pop()
            old_start, new_start = before.old_start, before.new_start
            further = max(before.old_end - old_end, 0)
            old_end, new_end = old_end + further, new_end + further
        wide.append(Difference(old_start, old_end, new_start, new_end))
    return wide


def _marked(document: bytes, regions: Sequence[tuple[int, ...]]) -> bytes:
    pieces: list[bytes] = []
    position = 0
    for number, (start, end) in enumerate(regions, 1):
        pieces += (document[position:start], b"<!--vol %d-->" % number, document[start:end], b"<!--/vol %d-->" % number)
        position = end
    return b"".join([*pieces, document[position:]])
