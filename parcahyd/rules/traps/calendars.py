"""Calendars: each month links to the next one, without end.

A URL is dated when it names a year with a month (`/2031/05/`, `date=2031-05-12`, `20310512`), a `year=2031`, or seconds since
1970 in a parameter that is called after time. What stands before the date is the run that it belongs to. A run that has shown
a date near today is a calendar's, and its dates far from today are refused; far dates alone are not: `/parts/2100-12` may be
anything. Where numbers that are no dates stand in the same place (`/news/201273`, `/topic/17/3`, `/topic/2026/0`), those that
look like dates are numbers too.

Tested in tests/rules/traps/test_guards.py.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from itertools import islice

from parcahyd.rules.traps.budgets import VisitMemory
from parcahyd.rules.traps.url_shapes import numbered

__all__ = ["DATE_NAMES", "Calendars"]

_YEAR = 31_556_952
"""Seconds of a year, on average."""
_MOST_RUNS = 64
_WEEKS = 53
_MOST_DATES = 4
"""Dates of one URL that are read."""

_YEARS = ("year", "yr", "y", "jahr", "annee", "ano", "anno")
_TIMES = ("time", "timestamp", "ts", "date", "day", "week", "month", "start", "from", "cal_d")


_DATE = re.compile(r"[12][0-9]{3}(?:[-/_](?:0?[1-9]|1[0-2])|(?:0[1-9]|1[0-2])(?:[0-3][0-9])?+)(?![0-9A-Za-z])")


_PAIR = re.compile(r"([0-9](?<![0-9A-Za-z].)[0-9]*+)[-/_]([0-9]++)(?![A-Za-z])")


_NUMBER = re.compile(r"(?<![0-9A-Za-z])[0-9]{5,9}+(?![0-9A-Za-z])")


_NAMED = re.compile(
    rf"[?&](?:(?:{'|'.join(_YEARS)})=([12][0-9]{{3}})|(?:{'|'.join(_TIMES)})=([0-9]{{9,11}}))(?![0-9A-Za-z])", re.IGNORECASE
)


DATE_NAMES = frozenset(spelling for name in (*_YEARS, *_TIMES) for spelling in (name, name.upper(), name.capitalize()))
"""Names of parameters that may hold a date."""


class Calendars:
    """Judges the dates in URLs of one site. `running` outlives the visit: runs that have been stopped."""

    __slots__ = ("_counted", "_first", "_has_digits", "_last", "_latest", "_near", "_numbers", "_pairs", "running")

    def __init__(self, now: float, years_ahead: int, years_back: int, running: Iterable[int] = ()) -> None:
        year = 1970 + int(now // _YEAR)
        self._last = year + years_ahead if years_ahead else 9999
        self._first = year - years_back if years_back else 0
        self._near: set[int] = set()
        self._latest: str | None = None
        """The text before the latest date near today: mostly the next date has the same."""
        self._numbers: set[int] = set()
        """Runs of numbers that are no dates."""
        self._counted: str | None = None
        """What stood before the latest of these."""
        self._pairs: set[int] = set()
        """Runs of two numbers of which the first is no year, or the second no month and no week."""
        self.running = set(running)
        """Numbers of what stands before the dates."""
        self._has_digits = bool(self.running)
        """A date in digits alone was found, or may have been found in an earlier visit."""

    def refuses(self, path: str, has_name: bool, memory: VisitMemory) -> bool:
        """Whether the path is too far down a run of dates; `has_name`: one of its parameters is named after time.

        A calendar begins in this century. So a path without `20` has no date that counts, as long as there is no run.
        """
        if len(self._pairs) < _MOST_RUNS and (pair := _PAIR.search(path)):
            self._note_pair(path, pair)
        if not has_name and "20" not in path and not self._near and not self.running:
            return False
        for found in islice(_DATE.finditer(path), _MOST_DATES):
            start, date = found.start(), found[0]
            if not path[start - 1].isalnum() and self._is_far(int(date[:4]), path[:start], memory, date.isdigit()):
                return True
        if self._has_digits:
            self._count(path, memory)
        if has_name:
            for found in islice(_NAMED.finditer(path), _MOST_DATES):
                year = int(found[1]) if found[1] else 1970 + int(found[2]) // _YEAR
                if self._is_far(year, path[: found.start()], memory):
                    return True
        return False

    def _note_pair(self, path: str, pair: re.Match[str]) -> None:
        """Notes what stands before two numbers that are no date; the first pair of a path is enough."""
        year, part = pair.groups()
        if len(year) == 4 and year[0] in "12" and 0 < int(part[:3]) <= _WEEKS:
            return
        run = zlib.crc32(numbered(path[: pair.start()]).encode())
        self._pairs.add(run)
        self.running.discard(run)

    def _count(self, path: str, memory: VisitMemory) -> None:
        """Notes what stands before numbers that are no dates."""
        for found in islice(_NUMBER.finditer(path), _MOST_DATES):
            before = path[: found.start()]
            if before != self._counted and not _DATE.fullmatch(found[0]):
                self._counted = before
                run = zlib.crc32(numbered(before).encode())
                if run not in self._numbers and memory.take():
                    self._numbers.add(run)
                    self.running.discard(run)

    def _is_far(self, year: int, before: str, memory: VisitMemory, is_number: bool = False) -> bool:
        """Whether a date ends its run; `is_number`: it is written in digits alone."""
        is_near = self._first <= year <= self._last
        if is_near and before == self._latest:
            return False
        run = zlib.crc32(numbered(before).encode())
        if is_near:
            self._latest = before
            self._has_digits = self._has_digits or is_number
            if run not in self._near and memory.take():
                self._near.add(run)
            return False
        if (run not in self._near and run not in self.running) or run in (self._numbers if is_number else self._pairs):
            return False
        if len(self.running) < _MOST_RUNS:
            self.running.add(run)
        return True
