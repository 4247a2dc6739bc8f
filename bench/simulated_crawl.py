"""A whole crawl on a simulated clock: one real Crawl Worker, a simulated network, and as much of a coordinator as it needs.

The coordinator opens a visit to a host one round trip (for its address) after a record named it, and again when a visit left
something over. Records are committed in no time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bench.augmented_web import HOME, MAIN, Web
from bench.simulated_network import Line, SimulatedClock, SimulatedNetwork
from parcahyd.config.schema import WorkConf
from parcahyd.core.messages import FromWorkerToUpdate
from parcahyd.core.records import (
    Assignment,
    BadRecord,
    DueUrl,
    ExternRecord,
    PageRecord,
    RobotsFact,
    SiteLease,
    SiteRecord,
    VisitOver,
)
from parcahyd.formats.format_plugins import Expanders, Summarizers
from parcahyd.pipeline.crawl_worker import CrawlWorker
from parcahyd.rules.media_types.media_type import recognise
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.rules.urls.host_rules import HostRules
from parcahyd.topics.model import TopicModel

__all__ = ["Crawled", "crawl"]

_PAGES = 5000


class Crawled(NamedTuple):
    """How a crawl went."""

    seconds: float
    """From the seed to the end of the last visit."""
    last_page: float
    """From the seed to the last page that was stored."""
    pages: int
    requests: int
    tables: int
    """Requests for tables of links, bundles included."""
    misses: int
    """Requests that found nothing."""
    bytes: int
    """Of all answers."""


class _Tools:
    """No plugins beyond the built-in recognizer."""

    topics: TopicModel | None = None

    def __init__(self, work: WorkConf) -> None:
        self.summarizers = Summarizers((), lambda _: None)
        self.expanders = Expanders((), work, lambda _: None)
        self.topics = None

    def recognise(self, content_type: str, body: bytes) -> tuple[str, str]:
        return recognise(content_type, body)


@dataclass
class _Site:
    """What a database would hold of a host."""

    number: int
    waiting: dict[str, int] = field(default_factory=dict)
    """Paths that were not asked for, and their depths."""
    done: set[str] = field(default_factory=set)
    robots: RobotsFact | None = None
    augmentation: bytes = b""
    is_visited: bool = False
    has_address: bool = False
    not_before: float = 0.0

    @property
    def known(self) -> bytes:
        keys = sorted(map(key_of, (*self.waiting, *self.done)))
        return b"".join(key.to_bytes(8, "little", signed=True) for key in keys)


class _Simulation:
    def __init__(self, web: Web, line: Line, work: WorkConf) -> None:
        self.clock = SimulatedClock()
        self.network = SimulatedNetwork(self.clock, web, line)
        self.last_page = self.over = self.clock.time
        self.mishaps: list[str] = []
        self._line = line
        self._wake_at: float | None = None
        self._visits = 0
        self._sites = {host: _Site(number) for number, host in enumerate(web)}
        self._hosts = list(web)
        self._worker = CrawlWorker(
            0,
            work,
            HostRules(work, {}),
            self.network,
            self.clock,
            _Tools(work),
            credit=10**12,
            emit=self._emit,
            processed=lambda _: None,
            slowed=lambda _: None,
            report_plugin_error=self.mishaps.append,
            wake=self._wake,
            in_thread=self._in_thread,
        )

    def run(self) -> None:
        self._known(MAIN, HOME, 0)
        self.clock.run()

    @property
    def stored(self) -> set[str]:
        return {host + path for host, site in self._sites.items() for path in site.done}

    def _in_thread(self, read: Callable[[], Any], done: Callable[[Any, Exception | None], None]) -> None:
        """Reading in a thread takes no time here."""
        self.clock.at(self.clock.time, lambda: done(read(), None))

    def _wake(self, at: float) -> None:
        if self._wake_at is None or at < self._wake_at:
            self._wake_at = at
            self.clock.at(at, lambda: self._turn(at))

    def _turn(self, at: float) -> None:
        if self._wake_at == at:
            self._wake_at = None
            self._worker.turn()

    # --- the coordinator -----------------------------------------------------------------------------------------------

    def _known(self, host: str, path: str, depth: int) -> None:
        site = self._sites[host]
        if path in site.done or path in site.waiting:
            return
        site.waiting[path] = depth
        if not site.is_visited:
            self._plan(host, site)

    def _plan(self, host: str, site: _Site) -> None:
        site.is_visited = True
        resolved = self.clock.time + (0.0 if site.has_address else self._line.latency)
        self.clock.at(max(resolved, site.not_before), lambda: self._open(host, site))

    def _open(self, host: str, site: _Site) -> None:
        site.has_address = True
        self._visits += 1
        address = f"192.0.{2 + site.number // 250}.{1 + site.number % 250}"
        urls = tuple(DueUrl(key_of(path), path, depth, seed=not depth) for path, depth in site.waiting.items())
        pair = SiteLease(
            self._visits,
            site.number,
            "http",
            host,
            80,
            urls,
            robots=site.robots,
            known=site.known,
            augmentation=site.augmentation,
        )
        self._worker.accept([Assignment(pair, address, (address,), 1e9, _PAGES, site.not_before)])

    def _emit(self, record: FromWorkerToUpdate) -> int:
        if isinstance(record, PageRecord):
            self._page(record)
        elif isinstance(record, ExternRecord):
            self._found(record.urls, record.depth)
        elif isinstance(record, SiteRecord):
            site = self._sites[self._hosts[record.site]]
            site.robots = record.robots or site.robots
            site.augmentation = record.augmentation or site.augmentation
        elif isinstance(record, BadRecord):
            self.mishaps.append(f"{self._hosts[record.site]}{record.path}: {record.reason}")
        elif isinstance(record, VisitOver):
            self._visit_over(record)
        return 100

    def _page(self, record: PageRecord) -> None:
        host = self._hosts[record.site]
        site = self._sites[host]
        site.done.add(record.path)
        site.waiting.pop(record.path, None)
        self.last_page = self.clock.time
        for path in record.internal:
            self._known(host, path, record.depth + 1)
        self._found(record.external, record.depth + 1)

    def _found(self, urls: tuple[str, ...], depth: int) -> None:
        for url in urls:
            parts = urlsplit(url)
            if parts.netloc in self._sites:
                self._known(parts.netloc, parts.path, depth)

    def _visit_over(self, record: VisitOver) -> None:
        host = self._hosts[record.site]
        site = self._sites[host]
        site.is_visited = False
        site.not_before = record.not_before
        self.over = self.clock.time
        if site.waiting:
            self._plan(host, site)


def crawl(web: Web, line: Line, work: WorkConf) -> Crawled:
    """Crawls the web from its home page; every page of it must be stored at the end, and nothing else."""
    simulation = _Simulation(web, line, work)
    began = simulation.clock.time
    simulation.run()
    pages = {host + path for host, files in web.items() for path in files if path.endswith(".html")}
    if simulation.stored != pages or simulation.mishaps:
        missing, surplus = sorted(pages - simulation.stored)[:3], sorted(simulation.stored - pages)[:3]
        raise AssertionError(f"not stored: {missing}; stored too: {surplus}; mishaps: {simulation.mishaps[:3]}")
    network = simulation.network
    return Crawled(
        simulation.over - began,
        simulation.last_page - began,
        len(pages),
        network.requests.total(),
        network.requests[".TOL"],
        network.misses,
        network.bytes,
    )
