"""The drawing, in code: which box is joined to which, in each of the three kinds of process.

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
Update Database together in one more. `parcahyd.processes` hosts them; what passes between processes is in `core.messages`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from parcahyd.core.signals import Signal, SignalBoard
from parcahyd.runtime.lean_imports import import_msgspec, import_pycurl

if TYPE_CHECKING:
    from parcahyd.config.schema import Configuration
    from parcahyd.core.messages import Ready
    from parcahyd.core.ports import Downloader
    from parcahyd.core.progress import Observer
    from parcahyd.pipeline.crawl_worker import CrawlWorker
    from parcahyd.processes.coordinator import CoordinatorBoxes, CoordinatorHost
    from parcahyd.processes.crates import Prepared
    from parcahyd.processes.crawl_worker import CrawlWorkerHost
    from parcahyd.processes.update_database import UpdateBoxes, UpdateDatabaseHost
    from parcahyd.runtime.nursery import Nursery

__all__ = ["crawl", "join_coordinator", "join_crawl_worker", "join_update_database"]


# Each kind of process imports its own boxes and no others: that is a good part of its start.


def crawl(
    configuration: Configuration, seeds: Sequence[str], *, forever: bool, observer: Observer, nursery: Nursery | None = None
) -> int:
    """Run a crawl to its end; returns the exit code. Raises UserMistake and RunFailed.

    In `nursery` may be children that began before the configuration was read; the caller closes it.
    """
    from parcahyd.processes.coordinator import Coordinator
    from parcahyd.runtime.nursery import Nursery

    return Coordinator(configuration, seeds, forever, observer, join_coordinator, nursery or Nursery()).run()


def join_coordinator(configuration: Configuration, ready: Ready, forever: bool, host: CoordinatorHost) -> CoordinatorBoxes:
    """URL Dispatcher -> URL-IP Queue -> Mapping Manager -> URL Mappers -> Resolved URL Queue -> Crawl Manager."""
    from parcahyd.pipeline.crawl_manager import CrawlManager
    from parcahyd.pipeline.mapping_manager import MappingManager
    from parcahyd.pipeline.resolved_queue import ResolvedQueue
    from parcahyd.pipeline.url_dispatcher import UrlDispatcher
    from parcahyd.pipeline.url_ip_queue import UrlIpQueue
    from parcahyd.processes.coordinator import CoordinatorBoxes

    mapping, work = configuration.map, configuration.work
    signals = SignalBoard()

    url_ip_queue = UrlIpQueue(mapping.QueueSize)
    resolved_queue = ResolvedQueue(mapping.QueueSize)

    url_dispatcher = UrlDispatcher(
        url_ip_queue,
        signals,
        host.clock,
        ask=host.ask_for_leases,
        started_at=ready.started_at,
        forever=forever,
        wait_for_retries=work.WaitForRetries,
    )
    mapping_manager = MappingManager(
        url_ip_queue, resolved_queue, mapping.MaxInstances, mapping.ArgumentUrl, assign=host.start_mapper
    )
    crawl_manager = CrawlManager(
        resolved_queue,
        host.clock,
        assign=host.send_set,
        workers=host.workers,
        argument_url=work.ArgumentUrl,
        open_sites=work.OpenSites,
        visit_pages=host.visit_pages,
        max_pages=work.MaxPages,
        pauses=ready.pauses,
        host_share=work.HostShare,
    )

    signals.wire(Signal.SOMETHING_TO_MAP, mapping_manager.run)
    signals.wire(Signal.HUNGRY, mapping_manager.run)
    signals.wire(Signal.SOMETHING_TO_CRAWL, crawl_manager.run)
    signals.wire(Signal.REQUEST_PROCESSED, crawl_manager.run)
    # Room in a queue is news for whoever fills it.
    signals.wire(Signal.HUNGRY, url_dispatcher.dispatch)
    signals.wire(Signal.REQUEST_PROCESSED, mapping_manager.run)

    return CoordinatorBoxes(signals, url_dispatcher, url_ip_queue, mapping_manager, resolved_queue, crawl_manager)


def join_crawl_worker(configuration: Configuration, downloader: Downloader, host: CrawlWorkerHost) -> CrawlWorker:
    """Crawl Manager -> Crawl Worker -> Document and URL Buffer."""
    from parcahyd.pipeline.crawl_worker import CrawlWorker
    from parcahyd.rules.host_rules import HostRules

    return CrawlWorker(
        host.number,
        configuration.work,
        HostRules(configuration.work, os.environ),
        downloader,
        host.clock,
        host.tools,
        credit=host.credit,
        emit=host.send_record,
        processed=host.send_request_processed,
        slowed=host.send_slowed,
        misbehaved=host.send_misbehaviour,
        wake=host.wake,
        aside=host.read_aside,
    )


def join_update_database(configuration: Configuration, host: UpdateDatabaseHost) -> UpdateBoxes:
    """Document and URL Buffer -> Update Database -> Database."""
    from parcahyd.pipeline.document_buffer import DocumentBuffer
    from parcahyd.pipeline.update_database import UpdateDatabase
    from parcahyd.processes.update_database import UpdateBoxes

    signals = SignalBoard()
    document_buffer: DocumentBuffer[Prepared] = DocumentBuffer(host.packers.prepare)
    update_database: UpdateDatabase[Prepared] = UpdateDatabase(
        document_buffer,
        host.writer,
        configuration.work.MaxSize,
        grant=host.grant_credit,
        released=host.send_committed,
        trouble=host.send_trouble,
        later=host.later,
    )
    signals.wire(Signal.SOMETHING_TO_UPDATE, update_database.run)
    return UpdateBoxes(signals, document_buffer, update_database)


def main(arguments: Sequence[str]) -> int:
    """The entry of child processes: `python -m parcahyd.topology ROLE DESCRIPTOR...`."""
    role, descriptors = arguments[0], [int(descriptor) for descriptor in arguments[1:]]
    import_msgspec()
    if role == "worker":
        from parcahyd.processes.crawl_worker import CrawlWorkerProcess

        import_pycurl()
        import_module("parcahyd.net.downloader_curl")  # Most crawls use it: it had better be there when the first set comes.
        return CrawlWorkerProcess(descriptors[0], descriptors[1], join_crawl_worker).run()
    from parcahyd.processes.update_database import UpdateDatabaseProcess

    return UpdateDatabaseProcess(descriptors[0], join_update_database).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
