"""The Crawl Worker itself: opens visits from MainQ, starts requests when the scheduler permits, and sends records.

It does nothing by itself: its process calls `accept`, `add_credit`, `stop` and `turn`, and the downloader calls back with
results. The port `wake` has `turn` called at a time of the monotonic clock.
"""

from __future__ import annotations

import ipaddress
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from heapq import nlargest
from math import inf
from typing import Any

from parcahyd.config.schema import WorkConf
from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.messages import FromWorkerToUpdate, RequestProcessed, Slowed, Watched
from parcahyd.core.ports import Clock, Downloader, DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.core.progress import SiteProgress, WorkerProgress
from parcahyd.core.records import LOCAL_ADDRESS, Assignment, Pause
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.backoff import AddressBackoff
from parcahyd.pipeline.crawl_worker.document_reader import DocumentReader, DocumentTools
from parcahyd.pipeline.crawl_worker.known_urls import Room
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest, RequestKind
from parcahyd.pipeline.crawl_worker.request_scheduler import RequestScheduler
from parcahyd.pipeline.crawl_worker.server_pauses import LONGEST_WAIT, ServerPauses
from parcahyd.pipeline.crawl_worker.slow_hosts import SlowHosts
from parcahyd.pipeline.crawl_worker.visit import ThreadCallback, Visit
from parcahyd.pipeline.crawl_worker.waiting_answers import Answer, WaitingAnswers
from parcahyd.pipeline.crawl_worker.watch import SuspectLine, Watch
from parcahyd.rules.politeness.byte_rate import ByteRate
from parcahyd.rules.urls.host_rules import HostRules, local_settings, without_secrets

__all__ = ["CrawlWorker"]

_KEYS_PER_LOCAL_URL = 5
_LONG_READING = 0.25
"""Seconds: a document that takes longer to read keeps the other visits of the worker waiting. Ordinary ones take milliseconds,
so that a loaded machine does not slow them down."""
_SHARES = 10
"""A visit with such documents uses one part in so many of the worker's time, while there are others."""
_LOOKS_FOR_ROOM = 1.0
"""Seconds between two looks at who waits, while all connections are in use."""


class CrawlWorker:
    """Makes many visits at once, within Connections, OpenSites, LocalUrls and the credit that Update Database gave.

    `emit` sends a record and returns what it cost in credit; `processed` sends *Request processed*; `slowed` sends
    the longer delay that a robots.txt asks for; `watched` sends the steps of requests in watched visits;
    `report_plugin_error` gets a sentence about an error of a plugin or of this program; `in_thread` runs the first function in
    a thread, and calls the second on the event loop with the result or the error; `before_sending` ends the process where it
    must send nothing any more.
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
        max_rate: float = 0.0,
        emit: Callable[[FromWorkerToUpdate], int],
        processed: Callable[[RequestProcessed], None],
        slowed: Callable[[Slowed], None],
        report_plugin_error: Callable[[str], None],
        wake: Callable[[float], None],
        in_thread: Callable[[Callable[[], Any], Callable[[Any, Exception | None], None]], None],
        watched: Callable[[Watched], None] = lambda _: None,
        before_sending: Callable[[], None] = lambda: None,
    ) -> None:
        self.number = number
        self.on_the_wire = 0
        self._work = work
        self._hosts = hosts
        self._downloader = downloader
        self._tells_when_sent: bool = getattr(downloader, "tells_when_sent", False)
        self._clock = clock
        self._credit = credit
        self._max_rate = max_rate
        self._byte_rate = ByteRate()
        self._send = emit
        self._processed = processed
        self._slowed = slowed
        self._watched = watched
        self._report_plugin_error = report_plugin_error
        self._wake = wake
        self._in_thread = in_thread
        self._before_sending = before_sending
        self._documents = DocumentReader(work, tools)
        self._waiting = WaitingAnswers(credit)
        self._handled_size = 0
        """Bytes of the body that is being handled."""
        self._allow_bytes: Callable[[int], None] | None = getattr(downloader, "allow_bytes", None)
        self._allowed = self._waiting.room
        if self._allow_bytes is not None:
            self._allow_bytes(self._allowed)
        self._make_room: Callable[[int], None] | None = getattr(downloader, "make_room", None)
        self._next_look = 0.0
        self._slow_hosts = SlowHosts(work.Connections)
        self._main_q: deque[Assignment] = deque()
        self._visits: dict[int, tuple[Visit, float]] = {}
        self._scheduler: RequestScheduler[Visit] = RequestScheduler(
            work.address_delay, work.address_connections, self._slow_hosts
        )
        self._suspects: SuspectLine[Visit] = SuspectLine()
        self._address_backoff = AddressBackoff(work.RetryDelay)
        self._pauses = ServerPauses(
            self._address_backoff,
            self._scheduler,
            clock,
            emit=self._emit,
            open_visits=lambda: (visit for visit, _ in self._visits.values()),
            end=self._close,
        )
        self._room = Room(work.LocalUrls, work.LocalUrls * _KEYS_PER_LOCAL_URL, work.LocalUrls, credit)
        self._requests = 0
        self._received = 0
        self._stopping = False

    # --- driven by the process -----------------------------------------------------------------------------------------

    @property
    def open_visits(self) -> int:
        return len(self._visits) + len(self._main_q)

    def accept(self, assignments: Iterable[Assignment]) -> None:
        """Put a set into MainQ, and start what may start."""
        self._main_q.extend(assignments)
        self.turn()

    def add_credit(self, size: int) -> None:
        starved = self._credit <= 0 or bool(self._waiting)
        self._credit += size
        if starved:
            self._handle_waiting()
            self.turn()

    def stop(self) -> None:
        """Start no more requests; visits that wait for no answer are closed at once."""
        self._stopping = True
        for visit, _ in list(self._visits.values()):
            self._stop_visit(visit)
        self.turn()

    def _stop_visit(self, visit: Visit) -> None:
        self._scheduler.withdraw(visit)
        visit.stop()
        if visit.is_over:
            self._close(visit)

    def hand_back(self, visits: Iterable[int]) -> None:
        """Send no new request in these visits; what is left of them goes back to the database."""
        for number in visits:
            if number in self._visits:
                self._stop_visit(self._visits[number][0])
        self.turn()

    def turn(self) -> None:
        """Open the visits that arrived, and start the requests that may start now."""
        while self._main_q:
            self._open(self._main_q.popleft())
        clock = self._clock.monotonic
        limit = self._work.Connections
        while self.on_the_wire < limit and self._credit > 0 and not self._waiting:
            now = clock()
            visit = self._scheduler.next_ready(now) if now >= self._byte_rate.opens_at else None
            if visit is None:
                break
            self._start(visit)
        if self.on_the_wire < limit and self._credit > 0 and not self._waiting and (at := self._scheduler.next_at()) < inf:
            self._wake(max(at, self._byte_rate.opens_at))
        elif self.on_the_wire >= limit and self._make_room is not None:
            if (now := clock()) >= self._next_look:
                self._look_for_room(self._make_room, now)
            # Slow transfers do not end soon, so nothing else would call `turn`.
            self._wake(self._next_look)

    def _look_for_room(self, make_room: Callable[[int], None], now: float) -> None:
        """All connections are in use: have slow transfers give way to the requests that wait for nothing but a connection."""
        self._next_look = now + _LOOKS_FOR_ROOM
        if self._credit > 0 and not self._waiting and not self._stopping and now >= self._byte_rate.opens_at:
            wanted = self._scheduler.count_waiting(now)
            if wanted:
                self._slow_hosts.others_wait(now)
                make_room(wanted)

    def progress(self, pid: int) -> WorkerProgress:
        visits = [visit for visit, _ in self._visits.values()]
        busiest = nlargest(10, visits, key=lambda visit: (visit.next_request.on_the_wire, visit.pages))
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

    # --- a visit from its beginning to its end ---------------------------------------------------------------------------

    def _open(self, assignment: Assignment) -> None:
        now, monotonic = self._clock.now(), self._clock.monotonic()
        settings = self._hosts.of(assignment.lease.host, assignment.lease.port)
        if assignment.address == LOCAL_ADDRESS:
            settings = local_settings(settings)
        visit = Visit(
            assignment,
            self._work,
            settings,
            self._room,
            self._documents,
            emit=self._emit,
            in_thread=self._read_in_thread,
            is_busy=self._is_busy,
            now=now,
        )
        self._visits[visit.lease.visit] = visit, monotonic + self._work.VisitSeconds
        if visit.lease.is_watched:
            visit.watch = Watch(visit.lease, self._watched)
        # "Not before" times are stored as wall-clock times; from here on the monotonic clock counts.
        shift = monotonic - now
        self._scheduler.open(visit, assignment.host_not_before + shift, assignment.address_not_before + shift)
        self._address_backoff.opened(visit.address, assignment.address_failures)
        if self._stopping:
            visit.stop()
        elif max(assignment.host_not_before, assignment.address_not_before) > now + LONGEST_WAIT:
            visit.put_off(max(assignment.host_not_before, assignment.address_not_before))
        elif visit.lease.scheme not in self._downloader.schemes:
            served = ", ".join(sorted(self._downloader.schemes))
            visit.refuse_all(Reason.SCHEME, f"served are {served}", now)
            visit.stop()
        self._enqueue_or_close(visit, now)

    def _is_busy(self) -> bool:
        """Whether a request that is not necessary would keep pages waiting: the credit for records is used up, or other visits
        need the connections."""
        return self._credit <= 0 or (self.on_the_wire + 1 >= self._work.Connections and len(self._visits) > 1)

    def _enqueue_or_close(self, visit: Visit, now: float) -> None:
        """Queue the visit at the scheduler if it has a request, or end it."""
        planned = visit.next_request
        if visit.is_alone and not self._is_idle(visit):
            return
        if planned.ready is None:
            if planned.prepare(now) is not None:
                if not visit.is_alone or not planned.is_suspect or self._suspects.enter(visit):
                    self._scheduler.enqueue(visit)
            elif visit.is_over:
                self._close(visit)

    def _is_idle(self, visit: Visit) -> bool:
        """Whether nothing of the visit is under way or being read. Then its suspect is over, and the next one may be sent."""
        if visit.next_request.on_the_wire or visit.in_threads:
            return False
        if visit.next_request.ready is None:
            self._leave_suspects(visit)
        return True

    def _leave_suspects(self, visit: Visit) -> None:
        following = self._suspects.leave(visit)
        if following is not None:
            self._scheduler.enqueue(following)

    def _start(self, visit: Visit) -> None:
        planned = visit.next_request.started()
        is_page = planned.kind is RequestKind.PAGE
        planned.started_at = self._clock.monotonic()
        sent = partial(self._sent, visit, planned) if self._scheduler.connecting(planned, visit, planned.started_at) else None
        settings = without_secrets(visit.settings) if planned.is_for_table else visit.settings
        request = DownloadRequest(
            url=visit.origin + planned.path,
            address=visit.address,
            port=visit.lease.port,
            headers=visit.headers(planned),
            max_bytes=self._work.MaxBytes if is_page else planned.max_bytes,
            options=settings.options,
            cut=not is_page and planned.kind is not RequestKind.TVI,
            sent=sent,
        )
        self.on_the_wire += 1
        if self._slow_hosts.names:
            self._slow_hosts.started(planned, visit.host)
        self._room.is_idle = self.on_the_wire * 4 < self._work.Connections * 3
        if visit.watch is not None:
            visit.watch.sent(planned)
        self._before_sending()
        self._downloader.start(request, partial(self._arrived, visit, planned, request))
        if sent is not None and not self._tells_when_sent:
            sent()
        self._enqueue_or_close(visit, self._clock.now())

    def _sent(self, visit: Visit, request: PlannedRequest) -> None:
        """The request has left; the next one to its host or address is decided about by `turn`, not inside the downloader."""
        if visit.lease.visit not in self._visits:
            return  # A plugin says so after the answer.
        self._scheduler.sent(request, visit, self._clock.monotonic())
        if (at := self._scheduler.next_at()) < inf:
            self._wake(at)

    def _arrived(self, visit: Visit, request: PlannedRequest, sent: DownloadRequest, result: DownloadResult) -> None:
        """The downloader calls this with an answer or a failure: its connection is free, and it waits for its turn."""
        self.on_the_wire -= 1
        if self._slow_hosts.under_way:
            self._slow_hosts.ended(request)
        self._room.is_idle = self.on_the_wire * 4 < self._work.Connections * 3
        monotonic = self._clock.monotonic()
        request.seconds = monotonic - request.started_at
        result.started_at = self._clock.now() - request.seconds
        result.elapsed = result.elapsed or request.seconds
        if sent.headers is not visit.settings.headers:
            result.marks = ExchangeMark.CONDITIONAL
        self._scheduler.finished(request, visit, monotonic)
        self._requests += 1
        self._waiting.put(Answer(visit, request, sent, result))
        self._handle_waiting()
        self.turn()

    def _handle_waiting(self) -> None:
        """Handle the answers that there is credit for, and have the downloader take no more than the others leave room for."""
        while (answer := self._waiting.take(self._credit)) is not None:
            self._handled_size = len(answer.result.body)
            self._received += answer.result.received or self._handled_size
            self._handle(answer.visit, answer.request, answer.result)
        if self._waiting.room != self._allowed and self._allow_bytes is not None:
            self._allowed = self._waiting.room
            self._allow_bytes(self._allowed)

    def _handle(self, visit: Visit, request: PlannedRequest, result: DownloadResult) -> None:
        """Have the visit record the answer, and do what follows from that for its host, its address and its queue."""
        now, began = self._clock.now(), self._clock.monotonic()
        delay, planned = visit.pace.delay, visit.next_request
        ready = planned.ready
        if visit.pace.follows:
            visit.pace.answered(request.seconds)
        self._record(visit, request, result, now)
        self._share_time(visit, began)
        if visit.pace.delay != delay:
            self._change_pace(visit, request, delay)
        self._keep_rate(visit, request, result)
        if self._slow_hosts.names or result.failure is DownloadFailure.GAVE_WAY:
            self._note_speed(visit, request, result)
        if visit.backoff.asked_until or result.failure is not None or self._address_backoff.has_failures:
            self._pauses.answered(visit, result, now)
        if ready is not None and planned.ready is None:
            self._scheduler.withdraw(visit)  # The answer ended the visit while another request was queued.
        elif ready is None and planned.ready is not None:
            self._scheduler.enqueue(visit)  # robots.txt redirects within its site.
        if self._clock.monotonic() > self._visits[visit.lease.visit][1]:
            self._scheduler.withdraw(visit)
            visit.stop()
        self._enqueue_or_close(visit, now)

    def _record(self, visit: Visit, request: PlannedRequest, result: DownloadResult, now: float) -> None:
        """Check where an answer comes from, and have its visit turn it into records."""
        is_foreign = result.failure is None and not self._is_from(result.peer, visit.address)
        if is_foreign:
            self._report_plugin_error(
                f"downloader {self._work.DownloaderClass}: an answer for {visit.address} came from "
                f"{result.peer or 'an address it does not name'}; it was thrown away"
            )
        elif result.failure is DownloadFailure.PLUGIN:
            self._report_plugin_error(result.detail)
        watch = visit.watch
        if watch is not None:
            watch.answered(request)
        try:
            visit.answered(request, result, is_foreign, now)
        except Exception as error:  # One bad document never stops a crawl.
            self._report_plugin_error(visit.handle_error(request, error, now))
        if watch is not None:
            watch.handled(request)

    def _note_speed(self, visit: Visit, request: PlannedRequest, result: DownloadResult) -> None:
        """A host whose transfer gave way is slow from now on, until it gives pages quickly again."""
        if result.failure is DownloadFailure.GAVE_WAY:
            self._slow_hosts.gave_way(visit.host)
        elif result.failure is None and request.kind is RequestKind.PAGE:
            self._slow_hosts.gave_page(visit.host, request.seconds)

    def _share_time(self, visit: Visit, began: float) -> None:
        """Let the host of a visit wait whose document took long to read, since `began`: others are waiting, too."""
        took = self._clock.monotonic() - began
        if took > _LONG_READING and len(self._visits) > 1:
            self._scheduler.hold(visit, began + min(_SHARES * took, LONGEST_WAIT), 0.0)

    def _change_pace(self, visit: Visit, request: PlannedRequest, before: float) -> None:
        delay = visit.pace.delay
        self._scheduler.set_delay(visit, delay)
        if request.kind is RequestKind.ROBOTS and delay > before:
            self._slowed(Slowed(visit.lease.visit, delay))

    def _keep_rate(self, visit: Visit, request: PlannedRequest, result: DownloadResult) -> None:
        """After an answer, wait with the next requests for as long as MaxRate and MaxHostRate ask for."""
        if not self._max_rate and not visit.settings.max_rate:
            return
        size = result.received or len(result.body)
        self._byte_rate.received(size, self._max_rate, request.started_at)
        self._scheduler.received(visit, size, visit.settings.max_rate, request.started_at)
        wait = self._scheduler.rate_opens_at(visit) - self._clock.monotonic()
        if wait > LONGEST_WAIT:
            visit.put_off(self._clock.now() + wait)

    def _read_in_thread(self, visit: Visit, work: Callable[[], Any], then: ThreadCallback) -> None:
        """Run `work` of a visit in a thread. The visit continues meanwhile, and is not over before `then` was called."""
        visit.in_threads += 1
        watch = visit.watch
        request = None if watch is None else watch.to_thread()
        size = self._handled_size
        self._waiting.being_read += size

        def done(result: Any, error: Exception | None) -> None:
            visit.in_threads -= 1
            self._waiting.being_read -= size
            self._handled_size = 0
            if watch is not None:
                watch.from_thread(request)
            now, began = self._clock.now(), self._clock.monotonic()
            ready = visit.next_request.ready
            try:
                sentence = then(result, error, now)
            except Exception as raised:  # As with answers: one bad document never stops a crawl.
                sentence = f"{type(raised).__name__} on a document of {visit.origin}: {raised}"
            if watch is not None:
                watch.handled(request)
            if sentence:
                self._report_plugin_error(sentence)
            self._share_time(visit, began)
            if ready is not None and visit.next_request.ready is None:
                self._scheduler.withdraw(visit)  # As after an answer: the document ended the visit.
            self._enqueue_or_close(visit, now)
            self._handle_waiting()
            self.turn()

        self._in_thread(work, done)

    def _close(self, visit: Visit) -> None:
        del self._visits[visit.lease.visit]
        visit.close()
        if visit.is_alone:
            self._leave_suspects(visit)
        now, monotonic = self._clock.now(), self._clock.monotonic()
        rate_rest = self._scheduler.rate_opens_at(visit) - monotonic
        host_rest, address_rest = self._scheduler.close(visit)
        pauses = (
            Pause(f"host {visit.host}", now + max(0.0, host_rest - monotonic)),
            Pause(
                f"address {visit.address}",
                now + max(0.0, address_rest - monotonic),
                failures=self._address_backoff.failures(visit.address),
            ),
        )
        requests = visit.next_request.requests
        rests_until = now + max(visit.pace.delay, rate_rest) if requests else 0.0
        self._emit(visit.last_record(now, pauses, rests_until))
        rests = max(0.0, host_rest - monotonic), max(0.0, address_rest - monotonic)
        self._processed(RequestProcessed(visit.lease.visit, visit.pages, requests, pauses, rests))

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
