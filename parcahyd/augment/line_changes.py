"""Which lines of a text changed, for people to read: blocks of lines, and whether what changed in them is volatile.

Lines are those of the text. Where one is too long to be read, as in a page without line ends, lines also begin at tags, and
long pieces are cut behind sentences, commas, semicolons and braces. Where the bytes differ is found by `differences`, in a time
near linear on any input. A line that has no difference and is a line of both texts is common to both; the lines between are a
block.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, islice, pairwise
from typing import NamedTuple

from parcahyd.augment.differences import BY_LINES, Difference, differences
from parcahyd.augment.markers import Span

__all__ = ["MAX_LINES", "MAX_TEXT", "Block", "Compared", "compare_lines"]

MAX_TEXT = BY_LINES.gap
"""Bytes of each text that are compared; a larger one is refused."""
MAX_LINES = BY_LINES.pieces
"""Lines and tags of each text, the same."""
_LONG = 500
"""Bytes of a line that nobody wants to read."""
_LONGER = 2 * _LONG
_MOST_REFINED = 100
"""Lines of a block that are compared each with each."""
_MOST_COMPARISONS = 500_000
"""In all blocks together."""

_LINE_END = re.compile(rb"\n")
# Not behind a blank: a tag within a sentence, or behind an indent, begins no line.
_TAG = re.compile(rb"\n|(?<![\t\n\r ])(?=<[A-Za-z!?])")
_PHRASE = re.compile(rb"\n|[;{}][\t ]*+(?![\r\n])|,(?=\S)|[.!?] (?![\r\n])")


class Block(NamedTuple):
    """Lines of the older text, from a number to before another, and those that the newer one has instead; counted from 0."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int
    volatile: tuple[str, ...] = ()
    """The volatile places that changed in it, by their names."""
    is_volatile: bool = False
    """Nothing else changed in it."""


class Compared(NamedTuple):
    """Two texts in lines. Offsets are those of the lines' begins, and of the text's end."""

    old_offsets: Sequence[int]
    new_offsets: Sequence[int]
    differences: list[Difference]
    blocks: list[Block]
    is_cut: bool
    """Lines were cut into shorter ones."""


def compare_lines(
    old: bytes, new: bytes, old_volatile: Sequence[Span] = (), new_volatile: Sequence[Span] = (), *, is_markup: bool = False
) -> Compared | None:
    """The changed lines of two texts in UTF-8 with their volatile places, ascending; None where they are too large."""
    if any(len(text) > MAX_TEXT or text.count(b"\n") + text.count(b">") > MAX_LINES for text in (old, new)):
        return None
    is_cut = max(map(_longest_line, (old, new))) > _LONG
    cuts = (_TAG if is_markup else _PHRASE) if is_cut else _LINE_END
    olds, news = _Lines(old, _offsets(old, cuts)), _Lines(new, _offsets(new, cuts))
    if max(olds.count, news.count) > MAX_LINES:
        return None
    found = differences(old, new, bounds=BY_LINES)
    places = _Places(old_volatile, new_volatile)
    blocks: list[Block] = []
    within: list[Difference] = []
    for block in _refined(olds, news, _blocks(_common(olds.offsets, news.offsets, found), olds.count, news.count)):
        of_block = _differences_within(block, olds, news)
        blocks.append(_judged(block, of_block, places))
        within += of_block
    return Compared(olds.offsets, news.offsets, within, blocks, is_cut)


class _Lines:
    """A text, and where its lines begin."""

    def __init__(self, text: bytes, offsets: list[int]) -> None:
        self.text = text
        self.offsets = offsets
        self.count = len(offsets) - 1

    def some(self, start: int, end: int) -> list[bytes]:
        return [self.text[begin:stop] for begin, stop in pairwise(self.offsets[start : end + 1])]


def _longest_line(text: bytes) -> int:
    return max(map(len, text.split(b"\n")))


def _offsets(text: bytes, cuts: re.Pattern[bytes]) -> list[int]:
    """Where lines begin, and the end; more than MAX_LINES are not looked for."""
    offsets = [0]
    ends = (found.end() for found in cuts.finditer(text))
    for end in chain(ends, (len(text),)):
        begin = offsets[-1]
        if end - begin > _LONGER and cuts is _TAG:
            offsets += [cut.end() for cut in islice(_PHRASE.finditer(text, begin + 1, end - 1), MAX_LINES)]
        if offsets[-1] < end:
            offsets.append(end)
        if len(offsets) > MAX_LINES + 1:
            break
    return offsets


def _common(old_offsets: Sequence[int], new_offsets: Sequence[int], found: list[Difference]) -> Iterator[tuple[int, int]]:
    """Pairs of equal lines, by their numbers, ascending: they lie between two differences, and are lines on both sides."""
    numbers = {offset: number for number, offset in enumerate(new_offsets)}
    borders = [(0, 0, 0, 0), *found, (old_offsets[-1], old_offsets[-1], new_offsets[-1], new_offsets[-1])]
    for (_, start, _, new_start), (end, *_) in pairwise(borders):
        shift = new_start - start
        line = bisect_left(old_offsets, start)
        while line + 1 < len(old_offsets) and old_offsets[line + 1] <= end:
            number = numbers.get(old_offsets[line] + shift)
            if number is not None and numbers.get(old_offsets[line + 1] + shift) == number + 1:
                yield line, number
            line += 1


def _blocks(common: Iterator[tuple[int, int]], old_lines: int, new_lines: int) -> Iterator[Block]:
    """What lies between pairs of equal lines."""
    old_at = new_at = 0
    for old_line, new_line in (*common, (old_lines, new_lines)):
        if old_at < old_line or new_at < new_line:
            yield Block(old_at, old_line, new_at, new_line)
        old_at, new_at = old_line + 1, new_line + 1


def _refined(old: _Lines, new: _Lines, blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks without the lines in them that are equal. Such are at the ends, where a line was added beside one that begins as
    it does, and between, where the same line occurs often. For these a slow way is right, on few lines."""
    left = _MOST_COMPARISONS
    for block in blocks:
        olds, news = old.some(*block[:2]), new.some(*block[2:4])
        start = _equal_at_begin(olds, news)
        end = _equal_at_begin(olds[start:][::-1], news[start:][::-1])
        olds, news = olds[start : len(olds) - end], news[start : len(news) - end]
        old_start, new_start = block.old_start + start, block.new_start + start
        left -= len(olds) * len(news)
        if not olds or not news or left < 0 or max(len(olds), len(news)) > _MOST_REFINED:
            if olds or news:
                yield Block(old_start, old_start + len(olds), new_start, new_start + len(news))
            continue
        for tag, old_at, old_to, new_at, new_to in SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
            if tag != "equal":
                yield Block(old_start + old_at, old_start + old_to, new_start + new_at, new_start + new_to)


def _equal_at_begin(olds: list[bytes], news: list[bytes]) -> int:
    return next(
        (number for number, (one, other) in enumerate(zip(olds, news, strict=False)) if one != other), min(len(olds), len(news))
    )


def _differences_within(block: Block, old: _Lines, new: _Lines) -> list[Difference]:
    """The differences of the lines of a block."""
    old_at, new_at = old.offsets[block.old_start], new.offsets[block.new_start]
    olds, news = old.text[old_at : old.offsets[block.old_end]], new.text[new_at : new.offsets[block.new_end]]
    found = differences(olds, news)
    return [Difference(one[0] + old_at, one[1] + old_at, one[2] + new_at, one[3] + new_at) for one in found]


class _Places:
    """The volatile places of both texts."""

    def __init__(self, old: Sequence[Span], new: Sequence[Span]) -> None:
        self._old, self._new = old, new
        self._old_ends, self._new_ends = [span.end for span in old], [span.end for span in new]

    def around(self, found: Difference) -> str | None:
        """The name of the volatile place that a difference is in; None where it is in none.

        Both sides must be in one. A side without bytes is, and so is one in which no places are known.
        """
        old = _holder(self._old, self._old_ends, found.old_start, found.old_end)
        new = _holder(self._new, self._new_ends, found.new_start, found.new_end)
        if old is None and self._old and found.old_start < found.old_end:
            return None
        if new is None and self._new and found.new_start < found.new_end:
            return None
        holder = new or old
        return None if holder is None else holder.id


def _holder(spans: Sequence[Span], ends: Sequence[int], start: int, end: int) -> Span | None:
    number = bisect_left(ends, end)
    return spans[number] if number < len(spans) and spans[number].start <= start else None


def _judged(block: Block, found: list[Difference], places: _Places) -> Block:
    names = [places.around(one) for one in found]
    volatile = tuple(dict.fromkeys(name for name in names if name is not None))
    return block._replace(volatile=volatile, is_volatile=bool(names) and None not in names)
