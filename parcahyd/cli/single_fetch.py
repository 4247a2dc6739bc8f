"""A visit that fetches one URL and stores nothing: the boxes of a crawl run in this process, and every exchange is reported.

`parcahyd fetch` prints what happens. URL Mapper, Crawl Worker and plugins are those of a crawl, so the outcome is the same.
Tested in tests/end_to_end/test_fetch.py.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from parcahyd.config.schema import Configuration
from parcahyd.core.messages import FromWorkerToUpdate
from parcahyd.core.ports import Clock, Downloader, DownloadRequest, DownloadResult
from parcahyd.core.records import Assignment, DueUrl, ResolvedLease, SiteLease
from parcahyd.document_tools import DocumentTools
from parcahyd.pipeline.crawl_worker import CrawlWorker
from parcahyd.pipeline.url_mapper import UrlMapper
from parcahyd.plugin_manager import PluginManager
from parcahyd.rules.urls.address_policy import AddressPolicy
from parcahyd.rules.urls.canonical_url import key_of, split
from parcahyd.rules.urls.host_rules import HostRules
from parcahyd.runtime.clock import SystemClock

__all__ = ["Exchange", "SingleFetch"]


_NO_LIMIT = 2**40


class Exchange(msgspec.Struct, frozen=True):
    """A request, its answer, and how many seconds that took."""

    request: DownloadRequest
    result: DownloadResult
    seconds: float


class SingleFetch:
    """Resolves the URL's host, then visits it. `watch` is called with every exchange as it ends."""

    def __init__(self, url: str, configuration: Configuration, watch: Callable[[Exchange], None]) -> None:
        self.clock: Clock = SystemClock()
        self.records: list[FromWorkerToUpdate] = []
        self.plugin_errors: list[str] = []
        scheme, host, port, path = split(url)
        settings = HostRules(configuration.work, os.environ).of(host, port)
        self.ignores_robots = settings.ignores_robots
        self.user_agent = settings.user_agent
        """The one that robots.txt is read for."""
        self._pair = SiteLease(1, 1, scheme, host, port, (DueUrl(key_of(path), path, seed=True),))
        self._configuration = configuration
        self._watch = watch
        self._plugins = PluginManager.load(configuration)
        self.tools = DocumentTools(self._plugins, configuration.work, self.plugin_errors.append)
        self._loop = asyncio.new_event_loop()

    def resolve(self) -> ResolvedLease:
        """The host's addresses, vetted, or the reason why there are none."""
        resolver = self._plugins.resolver()
        try:
            policy = AddressPolicy(self._configuration.map.AllowAddresses)
            return UrlMapper(resolver, policy, self.clock, self._plugins.local_schemes).map(self._pair)
        finally:
            resolver.close()

    def visit(self, resolved: ResolvedLease) -> None:
        """Asks for robots.txt and for the URL, at the first address; `records` holds what a crawl would store."""
        downloader = self._plugins.downloader(self._loop)
        work = self._configuration.work
        worker = CrawlWorker(
            0,
            work,
            HostRules(work, os.environ),
            _Watched(downloader, self.clock, self._watch),
            self.clock,
            self.tools,
            credit=_NO_LIMIT,
            emit=self._keep,
            processed=lambda _: self._loop.stop(),
            slowed=lambda _: None,
            report_plugin_error=self.plugin_errors.append,
            wake=self._wake,
            in_thread=self._run_now,
        )
        self._turn = worker.turn
        try:
            address, expires_at = resolved.addresses[0], resolved.expires_at
            self._loop.call_soon(worker.accept, [Assignment(self._pair, address, resolved.addresses, expires_at, pages=1)])
            self._loop.run_forever()
        finally:
            downloader.close()
            self._loop.close()

    # --- the worker's ports --------------------------------------------------------------------------------------------

    def _keep(self, record: FromWorkerToUpdate) -> int:
        self.records.append(record)
        return 0

    def _run_now(self, work: Callable[[], Any], done: Callable[[Any, Exception | None], None]) -> None:
        """Run the work on the loop: there is nothing else that it could delay."""
        try:
            result = work()
        except Exception as error:
            self._loop.call_soon(done, None, error)
        else:
            self._loop.call_soon(done, result, None)

    def _wake(self, at: float) -> None:
        self._loop.call_at(at, self._turn)


class _Watched:
    """A downloader that reports every exchange."""

    def __init__(self, downloader: Downloader, clock: Clock, watch: Callable[[Exchange], None]) -> None:
        self.schemes = downloader.schemes
        self._downloader = downloader
        self._clock = clock
        self._watch = watch

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        began = self._clock.monotonic()

        def finished(result: DownloadResult) -> None:
            self._watch(Exchange(request, result, self._clock.monotonic() - began))
            done(result)

        self._downloader.start(request, finished)

    def cancel_all(self) -> None:
        self._downloader.cancel_all()

    def close(self) -> None:
        self._downloader.close()
