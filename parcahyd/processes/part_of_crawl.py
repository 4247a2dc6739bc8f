"""What one pipeline does as a part of a cluster's crawl: it holds its lease, obeys the run, and owes the hub the rest.

`docs/hub.md` lists what a pipeline owes the hub; the numbers in this file are those of that list. Tested in
tests/cluster_lab/test_agent.py.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import HubTime, boot_time
from parcahyd.cluster.ending import end_if_done
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.given_hosts import GivenHosts
from parcahyd.cluster.neighbourhood import Neighbourhood
from parcahyd.cluster.pipeline_reports import write_report
from parcahyd.cluster.quotas import Chunk
from parcahyd.cluster.records import HeldPartition, Renewal
from parcahyd.cluster.runs import RUNNING, Run, Runs, confirm, stop_if_late
from parcahyd.cluster.subjects import Claims
from parcahyd.cluster.tables import partition_schema
from parcahyd.cluster.taking import Renewer
from parcahyd.config.database_url import database_url
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import LeaseLost, StoreFailure
from parcahyd.core.messages import FollowScope, GoIdle, HandBack, Idle, Leases, Pulse, Ready, Report
from parcahyd.core.partitions import Routing
from parcahyd.core.progress import Observer, Progress, RunSummary
from parcahyd.pipeline.crawl_manager import Permits
from parcahyd.plugin_manager import PluginManager
from parcahyd.processes.claims_desk import ClaimsDesk
from parcahyd.processes.hub_threads import HubThread, RenewalThread
from parcahyd.processes.surroundings import LEASE_IS_OVER, PipelineMemory, Surroundings
from parcahyd.runtime.children import end_now
from parcahyd.runtime.run_lock import RunLock

if TYPE_CHECKING:
    from parcahyd.processes.coordinator import Coordinator

__all__ = ["PartOfCrawl", "lock_name"]

_TURN_SECONDS = 30.0
"""For so long a host or an address stays with the pipeline that claimed it, although others wait."""
_LOOK_EVERY = 1.0
_HOSTS_AT_ONCE = 4
"""A pipeline that visits fewer takes more of those that wait to be given to a partition."""
_REPORT_EVERY = 2
"""Looks."""
_STANDS_STILL = 0.4
"""Of a lease: a process that has not been heard for so long does not go on."""
_PAGES_AT_ONCE = 1000
_DATABASE = "update-database"
_INTERRUPTED = "interrupted"
"""The outcome of this start where the run goes on elsewhere, or later."""


class PartOfCrawl:
    """The Part of a coordinator that has one partition."""

    is_alone = False

    def __init__(self, configuration: Configuration, held: HeldPartition, encoded: bytes) -> None:
        """Renews for the first time, before anything else is done (1). LeaseLost: the partition is another's."""
        self.partition = encoded
        self.observer: Observer = self
        self.tell: Callable[[str], None] = lambda _: None
        """Takes a sentence for the agent's user."""
        self._held = held
        self._configuration = configuration
        memory = self._memory = PipelineMemory.new()
        self.memory: int | None = memory.descriptor
        self._deadline = memory.deadline(held.lease)
        self._deadline.start(held.noted)
        self._is_over = threading.Event()
        threading.Thread(target=self._end_when_late, name="deadline", daemon=True).start()
        self._hub_time = HubTime(boot_time)
        self._renewer = Renewer(self._connect(), held.holding, self._deadline)
        renewal = self._renewer.renew()
        self._hub_time.note(renewal.hub_time)
        memory.set_time(max(renewal.hub_time, renewal.clock))
        self.surroundings = Surroundings(memory)
        self._scope = renewal.scope
        self._version: int | None = None
        self._run: Run | None = None
        self._progress: Progress | None = None
        self._pulses: dict[str, float] = {}
        self._all_heard_at = boot_time()
        self._posted: dict[str, int] = {}
        self._taken = 0
        self._looks = 0
        self._asked_idle = False
        self._is_idle = False
        self._wants_pages = False
        self._pages = 0
        fence = self._fence = Fence(self._connect(), held.holding)
        self._chunk = Chunk(fence) if configuration.work.MaxPages else None
        self._claims = Claims(fence, boot_time, self._hub_time, held.lease, _TURN_SECONDS)
        self._hub = HubThread(self.surroundings.loop, self._deadline.passed, self._lost)
        make_partitioner = PluginManager.load(configuration).partitioner
        neighbourhood = Neighbourhood(fence, make_partitioner(Routing(held.partitions, secret=held.secret)))
        self._desk = ClaimsDesk(
            configuration.work,
            self._claims,
            self._hub_time,
            self.surroundings.clock,
            boot_time,
            self.surroundings.loop,
            self._hub,
            granted=self._granted,
            hand_back=self._hand_back,
            want_pages=self._want_pages,
            homes=neighbourhood if neighbourhood.is_asked else None,
            leaving=self._let_go,
        )
        self.permits: Permits = self._desk
        self._given = GivenHosts(fence, make_partitioner, held.partitions, held.secret)
        self._coming = 0
        self._asks_for_hosts = False
        self._renewals: RenewalThread | None = None
        self._coordinator: Coordinator | None = None

    def _connect(self) -> HubConnection:
        holding = self._held.holding
        return HubConnection(database_url(self._configuration), holding.session_name, self._held.lock_seconds, holding.identity)

    def lock(self, configuration: Configuration) -> RunLock:
        """That of the partition: a tree that stands still keeps a new one from starting on this machine."""
        return RunLock(lock_name(database_url(configuration), self._held.holding.partition), wait=0.0)

    # --- the run --------------------------------------------------------------------------------------------------------

    def begin(self, coordinator: Coordinator) -> None:
        """From here on the lease is renewed."""
        self._coordinator = coordinator
        database, workers = coordinator.update_database, coordinator.workers
        self._pulses[_DATABASE] = boot_time() + self._held.lease  # Until it has begun, it need not be heard.
        database.on(Pulse, self._pulse)
        database.on(Idle, self._told_idle)
        database.on(Leases, self._leased)
        workers.on(Report, lambda report: self._heard(_worker(report.progress.pid)))
        self._renewals = RenewalThread(
            self._renewer,
            self._held.lease,
            coordinator.loop,
            goes_on=self._goes_on,
            renewed=self._renewed,
            lost=self._lost,
        )
        coordinator.loop.call_later(_LOOK_EVERY, self._look)

    def ready(self, coordinator: Coordinator, message: Ready) -> None:
        """Nothing is missing: other machines may have work for an empty partition."""

    def max_pages(self, limit: int | None) -> int | None:
        """0, until pages are drawn."""
        return 0 if limit else None

    def is_blocked(self, host: str) -> bool:
        """Whether the run's user wants nothing of a host."""
        return self._run is not None and host in self._run.blocked

    def _pulse(self, message: Pulse) -> None:
        self._heard(_DATABASE)
        self._posted, self._coming = message.posted, message.coming
        if message.taken != self._taken:  # Letters came, so the partition is idle no longer, whatever they said.
            self._taken = message.taken
            self._has_work()
        if message.leaving:
            self._let_go(set(message.leaving))

    def _heard(self, process: str) -> None:
        self._pulses[process] = boot_time()

    def _note_who_goes_on(self, coordinator: Coordinator) -> None:
        alive = {_DATABASE, *(_worker(worker.pid) for worker in coordinator.workers.progress())}
        self._pulses = {process: at for process, at in self._pulses.items() if process in alive}
        self._all_heard_at = min(self._pulses.values(), default=boot_time())

    def _goes_on(self) -> bool:
        """Whether every process has lately been heard, and the loop has lately looked (10). Called in the renewer's thread."""
        return boot_time() - self._all_heard_at < _STANDS_STILL * self._held.lease

    def _end_when_late(self) -> None:
        """In a thread of its own: the loop's guard is of no use while the loop waits for an answer that never comes."""
        while not self._is_over.wait(min(max(self._deadline.left(), 0.0), _LOOK_EVERY)):
            if self._deadline.passed():
                end_now(LEASE_IS_OVER)

    def _lost(self, _: LeaseLost) -> None:
        """In any thread: the lease is over, and with it this pipeline (2)."""
        self._deadline.end()
        end_now(LEASE_IS_OVER)

    # --- what each renewal tells ----------------------------------------------------------------------------------------

    def _renewed(self, renewal: Renewal) -> None:
        self._hub_time.note(renewal.hub_time)
        coordinator = self._coordinator
        if coordinator is None:
            return
        if renewal.run != self._held.run:
            self._hub.call(self._ask_outcome, partial(self._stop, "the run is over"))
        elif renewal.wish is not None and renewal.wish != self._held.node:
            self.give_back(f"{renewal.wish} is to have it")
        elif renewal.wanted != RUNNING:
            self.give_back(f"the run is {renewal.wanted}")
        elif renewal.version != self._version:
            self._version = renewal.version
            self._hub.call(self._read_run, self._obey)
        if renewal.scope != self._scope and coordinator.boxes is not None:
            self._scope = renewal.scope
            self._has_work()
            coordinator.update_database.send(FollowScope())

    def _ask_outcome(self) -> str:
        """How the run ended, as the partition's own row of it says, too."""
        found = self._hub.until_answered(lambda: Runs(self._fence.writer).outcome(self._held.run))
        return found or _INTERRUPTED

    def _read_run(self) -> Run | None:
        return self._hub.until_answered(lambda: Runs(self._fence.writer).current())

    def _obey(self, run: Run | None) -> None:
        """Hosts are blocked or are no longer. What is confirmed is obeyed: no visit to a blocked host is open."""
        coordinator = self._coordinator
        if run is None or coordinator is None or coordinator.boxes is None:
            self._version = None  # The next renewal asks again.
            return
        self._run = run
        self._desk.give_up(run.blocked)
        for resolved in coordinator.boxes.resolved_queue.take_where(lambda one: one.lease.host in run.blocked):
            coordinator.put_aside(resolved.lease)
        self._hand_back({f"host {host}" for host in run.blocked})
        self._confirm_when_obeyed(run)

    def _confirm_when_obeyed(self, run: Run) -> None:
        coordinator = self._coordinator
        if coordinator is None or coordinator.boxes is None or run != self._run:
            return
        if coordinator.boxes.crawl_manager.visits_to({f"host {host}" for host in run.blocked}):
            coordinator.loop.call_later(_LOOK_EVERY, self._confirm_when_obeyed, run)
        else:
            self._hub.call(
                lambda: self._hub.until_answered(lambda: confirm(self._fence, run.version)), lambda _: coordinator.check()
            )

    def give_back(self, why: str) -> None:
        """Stops, so that `end` frees the partition."""
        self._stop(why, _INTERRUPTED)

    def _stop(self, why: str, outcome: str) -> None:
        coordinator = self._coordinator
        if coordinator is None or coordinator.boxes is None:
            # Nothing was requested yet. This machine's agent ends what the pipeline leaves.
            end_now(LEASE_IS_OVER)
        elif not coordinator.is_stopping:
            self.tell(f"partition {self._held.holding.partition}: {why}")
            coordinator.stop(outcome)
            coordinator.check()

    # --- visits ---------------------------------------------------------------------------------------------------------

    def _granted(self) -> None:
        coordinator = self._coordinator
        if coordinator is not None and coordinator.boxes is not None:
            coordinator.boxes.crawl_manager.run()
            coordinator.check()

    def _hand_back(self, subjects: set[str]) -> None:
        coordinator = self._coordinator
        if coordinator is not None and coordinator.boxes is not None:
            for worker, visits in coordinator.boxes.crawl_manager.visits_to(subjects).items():
                coordinator.workers.send(worker, HandBack(tuple(visits)))

    def _return_those_that_wait_long(self, coordinator: Coordinator) -> None:
        """Pairs that wait for others must not fill the queue of those that could be visited."""
        assert coordinator.boxes is not None  # noqa: S101 (for mypy)
        queue = coordinator.boxes.resolved_queue
        if len(queue) * 2 < queue.size:
            return
        hosts = self._desk.waited_for(_TURN_SECONDS)
        self._desk.give_up(hosts)
        for resolved in queue.take_where(lambda one: one.lease.host in hosts):
            coordinator.hand_back(resolved.lease, coordinator.clock.now() + _TURN_SECONDS)

    def _let_go(self, hosts: set[str]) -> None:
        """These go to another partition: their visits end, and none begins."""
        coordinator = self._coordinator
        if coordinator is None or coordinator.boxes is None:
            return
        self._has_work()
        self._desk.give_up(hosts)
        for resolved in coordinator.boxes.resolved_queue.take_where(lambda one: one.lease.host in hosts):
            coordinator.hand_back(resolved.lease, 0.0)
        self._hand_back({f"host {host}" for host in hosts})

    def _ask_for_hosts(self) -> None:
        """Takes hosts that wait to be given to a partition, as long as few are visited here."""
        progress = self._progress
        busy = 0 if progress is None else progress.open_visits + progress.resolved_queue + progress.url_ip_queue
        room = _HOSTS_AT_ONCE - busy - self._coming
        if room <= 0 or self._asks_for_hosts or not self._given.may_wait:
            return
        self._asks_for_hosts = True

        def asked(taken: int) -> None:
            self._asks_for_hosts = False
            if taken:
                self._has_work()

        self._hub.call(lambda: self._hub.until_answered(lambda: self._given.take(room)), asked)

    # --- pages ----------------------------------------------------------------------------------------------------------

    def _want_pages(self) -> None:
        """Draws pages of MaxPages; where there are none, `_look` tries again (7)."""
        if not self._wants_pages:
            self._wants_pages = True
            self._draw()

    def _draw(self) -> None:
        chunk, coordinator = self._chunk, self._coordinator
        if chunk is None or coordinator is None or coordinator.is_stopping:
            return
        before = self._pages

        def drawn(pages: int) -> None:
            self._pages = pages
            self._wants_pages = pages == before
            if coordinator.boxes is not None:
                coordinator.boxes.crawl_manager.set_max_pages(pages)
                coordinator.check()

        self._hub.call(lambda: self._hub.until_answered(lambda: chunk.draw(_PAGES_AT_ONCE)), drawn)

    # --- when there is nothing to do ------------------------------------------------------------------------------------

    def has_nothing_to_do(self, coordinator: Coordinator) -> None:
        """Has the writer say so, in a transaction that looks again (8)."""
        if not self._asked_idle and not self._is_idle:
            self._asked_idle = True
            until = coordinator.clock.now() + self._configuration.work.WaitForRetries
            coordinator.update_database.send(GoIdle(until, coordinator.again_before))

    def _told_idle(self, message: Idle) -> None:
        """Where it is not idle, `_look` has it asked again."""
        coordinator = self._coordinator
        if not message.is_idle or not self._asked_idle or coordinator is None or coordinator.boxes is None:
            return
        self._is_idle, self._taken = True, message.taken
        if self._chunk is not None:  # What was drawn and not stored has gone back.
            self._pages = coordinator.pages_stored
            coordinator.boxes.crawl_manager.set_max_pages(self._pages)
        self._try_to_end()

    def _leased(self, message: Leases) -> None:
        if message.pairs:
            self._has_work()

    def _has_work(self) -> None:
        self._is_idle = self._asked_idle = False

    def _try_to_end(self) -> None:
        """Asks whether there is nothing left anywhere. The next renewal tells whether the run is over."""
        self._at_hub(partial(end_if_done, self._fence.writer, self._held.run))

    # --- about once a second --------------------------------------------------------------------------------------------

    def _look(self) -> None:
        coordinator = self._coordinator
        assert coordinator is not None  # noqa: S101 (for mypy)
        self._note_who_goes_on(coordinator)
        coordinator.loop.call_later(_LOOK_EVERY, self._look)
        self._looks += 1
        boxes = coordinator.boxes
        if boxes is not None and not coordinator.is_stopping:
            self._desk.look_again()
            self._return_those_that_wait_long(coordinator)
            self._ask_for_hosts()
            if self._is_idle:
                self._try_to_end()
            else:
                self._asked_idle = False
            if self._wants_pages:
                self._draw()
                self._try_to_end()
        if self._looks % _REPORT_EVERY == 0:
            self._at_hub(partial(write_report, self._fence, self._report()))
            if limit := self._configuration.work.MaxSeconds:
                self._at_hub(partial(stop_if_late, self._fence, self._held.run, limit))
        coordinator.check()

    def _at_hub(self, step: Callable[[], object]) -> None:
        """Does something at the hub of which nothing comes back."""
        self._hub.call(lambda: self._hub.until_answered(step), lambda _: None)

    def _report(self) -> str:
        progress, holding = self._progress, self._held.holding
        content: dict[str, object] = {"partition": holding.partition, "pid": os.getpid(), "posts": self._posted}
        if progress is not None:
            content |= {
                "at": self._hub_time.now(),
                "phase": "idle" if self._is_idle else progress.phase,
                "requests": sum(worker.requests for worker in progress.workers),
                "stored": progress.stored,
                "unchanged": progress.unchanged,
                "failed": progress.failed,
                "refused": progress.refused,
                "gone": progress.gone,
                "received": progress.received,
                "rate": progress.pages_per_second,
                "open_visits": progress.open_visits,
                "queued": progress.resolved_queue + progress.url_ip_queue,
                "buffer_records": progress.buffer_records,
                "claims": len(self._claims.held),
                "note": progress.note,
            }
        return msgspec.json.encode(content).decode()

    # --- the port of an Observer ----------------------------------------------------------------------------------------

    def progress(self, progress: Progress) -> None:
        """Keeps the newest, for the next report."""
        self._progress = progress

    def finished(self, summary: RunSummary) -> None:
        """The counts are in the partition's row of the run."""

    # --- the end --------------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Releases what is held and frees the partition (5, 9): nothing of this pipeline is on the wire any more."""
        if self._renewals is None:
            return
        rests = self._desk.close()
        self._hub.finish(lambda: self._hub.until_answered(lambda: self._release(rests)))
        self._renewals.stop()
        try:
            self._renewer.give_back()
            self._is_over.set()
        except StoreFailure:
            self._deadline.end()  # The agent ends what is left, or others do when the lease is over.

    def _release(self, rests: dict[str, float]) -> None:
        now = boot_time()
        self._claims.release(
            {
                subject: max(0.0, claimed.usable_from - now, rests.get(subject, 0.0) - now)
                for subject, claimed in self._claims.held.items()
            }
        )


def lock_name(url: str, partition: int) -> str:
    """What the run lock of a partition is for."""
    return f"{url}#{partition_schema(partition)}"


def _worker(pid: int) -> str:
    return f"crawl-worker {pid}"
