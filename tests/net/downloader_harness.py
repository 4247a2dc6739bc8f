"""Runs requests through a downloader, on an event loop that lives as long as the bench."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import GENERAL, Downloader, DownloadRequest, DownloadResult, RequestOptions
from parcahyd.rules.media_types.content_codings import undo

__all__ = ["AUTHORITY", "DownloaderHarness", "request_to"]

AUTHORITY = Path(__file__).parent / "tls" / "authority.pem"

_PATIENCE = 120.0
# One authority is read faster than all of a system's. The limits are long: a busy machine is no failure.
_SETTINGS: dict[str, Any] = {"TimeoutConnect": 60.0, "TimeoutIdle": 60.0, "TimeoutTotal": 90.0, "CaFile": str(AUTHORITY)}


def request_to(
    url: str,
    address: str,
    port: int,
    headers: Iterable[tuple[str, str]] = (),
    max_bytes: int = 1_000_000,
    options: RequestOptions = GENERAL,
) -> DownloadRequest:
    return DownloadRequest(url, address, port, tuple(headers), max_bytes, options)


class DownloaderHarness:
    """Makes the downloader when it is first needed, so that a test can choose its settings with `configure`.

    Content codings are undone as the Crawl Worker does it.
    """

    def __init__(self, factory: Callable[[WorkConf, asyncio.AbstractEventLoop], Downloader]) -> None:
        self.loop = asyncio.new_event_loop()
        self.troubles: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _loop, context: self.troubles.append(context))
        self._factory = factory
        self._conf = WorkConf(**_SETTINGS)
        self._downloader: Downloader | None = None

    def configure(self, **settings: Any) -> None:
        self._conf = WorkConf(**{**_SETTINGS, **settings})

    @property
    def downloader(self) -> Downloader:
        if self._downloader is None:
            self._downloader = self._factory(self._conf, self.loop)
        return self._downloader

    def fetch(self, *requests: DownloadRequest) -> list[DownloadResult]:
        """All of them at once; the results in the order of the requests."""
        results: dict[int, DownloadResult] = {}

        def done(number: int, result: DownloadResult) -> None:
            assert number not in results, "done was called twice"
            if result.codings and result.failure is None:
                undo(result, requests[number].max_bytes, requests[number].cut)
            results[number] = result
            if len(results) == len(requests):
                self.loop.stop()

        for number, request in enumerate(requests):
            self.downloader.start(request, lambda result, number=number: done(number, result))  # type: ignore[misc]  # mypy 1.x cannot infer a lambda with a default
        self.run()
        return [results[number] for number in range(len(requests))]

    def get(self, url: str, address: str, port: int, **more: Any) -> DownloadResult:
        return self.fetch(request_to(url, address, port, **more))[0]

    def run(self) -> None:
        """Until someone stops the loop."""
        limit = self.loop.call_later(_PATIENCE, self._too_long)
        self.loop.run_forever()
        limit.cancel()

    def run_until(self, condition: Callable[[], bool]) -> None:
        """Until the condition holds, which a callback or another thread brings about."""

        def look() -> None:
            if condition():
                self.loop.stop()
            else:
                self.loop.call_later(0.005, look)

        self.loop.call_soon(look)
        self.run()

    def settle(self) -> None:
        """Let what was scheduled happen, and what should not happen have its chance."""
        self.loop.call_later(0.02, self.loop.stop)
        self.run()

    def _too_long(self) -> None:
        self.loop.stop()
        raise AssertionError("a result never came")

    def __enter__(self) -> DownloaderHarness:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._downloader is not None:
            self._downloader.close()
        self.settle()
        self.loop.close()
