"""What the store remembers of the current run: its settings and its open visits."""

from __future__ import annotations

from collections.abc import Iterable

from parcahyd.config.schema import WorkConf
from parcahyd.refresh.budget import Allowance, Budget
from parcahyd.refresh.schedule import Revisits
from parcahyd.rules.urls.cross_links import ALWAYS_LOCAL
from parcahyd.storage.packing import compressor

__all__ = ["MOST_REMEMBERED", "RunState"]

MOST_REMEMBERED = 200_000
"""Links that are remembered because they come a second time. One that was dropped is looked up again, and no more."""

_VISITS_OF_A_RUN = 2**32
_RUNS = 2**30
"""So many runs have visits with numbers of 62 bits. Where `run` counts from a large number on, that is a multiple of this."""


class RunState:
    """The state of a run in memory. It changes only after the transaction that causes the change is committed."""

    def __init__(self) -> None:
        self.run = 0
        self.crawl_run = 0
        """The run that URLs are marked with when they are visited. One that was killed or interrupted goes on with the next
        start: that start has another `run`, and the same `crawl_run`."""
        self.started_at = 0.0
        self.work = WorkConf()
        self.local_schemes = ALWAYS_LOCAL
        """Links of other schemes do not lead to sites of these."""
        self.compress = compressor(self.work)
        self.revisits = Revisits(self.work)
        self.budget: Budget | None = None
        """None where there is no RevisitsPerDay."""
        self.allowance: Allowance | None = None
        self.visits: dict[int, int] = {}
        """The open visits and their sites. A record of another visit is late and changes nothing."""
        self.blanked: set[int] = set()
        """Open visits whose address did not answer."""
        self.fruitful: set[int] = set()
        """Open visits that stored something."""
        self.guilty: set[int] = set()
        """Open visits to whose documents the end of their worker's process is put down."""
        self.innocent: set[int] = set()
        """Open visits whose worker's process ended through another visit."""
        self.watched: set[int] = set()
        """Sites during whose visits a worker's process ended in this run. A visit that ends well does not clear a site: a page
        could kill a worker in every second visit."""
        self.convictions: dict[int, int] = {}
        """By site: how many ends of worker processes were put down to its documents in this run."""
        self._already_stored: dict[int, set[tuple[int, tuple[str, ...]]]] = {}
        """By open visit: links to other sites, with their depth, that are stored and will come again. A page's links come
        twice, by themselves and with the page; either may be stored first.

        Links of a bundle do not come again with a page. They stay until the limit is reached.
        """
        self._links_stored = 0
        self._given = 0

    def start(self, run: int, crawl_run: int, work: WorkConf, now: float) -> None:
        self.compress = compressor(work)
        self.run, self.crawl_run, self.work, self.started_at = run, crawl_run, work, now
        self.revisits = Revisits(work)
        self.budget = Budget(work.RevisitsPerDay, self.revisits) if work.RevisitsPerDay else None
        self.allowance = Allowance(work.RevisitsPerDay, now) if work.RevisitsPerDay else None
        self.visits.clear()
        self.blanked.clear()
        self.fruitful.clear()
        self.guilty.clear()
        self.innocent.clear()
        self.watched.clear()
        self.convictions.clear()
        self._forget_stored()
        self._given = 0

    def new_visit(self) -> int:
        """A number that no visit of this database ever had. It is not used again, even if its lease failed."""
        self._given += 1
        return self.run % _RUNS * _VISITS_OF_A_RUN + self._given

    def is_already_stored(self, visit: int, depth: int, urls: tuple[str, ...]) -> bool:
        """Whether these links to other sites are stored already."""
        return not urls or (depth, urls) in self._already_stored.get(visit, ())

    def note_stored(self, visit: int, depth: int, urls: tuple[str, ...]) -> None:
        """Notes that links to other sites are stored, and drops them when they came for the second time."""
        if not urls:
            return
        if self.is_already_stored(visit, depth, urls):
            self._already_stored[visit].remove((depth, urls))
            self._links_stored -= len(urls)
            return
        if self._links_stored + len(urls) > MOST_REMEMBERED:
            self._forget_stored()
        self._already_stored.setdefault(visit, set()).add((depth, urls))
        self._links_stored += len(urls)

    def _forget_stored(self) -> None:
        self._already_stored.clear()
        self._links_stored = 0

    def worker_died(self, visits: Iterable[int]) -> None:
        """The worker of these open visits is gone: from now on their sites are watched, or watched no longer."""
        for visit in visits:
            site = self.visits[visit]
            if visit in self.innocent:
                self.watched.discard(site)
                continue
            self.watched.add(site)
            if visit in self.guilty:
                self.convictions[site] = self.convictions.get(site, 0) + 1

    def close(self, visits: Iterable[int]) -> None:
        for visit in visits:
            self.visits.pop(visit, None)
            self.blanked.discard(visit)
            self.fruitful.discard(visit)
            self.guilty.discard(visit)
            self.innocent.discard(visit)
            self._links_stored -= sum(len(urls) for _, urls in self._already_stored.pop(visit, ()))

    @property
    def max_depth(self) -> int:
        return 2**31 - 1 if self.work.MaxDepth is None else self.work.MaxDepth
