"""Budgets: URLs whose documents keep being the same are no longer requested.

Documents are compared by a mark of 64 bits: marks that differ in few bits are of nearly identical documents. A document that is
like one of the site's frequent ones is a *twin*; one that is like a document the site gave with status 404 or 410 is a page for
missing documents whatever its status says, and a twin as well. Twins are counted on three levels, each with a larger budget
than the one before: URLs of one template, of one directory, of the whole site. A level closes when its twins have used up its
budget and are nine in ten of its latest documents. It opens again when they are fewer. While it is closed, a few of its URLs
are still requested every day, to find out whether that has changed.

A site without twins costs one comparison with its frequent marks per document.

Tested in tests/rules/traps/test_guards.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from parcahyd.core.states import Reason
from parcahyd.rules.traps.url_shapes import template

__all__ = [
    "Budgets",
    "MemoryBudget",
    "StoredTwinCount",
    "VisitMemory",
]

StoredTwinCount = tuple[int, int, int, int, int]
"""Number of the level, twins, others, twins that are pages for missing documents, and the day on which it was closed or last
tried; 0 where it is open."""

_OF_DIRECTORY, _OF_SITE = 10, 100
"""The budgets of a directory and of a site, as multiples of a template's budget."""
_SITE = 0
_ONE_PATH = -1
_MARKS = 8
_MISSING_MARKS = 4
_BITS = 0xFFFF_FFFF_FFFF_FFFF
_NEAR = 4
"""Bits in which marks of nearly identical documents differ, at most."""
_MOST_STORED = 64
_LEAST_STORED = 8
"""Levels with fewer twins are not stored."""
_PROBES = 20
"""The part of its budget, as a divisor, that a closed level may still request each day."""


class _TwinCount:
    """The documents of one level since its first twin, counted."""

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
        """Halves the counts, so that the latest documents count most."""
        if self.twins + self.others >= 2 * budget:
            self.twins //= 2
            self.others //= 2
            self.missing //= 2

    @property
    def is_rare(self) -> bool:
        """Twins are so rare that this count is dropped; the next twin begins a new one."""
        return self.others > 4 * self.twins + 16

    @property
    def reason(self) -> Reason:
        return Reason.SOFT_404 if self.missing * 2 > self.twins else Reason.DUPLICATES


class Budgets:
    """The levels of one site. `closed` is empty on nearly every site, and then nothing needs to be looked up."""

    __slots__ = ("_budget", "_mark_counts", "_marks", "_missing", "_today", "_twin_counts", "closed")

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
        self._mark_counts = [2] * len(self._marks)
        self._missing = list(missing[:_MISSING_MARKS])
        self._twin_counts: dict[int, _TwinCount] = {}
        for number, twins, others, lost, day in stored:
            count = self._twin_counts[number] = _TwinCount()
            count.twins, count.others, count.missing, count.is_closed = twins, others, lost, day > 0
            count.probes = max(1, budget // _PROBES) if 0 < day < today else 0
        self.closed = {number for number, count in self._twin_counts.items() if count.is_closed}

    def refuses(self, path: str) -> Reason | None:
        """Why a path of a closed level is not recorded; None while the visit may still request some of that level."""
        for number in _levels(path):
            if number in self.closed and not self._twin_counts[number].probes:
                return self._twin_counts[number].reason
        return None

    def refuses_to_ask(self, path: str) -> Reason | None:
        """Why a path is not requested. A path that passes uses up one of the requests that its closed levels have left."""
        reason = self.refuses(path)
        if reason is None:
            for number in _levels(path):
                if number in self.closed:
                    self._twin_counts[number].probes -= 1
        return reason

    def observe(self, path: str, mark: int, status: int, memory: VisitMemory, weight: int = 1) -> None:
        """Counts what was got for a path: the mark of a document, or of the page that came with status 404 or 410.

        A caller that observes only one document in n gives n as the weight.
        """
        mark &= _BITS
        if status in (404, 410):
            if len(self._missing) < _MISSING_MARKS and not self._is_missing(mark):
                self._missing.append(mark)
            return
        is_missing = bool(self._missing) and self._is_missing(mark)
        if self._is_frequent(mark) or is_missing:
            self._count_twin(path, is_missing, memory, weight)
        elif self._twin_counts:
            self._count_other(path, weight)

    def _is_missing(self, mark: int) -> bool:
        return any((mark ^ other).bit_count() <= _NEAR for other in self._missing)

    def _is_frequent(self, mark: int) -> bool:
        """Whether a mark like this one is among those kept, which are the most frequent ones (Misra and Gries)."""
        at = 0
        for other in self._marks:
            if (mark ^ other).bit_count() <= _NEAR:
                self._mark_counts[at] += 1
                return True
            at += 1
        if at < _MARKS:
            self._marks.append(mark)
            self._mark_counts.append(1)
            return False
        counts = self._mark_counts
        rarest = counts.index(min(counts))
        if counts[rarest] == 1:
            self._marks[rarest] = mark
        else:
            counts[rarest] -= 1
        return False

    def _count_twin(self, path: str, is_missing: bool, memory: VisitMemory, weight: int) -> None:
        for number, factor in zip(_levels(path), (1, _OF_DIRECTORY, _OF_SITE), strict=True):
            count = self._twin_counts.get(number)
            if count is None:
                if number == _ONE_PATH or not memory.take():
                    continue
                count = self._twin_counts[number] = _TwinCount()
            count.take_twin(is_missing, self._budget * factor, weight)
            if count.is_closed:
                self.closed.add(number)

    def _count_other(self, path: str, weight: int) -> None:
        for number, factor in zip(_levels(path), (1, _OF_DIRECTORY, _OF_SITE), strict=True):
            count = self._twin_counts.get(number)
            if count is not None:
                count.take_other(self._budget * factor, weight)
                if not count.is_closed:
                    self.closed.discard(number)
                if count.is_rare:
                    del self._twin_counts[number]

    def stored(self) -> tuple[list[int], list[int], list[StoredTwinCount]]:
        """What must outlive the visit, bounded: frequent marks, marks of missing documents, and the levels with most twins."""
        worth = [(number, one) for number, one in self._twin_counts.items() if one.twins >= _LEAST_STORED or one.is_closed]
        if not worth:
            return [], [], []
        worth.sort(key=lambda each: (each[1].is_closed, each[1].twins), reverse=True)
        frequent = [mark for mark, count in zip(self._marks, self._mark_counts, strict=True) if count > 1]
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


# --- How much guards remember: bounded for each visit, and for all visits of a worker together --------------------------


_OF_ONE_VISIT = 5000


class MemoryBudget:
    """The number of facts that the guards of all visits of a worker may still remember together."""

    __slots__ = ("left",)

    def __init__(self, facts: int) -> None:
        self.left = facts


class VisitMemory:
    """One visit's part of the memory. A guard that gets no room for a fact goes on without it."""

    __slots__ = ("_budget", "_held", "_most")

    def __init__(self, budget: MemoryBudget, most: int = _OF_ONE_VISIT) -> None:
        self._budget = budget
        self._most = most
        self._held = 0

    def take(self) -> bool:
        """Whether there was room for one more fact."""
        if self._held >= self._most or self._budget.left <= 0:
            return False
        self._held += 1
        self._budget.left -= 1
        return True

    def release(self) -> None:
        """Returns the visit's part to the worker's budget, at the end of the visit."""
        self._budget.left += self._held
        self._held = 0
