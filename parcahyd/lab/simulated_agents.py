"""Agents on a simulated clock: each crawls a site, or several at once, with the delay kept, and asks for more when it has room.

This is the experiment of paper 001, whose C-procs are agents here. Time is counted in delays of a host: in one of them, an
agent of speed 1 fetches one page. A host may be divided into parts, but it is at one agent at a time (statement G1): its
delay stays one. Who gets which host is answered by a `Giver`, and never by the clock.

Tested in tests/lab/test_simulated_agents.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf
from typing import Protocol

import msgspec

from parcahyd.core.partitions import Seen

__all__ = ["Agent", "Giver", "Outcome", "Site", "Work", "crawl"]


class Giver(Protocol):
    """Says which host an agent gets: `Partitioner.next_for`, or what a static division answers in its place."""

    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]: ...


class Agent(msgspec.Struct, frozen=True):
    """Something that crawls sites."""

    speed: float = 1.0
    """Pages of a site in one delay, at most 1."""
    at_once: int = 1
    """How many sites it crawls at a time."""
    joins: float = 0.0
    """When it comes."""
    fails: float = inf
    """When it is gone, with what it has not stored."""


class Site(msgspec.Struct, frozen=True):
    """A host that is to be crawled."""

    name: str
    known: int | None
    """Pages that it is said to have; None: not known."""
    parts: tuple[int, ...]
    """Pages that it has, in each part into which it was divided. A part is given as one."""


class Work(msgspec.Struct):
    """What an agent did."""

    busy: float = 0.0
    """Time spent at sites; of several at once, the sum."""
    pages: int = 0
    """Fetched, those included that were lost."""
    hand_overs: int = 0
    """How often it got a host that another agent had had before."""


class Outcome(msgspec.Struct, frozen=True):
    """What all agents did."""

    work: tuple[Work, ...]
    end: float
    """When the last agent was done."""
    fetched: int
    stored: int
    """Less than the pages that there are: something was lost for good."""


class _Host:
    __slots__ = ("failed", "known", "last", "name", "parts", "share")

    def __init__(self, site: Site) -> None:
        self.name, self.known, self.failed = site.name, site.known, False
        self.parts = list(site.parts)
        self.share = None if site.known is None else site.known / max(1, len(site.parts))
        self.last: int | None = None

    def seen(self) -> Seen:
        size = None if self.share is None else round(self.share * len(self.parts))
        return Seen(self.name, size=size, failed=self.failed)


def crawl(sites: Sequence[Site], agents: Sequence[Agent], giver: Giver, batch: int) -> Outcome:
    """Crawls everything. What an agent has fetched is stored whenever it has `batch` pages, and when a part is done."""
    return _Clock(sites, agents, giver, batch).run()


class _Clock:
    def __init__(self, sites: Sequence[Site], agents: Sequence[Agent], giver: Giver, batch: int) -> None:
        self._agents, self._giver, self._batch = agents, giver, batch
        self._waiting = {site.name: _Host(site) for site in sites if site.parts}
        self._seen: dict[str, Seen] = {name: host.seen() for name, host in self._waiting.items()}
        self._work = [Work() for _ in agents]
        self._present = {number for number, agent in enumerate(agents) if agent.joins <= 0}
        self._at: dict[tuple[int, str], tuple[_Host, int, float]] = {}
        """By agent and host: the pages of the part that it has, and when it began."""
        self._room = [agent.at_once for agent in agents]
        self._events: list[tuple[float, int, str, str]] = []
        self._stored, self._end = 0, 0.0

    def run(self) -> Outcome:
        for number, agent in enumerate(self._agents):
            if agent.joins > 0:
                heappush(self._events, (agent.joins, number, "joins", ""))
            if agent.fails < inf:
                heappush(self._events, (agent.fails, number, "fails", ""))
        self._give(0.0)
        while self._events:
            now, number, what, name = heappop(self._events)
            self._happen(now, number, what, name)
            # What happens at one time is known before anybody asks.
            if not self._events or self._events[0][0] > now:
                self._give(now)
        return Outcome(tuple(self._work), self._end, sum(work.pages for work in self._work), self._stored)

    def _happen(self, now: float, number: int, what: str, name: str) -> None:
        if what == "joins":
            self._present.add(number)
        elif what == "fails":
            self._fail(now, number)
        elif number in self._present:
            host, pages, began = self._at.pop((number, name))
            self._note(number, now - began, pages)
            self._stored += pages
            self._end = max(self._end, now)
            self._room[number] += 1
            host.failed = False
            self._wait(host)

    def _fail(self, now: float, number: int) -> None:
        self._present.discard(number)
        for who, name in [place for place in self._at if place[0] == number]:
            host, pages, began = self._at.pop((who, name))
            fetched = min(pages, int((now - began) * self._agents[number].speed))
            kept = fetched // self._batch * self._batch
            self._note(number, now - began, fetched)
            self._stored += kept
            host.parts.append(pages - kept)
            host.failed = True
            self._wait(host)

    def _note(self, number: int, busy: float, pages: int) -> None:
        self._work[number].busy += busy
        self._work[number].pages += pages

    def _wait(self, host: _Host) -> None:
        if host.parts:
            self._waiting[host.name] = host
            self._seen[host.name] = host.seen()

    def _give(self, now: float) -> None:
        """Who has worked least asks first; of these, the fastest. They ask in turn as long as anybody gets something."""
        order = sorted(self._present, key=lambda number: (self._work[number].busy, -self._agents[number].speed, number))
        while any([self._ask(now, number) for number in order]):  # noqa: C419 - all of them are asked
            pass

    def _ask(self, now: float, number: int) -> bool:
        if not self._room[number] or not self._waiting:
            return False
        names = self._giver.next_for(number, list(self._seen.values()), self._room[number])
        for name in names:
            self._begin(now, number, name)
        return bool(names)

    def _begin(self, now: float, number: int, name: str) -> None:
        host = self._waiting.pop(name)
        del self._seen[name]
        pages = host.parts.pop()
        self._work[number].hand_overs += host.last not in {None, number}
        host.last = number
        self._room[number] -= 1
        self._at[number, name] = (host, pages, now)
        heappush(self._events, (now + pages / self._agents[number].speed, number, "done", name))
