"""Where two versions of a document differ, byte for byte.

The versions are aligned by pieces that occur exactly once in both (patience diff, after Bram Cohen): first by lines and tags,
then, in the gaps that remain, by words. Every level reads each byte once and sorts the pieces, so the time is near linear on
any input. The result is exact, but not always the shortest.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import NamedTuple

__all__ = ["BY_LINES", "MAX_GAP", "MAX_PIECES", "Bounds", "Difference", "differences"]

MAX_GAP = 1024 * 1024
"""Bytes of a gap, without equal ends, that are compared piece by piece; a larger gap is one difference."""
MAX_PIECES = 50_000
"""Pieces of a gap that are compared; a gap with more pieces is one difference."""

_LINE = re.compile(rb"[^\n>]*+[\n>]|[^\n>]++")
# Times, dates and identifiers are one word. So is text of other alphabets: characters stay whole.
_WORD_BYTES = rb"0-9A-Za-z_:\x80-\xff-"
_WORD = re.compile(rb"[%b]++|[^%b]" % (_WORD_BYTES, _WORD_BYTES))
_IN_WORD = frozenset(byte for byte in range(256) if re.match(rb"[%b]" % _WORD_BYTES, bytes([byte])))
_PIECES = (_LINE, _LINE, _WORD, _WORD)
"""The pattern of a piece at each level. Each is used twice: more pieces are unique within a gap than in the whole."""
_FIRST_STEP = 64


class Difference(NamedTuple):
    """Bytes of the older version, from a start to before an end, and those that the newer one has instead; one may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class Bounds(NamedTuple):
    """How far versions are compared."""

    gap: int = MAX_GAP
    pieces: int = MAX_PIECES
    levels: int = len(_PIECES)


BY_LINES = Bounds(gap=4 * MAX_GAP, pieces=6 * MAX_PIECES, levels=2)
"""For large versions, of which it is enough to know in which lines they differ."""


def differences(
    old: bytes,
    new: bytes,
    *,
    whole_words: bool = False,
    bounds: Bounds = Bounds(),  # noqa: B008 (immutable)
) -> list[Difference]:
    """The differences of two versions in ascending order; the bytes between them are equal.

    With `whole_words` a difference begins and ends where words do: between 12:34 and 12:37 it is not only the last digit.
    """
    found = [Difference(*gap) for gap in _unequal(old, new, (0, len(old), 0, len(new)), 0, bounds)]
    return _widened(old, new, found) if whole_words else found


_Gap = tuple[int, int, int, int]


def _unequal(old: bytes, new: bytes, gap: _Gap, level: int, bounds: Bounds) -> Iterator[_Gap]:
    """The parts of a gap in which the versions differ."""
    gap = _trimmed(old, new, gap)
    old_at, old_end, new_at, new_end = gap
    if old_at == old_end or new_at == new_end or level == bounds.levels or max(old_end - old_at, new_end - new_at) > bounds.gap:
        if gap[0] < old_end or gap[2] < new_end:
            yield gap
        return
    for old_piece, new_piece, length in _pairs(old, new, gap, level, bounds.pieces):
        if old_at < old_piece or new_at < new_piece:
            yield from _unequal(old, new, (old_at, old_piece, new_at, new_piece), level + 1, bounds)
        old_at, new_at = old_piece + length, new_piece + length
    yield from _unequal(old, new, (old_at, old_end, new_at, new_end), level + 1, bounds)


def _trimmed(old: bytes, new: bytes, gap: _Gap) -> _Gap:
    """The gap without what is equal at its begin and at its end."""
    old_at, old_end, new_at, new_end = gap
    shared = _longest(
        min(old_end - old_at, new_end - new_at),
        lambda low, high: old[old_at + low : old_at + high] == new[new_at + low : new_at + high],
    )
    rest = _longest(
        min(old_end - old_at, new_end - new_at) - shared,
        lambda low, high: old[old_end - high : old_end - low] == new[new_end - high : new_end - low],
    )
    return old_at + shared, old_end - rest, new_at + shared, new_end - rest


def _longest(most: int, are_equal: Callable[[int, int], bool]) -> int:
    """How many bytes are equal, counted from an end: by steps that double, then by halves."""
    low, step = 0, _FIRST_STEP
    while low < most and are_equal(low, high := min(low + step, most)):
        low, step = high, step * 2
    high = min(low + step, most)
    while low < high:
        middle = (low + high + 1) // 2
        if are_equal(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _pairs(old: bytes, new: bytes, gap: _Gap, level: int, max_pieces: int) -> list[_Pair]:
    """Equal pieces that occur once in both sides of the gap, in the same order in both: their two offsets and their length."""
    old_pieces = _PIECES[level].findall(old, gap[0], gap[1])
    new_pieces = _PIECES[level].findall(new, gap[2], gap[3])
    if max(len(old_pieces), len(new_pieces)) > max_pieces:
        return []
    old_counts, new_counts = Counter(old_pieces), Counter(new_pieces)
    old_places = dict(zip(old_pieces, accumulate(map(len, old_pieces), initial=gap[0]), strict=False))
    both = [
        (old_places[piece], place, len(piece))
        for piece, place in zip(new_pieces, accumulate(map(len, new_pieces), initial=gap[2]), strict=False)
        if new_counts[piece] == 1 and old_counts.get(piece) == 1
    ]
    return _ascending(both)


_Pair = tuple[int, int, int]


def _ascending(pairs: list[_Pair]) -> list[_Pair]:
    """The longest choice of pairs, which ascend in the newer version, that ascend in the older one too."""
    ends: list[int] = []
    """By length of a choice: the smallest place in the older version with which such a choice can end."""
    last: list[int] = []
    before: list[int] = []
    for number, pair in enumerate(pairs):
        length = bisect_left(ends, pair[0])
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [pair[0]]
        last[length : length + 1] = [number]
    chosen = []
    number = last[-1] if last else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]


def _widened(old: bytes, new: bytes, found: list[Difference]) -> list[Difference]:
    """Differences widened to whole words; differences that then touch are joined."""
    wide: list[Difference] = []
    for number, (old_start, old_end, new_start, new_end) in enumerate(found):
        least = wide[-1].old_end if wide else 0
        most = found[number + 1].old_start if number + 1 < len(found) else len(old)
        left, right = old_start, old_end
        # A difference that begins or ends beside a word, in both versions, leaves the word alone.
        if _is_in_word(old, old_start) or _is_in_word(new, new_start):
            while left > least and old[left - 1] in _IN_WORD:
                left -= 1
        if _is_in_word(old, old_end - 1) or _is_in_word(new, new_end - 1):
            while right < most and old[right] in _IN_WORD:
                right += 1
        new_left, new_right = new_start - (old_start - left), new_end + right - old_end
        if wide and left == least:
            before = wide.pop()
            left, new_left = before.old_start, before.new_start
        wide.append(Difference(left, right, new_left, new_right))
    return wide


def _is_in_word(document: bytes, at: int) -> bool:
    return 0 <= at < len(document) and document[at] in _IN_WORD
