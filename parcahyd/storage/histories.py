"""What is known of how often a stored URL changes, as its row has it."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.storage.writer import Writer

__all__ = ["Histories", "History", "rate_of"]


class History(NamedTuple):
    """The checks of a URL, summed up."""

    checks: int
    changes: int
    changed_at: float | None
    first_seen: float
    checked_at: float | None
    """The last one, however it went."""
    confirmed_at: float | None
    """The last one that found it there."""
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
    """What is known of a URL's rate; None where it was stored and never checked again."""
    weight, span, restless = history.change_weight, history.change_span, history.change_restless
    if weight is not None and span is not None and restless is not None:
        return ChangeRate.of(weight, span, restless)
    if history.checks <= 1:
        return None
    # A row of before rates were kept. Without a change it was stored at `changed_at`; else all that is known is `first_seen`.
    since = history.changed_at if not history.changes and history.changed_at is not None else history.first_seen
    return ChangeRate.from_counts(guess, history.checks, history.changes, history.last_good - since)


class Histories:
    """Reads histories for a batch; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._of = writer.statements["histories.of"]

    def of(self, places: Collection[tuple[int, int]]) -> dict[tuple[int, int], History]:
        """By site and key, all of them in one query; none where no place is asked for, as in a first crawl."""
        if not places:
            return {}
        rows = self._writer.rows(self._of, *self._writer.lists.bind_pairs(list(places)))
        return {row[:2]: History._make(row[2:]) for row in rows}
