"""The coordinator: the process that the user started. It starts the others, hosts the mapping half, and ends the run.

It holds nothing that cannot be lost: what is due stands in the database, and every visit that it handed out is a lease there.
What flows between the boxes is in `parcahyd.topology`; this file is about the run as a whole.
Tested in tests/end_to_end/test_interrupt.py and tests/torture/test_kill.py.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from parcahyd.config.schema import Configuration, decode_configuration
from parcahyd.core.errors import RunFailure, UserError
from parcahyd.core.messages import (
    Begin,
    CannotGoOn,
    CannotRun,
    Committed,
    Finish,
    Finished,
    FromUpdateToCoordinator,
    Notice,
    Ready,
    RequestProcessed,
    Signal,
)
from parcahyd.core.ports import Clock, Resolver
from parcahyd.core.records import SiteLease, VisitOver
from parcahyd.plugin_manager import PluginManager
from parcahyd.processes.run_progress import RunProgress
from parcahyd.processes.whole_crawl import Part
from parcahyd.processes.worker_deaths import judge
from parcahyd.processes.worker_pool import Loss, WorkerPool
from parcahyd.refresh.schedule import Schedule
from parcahyd.rules.urls.host_rules import HostRules, host_delays, robots_warning
from parcahyd.runtime.channel import Channel
from parcahyd.runtime.children import Child, usable_cores
from parcahyd.runtime.run_lock import RunLock
from parcahyd.runtime.stop_signals import handled_signals, hold_back, ignore_from_now_on, interrupt_on_signals

if TYPE_CHECKING:
    from parcahyd.topology import CoordinatorBoxes

__all__ = ["Coordinator"]

_REPORT_EVERY = 0.5
_MOST_FAILED_STARTS = 3
_GRACE = 10.0
"""Seconds beyond StopTimeout after which a run that does not stop is ended."""

_ONE_REQUEST = 1.0
"""Seconds within which several signals are one request to stop: `timeout` and shells signal a process and then its group."""

_DAY = 86400.0
_EXIT_DONE, _EXIT_INTERRUPTED = 0, 130


class Coordinator:
    """One run, from the lock to the summary. `join` makes and connects the boxes of this process.

    `part` is what the run is part of: on a cluster this is the coordinator of one pipeline.
    """

    update_database: Channel
    workers: WorkerPool
    resolver: Resolver
    _plugins: PluginManager
    local_schemes: frozenset[str]

    def __init__(
        self,
        configuration: Configuration,
        seeds: Sequence[str],
        forever: bool,
        part: Part,
        join: Callable[[Configuration, Ready, bool, Coordinator], CoordinatorBoxes],
        as_configured: bool = False,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self.part = part
        self.clock: Clock = part.surroundings.clock
        self.loop = part.surroundings.loop
        self.worker_count = configuration.work.MaxInstances or usable_cores()
        self.visit_pages = configuration.work.VisitPages
        self._configuration = configuration
        self._seeds = (*configuration.work.Seeds, *seeds)
        self._forever = forever
        self._as_configured = as_configured
        self._told = told
        self._join = join
        self.boxes: CoordinatorBoxes | None = None
        self._progress = RunProgress(self.clock, part.observer)
        self._phase = "starting"
        self._outcome = ""
        self._result: int | Exception | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._interrupted_at: float | None = None

    def run(self) -> int:
        """The exit code. Raises UserError and RunFailure."""
        with interrupt_on_signals():
            try:
                lock = self.part.lock(self._configuration)
                try:
                    return self._run_with_children(lock)
                finally:
                    self.part.end()
                    lock.release()
            except KeyboardInterrupt:  # Before the loop ran, so no visit has begun.
                self._progress.close("interrupted", None)
                return _EXIT_INTERRUPTED
            finally:
                self.loop.close()

    def _run_with_children(self, lock: RunLock) -> int:
        # Children load their modules while this process reads the plugins. Nearly every run needs a worker.
        update_database = Child("update-database", lock.descriptor, self.part.memory)
        self._start_update_database(update_database)
        self.workers = self._worker_pool(lock)
        self.part.begin(self)
        try:
            self.workers.start(0)
            self.resolver = self._read_plugins()
            try:
                return self._run_until_ended()
            finally:
                self.resolver.close()
        finally:
            self._end_children(update_database)

    def _run_until_ended(self) -> int:
        self.loop.set_exception_handler(self._bug)
        numbers = handled_signals() if self.part.is_alone else []
        for number in numbers:
            self.loop.add_signal_handler(number, self._interrupted)
        self.loop.call_later(_REPORT_EVERY, self._report)
        try:
            self.loop.run_forever()
        finally:
            with hold_back():  # Without a handler, a signal would end this process at once.
                for number in numbers:
                    self.loop.remove_signal_handler(number)
                ignore_from_now_on()
        if isinstance(self._result, Exception):
            raise self._result
        assert self._result is not None  # noqa: S101 - the loop runs until there is one
        return self._result

    def _read_plugins(self) -> Resolver:
        HostRules(self._configuration.work, os.environ)  # For its error about variables that are not set.
        if warning := robots_warning(self._configuration.work):
            self._progress.note(warning)
        self._plugins = PluginManager.load(self._configuration)
        self._set_visit_pages()
        self.local_schemes = self._plugins.local_schemes
        return self._plugins.resolver()

    def _set_visit_pages(self) -> None:
        most = self._configuration.work.VisitPages
        self.visit_pages = min(most, self._plugins.order().visit_pages or most)

    # --- children ------------------------------------------------------------------------------------------------------

    def _start_update_database(self, child: Child) -> None:
        lost = partial(self._update_database_lost, child)
        channel = self.update_database = Channel(child.end, self.loop, FromUpdateToCoordinator, lost, self.check)
        channel.on(Ready, self._ready)
        channel.on(CannotRun, self._cannot_run)
        channel.on(CannotGoOn, self._cannot_go_on)
        channel.on(Notice, self._notice)
        channel.on(Committed, self._progress.set_committed)
        channel.on(Finished, self._finished)
        channel.send(
            Begin(
                msgspec.msgpack.encode(self._configuration),
                self._seeds,
                credit=self._credit,
                forever=self._forever,
                as_configured=self._as_configured,
                partition=self.part.partition,
            )
        )

    def _begin_of_workers(self) -> Begin:
        max_rate = self._configuration.work.MaxRate / self.worker_count
        return Begin(msgspec.msgpack.encode(self._configuration), credit=self._credit, max_rate=max_rate)

    def _worker_pool(self, lock: RunLock) -> WorkerPool:
        start = partial(Child, "crawl-worker", lock.descriptor, self.part.memory)
        workers = WorkerPool(self.loop, self._begin_of_workers(), start, self._worker_lost, self.check)
        workers.on(CannotRun, self._cannot_run)
        workers.on(Notice, self._notice)
        workers.on(RequestProcessed, self._progress.count_requests)
        return workers

    @property
    def _credit(self) -> int:
        return self._configuration.work.BufferBytes // self.worker_count

    def _worker_lost(self, loss: Loss) -> None:
        """A worker's process has ended: its visits go back, and it is replaced when there is something to do."""
        if self._result is not None or self._phase == "finishing":
            return
        if loss.failed_starts >= _MOST_FAILED_STARTS:
            self.end(RunFailure(f"Crawl Workers end as soon as they start (exit code {loss.code})"))
            return
        if not self._outcome:
            self._progress.note(f"Crawl Worker {loss.worker} ended (exit code {loss.code}) and was replaced")
        self.update_database.send(judge(loss, Schedule(self._configuration.work), self.clock.now()))
        if self.boxes is not None:
            work = self._configuration.work
            self.boxes.crawl_manager.worker_gone(loss.worker, host_delays(work), work.address_delay)
            self.boxes.signals.raise_(Signal.REQUEST_PROCESSED)

    def _update_database_lost(self, child: Child) -> None:
        code = child.wait(1.0)
        self.end(RunFailure(f"the Update Database process is gone (exit code {code}); start again to go on"))

    def _end_children(self, update_database: Child) -> None:
        """However the run ended, no child stays. It is ending already, so another request to stop changes nothing."""
        ignore_from_now_on()
        self.update_database.close()  # It ends by itself when its channel closes, while the workers end.
        self.workers.kill()
        if update_database.wait(_GRACE) is None:
            update_database.kill()
            update_database.wait()

    # --- messages about the run ----------------------------------------------------------------------------------------

    def _take_over(self, configuration: Configuration) -> None:
        """The last run's settings belong to the crawl. The resolver stays: no setting of mappers is taken over."""
        self._configuration = configuration
        self._plugins = self._plugins.reconfigured(configuration)
        self._set_visit_pages()
        self.workers.begin_again(self._begin_of_workers())

    def _ready(self, message: Ready) -> None:
        if message.empty:
            self.end(
                UserError(
                    "there is nothing to crawl: the database knows no URL",
                    "parcahyd run URL, or Seeds in WorkConf.toml",
                )
            )
            return
        if message.configuration:
            self._take_over(decode_configuration(message.configuration))
        if self._told is not None:
            for line in message.told:
                self._told(line)
        self.part.ready(self, message)
        self.workers.connect_to_buffer(message.buffer_address)
        self.boxes = self._join(self._configuration, message, self._forever, self)
        self._phase = "crawling"
        self.boxes.url_dispatcher.dispatch()
        if self._configuration.work.MaxSeconds and self.part.is_alone:
            self.loop.call_later(self._configuration.work.MaxSeconds - self._progress.seconds, self._time_is_up)

    def _cannot_run(self, message: CannotRun) -> None:
        self.end(UserError(message.message, message.remedy))

    def _cannot_go_on(self, message: CannotGoOn) -> None:
        self.end(RunFailure(message.sentence))

    def _notice(self, message: Notice) -> None:
        self._progress.note(message.sentence, message.unstored)

    # --- the end -------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """After every event: is the run over? When does something fall due?"""
        if self.boxes is None or self._result is not None:
            return
        dispatcher = self.boxes.url_dispatcher
        if self._outcome:
            self._hand_back_queues(self.boxes)
        elif self.part.is_alone and self._is_at_max_pages(self.boxes):
            self.stop("max-pages")
        if dispatcher.is_over():
            if self._outcome:
                self.finish(self._outcome)
                return
            self.part.has_nothing_to_do(self)
            if self._outcome:
                return
        at = dispatcher.wakes_at()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if at is not None:
            self._alarm = self.loop.call_later(max(0.001, at - self.clock.now()), self._ring)
        if self._phase in {"crawling", "waiting"}:
            self._phase = "crawling" if dispatcher.open_visits else "waiting"

    @staticmethod
    def _is_at_max_pages(boxes: CoordinatorBoxes) -> bool:
        """Whether MaxPages is used up, and a site waits for a visit or for its time. Without one the run is simply done."""
        return boxes.crawl_manager.limit_reached and (
            len(boxes.resolved_queue) > 0 or (boxes.url_dispatcher.is_idle and not boxes.url_dispatcher.is_over())
        )

    def _ring(self) -> None:
        self._alarm = None
        if self.boxes is not None:
            self.boxes.url_dispatcher.dispatch()

    def _interrupted(self) -> None:
        """The first interrupt stops in order, the second at once."""
        now, before = self.clock.monotonic(), self._interrupted_at
        if before is not None and now - before < _ONE_REQUEST:
            return
        self._interrupted_at = now
        if before is not None or self.boxes is None:
            self._end_unfinished()
        elif self._phase == "finishing":
            self.loop.call_later(_GRACE, self._end_unfinished)
        else:
            self.stop("interrupted")
            self.check()

    def _time_is_up(self) -> None:
        """MaxSeconds have passed: stop in order, as at the first interrupt, unless the run is ending already."""
        if not self._outcome:
            self.stop("max-seconds")
            self.check()

    def stop(self, outcome: str) -> None:
        """No new request; everything that is leased is handed back."""
        if self._outcome:
            return
        self._outcome = outcome
        self._phase = "stopping"
        within = self._configuration.work.StopTimeout
        self.loop.call_later(within + _GRACE, self._end_unfinished)
        if self.boxes is not None:
            self.boxes.url_dispatcher.stop()
            self.boxes.crawl_manager.stop()
            self._hand_back_queues(self.boxes)
            self.workers.stop(within)

    def _hand_back_queues(self, boxes: CoordinatorBoxes) -> None:
        for pair in boxes.url_ip_queue.take(boxes.url_ip_queue.size):
            self.hand_back(pair)
        for resolved in boxes.resolved_queue.take_all():
            self.hand_back(resolved.lease)

    def put_aside(self, pair: SiteLease) -> None:
        """Hand back a site whose host the user has blocked: it is looked at again in a day."""
        self.hand_back(pair, self.clock.now() + _DAY)

    def hand_back(self, pair: SiteLease, not_before: float = 0.0) -> None:
        """A visit that never began: the site is as it was, and is not leased again before that time."""
        self.update_database.send(
            VisitOver(
                visit=pair.visit,
                site=pair.site,
                at=self.clock.now(),
                not_before=not_before,
                addresses=pair.addresses,
                addresses_expire=pair.addresses_expire,
                failures=pair.failures,
            )
        )

    def finish(self, outcome: str) -> None:
        """Everything is released: have the database close the run."""
        if self._phase != "finishing":
            self._phase = "finishing"
            self._outcome = outcome
            self.update_database.send(Finish(outcome, self._progress.requests))

    def _finished(self, message: Finished) -> None:
        self._progress.close(self._outcome, message)
        self.end(_EXIT_INTERRUPTED if self._outcome == "interrupted" else _EXIT_DONE)

    def _end_unfinished(self) -> None:
        """End at once; the summary says what was received and is not stored. The next run goes on with it."""
        if self._result is not None:
            return
        self._progress.close(self._outcome or "interrupted", None)
        if unstored := self._progress.unstored:
            remedy = "start again when it takes records: their URLs are requested again, and no others"
            self.end(RunFailure(f"the database took nothing when the run ended: {unstored} records are not stored; {remedy}"))
        else:
            self.end(_EXIT_INTERRUPTED)

    def _bug(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An exception in a callback is a bug: the run ends with its traceback."""
        error = context.get("exception")
        if isinstance(error, Exception):
            self.end(error)
        else:
            loop.default_exception_handler(context)

    def end(self, result: int | Exception) -> None:
        """End the run with an exit code or an error."""
        if self._result is None:
            self._result = result
            self.loop.stop()

    @property
    def is_stopping(self) -> bool:
        """Whether no new request is sent any more."""
        return bool(self._outcome)

    @property
    def pages_stored(self) -> int:
        """What MaxPages counts, as far as it is committed."""
        return self._progress.pages

    @property
    def again_before(self) -> float | None:
        """As in LeaseRequest."""
        return self.clock.now() if self._forever else None

    # --- progress ------------------------------------------------------------------------------------------------------

    def _report(self) -> None:
        self._progress.report(self._phase, self.boxes, self.workers.progress())
        self.loop.call_later(_REPORT_EVERY, self._report)
