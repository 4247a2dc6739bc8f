"""A crawl of a recorded graph by several agents, on a simulated clock, with the strategies of a real cluster.

At each tick, each agent fetches one page: breadth first, in the order in which the URLs were met, of the partition with most
that wait. A link to another partition is posted once by each partition (statement C38), and arrives before the next tick. A
plan is made every so many pages, and when an agent has had nothing to do for some ticks (C31). Delays between requests to a
host are left out: what is measured is the work of the machines, not the patience of the hosts.

Tested in tests/lab/test_crawl.py.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import ClusterNode, ClusterView, Observation, Observed, Partitioner, Routing, Seen
from parcahyd.hookspecs import PartitionerFactory
from parcahyd.lab.link_graph import LinkGraph

__all__ = ["Outcome", "Pace", "SimulatedCrawl"]

_UNMET = -1
_WAITS = -2


def _folder(path: str) -> str:
    """What is counted as one end of links: the folder of a page, or the page itself, where there are several by query."""
    page, mark, _ = path.partition("?")
    return page.removesuffix("/") if mark else page.rpartition("/")[0]


class Pace(NamedTuple):
    """When a plan is made, and when an agent fails."""

    every: int = 4000
    """Pages between two plans, at most."""
    idle: int = 25
    """Ticks that an agent has had nothing to do since the last plan, after which a plan is made."""
    least: int = 400
    """Pages between two plans, at least: a plan costs something."""
    fails_at: int | None = None
    """After so many pages the first agent ends and never comes back."""
    in_flight: int = 16
    """Pages that an agent had fetched and not yet stored when it ended: they are fetched again."""


class Outcome(NamedTuple):
    """What came of it."""

    pages: int
    coverage: float
    """The share of pages that were stored."""
    overlap: float
    """Pages that two partitions stored, as a share of all."""
    refetched: int
    """Pages that were fetched again since the agent that had fetched them failed."""
    cut: float
    """The share of links that led to another partition when their page was fetched."""
    posts: float
    """URLs posted to another partition, for each page."""
    efficiency: float
    """Pages, as a share of those that all agents that were there could have fetched until the last was fetched."""
    balance: float
    """Pages fetched by the agent with most of them, to the mean."""
    stored: float
    """Pages stored in the largest partition in the end, to the mean."""
    moved: float
    """URLs that changed partition, for each page; those that were fetched already count too."""
    plans: int
    """Plans that changed the routing."""
    order: tuple[int, ...]
    """The pages in the order in which they were fetched."""


class SimulatedCrawl:
    """One crawl. `run` plays it to its end."""

    def __init__(self, graph: LinkGraph, factory: PartitionerFactory, parts: int, seed: int, pace: Pace | None = None) -> None:
        chance = random.Random(seed)
        self._graph, self._factory, self._parts, self._pace = graph, factory, parts, pace or Pace()
        self._seeds = graph.seeds()
        chance.shuffle(self._seeds)
        self._mixed = chance.getrandbits(32)
        self._nodes = [ClusterNode(f"node-{number:02}", 1.0) for number in range(parts)]
        self._routing = Routing(parts, secret=chance.randbytes(16))
        self._folders = [f"{host}{_folder(path)}/" for host, path in graph.sites]
        self._owner = [_UNMET] * len(graph)
        """Of each page, the partition."""
        self._given: dict[str, int] = {}
        """Hosts that waited, with the partition that got them."""
        self._waiting: dict[str, list[int]] = defaultdict(list)
        """Hosts that wait, with their pages."""
        self._met_at = [0] * len(graph)
        self._fetched_by = [-1] * len(graph)
        """The partition that stored the page."""
        self._queues: list[deque[int]] = [deque() for _ in range(parts)]
        self._posted: list[set[int]] = [set() for _ in range(parts)]
        self._done: list[int] = []
        self._work = Counter[str]()
        self._links = self._crossing = self._posts = self._moved = self._plans = self._refetched = 0
        self._capacity = 0
        self._serial = 0
        self._placed: tuple[str | None, ...] = (None,) * parts
        self._begin(self._routing)
        self._placed = self._strategies[0].plan(self._view()).wanted

    def _begin(self, routing: Routing) -> None:
        """A strategy for each pipeline, as a new routing makes them anew."""
        self._routing = routing
        self._strategies: list[Partitioner] = [self._factory(WorkConf(), routing) for _ in range(self._parts)]
        self._facts: list[list[Observation]] = [[] for _ in range(self._parts)]
        self._folder_links: list[Counter[tuple[str, str]]] = [Counter() for _ in range(self._parts)]
        self._observed = self._strategies[0].observes

    def _view(self, shared: tuple[bytes, ...] = ()) -> ClusterView:
        sizes = Counter(part for part in self._fetched_by if part >= 0)
        return ClusterView(self._routing, tuple(self._nodes), self._placed, shared, dict(sizes))

    # --- Whose a page is ---------------------------------------------------------------------------------------------------

    def _home(self, page: int) -> int | None:
        host, path = self._graph.sites[page]
        home = self._strategies[0].home(Seen(host, path))
        return home if isinstance(home, int) else self._given.get(host)

    def _meet(self, page: int) -> None:
        """A URL is met for the first time."""
        self._serial += 1
        self._met_at[page] = self._serial
        home = self._home(page)
        if home is None:
            self._owner[page] = _WAITS
            self._waiting[self._graph.sites[page][0]].append(page)
        else:
            self._settle(page, home)

    def _settle(self, page: int, home: int) -> None:
        self._owner[page] = home
        self._queues[home].append(page)
        self._tell_visit(page)

    def _give_away(self) -> None:
        """Partitions that have nothing to do get hosts that wait."""
        for part, queue in enumerate(self._queues):
            if self._waiting and not queue:
                hosts = [Seen(host, self._graph.sites[pages[0]][1]) for host, pages in self._waiting.items()]
                for host in self._strategies[part].next_for(part, hosts, 1):
                    self._given[host] = part
                    for page in self._waiting.pop(host):
                        self._settle(page, part)

    def _tell_visit(self, page: int) -> None:
        if Observed.VISITS in self._observed:
            self._facts[self._owner[page]].append(Observation(Observed.VISITS, "".join(self._graph.sites[page])))

    # --- The clock ---------------------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """To the end."""
        for page in self._seeds:
            self._meet(page)
        planned_at = 0
        idle: Counter[str] = Counter()
        waits_to_fail = self._pace.fails_at is not None
        while any(self._queues) or self._waiting:
            self._give_away()
            for node in self._idle_after_tick():
                idle[node] += 1
            done = len(self._done)
            if waits_to_fail and done >= (self._pace.fails_at or 0):
                waits_to_fail = False
                self._fail()
            longest = max(idle.values(), default=0)
            since = done - planned_at
            if since >= self._pace.every or (longest >= self._pace.idle and since >= self._pace.least):
                planned_at = done
                idle.clear()
                self._plan()
        return self._outcome()

    def _idle_after_tick(self) -> list[str]:
        """Each agent fetches one page; returns those that had none. What was met meanwhile is there at the next tick."""
        runs: dict[str, list[int]] = {node.name: [] for node in self._nodes}
        for part, node in enumerate(self._placed):
            if node in runs:
                runs[node].append(part)
        fetched: list[tuple[int, int]] = []
        for name, parts in runs.items():
            part = max(parts, key=lambda part: len(self._queues[part]), default=-1)
            if part >= 0 and self._queues[part]:
                fetched.append((part, self._queues[part].popleft()))
                self._work[name] += 1
        self._capacity += len(runs)
        for part, page in fetched:
            self._store(part, page)
        busy = {self._placed[part] for part, _ in fetched}
        return [name for name in runs if name not in busy]

    def _store(self, part: int, page: int) -> None:
        self._fetched_by[page] = part
        self._done.append(page)
        if Observed.FETCHED in self._observed:
            self._facts[part].append(Observation(Observed.FETCHED, "".join(self._graph.sites[page])))
        row = self._graph.links[page]
        self._links += len(row)
        if Observed.LINKS in self._observed:
            source = self._folders[page]
            self._folder_links[part].update([(source, self._folders[target]) for target in row])
        for target in self._shuffled(page, row):
            if self._owner[target] == _UNMET:
                self._meet(target)
            if self._owner[target] != part:
                self._crossing += 1
                if target not in self._posted[part]:
                    self._posted[part].add(target)
                    self._posts += 1

    def _shuffled(self, page: int, row: Sequence[int]) -> Sequence[int]:
        """Where the links of a page begin is chance; their order is the page's."""
        start = (page * 2654435761 ^ self._mixed) % len(row) if row else 0
        return (*row[start:], *row[:start])

    # --- Plans and failures ------------------------------------------------------------------------------------------------

    def _plan(self) -> None:
        shared = tuple(strategy.share() for strategy in self._observing())
        plan = self._strategies[0].plan(self._view(shared))
        self._placed = plan.wanted
        if plan.state is not None:
            self._plans += 1
            self._begin(Routing(self._parts, self._routing.version + 1, plan.state, self._routing.secret))
            self._move()

    def _observing(self) -> Iterator[Partitioner]:
        """The strategies, told what their pipelines have seen since the last plan."""
        for part, strategy in enumerate(self._strategies):
            links = self._folder_links[part].items()
            facts = self._facts[part]
            facts += [Observation(Observed.LINKS, source, count, target) for (source, target), count in links]
            strategy.observe(facts)
            self._facts[part] = []
            self._folder_links[part] = Counter()
            yield strategy

    def _move(self) -> None:
        """Sites go to their new homes, with URLs that wait and URLs that were visited."""
        for page, owner in enumerate(self._owner):
            if owner >= 0:
                home = self._home(page)
                if home is not None and home != owner:
                    self._owner[page] = home
                    self._moved += 1
                    if self._fetched_by[page] >= 0:
                        self._fetched_by[page] = home
        waiting = sorted((page for queue in self._queues for page in queue), key=lambda page: self._met_at[page])
        self._queues = [deque() for _ in range(self._parts)]
        for page in waiting:
            self._queues[self._owner[page]].append(page)
            self._tell_visit(page)

    def _fail(self) -> None:
        """The first agent ends. What it had fetched and not stored is fetched again, by whoever runs its partitions next."""
        gone = self._nodes.pop(0).name
        lost = [page for page in reversed(self._done) if self._placed[self._fetched_by[page]] == gone][: self._pace.in_flight]
        for page in reversed(lost):
            self._refetched += 1
            self._queues[self._owner[page]].appendleft(page)
            self._fetched_by[page] = -1
        lost_pages = set(lost)
        self._done = [page for page in self._done if page not in lost_pages]
        self._plan()

    def _outcome(self) -> Outcome:
        pages = len(self._graph)
        stored = Counter(part for part in self._fetched_by if part >= 0)
        work = sorted(self._work.values())
        return Outcome(
            pages=len(self._done),
            coverage=len(set(self._done)) / pages,
            overlap=(len(self._done) - len(set(self._done))) / pages,
            refetched=self._refetched,
            cut=self._crossing / max(1, self._links),
            posts=self._posts / pages,
            efficiency=(len(self._done) + self._refetched) / max(1, self._capacity),
            balance=max(work) * self._parts / sum(work),
            stored=max(stored.values()) * self._parts / sum(stored.values()),
            moved=self._moved / pages,
            plans=self._plans,
            order=tuple(self._done),
        )
