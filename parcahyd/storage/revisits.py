"""When a stored URL is visited again: its history, the estimate of its rate of change, and what sitemaps say of it.

The `lastmod` of a sitemap is stored with each URL until its next check, which shows whether it was true. The trust in a site's
sitemaps is a number in the site's row (`refresh.lastmod`). A page of a trusted site is due as soon as a sitemap says that it
changed, and later while the sitemap says that it did not.

Tested in tests/storage/test_revisits.py and tests/storage/test_lastmods.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from parcahyd.core.states import State
from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.refresh.lastmod import LastmodTrust
from parcahyd.storage.expressions import pairs, same, updating
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import STORED, sites, urls
from parcahyd.storage.sites import never
from parcahyd.storage.urls import UrlRows
from parcahyd.storage.writer import Writer

__all__ = ["Histories", "History", "LastmodRows", "RevisitPlanner", "rate_of"]

_AT_ONCE = 500
"""Pages of a sitemap in one look-up."""


class History(NamedTuple):
    """The checks of a URL, summed up."""

    checks: int
    changes: int
    changed_at: float | None
    first_seen: float
    checked_at: float | None
    """The last check, successful or not."""
    confirmed_at: float | None
    """The last check that found the page."""
    due_at: float | None
    change_weight: float | None
    change_span: float | None
    change_restless: float | None
    lastmod: float | None = None
    """When it changed, as a sitemap says."""
    lastmod_read: float | None = None
    """When that sitemap was read."""

    @property
    def last_good(self) -> float:
        return self.confirmed_at or self.checked_at or self.first_seen

    @property
    def planned(self) -> float:
        """The seconds from the last good check to the next visit, as it was planned; 0: never."""
        return 0.0 if self.due_at is None else self.due_at - self.last_good


def rate_of(history: History, guess: ChangeRate) -> ChangeRate | None:
    """The estimated rate of a URL; None where it was stored and never checked again."""
    weight, span, restless = history.change_weight, history.change_span, history.change_restless
    if weight is not None and span is not None and restless is not None:
        return ChangeRate.of(weight, span, restless)
    if history.checks <= 1:
        return None
    # A row from before rates were stored. Without a change it was stored at `changed_at`; else only `first_seen` is known.
    since = history.changed_at if not history.changes and history.changed_at is not None else history.first_seen
    return ChangeRate.from_counts(guess, history.checks, history.changes, history.last_good - since)


_PAIR = pairs()
_OF_PLACES = select(urls.c.site_id, urls.c.key, *(urls.c[name] for name in History._fields)).join_from(
    _PAIR, urls, (urls.c.site_id == _PAIR.c.site_id) & (urls.c.key == _PAIR.c.key)
)


class Histories:
    """Reads histories for a batch; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def of(self, places: Collection[tuple[int, int]]) -> dict[tuple[int, int], History]:
        """By site and key, in one query. Without places, as in a first crawl, there is no query."""
        if not places:
            return {}
        rows = self._writer.rows(_OF_PLACES, **self._writer.lists.pairs(list(places)))
        return {row[:2]: History._make(row[2:]) for row in rows}


# --- what sitemaps say --------------------------------------------------------------------------------------------------

_TRUST = select(sites.c.lastmod_trust).where(*same(sites, "id"))
_SET_TRUST = updating(sites, ("id",), "lastmod_trust")
_NOTE = updating(urls, ("site_id", "key"), "due_at", "lastmod", "lastmod_read").where(urls.c.state == STORED)


class LastmodRows:
    """Stores what sitemaps say, and the trust in it; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, url_rows: UrlRows, histories: Histories) -> None:
        self._writer = writer
        self._state = state
        self._urls = url_rows
        self._histories = histories
        self._seen: dict[int, list[tuple[History, float, bool]]] = {}
        self._replanned: list[tuple[float, float]] = []
        writer.on_failure(self._forget)

    def note(self, site: int, read_at: float, lastmods: Sequence[tuple[str, float]]) -> None:
        """Stores when paths of a site changed, according to a sitemap of the site that was read at `read_at`."""
        trust = self._trust(site)
        for start in range(0, len(lastmods), _AT_ONCE):
            self._note_some(site, read_at, lastmods[start : start + _AT_ONCE], trust)

    def _note_some(self, site: int, read_at: float, lastmods: Sequence[tuple[str, float]], trust: LastmodTrust) -> None:
        key_of, revisits = self._urls.key_of, self._state.revisits
        lookup = self._urls.look_up({(site, key_of(path)) for path, _ in lastmods})
        said: dict[tuple[int, int], float] = {}
        for path, lastmod in lastmods:
            key, row = lookup.place(site, key_of(path), path)
            if row is not None and row.state == State.STORED and row.document_id is not None:
                said[site, key] = lastmod
        rows: list[dict[str, Any]] = []
        for (_, key), history in self._histories.of(said).items():
            copied, lastmod, due = history.last_good, said[site, key], history.due_at
            if read_at <= copied:
                continue  # The stored copy is newer than the sitemap.
            if due is not None:
                due = never(trust.due_at(due, lastmod, copied, read_at, revisits.shortest, revisits.longest))
                if due != history.due_at:
                    self._replanned.append((history.planned, 0.0 if due is None else due - copied))
            rows.append({"site_id": site, "key": key, "due_at": due, "lastmod": lastmod, "lastmod_read": read_at})
        self._writer.many(_NOTE, rows)

    def saw(self, site: int, before: History, at: float, *, changed: bool) -> None:
        """Notes a check of a page, if a sitemap named the page since the check before."""
        if before.lastmod_read is not None and before.last_good < before.lastmod_read <= at:
            self._seen.setdefault(site, []).append((before, at, changed))

    def settle(self) -> None:
        """Updates the trust in each site's sitemaps by the checks."""
        for site, seen in self._seen.items():
            trust = before = self._trust(site)
            for page, at, changed in seen:
                trust = trust.observe(page.lastmod, page.last_good, at, changed=changed, read=page.lastmod_read)
            if trust != before:
                self._writer.many(_SET_TRUST, [{"id": site, "lastmod_trust": trust.encode()}])
        self._seen.clear()

    def committed(self) -> None:
        """Called after the commit: new due times count for the budget of revisits from now on."""
        if (budget := self._state.budget) is not None:
            for planned, interval in self._replanned:
                budget.replan(planned, interval)
        self._forget()

    def _forget(self) -> None:
        self._seen.clear()
        self._replanned.clear()

    def _trust(self, site: int) -> LastmodTrust:
        return LastmodTrust.decode(self._writer.value(_TRUST, id=site) or 0)


# --- the next visit -----------------------------------------------------------------------------------------------------


class RevisitPlanner:
    """Sets when pages of a batch are due again, and reports the changes to `refresh.budget` after the commit."""

    def __init__(self, writer: Writer, state: RunState, lastmods: LastmodRows) -> None:
        self._state = state
        self._lastmods = lastmods
        self._new = 0
        self._moves: list[tuple[ChangeRate | None, ChangeRate, float, float]] = []
        """Of each page that was checked again: its rates and its intervals, before and after."""
        writer.on_failure(self._forget)

    def add_new(self) -> None:
        """Counts a page that is stored for the first time."""
        self._new += 1

    def first_due(self, path: str, at: float, key: int) -> float | None:
        """When a page is due that had no version before. A member of an archive never is: it comes with the archive."""
        return None if "#" in path else never(self._state.revisits.first(at, key))

    def learn(self, before: History, site: int, key: int, at: float, *, changed: bool) -> tuple[float | None, ChangeRate]:
        """When a URL is due that was checked again, and its estimated rate of change from now on."""
        self._lastmods.saw(site, before, at, changed=changed)
        revisits = self._state.revisits
        earlier = rate_of(before, revisits.guess)
        rate = revisits.learn(earlier, at - before.last_good, changed)
        due = revisits.following(at, key, rate)
        if self._state.budget is not None:
            self._moves.append((earlier, rate, before.planned, due - at))
        return never(due), rate

    def committed(self) -> None:
        """Called after the commit: what was written counts for the budget from now on."""
        if (budget := self._state.budget) is not None:
            budget.stored(self._new)
            for move in self._moves:
                budget.moved(*move)
            budget.settle()
        self._forget()

    def _forget(self) -> None:
        self._new = 0
        self._moves.clear()
