"""The guards of one visit: what they refuse, what they learn, and what is stored with the site."""

from __future__ import annotations

import zlib
from collections import Counter

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.states import Reason
from parcahyd.rules.traps.budgets import Budgets, MemoryBudget, StoredTwinCount, VisitMemory
from parcahyd.rules.traps.calendars import DATE_NAMES, Calendars
from parcahyd.rules.traps.queries import SESSION_NAMES, Queries, Sessions
from parcahyd.rules.traps.url_shapes import names_of, repeats

__all__ = ["Guards", "mark_of_bytes"]

_NAMES = DATE_NAMES | SESSION_NAMES
_DAY = 86_400
_SPREAD = 0x9E37_79B9_7F4A_7C15


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    """What outlives a visit; at most some ten kilobytes, and nothing at all for most sites."""

    settings: tuple[int, ...]
    """What was learned under other settings is forgotten."""
    exploded: list[int] = []
    running: list[int] = []
    marks: list[int] = []
    missing: list[int] = []
    twin_counts: list[StoredTwinCount] = []
    refused: dict[str, int] = {}


class Guards:
    """Judges the paths of one site: `judge` each path once, when it is first met, and `observe` the document that it gives.

    `stored` is what `encode` gave at the end of the visit before; time is handed in.
    """

    __slots__ = (
        *("_budgets", "_calendars", "_fewest", "_memory", "_max_repeats", "_max_segments", "_queries", "_sessions"),
        *("_settings", "refused"),
    )

    def __init__(self, work: WorkConf, now: float, stored: bytes = b"", memory: MemoryBudget | None = None) -> None:
        self._settings = (work.MaxQueryShapes, work.MaxYearsAhead, work.MaxYearsBack, work.TemplateBudget)
        known = self._decode(stored)
        self._memory = VisitMemory(memory or MemoryBudget(1_000_000))
        self._max_segments = work.MaxPathSegments
        self._max_repeats = work.MaxRepeats
        self._fewest = min((limit for limit in (work.MaxPathSegments, work.MaxRepeats) if limit), default=2**31)
        self._queries = Queries(work.MaxParameters, work.MaxRepeats, work.MaxQueryShapes, known.exploded)
        self._calendars = Calendars(now, work.MaxYearsAhead, work.MaxYearsBack, known.running)
        self._sessions = Sessions() if work.OneSession else None
        self._budgets = _budgets(work.TemplateBudget, known, now)
        self.refused: Counter[str] = Counter(known.refused)
        """How many links were refused in all visits, by the word of the reason; not all of them are recorded as URLs."""

    def _decode(self, stored: bytes) -> _Stored:
        empty = _Stored(self._settings)
        if not stored:
            return empty
        try:
            found = msgspec.msgpack.decode(stored, type=_Stored)
        except msgspec.MsgspecError:
            return empty
        return found if found.settings == self._settings else _Stored(self._settings, refused=found.refused)

    def judge(self, path: str) -> Reason | None:
        """Why a path, met for the first time in this visit, is refused; None where it is not."""
        reason = self.look_at(path)
        if reason is not None:
            self.refused[reason.word] += 1
        return reason

    def look_at(self, path: str) -> Reason | None:
        """The same, without adding to `refused`."""
        plain, mark, query = path.partition("?")
        if plain.count("/") > self._fewest and (reason := self._judge_segments(plain)) is not None:
            return reason
        has_name = False
        if mark:
            names = names_of(query)
            if len(names) > 1 and (reason := self._queries.judge(plain, query, names, self._memory)) is not None:
                return reason
            has_name = not _NAMES.isdisjoint(names)
        if self._calendars.refuses(path, has_name, self._memory):
            return Reason.CALENDAR
        has_name = has_name or ";" in plain or "(" in plain
        if has_name and self._sessions is not None and self._sessions.refuses(path, self._memory):
            return Reason.SESSION
        if self._budgets is not None and self._budgets.closed:
            return self._budgets.refuses(path)
        return None

    def _judge_segments(self, plain: str) -> Reason | None:
        segments = plain[1:].split("/")
        count = len(segments)
        if self._max_segments and count > self._max_segments:
            return Reason.PATH_DEPTH
        # Most paths repeat nothing, and the size of the set shows that quickly.
        if self._max_repeats and count - len(set(segments)) > self._max_repeats and repeats(segments) > self._max_repeats:
            return Reason.REPEATS
        return None

    def judge_ask(self, path: str) -> Reason | None:
        """Why a path that `judge` admitted is not requested now: its level has closed since."""
        if self._budgets is None or not self._budgets.closed:
            return None
        reason = self._budgets.refuses_to_ask(path)
        if reason is not None:
            self.refused[reason.word] += 1
        return reason

    def observe(self, path: str, mark: int, status: int, weight: int = 1) -> None:
        """Counts the document that a path gave. A mark is 64 bits that differ in few for documents that differ in little: a
        similarity fingerprint, or `mark_of_bytes` where there is too little text for one."""
        if self._budgets is not None:
            self._budgets.observe(path, mark, status, self._memory, weight)

    def encode(self) -> bytes:
        """What is to be stored with the site, for the next visit; empty where nothing was learned."""
        marks, missing, twin_counts = self._budgets.stored() if self._budgets is not None else ([], [], [])
        exploded, running = sorted(self._queries.exploded), sorted(self._calendars.running)
        if not (twin_counts or exploded or running or self.refused):
            return b""
        known = _Stored(self._settings, exploded, running, marks, missing, twin_counts, dict(self.refused))
        return msgspec.msgpack.encode(known)

    def forget(self) -> None:
        """Releases the memory, at the end of the visit."""
        self._memory.release()


def _budgets(budget: int, known: _Stored, now: float) -> Budgets | None:
    return Budgets(budget, known.marks, known.missing, known.twin_counts, int(now // _DAY) + 1) if budget else None


def mark_of_bytes(body: bytes) -> int:
    """The mark of a document by its bytes alone: equal ones have equal marks, all others marks that are far apart."""
    return (zlib.crc32(body) + 1) * _SPREAD & 0xFFFF_FFFF_FFFF_FFFF
