"""Changed lines in the form of `diff -u`, for people to read.

Two things are not as in a file of `diff`: a line that begins with a backslash says that the change before it is in a volatile
place, and of a line that is too long only the part around its differences is there. Control characters are written as escapes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import click

from parcahyd.augment.line_changes import Block, Compared
from parcahyd.cli.wording import plain

__all__ = ["unified_lines"]

_CONTEXT = 3
_WIDEST = 2000
"""Bytes of a line that are written; more are left out, and counted."""
_BESIDE = 60
"""Bytes of such a line before its first difference and behind its last."""
_COLOURS = {"-": "red", "+": "green", "@": "cyan", "\\": "yellow"}


def unified_lines(old: bytes, new: bytes, compared: Compared, *, is_coloured: bool) -> Iterator[str]:
    """The hunks, each line with its end. The texts are those that were compared."""
    shows_returns = (b"\r\n" in old) != (b"\r\n" in new)
    sides = _Side(old, compared, 0, shows_returns), _Side(new, compared, 1, shows_returns)
    for blocks in _hunks(compared.blocks):
        for line in _hunk(blocks, *sides):
            colour = _COLOURS.get(line[0]) if is_coloured else None
            yield (click.style(line, fg=colour) if colour else line) + "\n"


def _hunks(blocks: list[Block]) -> Iterator[list[Block]]:
    """Blocks that are near each other, together."""
    hunk: list[Block] = []
    for block in blocks:
        if hunk and block.old_start - hunk[-1].old_end > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(block)
    if hunk:
        yield hunk


class _Side:
    """One of the two texts."""

    def __init__(self, text: bytes, compared: Compared, number: int, shows_returns: bool) -> None:
        self._text = text
        self._offsets = (compared.old_offsets, compared.new_offsets)[number]
        self._shows_returns = shows_returns
        self._starts = [found[2 * number] for found in compared.differences]
        self._ends = [found[2 * number + 1] for found in compared.differences]
        self.count = len(self._offsets) - 1

    def common(self, line: int) -> str:
        """A line that both texts have."""
        text = self._text[self._offsets[line] : self._offsets[line + 1]].removesuffix(b"\n").removesuffix(b"\r")
        return " " + _shown(text, 0, _WIDEST)

    def changed(self, sign: str, line: int) -> Iterator[str]:
        begin, end = self._offsets[line], self._offsets[line + 1]
        text = self._text[begin:end].removesuffix(b"\n")
        if not self._shows_returns:
            text = text.removesuffix(b"\r")
        first = bisect_right(self._ends, begin)
        last = bisect_right(self._starts, end) - 1
        start = max(0, self._starts[first] - begin - _BESIDE) if first < len(self._starts) else 0
        stop = self._ends[last] - begin + _BESIDE if last >= 0 else len(text)
        yield sign + (_shown(text, start, min(stop, start + _WIDEST)) if len(text) > _WIDEST else _shown(text, 0, _WIDEST))
        if end == len(self._text) and not self._text.endswith(b"\n"):
            yield "\\ No newline at end of file"


def _hunk(blocks: list[Block], old: _Side, new: _Side) -> Iterator[str]:
    lead = min(_CONTEXT, blocks[0].old_start, blocks[0].new_start)
    tail = min(_CONTEXT, old.count - blocks[-1].old_end, new.count - blocks[-1].new_end)
    old_start, new_start = blocks[0].old_start - lead, blocks[0].new_start - lead
    old_count, new_count = blocks[-1].old_end + tail - old_start, blocks[-1].new_end + tail - new_start
    yield f"@@ -{_range(old_start, old_count)} +{_range(new_start, new_count)} @@"
    at = old_start
    for block in blocks:
        yield from map(old.common, range(at, block.old_start))
        for line in range(block.old_start, block.old_end):
            yield from old.changed("-", line)
        for line in range(block.new_start, block.new_end):
            yield from new.changed("+", line)
        if block.volatile:
            places = "; ".join(map(plain, block.volatile))
            yield f"\\ {'volatile' if block.is_volatile else 'volatile in part'}: {places}"
        at = block.old_end
    yield from map(old.common, range(at, at + tail))


def _range(start: int, count: int) -> str:
    """As `diff -u` counts: from 1, and an empty one by the line before it."""
    return f"{start + 1 if count else start},{count}"


def _shown(text: bytes, start: int, stop: int) -> str:
    """A part of a line; tabs stay."""
    words = text[start:stop].decode("utf-8", "replace" if not start and stop >= len(text) else "ignore")
    shown = "\t".join(map(plain, words.split("\t")))
    before = f"[{start:,} bytes]..." if start else ""
    return before + shown + (f"...[{len(text) - stop:,} bytes]" if stop < len(text) else "")
