"""What the store remembers of the run that it serves: its settings and its open visits."""

from __future__ import annotations

from collections.abc import Iterable

from parcahyd.config.schema import WorkConf
from parcahyd.refresh.budget import Allowance, Budget
from parcahyd.refresh.schedule import Revisits

__all__ = ["MOST_AHEAD", "RunState"]

MOST_AHEAD = 200_000
"""Links that are remembered because they are stored ahead of their pages. What is forgotten is only looked at once more."""

_VISITS_OF_A_RUN = 2**32


class RunState:
    """Changed only after the transaction that it speaks of is committed."""

    def __init__(self) -> None:
        self.run = 0
        self.started_at = 0.0
        self.work = WorkConf()
        self.revisits = Revisits(self.work)
        self.budget: Budget | None = None
        """None where there is no RevisitsPerDay."""
        self.allowance: Allowance | None = None
        self.visits: dict[int, int] = {}
        """The open visits and their sites. A record of any other visit is late and changes nothing."""
        self.blanked: set[int] = set()
        """Open visits whose address did not answer."""
        self.fruitful: set[int] = set()
        """Open visits that brought something."""
        self._ahead: dict[int, set[tuple[int, tuple[str, ...]]]] = {}
        """By open visit: links to other sites, with their depth, that are stored and whose pages are still to come.

        Those that a bundle told of are in no page as they are here, and stay until there is no more room.
        """
        self._links_ahead = 0
        self._given = 0

    def start(self, run: int, work: WorkConf, now: float) -> None:
        self.run, self.work, self.started_at = run, work, now
        self.revisits = Revisits(work)
        self.budget = Budget(work.RevisitsPerDay, self.revisits) if work.RevisitsPerDay else None
        self.allowance = Allowance(work.RevisitsPerDay, now) if work.RevisitsPerDay else None
        self.visits.clear()
        self.blanked.clear()
        self.fruitful.clear()
        self._forget_ahead()
        self._given = 0

    def new_visit(self) -> int:
        """A number that no visit of this database ever had: one is not given out again, even if its lease failed."""
        self._given += 1
        return self.run * _VISITS_OF_A_RUN + self._given

    def keep_ahead(self, visit: int, depth: int, urls: tuple[str, ...]) -> None:
        """Notes that these links to other sites are stored ahead of the page that they stand in."""
        if self._links_ahead + len(urls) > MOST_AHEAD:
            self._forget_ahead()
        ahead = self._ahead.setdefault(visit, set())
        before = len(ahead)
        ahead.add((depth, urls))
        if len(ahead) > before:
            self._links_ahead += len(urls)

    def is_ahead(self, visit: int, depth: int, urls: tuple[str, ...]) -> bool:
        """Whether a page's links to other sites are stored already, so that nothing of them is left to do."""
        return not urls or (depth, urls) in self._ahead.get(visit, ())

    def caught_up(self, visit: int, depth: int, urls: tuple[str, ...]) -> None:
        """Forgets links whose page is stored, too."""
        ahead = self._ahead.get(visit)
        if not ahead or not urls:
            return
        before = len(ahead)
        ahead.discard((depth, urls))
        if len(ahead) < before:
            self._links_ahead -= len(urls)

    def _forget_ahead(self) -> None:
        self._ahead.clear()
        self._links_ahead = 0

    def close(self, visits: Iterable[int]) -> None:
        for visit in visits:
            self.visits.pop(visit, None)
            self.blanked.discard(visit)
            self.fruitful.discard(visit)
            self._links_ahead -= sum(len(urls) for _, urls in self._ahead.pop(visit, ()))

    @property
    def max_depth(self) -> int:
        return 2**31 - 1 if self.work.MaxDepth is None else self.work.MaxDepth
