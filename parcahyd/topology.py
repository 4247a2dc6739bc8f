"""The drawing, in code: which boxes there are in each of the three kinds of process, and every arrow between them.

```
  conf/MapConf.toml                                          conf/WorkConf.toml
        |                                                           |
  URL Dispatcher -> URL-IP Queue -> Mapping Manager -> URL Mapper x n -> Resolved URL Queue
        ^                                              (DNS Resolver plugin)        |
        |                                                                           v
    Database  <- Update Database <- Document and URL Buffer <- Crawl Worker x m <- Crawl Manager
                                    ExternLQ DocURLQ BadURLQ   (Downloader plugin)
```

The upper row and the Crawl Manager run in the coordinator, each Crawl Worker in a process of its own, the buffer and
Update Database together in one more. `parcahyd.processes` starts, stops and hosts them. What travels from one process to
another is a message of `core.messages` or a record of `core.records`; `CHANNEL.on(KIND, HANDLER)` says where it goes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from parcahyd.config.schema import Configuration
from parcahyd.core.errors import UserError
from parcahyd.core.messages import (
    AddressesFound,
    Assigned,
    Committed,
    Credit,
    HandBack,
    Leases,
    Ready,
    RequestProcessed,
    Signal,
    SignalBoard,
    Slowed,
    Visits,
)
from parcahyd.core.ports import Downloader
from parcahyd.core.progress import Observer
from parcahyd.core.records import Assignment, ResolvedLease, SiteAddresses
from parcahyd.pipeline.crawl_manager import CrawlManager
from parcahyd.pipeline.document_buffer import DocumentBuffer
from parcahyd.pipeline.mapping_manager import MappingManager
from parcahyd.pipeline.resolved_queue import ResolvedQueue
from parcahyd.pipeline.update_database import UpdateDatabase
from parcahyd.pipeline.url_dispatcher import UrlDispatcher
from parcahyd.pipeline.url_ip_queue import UrlIpQueue
from parcahyd.pipeline.url_mapper import UrlMapper, hand_back
from parcahyd.processes.mapper_threads import MapperThreads
from parcahyd.refresh.schedule import Schedule
from parcahyd.rules.urls.address_policy import AddressPolicy
from parcahyd.rules.urls.host_rules import HostRules

if TYPE_CHECKING:
    from parcahyd.pipeline.crawl_worker import CrawlWorker
    from parcahyd.processes.coordinator import Coordinator
    from parcahyd.processes.crawl_worker import CrawlWorkerProcess
    from parcahyd.processes.packing_threads import BufferedItem
    from parcahyd.processes.update_database import UpdateDatabaseProcess

__all__ = ["CoordinatorBoxes", "UpdateBoxes", "crawl", "join_coordinator", "join_crawl_worker", "join_update_database"]


class CoordinatorBoxes(msgspec.Struct, frozen=True):
    """The boxes of the coordinator."""

    signals: SignalBoard
    url_dispatcher: UrlDispatcher
    url_ip_queue: UrlIpQueue
    mapping_manager: MappingManager
    resolved_queue: ResolvedQueue
    crawl_manager: CrawlManager


class UpdateBoxes(msgspec.Struct, frozen=True):
    """The boxes of the process of Update Database."""

    signals: SignalBoard
    document_buffer: DocumentBuffer[BufferedItem]
    update_database: UpdateDatabase[BufferedItem]


# The coordinator needs no libcurl, a worker no database, Update Database neither: each process imports its own host.


def crawl(
    configuration: Configuration,
    seeds: Sequence[str],
    *,
    forever: bool,
    observer: Observer,
    as_configured: bool = False,
    told: Callable[[str], None] | None = None,
) -> int:
    """Run a crawl to its end; returns the exit code. Raises UserError and RunFailure.

    `told` gets a line for each setting that is taken over from the last run or differs from it.
    """
    from parcahyd.processes.coordinator import Coordinator
    from parcahyd.processes.whole_crawl import WholeCrawl

    if configuration.is_cluster:
        raise UserError("LocalInstance = false: a program crawls on its own machine", "parcahyd run, or LocalInstance = true")
    return Coordinator(configuration, seeds, forever, WholeCrawl(observer), join_coordinator, as_configured, told).run()


def join_coordinator(configuration: Configuration, ready: Ready, forever: bool, host: Coordinator) -> CoordinatorBoxes:
    """URL Dispatcher -> URL-IP Queue -> Mapping Manager -> URL Mappers -> Resolved URL Queue -> Crawl Manager."""
    mapping, work = configuration.map, configuration.work
    database, workers = host.update_database, host.workers
    schedule = Schedule(work)
    signals = SignalBoard()

    url_ip_queue = UrlIpQueue(mapping.QueueSize)
    resolved_queue = ResolvedQueue(mapping.QueueSize)

    # Database -> URL Dispatcher -> URL-IP Queue
    url_dispatcher = UrlDispatcher(
        url_ip_queue,
        signals,
        host.clock,
        ask=database.send,
        forever=forever,
        wait_for_retries=work.WaitForRetries,
    )
    database.on(Leases, url_dispatcher.leases)

    # URL Mapper -> Resolved URL Queue, one pair at a time; addresses -> Database; hosts without an address -> BadURLQ
    def delivered(resolved: ResolvedLease) -> None:
        mapping_manager.delivered()
        pair = resolved.lease
        if resolved.reason:
            bad, over = hand_back(resolved, schedule, host.clock.now())
            for record in (*bad, over):
                database.send(record)
            url_dispatcher.handed_over(pair.visit)
        elif host.part.is_blocked(pair.host):
            host.put_aside(pair)
            url_dispatcher.handed_over(pair.visit)
        else:
            if resolved.addresses != pair.addresses:
                found = SiteAddresses(pair.visit, resolved.addresses, resolved.expires_at)
                database.send(AddressesFound((found,)))
            resolved_queue.put(resolved)
            signals.raise_(Signal.SOMETHING_TO_CRAWL)
        host.check()

    def hungry() -> None:
        mapping_manager.hungry()
        signals.raise_(Signal.HUNGRY)
        host.check()

    # URL-IP Queue -> Mapping Manager -> URL Mapper x n
    url_mapper = UrlMapper(host.resolver, AddressPolicy(mapping.AllowAddresses), host.clock, host.local_schemes)
    url_mappers = MapperThreads(url_mapper, mapping.MaxInstances, host.loop, delivered=delivered, hungry=hungry)
    mapping_manager = MappingManager(
        url_ip_queue, resolved_queue, mapping.MaxInstances, mapping.ArgumentUrl, assign=url_mappers.map
    )

    # Crawl Manager -> Crawl Worker; the address of each visit -> Database
    def assign(worker: int, assignments: tuple[Assignment, ...]) -> None:
        database.send(Assigned({assignment.lease.visit: assignment.address for assignment in assignments}))
        workers.give(worker, assignments)
        for assignment in assignments:
            url_dispatcher.handed_over(assignment.lease.visit)

    # Resolved URL Queue -> Crawl Manager
    crawl_manager = CrawlManager(
        resolved_queue,
        host.clock,
        assign=assign,
        workers=host.worker_count,
        argument_url=work.ArgumentUrl,
        open_sites=work.OpenSites,
        visit_pages=host.visit_pages,
        max_pages=host.part.max_pages(work.MaxPages),
        sites_with_work=lambda: url_dispatcher.open_visits,
        pauses=ready.pauses,
        host_share=work.HostShare,
        permits=host.part.permits,
    )

    # Crawl Worker -> Crawl Manager
    def request_processed(message: RequestProcessed) -> None:
        crawl_manager.request_processed(message.visit, message.pages, message.pauses, message.requests, message.rests)
        signals.raise_(Signal.REQUEST_PROCESSED)

    workers.on(RequestProcessed, request_processed)
    workers.on(Slowed, lambda slowed: crawl_manager.slowed(slowed.visit, slowed.delay))

    # Update Database -> URL Dispatcher, Crawl Manager: what was committed
    database.on(Committed, url_dispatcher.committed)
    database.on(Committed, workers.committed)
    database.on(Committed, crawl_manager.committed)

    boxes = CoordinatorBoxes(signals, url_dispatcher, url_ip_queue, mapping_manager, resolved_queue, crawl_manager)
    _wire_signals(boxes)
    return boxes


def _wire_signals(boxes: CoordinatorBoxes) -> None:
    """Which signal wakes which box."""
    boxes.signals.wire(Signal.SOMETHING_TO_MAP, boxes.mapping_manager.run)
    boxes.signals.wire(Signal.HUNGRY, boxes.mapping_manager.run)
    boxes.signals.wire(Signal.SOMETHING_TO_CRAWL, boxes.crawl_manager.run)
    boxes.signals.wire(Signal.REQUEST_PROCESSED, boxes.crawl_manager.run)
    # These two make room in a queue, so the box that fills it runs, too.
    boxes.signals.wire(Signal.HUNGRY, boxes.url_dispatcher.dispatch)
    boxes.signals.wire(Signal.REQUEST_PROCESSED, boxes.mapping_manager.run)


def join_crawl_worker(configuration: Configuration, downloader: Downloader, host: CrawlWorkerProcess) -> CrawlWorker:
    """Crawl Manager -> Crawl Worker -> Document and URL Buffer."""
    from parcahyd.pipeline.crawl_worker import CrawlWorker

    work = configuration.work
    crawl_worker = CrawlWorker(
        host.number,
        work,
        HostRules(work, os.environ),
        downloader,
        host.clock,
        host.tools,
        credit=host.credit,
        max_rate=host.max_rate,
        # Crawl Worker -> Document and URL Buffer
        emit=host.send_record,
        # Crawl Worker -> Crawl Manager
        processed=host.coordinator.send,
        slowed=host.coordinator.send,
        watched=host.send_watched,
        report_plugin_error=host.send_notice,
        wake=host.wake,
        in_thread=host.run_in_thread,
        before_sending=host.before_sending,
    )
    # Crawl Manager -> MainQ of the Crawl Worker, and back where another pipeline waits for a host
    host.coordinator.on(Visits, lambda visits: crawl_worker.accept(visits.assignments))
    host.coordinator.on(HandBack, lambda message: crawl_worker.hand_back(message.visits))
    # Update Database -> Crawl Worker: what was committed may be sent again
    host.buffer_handlers.append((Credit, lambda credit: crawl_worker.add_credit(credit.size)))
    return crawl_worker


def join_update_database(configuration: Configuration, host: UpdateDatabaseProcess) -> UpdateBoxes:
    """Document and URL Buffer -> Update Database -> Database."""
    signals = SignalBoard()
    # Crawl Worker -> Document and URL Buffer: `host` puts in the records of each worker's channel, and of the coordinator's
    document_buffer: DocumentBuffer[BufferedItem] = DocumentBuffer(host.packing.prepare)
    update_database: UpdateDatabase[BufferedItem] = UpdateDatabase(
        document_buffer,
        # Update Database -> Database
        host.writer,
        configuration.work.MaxSize,
        # Update Database -> Crawl Worker
        grant=host.grant_credit,
        # Update Database -> URL Dispatcher
        released=host.send_committed,
        report_failure=host.send_notice,
        later=host.later,
    )
    # Document and URL Buffer -> Update Database
    signals.wire(Signal.SOMETHING_TO_UPDATE, update_database.run)
    return UpdateBoxes(signals, document_buffer, update_database)


def run_pipeline() -> int:
    """One pipeline of a cluster, as the agent of its machine starts it."""
    from parcahyd.processes.coordinator import Coordinator
    from parcahyd.processes.pipeline import Pipeline

    pipeline = Pipeline()
    return pipeline.run(
        Coordinator(pipeline.configuration, (), pipeline.is_forever, pipeline.part, join_coordinator, as_configured=True)
    )


def main(arguments: Sequence[str]) -> int:
    """The entry of child processes: `python -m parcahyd.topology ROLE [MEMORY]`, as `runtime.children` starts them."""
    role, memory = arguments[0], arguments[1] if len(arguments) > 1 else None
    if role == "pipeline":
        return run_pipeline()
    if role == "ray-driver":
        from parcahyd.processes.ray_driver import run_ray_driver

        return run_ray_driver()
    if role == "crawl-worker":
        from parcahyd.processes.crawl_worker import CrawlWorkerProcess

        return CrawlWorkerProcess(join_crawl_worker, memory).run()
    from parcahyd.processes.update_database import UpdateDatabaseProcess

    return UpdateDatabaseProcess(join_update_database, memory).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
