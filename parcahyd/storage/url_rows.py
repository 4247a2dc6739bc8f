"""The rows of `urls`: where each URL of a batch stands, and the links that a batch sees.

A URL's place is its site and the key of its path. Another URL may be there already: then it takes the next free key
(architecture, section 5). So a place is only ever used after the text was compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from parcahyd.core.life_cycle import Reason, State
from parcahyd.core.ports import Order
from parcahyd.rules.canonical_url import split
from parcahyd.storage.run_state import RunState
from parcahyd.storage.site_rows import SiteRows
from parcahyd.storage.writer import Writer

__all__ = ["Ledger", "SeenUrl", "Sighting", "UrlRow", "UrlRows"]

Sighting = tuple[int, int, str, int, int, str, bool]
"""A URL that was seen: site, key, path, depth, hops, the word of the reason why it is refused wherever it was seen (empty: it
is not), whether it counts as a seed."""

SeenUrl = tuple[str, int, int, bool, str]
"""An absolute URL that was seen: depth, hops, whether a seed led there, the word of the reason why it is refused (or empty)."""

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_KNOWN, _REFUSED = int(State.KNOWN), int(State.REFUSED)
_depth = itemgetter(3)
_RECONSIDERED = frozenset({Reason.DEPTH.word, Reason.REDIRECTS.word})


class UrlRow(NamedTuple):
    """What the database has on a URL, as far as a batch needs it."""

    path: str
    state: int
    reason: str | None
    depth: int
    hops: int
    seed: bool
    document_id: int | None
    fetch_id: int | None
    priority: int


class Ledger:
    """The places that a batch asked for: what the database has there, and what the batch itself has put there."""

    def __init__(self, rows: dict[tuple[int, int], UrlRow], look: Callable[[int, int], UrlRow | None]) -> None:
        self.rows = rows
        self.taken: dict[tuple[int, int], str] = {}
        """Places that this batch writes, by the path it writes there."""
        self._look = look

    def place(self, site: int, key: int, path: str) -> tuple[int, UrlRow | None]:
        """The key of a URL, and its row if it has one; the first free key where it has none."""
        while True:
            row = self.rows.get((site, key))
            other = self.taken.get((site, key)) if row is None else row.path
            if other is None or other == path:
                return key, row
            key = _LOWEST if key == _HIGHEST else key + 1
            if (site, key) not in self.rows and (beside := self._look(site, key)) is not None:
                self.rows[site, key] = beside


class UrlRows:
    """Looks URLs up and adds those that were seen for the first time; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, sites: SiteRows, key_of: Callable[[str], int]) -> None:
        self._writer = writer
        self._state = state
        self._sites = sites
        self.key_of = key_of
        self.order: Order | None = None
        """Whoever says which URLs come first; None: breadth first, at no cost."""
        self._seen_again = writer.statements["url_rows.seen_again"]
        self._look_up = writer.statements["url_rows.look_up"]
        self._insert = writer.statements["url_rows.insert"]
        self._nearer = writer.statements["url_rows.nearer"]
        self._any = writer.statements["url_rows.any"]

    def is_empty(self) -> bool:
        """Whether no URL was ever seen."""
        return not self._writer.rows(self._any)

    def look_up(self, places: Collection[tuple[int, int]]) -> Ledger:
        """Reads what stands at the places, all of them in one query."""
        rows: dict[tuple[int, int], UrlRow] = {}
        if places:
            for row in self._writer.rows(self._look_up, *self._writer.lists.bind_pairs(list(places))):
                rows[row[:2]] = UrlRow._make(row[2:])
        return Ledger(rows, self._read)

    def _read(self, site: int, key: int) -> UrlRow | None:
        return self.look_up([(site, key)]).rows.get((site, key))

    def sightings(self, seen: Sequence[SeenUrl]) -> list[Sighting]:
        """Absolute URLs with their places before any conflict; what is outside the scope is refused, but for seeds inside."""
        key_of, refusal = self.key_of, self._sites.refusal
        parts = [split(url) for url, *_ in seen]
        found = self._sites.find(part[:3] for part in parts)
        sightings: list[Sighting] = []
        for (url, depth, hops, seed, word), part in zip(seen, parts, strict=True):
            site, inside = found[part[:3]]
            is_seed = seed and inside
            why = "" if is_seed else word or refusal(url, inside)
            sightings.append((site, key_of(part[3]), part[3], depth, hops, why, is_seed))
        return sightings

    def see(self, ledger: Ledger, sightings: Sequence[Sighting], now: float) -> int:
        """Adds the URLs that were never seen before, as known or refused; gives how many those are.

        One that waits already, or was refused for its distance, takes the shorter way if this is one.
        """
        if self._state.work.MaxDepth is not None:
            sightings = sorted(sightings, key=_depth)
        new: list[tuple[Any, ...]] = []
        nearer: list[tuple[Any, ...]] = []
        again: list[tuple[Any, ...]] = []
        order = self.order
        rows, taken = ledger.rows, ledger.taken
        max_depth, max_hops = self._state.max_depth, self._state.work.MaxRedirects
        for site, key, path, depth, hops, refusal, seed in sightings:
            place = (site, key)
            if place in taken or place in rows:
                key, row = ledger.place(site, key, path)  # noqa: PLW2901 (the key as it turned out)
                place = (site, key)
                if place in taken:
                    continue
                if row is not None:
                    if not refusal and self._is_nearer(row, depth, hops):
                        taken[place] = path
                        nearer.append((depth, hops, self._priority(path, depth), now, site, key, path))
                    elif order is not None and row.state == _KNOWN:
                        again.append((order.again(row.priority), site, key, path))
                    continue
            taken[place] = path
            if not refusal and depth <= max_depth and hops <= max_hops:
                priority = depth if order is None else order.first(path, depth)
                new.append((site, key, path, _KNOWN, None, depth, hops, seed, priority, now, now))
            else:
                reason = refusal or self._too_far(depth, hops)
                new.append((site, key, path, _REFUSED, reason, depth, hops, seed, depth, now, None))
        self._writer.many(self._insert, new)
        self._writer.many(self._nearer, nearer)
        self._writer.many(self._seen_again, again)
        waiting = {row[0] for row in new if row[4] is None}
        waiting.update(row[4] for row in nearer)
        self._sites.gained(Counter(row[0] for row in new), waiting, now)
        return len(new)

    def _priority(self, path: str, depth: int) -> int:
        return depth if self.order is None else self.order.first(path, depth)

    def _too_far(self, depth: int, hops: int) -> str | None:
        if depth > self._state.max_depth:
            return Reason.DEPTH.word
        return Reason.REDIRECTS.word if hops > self._state.work.MaxRedirects else None

    def _is_nearer(self, row: UrlRow, depth: int, hops: int) -> bool:
        if row.state == State.KNOWN:
            return depth < row.depth
        return row.state == State.REFUSED and row.reason in _RECONSIDERED and self._too_far(depth, hops) is None
