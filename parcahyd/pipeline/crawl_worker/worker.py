"""The Crawl Worker itself: opens visits from MainQ, lets them pass the turnstile, and gives their records away.

It is driven from outside: `accept`, `add_credit`, `stop` and `turn` by the process it runs in, `done` by the downloader.
`wake` is a port: the worker asks to have `turn` called at a time of the monotonic clock.
"""

from __future__ import annotations

import ipaddress
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from heapq import nlargest
from math import inf

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import Reason
from parcahyd.core.messages import FromWorkerToUpdate, RequestProcessed, Slowed
from parcahyd.core.ports import Clock, Downloader, DownloadFault, DownloadRequest, DownloadResult
from parcahyd.core.progress import SiteProgress, WorkerProgress
from parcahyd.core.records import Assignment, Pause, PauseRecord, VisitOver
from parcahyd.pipeline.crawl_worker.address_care import AddressCare
from parcahyd.pipeline.crawl_worker.asks import Ask, AskKind
from parcahyd.pipeline.crawl_worker.documents import DocumentReader, DocumentTools, Reading, Then
from parcahyd.pipeline.crawl_worker.known_urls import Room
from parcahyd.pipeline.crawl_worker.turnstile import Turnstile
from parcahyd.pipeline.crawl_worker.visit import Visit
from parcahyd.rules.host_rules import HostRules, without_secrets

__all__ = ["CrawlWorker"]

_KEYS_PER_LOCAL_URL = 5
_LONGEST_IN_LINE = 60.0
"""Seconds: a visit that would have to wait longer for its host or address gives its place to another."""
_SILENCE = frozenset((DownloadFault.CONNECT, DownloadFault.TIMEOUT))


class CrawlWorker:
    """Many visits at once, within Connections, OpenSites, LocalUrls and the credit that Update Database gave.

    `emit` sends a record and returns what it cost in credit; `processed` sends *Request processed*; `slowed` says that
    a robots.txt asks for a longer delay; `misbehaved` says in a sentence what a plugin, or this program itself, did wrong;
    `aside` has something done beside the event loop.
    """

    def __init__(
        self,
        number: int,
        work: WorkConf,
        hosts: HostRules,
        downloader: Downloader,
        clock: Clock,
        tools: DocumentTools,
        *,
        credit: int,
        emit: Callable[[FromWorkerToUpdate], int],
        processed: Callable[[RequestProcessed], None],
        slowed: Callable[[Slowed], None],
        misbehaved: Callable[[str], None],
        wake: Callable[[float], None],
        aside: Callable[[Callable[[], Reading], Callable[[Reading | None, Exception | None], None]], None],
    ) -> None:
        self.number = number
        self.on_the_wire = 0
        self._work = work
        self._hosts = hosts
        self._downloader = downloader
        self._clock = clock
        self._credit = credit
        self._send = emit
        self._processed = processed
        self._slowed = slowed
        self._misbehaved = misbehaved
        self._wake = wake
        self._aside = aside
        self._documents = DocumentReader(work, tools)
        self._main_q: deque[Assignment] = deque()
        self._visits: dict[int, tuple[Visit, float]] = {}
        self._turnstile: Turnstile[Visit] = Turnstile(work.address_delay, work.address_connections)
        self._care = AddressCare(work.RetryDelay)
        self._room = Room(work.LocalUrls, work.LocalUrls * _KEYS_PER_LOCAL_URL, work.LocalUrls)
        self._requests = 0
        self._received = 0
        self._stopping = False

    # --- driven by the process -----------------------------------------------------------------------------------------

    @property
    def open_visits(self) -> int:
        return len(self._visits) + len(self._main_q)

    def accept(self, assignments: Iterable[Assignment]) -> None:
        """A set arrives in MainQ."""
        self._main_q.extend(assignments)
        self.turn()

    def add_credit(self, size: int) -> None:
        starved = self._credit <= 0
        self._credit += size
        if starved:
            self.turn()

    def stop(self) -> None:
        """No new request; visits with nothing on the wire are handed back at once."""
        self._stopping = True
        for visit, _ in list(self._visits.values()):
            self._turnstile.withdraw(visit)
            visit.stop()
            if visit.is_over:
                self._close(visit)
        self.turn()

    def turn(self) -> None:
        """Open what arrived and start what may start now."""
        while self._main_q:
            self._open(self._main_q.popleft())
        clock = self._clock.monotonic
        limit = self._work.Connections
        while self.on_the_wire < limit and self._credit > 0:
            visit = self._turnstile.pass_one(clock())
            if visit is None:
                break
            self._start(visit)
        if self.on_the_wire < limit and self._credit > 0 and (at := self._turnstile.next_at()) < inf:
            self._wake(at)

    def progress(self, pid: int) -> WorkerProgress:
        visits = [visit for visit, _ in self._visits.values()]
        busiest = nlargest(10, visits, key=lambda visit: (visit.agenda.on_the_wire, visit.pages))
        return WorkerProgress(
            worker=self.number,
            pid=pid,
            visits=len(visits),
            on_the_wire=self.on_the_wire,
            waiting=self._work.LocalUrls - self._room.urls,
            requests=self._requests,
            received=self._received,
            sites=tuple(
                SiteProgress(visit.origin, visit.address, self.number, visit.pages, visit.waiting) for visit in busiest
            ),
        )

    # --- a visit's way -------------------------------------------------------------------------------------------------

    def _open(self, assignment: Assignment) -> None:
        now, monotonic = self._clock.now(), self._clock.monotonic()
        settings = self._hosts.of(assignment.pair.host, assignment.pair.port)
        visit = Visit(
            assignment,
            self._work,
            settings,
            self._room,
            self._documents,
            self._emit,
            lambda read, then: self._read_aside(visit, read, then),
            self._is_short,
            now,
        )
        self._visits[visit.pair.visit] = visit, monotonic + self._work.VisitSeconds
        # "Not before" times are stored as wall-clock times; from here on the monotonic clock counts.
        shift = monotonic - now
        self._turnstile.open(visit, assignment.host_not_before + shift, assignment.address_not_before + shift)
        self._care.opened(visit.address, assignment.address_failures)
        if self._stopping:
            visit.stop()
        elif max(assignment.host_not_before, assignment.address_not_before) > now + _LONGEST_IN_LINE:
            visit.put_off(max(assignment.host_not_before, assignment.address_not_before))
        elif visit.pair.scheme not in self._downloader.schemes:
            served = ", ".join(sorted(self._downloader.schemes))
            visit.refuse_all(Reason.SCHEME, f"{self._work.DownloaderClass} serves {served}", now)
            visit.stop()
        self._go_on(visit, now)

    def _is_short(self) -> bool:
        """Whether pages would have to wait for requests that can be done without: records are not taken, or others need the
        connections."""
        return self._credit <= 0 or (self.on_the_wire + 1 >= self._work.Connections and len(self._visits) > 1)

    def _go_on(self, visit: Visit, now: float) -> None:
        """Put the visit in line if it has something to ask, or end it."""
        agenda = visit.agenda
        if agenda.ready is None:
            if agenda.prepare(now) is not None:
                self._turnstile.ask(visit)
            elif visit.is_over:
                self._close(visit)

    def _start(self, visit: Visit) -> None:
        ask = visit.agenda.started()
        is_page, is_fragment = ask.kind is AskKind.PAGE, ask.kind is AskKind.FRAGMENT
        request = DownloadRequest(
            url=visit.origin + ask.path,
            address=visit.address,
            port=visit.pair.port,
            headers=visit.headers(ask),
            max_bytes=self._work.MaxBytes if is_page else ask.max_bytes,
            options=visit.settings.options
            if ask.table is None and not is_fragment
            else without_secrets(visit.settings).options,
            cut=not is_page and not is_fragment,
        )
        self.on_the_wire += 1
        self._room.is_idle = self.on_the_wire * 4 < self._work.Connections * 3
        ask.started_at = self._clock.monotonic()
        self._downloader.start(request, partial(self._done, visit, ask))
        self._go_on(visit, self._clock.now())

    def _done(self, visit: Visit, ask: Ask, result: DownloadResult) -> None:
        self.on_the_wire -= 1
        self._room.is_idle = self.on_the_wire * 4 < self._work.Connections * 3
        monotonic = self._clock.monotonic()
        ask.seconds = monotonic - ask.started_at
        pace = visit.pace
        delay = pace.delay
        if pace.follows:
            pace.answered(ask.seconds)
        self._turnstile.leave(visit, monotonic)
        self._requests += 1
        self._received += len(result.body)
        foreign = result.fault is None and not self._is_from(result.peer, visit.address)
        if foreign:
            self._misbehaved(
                f"downloader {self._work.DownloaderClass}: an answer for {visit.address} came from "
                f"{result.peer or 'an address it does not name'}; it was thrown away"
            )
        elif result.fault is DownloadFault.PLUGIN:
            self._misbehaved(result.detail)
        now = self._clock.now()
        agenda = visit.agenda
        ready = agenda.ready
        try:
            visit.answered(ask, result, foreign, now)
        except Exception as error:  # One bad document never stops a crawl, whatever it does to us.
            self._misbehaved(visit.stumbled(ask, error, now))
        if pace.delay != delay:
            self._change_pace(visit, ask, delay)
        if visit.respite.asked_until or result.fault is not None or self._care.is_concerned:
            self._listen(visit, result, now)
        if ready is not None and agenda.ready is None:
            self._turnstile.withdraw(visit)  # The answer ended the visit while another request stood in line.
        elif ready is None and agenda.ready is not None:
            self._turnstile.ask(visit)  # robots.txt moved within its site.
        if monotonic > self._visits[visit.pair.visit][1]:
            self._turnstile.withdraw(visit)
            visit.stop()
        self._go_on(visit, now)
        self.turn()

    def _change_pace(self, visit: Visit, ask: Ask, before: float) -> None:
        delay = visit.pace.delay
        self._turnstile.set_pace(visit, delay)
        if ask.kind is AskKind.ROBOTS and delay > before:
            self._slowed(Slowed(visit.pair.visit, delay))

    def _read_aside(self, visit: Visit, read: Callable[[], Reading], then: Then) -> None:
        """Has a document read beside the event loop; its visit goes on meanwhile, and is not over before."""

        def was_read(reading: Reading | None, error: Exception | None) -> None:
            now = self._clock.now()
            ready = visit.agenda.ready
            try:
                sentence = then(reading, error, now)
            except Exception as fault:  # As with answers: one bad document never stops a crawl.
                sentence = f"{type(fault).__name__} on a document of {visit.origin}: {fault}"
            if sentence:
                self._misbehaved(sentence)
            if ready is not None and visit.agenda.ready is None:
                self._turnstile.withdraw(visit)  # As after an answer: the document ended the visit.
            self._go_on(visit, now)
            self.turn()

        self._aside(read, was_read)

    def _listen(self, visit: Visit, result: DownloadResult, now: float) -> None:
        """What the answer, or its absence, says about the visit's host and address."""
        if visit.respite.asked_until:
            self._heed_wish(visit, now)
        if result.fault is None:
            self._care.answered(visit.address)
        elif result.fault in _SILENCE:
            self._heed_silence(visit, now)

    def _heed_wish(self, visit: Visit, now: float) -> None:
        """A server wants to be left alone: its host for as long as it says, its address within limits."""
        until, visit.respite.asked_until = visit.respite.asked_until, 0.0
        address_until = self._care.wished(visit.address, visit.host, until, now)
        word = Reason.ASKED_TO_WAIT.word
        host = Pause(f"host {visit.host}", until, word, visit.respite.failures)
        self._leave_alone(visit, host, Pause(f"address {visit.address}", address_until, word), now)

    def _heed_silence(self, visit: Visit, now: float) -> None:
        """A request got no answer: where that happens to several sites in a row, nobody is at home at their address."""
        until = self._care.silent(visit.address, visit.pair.site, now)
        if until is not None:
            failures = self._care.failures(visit.address)
            address = Pause(f"address {visit.address}", until, Reason.SILENT_ADDRESS.word, failures)
            self._leave_alone(visit, Pause(f"host {visit.host}", now), address, now)

    def _leave_alone(self, visit: Visit, host: Pause, address: Pause, now: float) -> None:
        """Hold host and address, and have that committed at once; visits that would wait for long give up their place."""
        shift = self._clock.monotonic() - now
        self._turnstile.hold(visit, host.not_before + shift, address.not_before + shift)
        until = max(visit.respite.until, host.not_before)
        reason = visit.respite.word
        self._emit(PauseRecord(visit.pair.visit, visit.pair.site, until, visit.respite.failures, reason, (host, address)))
        for other, _ in list(self._visits.values()):
            held = max(
                host.not_before if other.host == visit.host else 0.0,
                address.not_before if other.address == visit.address else 0.0,
            )
            if held <= now + _LONGEST_IN_LINE:
                continue
            if other is visit:  # Its answer is still being taken; `_done` ends it.
                visit.put_off(held)
                continue
            self._turnstile.withdraw(other)
            other.put_off(held)
            if other.is_over:
                self._close(other)

    def _close(self, visit: Visit) -> None:
        del self._visits[visit.pair.visit]
        visit.close()
        now, monotonic = self._clock.now(), self._clock.monotonic()
        host_rest, address_rest = self._turnstile.close(visit)
        pauses = (
            Pause(f"host {visit.host}", now + max(0.0, host_rest - monotonic)),
            Pause(
                f"address {visit.address}",
                now + max(0.0, address_rest - monotonic),
                failures=self._care.failures(visit.address),
            ),
        )
        self._emit(
            VisitOver(
                visit=visit.pair.visit,
                site=visit.pair.site,
                at=now,
                not_before=max(pauses[0].not_before, visit.respite.until),
                pauses=pauses,
                addresses=visit.known_addresses,
                addresses_expire=visit.assignment.addresses_expire,
                failures=visit.respite.failures,
                pages=visit.pages,
                requests=visit.agenda.requests,
                reason=visit.respite.word,
                guards=visit.guards,
            )
        )
        self._processed(RequestProcessed(visit.pair.visit, visit.pages, visit.agenda.requests, pauses))

    def _emit(self, record: FromWorkerToUpdate) -> None:
        self._credit -= self._send(record)

    @staticmethod
    def _is_from(peer: str, address: str) -> bool:
        if peer == address:
            return True
        try:
            return ipaddress.ip_address(peer) == ipaddress.ip_address(address)
        except ValueError:
            return False
