"""The fakes of the ports answer as they are set up."""

from __future__ import annotations

import asyncio

from parcahyd.core.ports import Clock, Downloader, DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.testing import FakeClock, FakeDownloader

_REQUEST = DownloadRequest("http://a.test/", "192.0.2.1", 80, (), 1000)


def test_the_fake_clock_moves_when_it_is_advanced() -> None:
    clock: Clock = FakeClock(100.0)
    assert (clock.now(), clock.monotonic()) == (100.0, 0.0)
    assert isinstance(clock, FakeClock)
    clock.advance(2.5)
    assert (clock.now(), clock.monotonic()) == (102.5, 2.5)


def test_the_fake_downloader_answers_on_delivery() -> None:
    downloader = FakeDownloader({"http://a.test/": b"page", "http://b.test/": DownloadResult(failure=DownloadFailure.RESET)})
    results: list[DownloadResult] = []
    for url in ("http://a.test/", "http://b.test/", "http://c.test/"):
        downloader.start(DownloadRequest(url, "192.0.2.1", 80, (), 1000), results.append)
    assert results == []
    downloader.deliver()
    assert [(result.status, result.failure, result.peer) for result in results] == [
        (200, None, "192.0.2.1"),
        (0, DownloadFailure.RESET, "192.0.2.1"),
        (404, None, "192.0.2.1"),
    ]
    downloader.start(_REQUEST, results.append)
    downloader.cancel_all()
    downloader.deliver()
    assert [result.failure for result in results[3:]] == [DownloadFailure.CANCELLED]
    assert isinstance(downloader, Downloader)
    assert len(downloader.requests) == 4


def test_the_fake_downloader_answers_on_a_loop() -> None:
    loop = asyncio.new_event_loop()
    downloader = FakeDownloader({"http://a.test/": b"page"}, loop.call_soon)
    results: list[DownloadResult] = []
    downloader.start(_REQUEST, results.append)
    assert results == []
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    assert [result.body for result in results] == [b"page"]
