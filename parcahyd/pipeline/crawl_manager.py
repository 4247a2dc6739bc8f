"""The Crawl Manager (P16): chooses the address of each visit and hands sets of pairs to workers with room.

One address, one worker: all open visits to an address, and all open visits to a host, belong to one worker at a time. So
delays are exact although workers exchange no messages. A host or an address may go to another worker when no visit to it is
open. In this file both are called subjects, as in `Pause`.

Where the crawl is divided among pipelines, a visit also needs a permit for both its subjects, since another pipeline may have
them. `Unshared` stands for a crawl that is not divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from parcahyd.core.messages import Committed
from parcahyd.core.ports import Clock
from parcahyd.core.records import Assignment, Pause, ResolvedLease, SiteLease
from parcahyd.rules.politeness.page_budget import PageBudget
from parcahyd.rules.politeness.rate_limit import Shares

__all__ = ["CrawlManager", "Permit", "Permits", "Unshared"]

_PAUSES_KEPT = 10_000


class _Source(Protocol):
    def __len__(self) -> int: ...

    @property
    def groups(self) -> Sequence[str]: ...

    def waiting(self, address: str) -> Sequence[ResolvedLease]: ...

    def take(self, address: str, at: int = 0) -> ResolvedLease: ...


class Permit(msgspec.Struct, frozen=True):
    """A visit to a host at an address may begin."""

    host_not_before: float = 0.0
    address_not_before: float = 0.0
    """Until when the last pipeline that had them wants them left alone."""
    address_failures: int = 0
    """As in Assignment."""


class Permits(Protocol):
    """Which hosts and addresses this pipeline may send requests to, and how many pages it may store."""

    def ask(self, lease: SiteLease, address: str) -> Permit | None:
        """A permit for a visit. None: it is asked for, and `CrawlManager.run` is called when it is there."""
        ...

    def begin(self, subject: str) -> None:
        """The first visit to a subject begins. It stays with this pipeline until `end`."""
        ...

    def rest(self, subject: str, seconds: float, pause: Pause | None) -> None:
        """A visit to a subject is over, which rests for so many seconds from now on, or until the end of the pause."""
        ...

    def end(self, subject: str) -> None:
        """No visit to the subject is open any more."""
        ...

    def slow_down(self, host: str, delay: float) -> None:
        """The host's robots.txt asks for a longer delay."""
        ...

    def want_pages(self) -> None:
        """MaxPages is used up as far as this pipeline knows, and visits wait. `CrawlManager.set_max_pages` is called when there
        are more."""
        ...


_NO_WAIT = Permit()


class Unshared:
    """The permits of a crawl that is not divided: everything is its own."""

    def ask(self, lease: SiteLease, address: str) -> Permit | None:  # noqa: ARG002 (the port's signature)
        return _NO_WAIT

    def begin(self, subject: str) -> None:
        """Nobody else wants it."""

    def rest(self, subject: str, seconds: float, pause: Pause | None) -> None:
        """Nobody else has to know."""

    def end(self, subject: str) -> None:
        """Nobody else wants it."""

    def slow_down(self, host: str, delay: float) -> None:
        """Nobody else has to know."""

    def want_pages(self) -> None:
        """There are no more."""


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
    leased, the ones that wait for a visit included: they share `max_pages`, of which None means that there is no limit.
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
        max_pages: int | None,
        sites_with_work: Callable[[], int],
        pauses: Iterable[Pause] = (),
        host_share: float = 0.0,
        permits: Permits | None = None,
    ) -> None:
        self._source = source
        self._clock = clock
        self._assign = assign
        self._argument_url = argument_url
        self._visit_pages = visit_pages
        self._budget = PageBudget(max_pages)
        self._sites_with_work = sites_with_work
        self._shares = Shares(host_share)
        self._permits: Permits = permits or Unshared()
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
            for group in self._source.groups:
                if self._budget.is_used_up:
                    break
                found = self._first_of(self._source.waiting(group))
                if found is None:
                    continue
                at, worker, address, permit = found
                resolved = self._source.take(group, at)
                chosen = sets.setdefault(worker, [])
                chosen.append(self._open(resolved, worker, address, permit))
                progress = True
                if len(chosen) == self._argument_url:
                    self._assign(worker, tuple(sets.pop(worker)))
            for worker, rest in sets.items():
                self._assign(worker, tuple(rest))
        if self._budget.is_used_up and len(self._source) and not self._is_stopped:
            self._permits.want_pages()

    def _first_of(self, waiting: Sequence[ResolvedLease]) -> tuple[int, int, str, Permit] | None:
        """The first pair of a group that has a permit: its place, worker, address and permit.

        A pair for which no worker has room, or whose host had more than its share, lets the others of its group wait, too.
        """
        for at, resolved in enumerate(waiting):
            if self._visits and self._shares.is_exceeded_by(resolved.lease.host):
                return None  # It stays in the queue until other hosts had their turn.
            choice = self._choose(resolved)
            if choice is None:
                return None
            worker, address = choice
            permit = self._permits.ask(resolved.lease, address)
            if permit is not None:
                return at, worker, address, permit
        return None

    def request_processed(
        self, visit: int, pages: int, pauses: Iterable[Pause], requests: int = 0, rests: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """A worker has finished a visit; it used `pages` of its allowance. Its host and address rest for `rests` seconds."""
        now = self._clock.now()
        if requests and visit in self._visits:
            self._shares.count(self._visits[visit].origin[0], requests, now)
        self._budget.used(visit, pages)
        pauses = tuple(pauses)
        self._close(visit, rests, pauses)
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
            self._permits.slow_down(self._visits[visit].origin[0], delay)

    def set_max_pages(self, pages: int) -> None:
        """This pipeline may store so many pages in all. Pages that were fetched and not stored do not count."""
        self._budget.set_to(pages)
        if self._budget.is_used_up:
            self._budget.lost(())
        else:
            self.run()

    def visits_to(self, subjects: set[str]) -> dict[int, list[int]]:
        """The open visits to any of these subjects, by worker."""
        found: dict[int, list[int]] = {}
        for number, visit in self._visits.items():
            if not subjects.isdisjoint(visit.subjects):
                found.setdefault(visit.worker, []).append(number)
        return found

    def worker_gone(self, worker: int, host_delay: Callable[[str, int, float], float], address_delay: float) -> None:
        """A worker's process has ended: close its visits. It may have sent requests just now, so their hosts and addresses rest
        for one full delay.

        `host_delay` returns the delay of a host and port, given the Crawl-delay of its robots.txt.
        """
        lost = [(number, visit) for number, visit in self._visits.items() if visit.worker == worker]
        now = self._clock.now()
        self._budget.lost([number for number, _ in lost])
        for number, visit in lost:
            delays = host_delay(*visit.origin, visit.crawl_delay), address_delay
            self._close(number, delays)
            for subject, delay in zip(visit.subjects, delays, strict=True):
                pause = self._pauses.get(subject, Pause(subject, 0.0))
                self._pauses[subject] = msgspec.structs.replace(pause, not_before=max(pause.not_before, now + delay))

    def _close(self, number: int, rests: tuple[float, float], pauses: Sequence[Pause] = ()) -> None:
        visit = self._visits.pop(number, None)
        if visit is None:
            return
        self._room[visit.worker] += 1
        for subject, seconds in zip(visit.subjects, rests, strict=True):
            self._permits.rest(subject, seconds, next((pause for pause in pauses if pause.subject == subject), None))
            owner = self._owners[subject]
            owner.visits -= 1
            if not owner.visits:
                del self._owners[subject]
                self._permits.end(subject)

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

    def _open(self, resolved: ResolvedLease, worker: int, address: str, permit: Permit) -> Assignment:
        lease = resolved.lease
        subjects = _host(lease.host), _address(address)
        most = min(self._visit_pages, len(lease.urls)) if lease.is_full else self._visit_pages
        pages = self._budget.reserve(lease.visit, most, self._sites_with_work())
        self._room[worker] -= 1
        crawl_delay = 0.0 if lease.robots is None else lease.robots.delay
        self._visits[lease.visit] = _OpenVisit(worker, (lease.host, lease.port), crawl_delay, subjects)
        for subject in subjects:
            if subject not in self._owners:
                self._owners[subject] = _Owner(worker)
                self._permits.begin(subject)
            self._owners[subject].visits += 1
        of_host, of_address = (self._pauses.get(subject) or Pause(subject, 0.0) for subject in subjects)
        return Assignment(
            lease,
            address,
            resolved.addresses,
            resolved.expires_at,
            pages,
            max(of_host.not_before, permit.host_not_before),
            max(of_address.not_before, permit.address_not_before),
            max(of_address.failures, permit.address_failures),
        )
