"""A Crawl Worker on a simulated clock and network."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, TypeVar

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.messages import FromWorkerToUpdate, RequestProcessed, Slowed, Watched
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.core.records import Assignment, DueUrl, SiteLease
from parcahyd.formats.format_plugins import Expanders, Summarizers
from parcahyd.pipeline.crawl_worker import CrawlWorker
from parcahyd.rules.media_types.media_type import recognise
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.rules.urls.host_rules import HostRules
from parcahyd.topics.model import TopicModel

__all__ = ["ADDRESS", "Answer", "World", "page", "redirect"]

Record = TypeVar("Record")
Answer = DownloadResult | Callable[[DownloadRequest], DownloadResult]
ADDRESS = "192.0.2.1"


def page(*links: str) -> DownloadResult:
    body = "".join(f'<a href="{link}">x</a>' for link in links).encode()
    return DownloadResult(200, (("Content-Type", "text/html"), ("ETag", '"v1"')), b"<!doctype html>" + body)


def redirect(target: str, status: int = 301) -> DownloadResult:
    return DownloadResult(status, (("Location", target),))


class Tools:
    """No plugins beyond the built-in recognizer."""

    def __init__(self, topics: TopicModel | None = None) -> None:
        self.topics = topics

    def recognise(self, content_type: str, body: bytes) -> tuple[str, str]:
        return recognise(content_type, body)

    @property
    def summarizers(self) -> Summarizers:
        return Summarizers((), lambda _: None)

    @property
    def expanders(self) -> Expanders:
        return Expanders((), WorkConf(), lambda _: None)


class World:
    """A worker, a clock that jumps from event to event, and a network that answers from a table."""

    schemes = frozenset({"http", "https"})

    def __init__(
        self,
        site: dict[str, Answer],
        work: WorkConf | None = None,
        credit: int = 10**9,
        max_rate: float = 0,
        topics: TopicModel | None = None,
    ) -> None:
        self.time = 1000.0
        self.site = site
        self.records: list[FromWorkerToUpdate] = []
        self.processed: list[RequestProcessed] = []
        self.slowed: list[Slowed] = []
        self.watched: list[Watched] = []
        self.plugin_errors: list[str] = []
        self.asked: list[tuple[float, str]] = []
        self.requests: list[DownloadRequest] = []
        self.most_at_once = 0
        self.duration = 0.5
        self.peer = ""
        self.read_in_thread = 0
        self._later = -1_000_000
        self._under_way: list[tuple[float, int, Callable[[DownloadResult], None], DownloadRequest]] = []
        self._wake_at: float | None = None
        self.worker = CrawlWorker(
            0,
            work or WorkConf(HostDelay=0.0),
            HostRules(work or WorkConf(HostDelay=0.0), {}),
            self,
            self,
            Tools(topics),
            credit=credit,
            max_rate=max_rate,
            emit=self._emit,
            processed=self.processed.append,
            slowed=self.slowed.append,
            report_plugin_error=self.plugin_errors.append,
            wake=self._wake,
            in_thread=self._in_thread,
            watched=self.watched.append,
        )

    def _in_thread(self, read: Callable[[], Any], done: Callable[[Any, Exception | None], None]) -> None:
        """Reading takes `duration`, as an answer does."""
        self.read_in_thread += 1

        def finished(_: DownloadResult) -> None:
            try:
                reading = read()
            except Exception as error:
                done(None, error)
            else:
                done(reading, None)

        request = DownloadRequest("thread", "", 0, (), 0)
        heappush(self._under_way, (self.time + self.duration, -self.read_in_thread, finished, request))

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        self.asked.append((self.time, request.url))
        self.requests.append(request)
        heappush(self._under_way, (self.time + self.duration, len(self.asked), done, request))
        self.most_at_once = max(self.most_at_once, len(self._under_way))

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        """Have `what` called later."""
        self._later -= 1
        request = DownloadRequest("later", "", 0, (), 0)
        heappush(self._under_way, (self.time + seconds, self._later, lambda _: what(), request))

    def cancel_all(self) -> None:
        while self._under_way:
            heappop(self._under_way)[2](DownloadResult(failure=DownloadFailure.CANCELLED))

    def close(self) -> None:
        pass

    def run(self, until: float = 1e9) -> None:
        for _ in range(100_000):
            events = [self._under_way[0][0]] if self._under_way else []
            if self._wake_at is not None:
                events.append(self._wake_at)
            if not events or min(events) > until:
                return
            self.time = max(self.time, min(events))
            if self._under_way and self._under_way[0][0] <= self.time:
                _, _, done, request = heappop(self._under_way)
                done(self._answer(request))
            else:
                self._wake_at = None
                self.worker.turn()

    def visit(self, *paths: str, urls: tuple[DueUrl, ...] = (), pages: int = 1000, **facts: object) -> None:
        lease = SiteLease(7, 3, "http", "site.example", 80, urls or tuple(DueUrl(key_of(path), path) for path in paths))
        lease = msgspec.structs.replace(lease, **facts)
        self.worker.accept([Assignment(lease, ADDRESS, (ADDRESS,), 5000.0, pages)])
        self.run()

    def of(self, kind: type[Record]) -> list[Record]:
        return [record for record in self.records if isinstance(record, kind)]

    def paths(self) -> list[str]:
        return [url.removeprefix("http://site.example") for _, url in self.asked]

    def _emit(self, record: FromWorkerToUpdate) -> int:
        self.records.append(record)
        return 100

    def _wake(self, at: float) -> None:
        self._wake_at = at if self._wake_at is None else min(self._wake_at, at)

    def _answer(self, request: DownloadRequest) -> DownloadResult:
        answer = self.site.get(request.url.removeprefix("http://site.example"), DownloadResult(404))
        result = answer(request) if callable(answer) else answer
        result = msgspec.structs.replace(result)
        if result.failure is None:
            result.peer = self.peer or request.address
        return result
