"""The Crawl Manager (P16): chooses the address of each visit and hands sets of pairs to workers with room.

One address, one worker: all open visits to an address, and all open visits to a host, belong to one worker at a time. So
delays are exact although workers exchange no messages. A host or an address may go to another worker when no visit to it is
open. In this file both are called subjects, as in `Pause`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec

from parcahyd.core.messages import Committed
from parcahyd.core.ports import Clock
from parcahyd.core.records import Assignment, Pause, ResolvedLease
from parcahyd.rules.politeness.page_budget import PageBudget
from parcahyd.rules.politeness.rate_limit import Shares

__all__ = ["CrawlManager"]

_PAUSES_KEPT = 10_000


class _Source(Protocol):
    def __len__(self) -> int: ...

    def heads(self) -> Iterator[tuple[str, ResolvedLease]]: ...

    def take(self, address: str) -> ResolvedLease: ...


def _host(name: str) -> str:
    return f"host {name}"


def _address(address: str) -> str:
    return f"address {address}"


class _Owner:
    """The worker that a host or an address belongs to, and the number of its open visits."""

    __slots__ = ("visits", "worker")

    def __init__(self, worker: int) -> None:
        self.worker = worker
        self.visits = 0


class _OpenVisit:
    __slots__ = ("crawl_delay", "origin", "subjects", "worker")

    def __init__(self, worker: int, origin: tuple[str, int], crawl_delay: float, subjects: tuple[str, str]) -> None:
        self.worker = worker
        self.origin = origin
        """Host and port."""
        self.crawl_delay = crawl_delay
        """The Crawl-delay of robots.txt; 0 while it is not known."""
        self.subjects = subjects


class CrawlManager:
    """Takes resolved pairs, and gives sets to workers.

    `assign` is called with a worker's number and a set of at most ArgumentUrl pairs. `sites_with_work` says how many sites are
    leased, the ones that wait for a visit included: they share MaxPages.
    """

    def __init__(
        self,
        source: _Source,
        clock: Clock,
        assign: Callable[[int, tuple[Assignment, ...]], None],
        *,
        workers: int,
        argument_url: int,
        open_sites: int,
        visit_pages: int,
        max_pages: int,
        sites_with_work: Callable[[], int],
        pauses: Iterable[Pause] = (),
        host_share: float = 0.0,
    ) -> None:
        self._source = source
        self._clock = clock
        self._assign = assign
        self._argument_url = argument_url
        self._visit_pages = visit_pages
        self._budget = PageBudget(max_pages)
        self._sites_with_work = sites_with_work
        self._shares = Shares(host_share)
        self._room = [open_sites] * workers
        self._owners: dict[str, _Owner] = {}
        self._visits: dict[int, _OpenVisit] = {}
        self._pauses: dict[str, Pause] = {pause.subject: pause for pause in pauses}
        self._is_stopped = False

    def stop(self) -> None:
        """Assign no more visits."""
        self._is_stopped = True

    @property
    def limit_reached(self) -> bool:
        """Whether MaxPages is used up, and no visit is open that could return a part of its share."""
        return self._budget.is_over

    def run(self) -> None:
        """Assign what can be assigned; called on *Something to crawl* and *Request processed*."""
        progress = not self._is_stopped
        while progress and len(self._source) and not self._budget.is_used_up:
            progress = False
            sets: dict[int, list[Assignment]] = {}
            for group, resolved in self._source.heads():
                if self._budget.is_used_up:
                    break
                if self._visits and self._shares.is_exceeded_by(resolved.lease.host):
                    continue  # It stays in the queue until other hosts had their turn.
                choice = self._choose(resolved)
                if choice is None:
                    continue
                worker, address = choice
                self._source.take(group)
                chosen = sets.setdefault(worker, [])
                chosen.append(self._open(resolved, worker, address))
                progress = True
                if len(chosen) == self._argument_url:
                    self._assign(worker, tuple(sets.pop(worker)))
            for worker, rest in sets.items():
                self._assign(worker, tuple(rest))

    def request_processed(self, visit: int, pages: int, pauses: Iterable[Pause], requests: int = 0) -> None:
        """A worker has finished a visit; it used `pages` of its allowance."""
        now = self._clock.now()
        if requests and visit in self._visits:
            self._shares.count(self._visits[visit].origin[0], requests, now)
        self._budget.used(visit, pages)
        self._close(visit)
        self._pauses.update((pause.subject, pause) for pause in pauses if pause.not_before > now or pause.failures)
        if len(self._pauses) > _PAUSES_KEPT:
            self._pauses = {subject: pause for subject, pause in self._pauses.items() if pause.not_before > now}

    def committed(self, message: Committed) -> None:
        """The database has released visits, and counted the pages of the run."""
        was_used_up = self._budget.is_used_up
        self._budget.committed(message.released, message.pages)
        if was_used_up:
            self.run()

    def slowed(self, visit: int, delay: float) -> None:
        """A worker has read in robots.txt that the site asks for a longer delay."""
        if visit in self._visits:
            self._visits[visit].crawl_delay = delay

    def worker_gone(self, worker: int, host_delay: Callable[[str, int, float], float], address_delay: float) -> None:
        """A worker's process has ended: close its visits. It may have sent requests just now, so their hosts and addresses rest
        for one full delay.

        `host_delay` returns the delay of a host and port, given the Crawl-delay of its robots.txt.
        """
        lost = [(number, visit) for number, visit in self._visits.items() if visit.worker == worker]
        now = self._clock.now()
        self._budget.lost([number for number, _ in lost])
        for number, visit in lost:
            self._close(number)
            delays = host_delay(*visit.origin, visit.crawl_delay), address_delay
            for subject, delay in zip(visit.subjects, delays, strict=True):
                pause = self._pauses.get(subject, Pause(subject, 0.0))
                self._pauses[subject] = msgspec.structs.replace(pause, not_before=max(pause.not_before, now + delay))

    def _close(self, number: int) -> None:
        visit = self._visits.pop(number, None)
        if visit is None:
            return
        self._room[visit.worker] += 1
        for subject in visit.subjects:
            owner = self._owners[subject]
            owner.visits -= 1
            if not owner.visits:
                del self._owners[subject]

    def _choose(self, resolved: ResolvedLease) -> tuple[int, str] | None:
        """The worker and the address for a visit, or None while the worker that owns the host or the address has no room.

        After a visit that got no connection, the next address of the host is tried.
        """
        host = self._owners.get(_host(resolved.lease.host))
        addresses = resolved.addresses
        if resolved.lease.failures:
            turn = resolved.lease.failures % len(addresses)
            addresses = addresses[turn : turn + 1]
        free: str | None = None
        for address in addresses:
            owner = self._owners.get(_address(address))
            if owner is None:
                free = free or address
            elif (host is None or host.worker == owner.worker) and self._room[owner.worker]:
                return owner.worker, address
        if free is None:
            return None
        if host is not None:
            return (host.worker, free) if self._room[host.worker] else None
        worker = max(range(len(self._room)), key=self._room.__getitem__)
        return (worker, free) if self._room[worker] else None

    def _open(self, resolved: ResolvedLease, worker: int, address: str) -> Assignment:
        lease = resolved.lease
        subjects = _host(lease.host), _address(address)
        pages = self._budget.reserve(lease.visit, self._visit_pages, self._sites_with_work())
        self._room[worker] -= 1
        crawl_delay = 0.0 if lease.robots is None else lease.robots.delay
        self._visits[lease.visit] = _OpenVisit(worker, (lease.host, lease.port), crawl_delay, subjects)
        for subject in subjects:
            self._owners.setdefault(subject, _Owner(worker)).visits += 1
        of_host, of_address = (self._pauses.get(subject) or Pause(subject, 0.0) for subject in subjects)
        return Assignment(
            lease,
            address,
            resolved.addresses,
            resolved.expires_at,
            pages,
            of_host.not_before,
            of_address.not_before,
            of_address.failures,
        )
