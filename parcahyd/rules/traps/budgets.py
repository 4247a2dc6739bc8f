"""Budgets: URLs that went on giving the same document are not asked for any more.

Documents are compared by a mark of 64 bits: marks that differ in few bits are of nearly identical documents. A document that is
like one of the site's frequent ones is a *twin*; one that is like a document the site gave with status 404 or 410 is a page for
missing documents whatever its status says, and a twin as well. Twins are counted on three levels, each with a larger budget
than the one before: URLs of one template, of one directory, of the whole site. A level closes when its twins have used up its
budget and are nine in ten of its latest documents; it opens again when they are fewer. While it is closed, a few
of its URLs are still asked for every day, to see whether that has changed.

A site without twins costs no more than a look at its frequent marks.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from parcahyd.core.states import Reason
from parcahyd.rules.traps.memory_budget import VisitMemory
from parcahyd.rules.traps.url_shapes import template

__all__ = ["Budgets", "StoredTwinCount"]

StoredTwinCount = tuple[int, int, int, int, int]
"""Number of the level, twins, others, twins that are pages for missing documents, and the day on which it was closed or last
tried; 0 where it is open."""

_OF_DIRECTORY, _OF_SITE = 10, 100
"""How many times a template's budget these have."""
_SITE = 0
_ONE_PATH = -1
_MARKS = 8
_MISSING_MARKS = 4
_BITS = 0xFFFF_FFFF_FFFF_FFFF
_NEAR = 4
"""Bits in which marks of nearly identical documents differ, at most."""
_MOST_STORED = 64
_LEAST_STORED = 8
"""Levels with fewer twins are not worth being stored."""
_PROBES = 20
"""A closed level has one in so many of its budget for each day."""


class _TwinCount:
    """What came of the URLs of one level since its first twin."""

    __slots__ = ("is_closed", "missing", "others", "probes", "twins")

    def __init__(self) -> None:
        self.twins = self.others = self.missing = self.probes = 0
        self.is_closed = False

    def take_twin(self, is_missing: bool, budget: int, weight: int) -> None:
        self.twins += weight
        self.missing += weight * is_missing
        if self.twins >= budget and self.twins >= 9 * self.others:
            self.is_closed = True
        self._age(budget)

    def take_other(self, budget: int, weight: int) -> None:
        self.others += weight
        if self.is_closed and self.twins < 9 * self.others:
            self.is_closed = False
            self.twins //= 2
        self._age(budget)

    def _age(self, budget: int) -> None:
        """The latest documents count most."""
        if self.twins + self.others >= 2 * budget:
            self.twins //= 2
            self.others //= 2
            self.missing //= 2

    @property
    def is_dull(self) -> bool:
        """Twins are so rare here that the count may begin anew with the next one."""
        return self.others > 4 * self.twins + 16

    @property
    def reason(self) -> Reason:
        return Reason.SOFT_404 if self.missing * 2 > self.twins else Reason.DUPLICATES


class Budgets:
    """The levels of one site. `closed` is empty on nearly every site, and then nothing needs to be looked up."""

    __slots__ = ("_budget", "_counts", "_marks", "_missing", "_tallies", "_today", "closed")

    def __init__(
        self,
        budget: int,
        marks: Sequence[int] = (),
        missing: Sequence[int] = (),
        stored: Iterable[StoredTwinCount] = (),
        today: int = 1,
    ) -> None:
        self._budget = budget
        self._today = today
        self._marks = list(marks[:_MARKS])
        self._counts = [2] * len(self._marks)
        self._missing = list(missing[:_MISSING_MARKS])
        self._tallies: dict[int, _TwinCount] = {}
        for number, twins, others, lost, day in stored:
            tally = self._tallies[number] = _TwinCount()
            tally.twins, tally.others, tally.missing, tally.is_closed = twins, others, lost, day > 0
            tally.probes = max(1, budget // _PROBES) if 0 < day < today else 0
        self.closed = {number for number, tally in self._tallies.items() if tally.is_closed}

    def refuses(self, path: str) -> Reason | None:
        """Why a path of a closed level is not worth being noted; while the visit may still ask for some, it is."""
        for number in _levels(path):
            if number in self.closed and not self._tallies[number].probes:
                return self._tallies[number].reason
        return None

    def refuses_to_ask(self, path: str) -> Reason | None:
        """The same when the path is to be asked for: this is what uses up the few that a closed level has."""
        reason = self.refuses(path)
        if reason is None:
            for number in _levels(path):
                if number in self.closed:
                    self._tallies[number].probes -= 1
        return reason

    def observe(self, path: str, mark: int, status: int, holding: VisitMemory, weight: int = 1) -> None:
        """Counts what was got for a path: the mark of a document, or of the page that came with status 404 or 410.

        Who looks at one document in so many gives that number as its weight.
        """
        mark &= _BITS
        if status in (404, 410):
            if len(self._missing) < _MISSING_MARKS and not self._is_missing(mark):
                self._missing.append(mark)
            return
        is_missing = bool(self._missing) and self._is_missing(mark)
        if self._is_frequent(mark) or is_missing:
            self._count_twin(path, is_missing, holding, weight)
        elif self._tallies:
            self._count_other(path, weight)

    def _is_missing(self, mark: int) -> bool:
        return any((mark ^ other).bit_count() <= _NEAR for other in self._missing)

    def _is_frequent(self, mark: int) -> bool:
        """Whether a mark like this one is among those kept, which are the most frequent ones (Misra and Gries)."""
        at = 0
        for other in self._marks:
            if (mark ^ other).bit_count() <= _NEAR:
                self._counts[at] += 1
                return True
            at += 1
        if at < _MARKS:
            self._marks.append(mark)
            self._counts.append(1)
            return False
        counts = self._counts
        rarest = counts.index(min(counts))
        if counts[rarest] == 1:
            self._marks[rarest] = mark
        else:
            counts[rarest] -= 1
        return False

    def _count_twin(self, path: str, is_missing: bool, holding: VisitMemory, weight: int) -> None:
        for number, factor in zip(_levels(path), (1, _OF_DIRECTORY, _OF_SITE), strict=True):
            tally = self._tallies.get(number)
            if tally is None:
                if number == _ONE_PATH or not holding.take():
                    continue
                tally = self._tallies[number] = _TwinCount()
            tally.take_twin(is_missing, self._budget * factor, weight)
            if tally.is_closed:
                self.closed.add(number)

    def _count_other(self, path: str, weight: int) -> None:
        for number, factor in zip(_levels(path), (1, _OF_DIRECTORY, _OF_SITE), strict=True):
            tally = self._tallies.get(number)
            if tally is not None:
                tally.take_other(self._budget * factor, weight)
                if not tally.is_closed:
                    self.closed.discard(number)
                if tally.is_dull:
                    del self._tallies[number]

    def stored(self) -> tuple[list[int], list[int], list[StoredTwinCount]]:
        """What must outlive the visit, bounded: frequent marks, marks of missing documents, and the levels with most twins."""
        worth = [(number, one) for number, one in self._tallies.items() if one.twins >= _LEAST_STORED or one.is_closed]
        if not worth:
            return [], [], []
        worth.sort(key=lambda each: (each[1].is_closed, each[1].twins), reverse=True)
        frequent = [mark for mark, count in zip(self._marks, self._counts, strict=True) if count > 1]
        return (
            frequent,
            self._missing,
            [
                (number, one.twins, one.others, one.missing, self._today if one.is_closed else 0)
                for number, one in worth[:_MOST_STORED]
            ],
        )


def _levels(path: str) -> tuple[int, int, int]:
    """The numbers of a path's template (_ONE_PATH where it stands for this path alone), directory and site."""
    form = template(path)
    own = _ONE_PATH if form == path and "0" not in form else zlib.crc32(form.encode())
    plain = form.partition("?")[0].rstrip("/")
    return own, zlib.crc32(plain[: plain.rfind("/") + 1].encode()), _SITE
