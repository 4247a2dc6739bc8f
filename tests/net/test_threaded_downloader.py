from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.net.threaded_downloader import ThreadedDownloader
from tests.net.downloader_harness import DownloaderHarness, request_to

REQUEST = request_to("http://pages.test/", "127.0.0.1", 80)


class _Scripted(ThreadedDownloader):
    """Fetches by calling `script`."""

    script: Callable[[], DownloadResult]

    def __init__(self, conf: WorkConf, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(conf, loop)
        self.abandoned: list[int] = []

    def fetch(self, request: DownloadRequest) -> DownloadResult:
        assert request is REQUEST
        return self.script()

    def abandon(self, thread: int) -> None:
        self.abandoned.append(thread)


@pytest.fixture
def bench() -> Iterator[DownloaderHarness]:
    with DownloaderHarness(_Scripted) as made:
        yield made


def _scripted(bench: DownloaderHarness, script: Callable[[], DownloadResult]) -> _Scripted:
    downloader = bench.downloader
    assert isinstance(downloader, _Scripted)
    downloader.script = script
    return downloader


def test_fetch_runs_in_another_thread_and_done_on_the_loop(bench: DownloaderHarness) -> None:
    threads: list[int] = []

    def script() -> DownloadResult:
        threads.append(threading.get_ident())
        return DownloadResult(200, body=b"x")

    _scripted(bench, script)
    assert bench.fetch(REQUEST)[0].body == b"x"
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("error", [RuntimeError("broken\nplugin"), SystemExit(3), KeyError("k")])
def test_what_fetch_raises_becomes_a_plugin_fault(bench: DownloaderHarness, error: BaseException) -> None:
    def script() -> DownloadResult:
        raise error

    _scripted(bench, script)
    for _ in range(2):
        result = bench.fetch(REQUEST)[0]
        assert result.failure is DownloadFailure.PLUGIN
        assert type(error).__name__ in result.detail


def test_something_else_than_a_result_becomes_a_plugin_fault(bench: DownloaderHarness) -> None:
    _scripted(bench, lambda: "page")  # type: ignore[arg-type, return-value]  # the mistake under test
    result = bench.fetch(REQUEST)[0]
    assert (result.failure, result.detail) == (DownloadFailure.PLUGIN, "fetch returned str")


def test_there_are_never_more_threads_than_connections(bench: DownloaderHarness) -> None:
    bench.configure(Connections=3)
    running: set[int] = set()
    most: list[int] = []
    together = threading.Barrier(3)

    def script() -> DownloadResult:
        running.add(threading.get_ident())
        most.append(len(running))
        together.wait(120)
        running.discard(threading.get_ident())
        return DownloadResult(200)

    _scripted(bench, script)
    assert [result.status for result in bench.fetch(*[REQUEST] * 12)] == [200] * 12
    assert max(most) == 3


def test_a_late_result_is_dropped_and_the_thread_told_of(bench: DownloaderHarness) -> None:
    bench.configure(TimeoutTotal=0.05)
    release = threading.Event()

    def script() -> DownloadResult:
        release.wait(120)
        return DownloadResult(200)

    downloader = _scripted(bench, script)
    results: list[DownloadResult] = []

    def done(result: DownloadResult) -> None:
        results.append(result)
        bench.loop.stop()

    downloader.start(REQUEST, done)
    bench.run()
    assert [result.failure for result in results] == [DownloadFailure.TIMEOUT]
    release.set()
    bench.settle()
    assert len(results) == 1
    assert len(downloader.abandoned) == 1


def test_what_waits_for_a_thread_is_cancelled_without_being_fetched(bench: DownloaderHarness) -> None:
    bench.configure(Connections=1)
    release = threading.Event()
    fetched: list[int] = []

    def script() -> DownloadResult:
        fetched.append(1)
        release.wait(120)
        return DownloadResult(200)

    downloader = _scripted(bench, script)
    results: list[DownloadResult] = []
    for _ in range(3):
        downloader.start(REQUEST, results.append)
    bench.run_until(lambda: len(fetched) == 1)
    downloader.cancel_all()
    release.set()
    bench.run_until(lambda: len(results) == 3)
    bench.settle()
    assert [result.failure for result in results] == [DownloadFailure.CANCELLED] * 3
    assert len(fetched) == 1
    assert bench.fetch(REQUEST)[0].status == 200
