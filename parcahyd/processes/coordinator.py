"""The coordinator: the process that the user started. It starts the others, hosts the mapping half, and ends the run.

It holds nothing that cannot be lost: what is due stands in the database, and every visit that it handed out is a lease there.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import msgspec

from parcahyd.config.database_url import database_url
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import RunFailed, UserMistake
from parcahyd.core.messages import (
    Assigned,
    Begin,
    Committed,
    Finish,
    Finished,
    FromUpdateToCoordinator,
    FromWorkerToCoordinator,
    LeaseRequest,
    Leases,
    Misbehaviour,
    Mistake,
    Ready,
    Report,
    RequestProcessed,
    Slowed,
    Trouble,
    WorkerGone,
    WorkerJoined,
)
from parcahyd.core.ports import Clock, Resolver
from parcahyd.core.progress import Observer
from parcahyd.core.records import Assignment, Pair, ResolvedPair, VisitOver
from parcahyd.core.signals import Signal, SignalBoard
from parcahyd.pipeline.url_mapper import UrlMapper, hand_back
from parcahyd.processes.chronicle import Chronicle
from parcahyd.processes.crew import Crew, Loss
from parcahyd.refresh.schedule import Schedule
from parcahyd.rules.address_policy import AddressPolicy
from parcahyd.rules.host_rules import HostRules, host_delays
from parcahyd.runtime.channel import Channel
from parcahyd.runtime.children import Child
from parcahyd.runtime.clock import SystemClock
from parcahyd.runtime.cores import usable_cores
from parcahyd.runtime.garbage import settle_in
from parcahyd.runtime.idle_imports import IdleImports
from parcahyd.runtime.lean_loop import LeanLoop, LeanTimer
from parcahyd.runtime.nursery import Nursery
from parcahyd.runtime.run_lock import RunLock
from parcahyd.runtime.thread_crew import ThreadCrew

if TYPE_CHECKING:
    from parcahyd.pipeline.crawl_manager import CrawlManager
    from parcahyd.pipeline.mapping_manager import MappingManager
    from parcahyd.pipeline.resolved_queue import ResolvedQueue
    from parcahyd.pipeline.url_dispatcher import UrlDispatcher
    from parcahyd.pipeline.url_ip_queue import UrlIpQueue

__all__ = ["Coordinator", "CoordinatorBoxes", "CoordinatorHost"]

_BOXES = (
    "parcahyd.pipeline.url_dispatcher",
    "parcahyd.pipeline.url_ip_queue",
    "parcahyd.pipeline.mapping_manager",
    "parcahyd.pipeline.resolved_queue",
    "parcahyd.pipeline.crawl_manager",
)
"""They are joined when Update Database is ready, and loaded while it gets so."""
_TELL_EVERY = 0.5
_STILLBORN_MOST = 3
_UNTIL_HEARD = 0.002
"""Seconds until Update Database is at its last task, which would else wait until the system has cleared away the workers."""
_PATIENCE = 10.0
"""Seconds beyond StopTimeout after which a run that does not stop is ended."""

_EXIT_DONE, _EXIT_INTERRUPTED = 0, 130


class CoordinatorBoxes(msgspec.Struct, frozen=True):
    """The boxes of this process."""

    signals: SignalBoard
    url_dispatcher: UrlDispatcher
    url_ip_queue: UrlIpQueue
    mapping_manager: MappingManager
    resolved_queue: ResolvedQueue
    crawl_manager: CrawlManager


class CoordinatorHost(Protocol):
    """What the boxes ask of their process."""

    clock: Clock
    workers: int
    visit_pages: int

    def ask_for_leases(self, request: LeaseRequest) -> None: ...

    def start_mapper(self, pairs: tuple[Pair, ...]) -> None: ...

    def send_set(self, worker: int, assignments: tuple[Assignment, ...]) -> None: ...


class Coordinator:
    """One run, from the lock to the summary."""

    def __init__(
        self,
        configuration: Configuration,
        seeds: Sequence[str],
        forever: bool,
        observer: Observer,
        join: Callable[[Configuration, Ready, bool, CoordinatorHost], CoordinatorBoxes],
        nursery: Nursery,
    ) -> None:
        self.clock: Clock = SystemClock()
        self.workers = configuration.work.MaxInstances or usable_cores()
        self.visit_pages = configuration.work.VisitPages
        self._credit = configuration.work.BufferBytes // self.workers
        self._strangers = True
        self._configuration = configuration
        self._encoded = msgspec.msgpack.encode(configuration)
        self._seeds = (*configuration.work.Seeds, *seeds)
        self._forever = forever
        self._join = join
        self._nursery = nursery
        self._schedule = Schedule(configuration.work)
        self._loop = LeanLoop()
        self._result: int | Exception | None = None
        self._boxes: CoordinatorBoxes | None = None
        self._lock: RunLock | None = None
        self._update: Child | None = None
        self._update_channel: Channel[FromUpdateToCoordinator] | None = None
        self._crew = Crew(nursery, self._loop, self._told_by_worker, self._worker_lost)
        self._mappers = ThreadCrew(configuration.map.MaxInstances, "url-mapper")
        self._resolver: Resolver | None = None
        self._mapper: UrlMapper | None = None
        self._chronicle = Chronicle(self.clock, observer)
        self._phase = "starting"
        self._outcome = ""
        self._alarm: LeanTimer | None = None

    def run(self) -> int:
        """The exit code. Raises UserMistake and RunFailed."""
        url = database_url(self._configuration)
        self._lock = RunLock(url)
        self._loop.set_exception_handler(self._bug)
        try:
            is_new = _is_new(url)
            # They load what is theirs while plugins are read here. A new database has something to crawl for sure.
            self._update = self._nursery.update_database()
            if is_new:
                self._crew.take(0)
            self._resolver = self._read_plugins()
            self._mapper = UrlMapper(self._resolver, AddressPolicy(self._configuration.map.AllowAddresses), self.clock)
            for number in (signal.SIGINT, signal.SIGTERM):
                self._loop.add_signal_handler(number, self._interrupted)
            self._begin_update_database(self._update)
            if is_new:
                self._begin_worker(0)
            self._loop.call_later(_TELL_EVERY, self._tell)
            IdleImports(self._loop, _BOXES).begin()
            return self._run_until_ended()
        finally:
            self._clean_up()

    def _run_until_ended(self) -> int:
        self._loop.run_forever()
        if isinstance(self._result, Exception):
            raise self._result
        assert self._result is not None  # noqa: S101 - the loop runs until there is one
        return self._result

    def _read_plugins(self) -> Resolver:
        from parcahyd.plugin_manager import PluginManager  # Not before the children are born: this may start threads.

        HostRules(self._configuration.work, os.environ)  # Complains here and now about variables that are not set.
        plugins = PluginManager.load(self._configuration)
        self.visit_pages = min(self.visit_pages, plugins.order().visit_pages or self.visit_pages)
        self._strangers = plugins.has_strangers
        return plugins.resolver()

    # --- the boxes' ports ----------------------------------------------------------------------------------------------

    def ask_for_leases(self, request: LeaseRequest) -> None:
        self._to_update(request)

    def start_mapper(self, pairs: tuple[Pair, ...]) -> None:
        if self._mapper is None:
            return
        self._mappers.call(
            partial(self._mapper.map, pairs),
            lambda mapped, error: self._loop.call_soon_threadsafe(self._mapped, pairs, mapped, error),
        )

    def send_set(self, worker: int, assignments: tuple[Assignment, ...]) -> None:
        if worker not in self._crew:
            self._crew.take(worker)
            self._begin_worker(worker)
        self._to_update(Assigned({assignment.pair.visit: assignment.address for assignment in assignments}))
        self._crew.give(worker, assignments)
        if self._boxes is not None:
            for assignment in assignments:
                self._boxes.url_dispatcher.handed_over(assignment.pair.visit)

    # --- children ------------------------------------------------------------------------------------------------------

    def _begin_update_database(self, child: Child) -> None:
        self._update_channel = Channel(
            child.end,
            self._loop,
            msgspec.msgpack.Decoder(FromUpdateToCoordinator),
            self._told_by_update,
            self._update_lost,
        )
        # The first message brings the lock: whoever works on this database holds it.
        self._update_channel.send_descriptor(Begin(self._encoded, self._seeds, credit=self._credit), self._lock_copy())

    def _begin_worker(self, number: int) -> None:
        message = Begin(self._encoded, worker=number, credit=self._credit, strangers=self._strangers)
        buffer = self._crew.begin(number, message, self._lock_copy())
        if self._update_channel is not None:
            self._update_channel.send_socket(WorkerJoined(number), buffer)

    def _lock_copy(self) -> int:
        assert self._lock is not None  # noqa: S101 - nothing begins without it
        return self._lock.copy()

    def _worker_lost(self, loss: Loss) -> None:
        """A worker's process has ended: its visits go back, and it is replaced when there is something to do."""
        if self._boxes is None or self._result is not None or self._phase == "finishing":
            return
        if loss.stillborn >= _STILLBORN_MOST:
            self._fail(f"Crawl Workers end as soon as they start (exit code {loss.code})")
            return
        if not self._outcome:
            self._chronicle.note(f"Crawl Worker {loss.worker} ended (exit code {loss.code}) and was replaced")
        work = self._configuration.work
        self._boxes.crawl_manager.worker_gone(loss.worker, host_delays(work), work.address_delay)
        self._to_update(WorkerGone(loss.worker, loss.visits))
        self._boxes.signals.raise_(Signal.REQUEST_PROCESSED)

    def _update_lost(self) -> None:
        if self._result is None:
            code = self._update.wait(1.0) if self._update is not None else None
            self._fail(f"the Update Database process is gone (exit code {code}); start again to go on")

    def _to_update(self, message: object) -> None:
        if self._update_channel is not None:
            self._update_channel.send(message)

    # --- messages ------------------------------------------------------------------------------------------------------

    def _told_by_update(self, message: FromUpdateToCoordinator, _size: int) -> None:
        if isinstance(message, Committed):
            self._take_committed(message)
        elif isinstance(message, Leases):
            if self._boxes is not None:
                self._boxes.url_dispatcher.leases(message)
                if self._outcome:
                    self._hand_back_queues()
        elif isinstance(message, Ready):
            self._ready(message)
        elif isinstance(message, Trouble):
            self._chronicle.note(message.sentence)
        elif isinstance(message, Mistake):
            self._end(UserMistake(message.message, message.remedy))
            return
        else:
            self._finished(message)
            return
        self._look()

    def _ready(self, message: Ready) -> None:
        if message.empty:
            self._end(
                UserMistake(
                    "there is nothing to crawl: the database knows no URL",
                    "give one with --seed URL, or Seeds in WorkConf.toml",
                )
            )
            return
        self._boxes = self._join(self._configuration, message, self._forever, self)
        self._phase = "crawling"
        settle_in()
        if self._outcome:
            self._stop(self._outcome)
        self._boxes.url_dispatcher.dispatch()

    def _take_committed(self, message: Committed) -> None:
        self._chronicle.committed = message
        if self._boxes is None:
            return
        dispatcher = self._boxes.url_dispatcher
        for visit in message.released:
            dispatcher.released(visit)
        self._crew.released(message.released)
        if message.new_work:
            dispatcher.changed()

    def _told_by_worker(self, number: int, message: FromWorkerToCoordinator) -> None:
        if isinstance(message, RequestProcessed):
            if self._boxes is not None:
                self._chronicle.requests += message.requests
                self._boxes.crawl_manager.request_processed(message.visit, message.pages, message.pauses, message.requests)
                self._boxes.signals.raise_(Signal.REQUEST_PROCESSED)
                self._look()
        elif isinstance(message, Report):
            self._crew.report(number, message.progress)
        elif isinstance(message, Slowed):
            if self._boxes is not None:
                self._boxes.crawl_manager.slowed(message.visit, message.delay)
        elif isinstance(message, Misbehaviour):
            self._chronicle.note(message.sentence)
        elif isinstance(message, Mistake):
            self._end(UserMistake(message.message, message.remedy))

    def _mapped(self, pairs: tuple[Pair, ...], mapped: list[ResolvedPair] | None, error: BaseException | None) -> None:
        """A URL Mapper has finished its set."""
        if error is not None:
            raise error
        if self._boxes is None:
            return
        now = self.clock.now()
        for resolved in mapped or ():
            if self._outcome:
                self._hand_back(resolved.pair)
            elif resolved.reason:
                bad, over = hand_back(resolved, self._schedule, now)
                for record in bad:
                    self._to_update(record)
                self._to_update(over)
                self._boxes.url_dispatcher.handed_over(over.visit)
            else:
                self._boxes.resolved_queue.put(resolved)
        self._boxes.mapping_manager.finished(len(pairs))
        if not self._outcome:
            self._boxes.signals.raise_(Signal.SOMETHING_TO_CRAWL)
            self._boxes.signals.raise_(Signal.HUNGRY)
        self._look()

    # --- the end -------------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """After every event: is the run over? When does something fall due?"""
        if self._boxes is None or self._result is not None:
            return
        dispatcher = self._boxes.url_dispatcher
        if self._boxes.crawl_manager.limit_reached and not self._outcome:
            self._stop("limit")
        if dispatcher.is_over():
            self._finish(self._outcome or "done")
            return
        at = dispatcher.wakes_at()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if at is not None:
            self._alarm = self._loop.call_later(max(0.001, at - self.clock.now()), self._ring)
        if self._phase in {"crawling", "waiting"}:
            self._phase = "crawling" if dispatcher.open_visits else "waiting"

    def _ring(self) -> None:
        self._alarm = None
        if self._boxes is not None:
            self._boxes.url_dispatcher.dispatch()

    def _interrupted(self) -> None:
        """The first interrupt stops in order, the second at once."""
        if self._outcome == "interrupted":
            self._end(_EXIT_INTERRUPTED)
            return
        self._stop("interrupted")
        self._look()

    def _stop(self, outcome: str) -> None:
        """No new request; everything that is leased is handed back."""
        self._outcome = outcome
        self._phase = "stopping"
        within = self._configuration.work.StopTimeout
        self._loop.call_later(within + _PATIENCE, self._end, _EXIT_INTERRUPTED)
        if self._boxes is None:
            if outcome == "interrupted":
                self._end(_EXIT_INTERRUPTED)
            return
        self._boxes.url_dispatcher.stop()
        self._hand_back_queues()
        self._crew.stop(within)

    def _hand_back_queues(self) -> None:
        if self._boxes is None:
            return
        for pair in self._boxes.url_ip_queue.take(self._boxes.url_ip_queue.size):
            self._hand_back(pair)
        for resolved in self._boxes.resolved_queue.take_all():
            self._hand_back(resolved.pair)

    def _hand_back(self, pair: Pair) -> None:
        """A visit that never began: the site is as it was."""
        self._to_update(
            VisitOver(
                visit=pair.visit,
                site=pair.site,
                at=self.clock.now(),
                not_before=0.0,
                addresses=pair.addresses,
                addresses_expire=pair.addresses_expire,
                failures=pair.failures,
            )
        )

    def _finish(self, outcome: str) -> None:
        if self._phase != "finishing":
            self._phase = "finishing"
            self._outcome = outcome
            self._to_update(Finish(outcome, self._chronicle.requests))
            # No visit is open: workers can go while the run's row is written.
            self._loop.call_later(_UNTIL_HEARD, self._crew.dismiss)

    def _finished(self, message: Finished) -> None:
        self._chronicle.close(self._outcome, message)
        self._end(_EXIT_INTERRUPTED if self._outcome == "interrupted" else _EXIT_DONE)

    def _fail(self, sentence: str) -> None:
        self._end(RunFailed(sentence))

    def _bug(self, loop: LeanLoop, context: dict[str, object]) -> None:
        """An exception in a callback is a bug: the run ends with its traceback."""
        error = context.get("exception")
        if isinstance(error, Exception):
            self._end(error)
        else:
            loop.default_exception_handler(context)

    def _end(self, result: int | Exception) -> None:
        if self._result is None:
            self._result = result
            self._loop.stop()

    def _clean_up(self) -> None:
        """Whatever the end was: no child stays, nothing stays open."""
        self._crew.dismiss()
        if self._update is not None:
            if self._update_channel is not None:
                self._update_channel.close()
            else:
                self._update.end.close()
        self._crew.wait()
        if self._update is not None and self._update.wait(_PATIENCE) is None:
            self._update.kill()
        self._mappers.close()
        if self._resolver is not None:
            self._resolver.close()
        if self._lock is not None:
            self._lock.release()
        for number in (signal.SIGINT, signal.SIGTERM):
            self._loop.remove_signal_handler(number)
        self._loop.close()

    # --- telling -------------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        self._chronicle.tell(self._phase, self._boxes, self._crew.progress())
        if self._result is None:
            self._loop.call_later(_TELL_EVERY, self._tell)


def _is_new(url: str) -> bool:
    """Whether the database is a file that does not exist yet."""
    scheme, _, path = url.partition(":///")
    return scheme == "sqlite" and not os.path.exists(path)
