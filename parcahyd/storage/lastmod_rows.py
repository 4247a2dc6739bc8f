"""What sitemaps say of stored pages: kept with each URL until its next check, which shows whether it was true.

A site's trust is one number of its row (`refresh.lastmod`). Where it is earned, a page is due as soon as a sitemap says that
it changed, and spared while it says that it did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parcahyd.core.life_cycle import State
from parcahyd.refresh.lastmod import LastmodTrust
from parcahyd.storage.histories import Histories, History
from parcahyd.storage.moments import never
from parcahyd.storage.run_state import RunState
from parcahyd.storage.url_rows import UrlRows
from parcahyd.storage.writer import Writer

__all__ = ["LastmodRows"]

_AT_ONCE = 500
"""Pages that are looked up together."""


class LastmodRows:
    """Keeps what sitemaps say, and what that was worth; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, url_rows: UrlRows, histories: Histories) -> None:
        self._writer = writer
        self._state = state
        self._urls = url_rows
        self._histories = histories
        self._seen: dict[int, list[tuple[History, float, bool]]] = {}
        self._replanned: list[tuple[float, float]] = []
        self._trust_of = writer.statements["lastmod_rows.trust_of"]
        self._set_trust = writer.statements["lastmod_rows.set_trust"]
        self._note = writer.statements["lastmod_rows.note"]
        writer.on_failure(self._forget)

    def note(self, site: int, read_at: float, lastmods: Sequence[tuple[str, float]]) -> None:
        """A sitemap that was read then says when these paths of its own site changed."""
        trust = self._trust(site)
        for start in range(0, len(lastmods), _AT_ONCE):
            self._note_some(site, read_at, lastmods[start : start + _AT_ONCE], trust)

    def _note_some(self, site: int, read_at: float, lastmods: Sequence[tuple[str, float]], trust: LastmodTrust) -> None:
        key_of, revisits = self._urls.key_of, self._state.revisits
        ledger = self._urls.look_up({(site, key_of(path)) for path, _ in lastmods})
        said: dict[tuple[int, int], float] = {}
        for path, lastmod in lastmods:
            key, row = ledger.place(site, key_of(path), path)
            if row is not None and row.state == State.STORED and row.document_id is not None:
                said[site, key] = lastmod
        rows: list[tuple[Any, ...]] = []
        for (_, key), history in self._histories.of(said).items():
            copied, lastmod, due = history.last_good, said[site, key], history.due_at
            if read_at <= copied:
                continue  # The copy is newer than what was said about it.
            if due is not None:
                due = never(trust.due_at(due, lastmod, copied, read_at, revisits.shortest, revisits.longest))
                if due != history.due_at:
                    self._replanned.append((history.planned, 0.0 if due is None else due - copied))
            rows.append((due, lastmod, read_at, site, key))
        self._writer.many(self._note, rows)

    def saw(self, site: int, before: History, at: float, *, changed: bool) -> None:
        """A page was checked of which a sitemap had said something since the check before."""
        if before.lastmod_read is not None and before.last_good < before.lastmod_read <= at:
            self._seen.setdefault(site, []).append((before, at, changed))

    def settle(self) -> None:
        """Takes what was seen into the trust of each site."""
        for site, seen in self._seen.items():
            trust = before = self._trust(site)
            for page, at, changed in seen:
                trust = trust.observe(page.lastmod, page.last_good, at, changed=changed, read=page.lastmod_read)
            if trust != before:
                self._writer.many(self._set_trust, [(trust.encode(), site)])
        self._seen.clear()

    def committed(self) -> None:
        """What was noted last is committed: from now on it counts for the budget."""
        if (budget := self._state.budget) is not None:
            for planned, interval in self._replanned:
                budget.replan(planned, interval)
        self._forget()

    def _forget(self) -> None:
        self._seen.clear()
        self._replanned.clear()

    def _trust(self, site: int) -> LastmodTrust:
        return LastmodTrust.decode(self._writer.value(self._trust_of, site) or 0)
