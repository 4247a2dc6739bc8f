"""Requests reach the downloader of their scheme, which is made when it is first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from parcahyd.core.errors import UserError
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.net.plugin_guards import GuardedDownloader
from parcahyd.net.scheme_downloader import SchemeDownloader


class _Recorded:
    """Answers at once, and keeps what it is told."""

    def __init__(self, *schemes: str, tells_when_sent: bool = False) -> None:
        self.schemes = frozenset(schemes)
        self.tells_when_sent = tells_when_sent
        self.told: list[object] = []

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        self.told.append(request.url)
        done(DownloadResult(200, peer=request.address))

    def allow_bytes(self, size: int) -> None:
        self.told.append(size)

    def make_room(self, wanted: int) -> None:
        self.told.append(-wanted)

    def cancel_all(self) -> None:
        self.told.append("cancel")

    def close(self) -> None:
        self.told.append("close")


class _Bench:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.web = _Recorded("http", "https", "ftp", tells_when_sent=True)
        self.file = _Recorded("file")
        self.made: list[str] = []
        others = {"file": self._file, "ftp": self._never, "broken": self._broken}
        self.downloader = SchemeDownloader(GuardedDownloader("web", self.web, self.loop), others, self.loop)

    def _file(self) -> GuardedDownloader:
        self.made.append("file")
        return GuardedDownloader("file", self.file, self.loop)

    def _never(self) -> GuardedDownloader:
        raise AssertionError("the chosen downloader serves ftp")

    def _broken(self) -> GuardedDownloader:
        raise UserError("a library is missing", "install it")

    def get(self, url: str, sent: Callable[[], None] | None = None) -> DownloadResult:
        results: list[DownloadResult] = []
        self.downloader.start(DownloadRequest(url, "local", 0, (), 10, sent=sent), results.append)
        assert results == [], "done was called within start"
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()
        (result,) = results
        return result


def test_requests_go_by_scheme() -> None:
    bench = _Bench()
    assert bench.downloader.schemes == {"http", "https", "ftp", "file", "broken"}
    bench.downloader.allow_bytes(7)
    for url in ("http://a.test/", "ftp://a.test/", "https://a.test/"):
        assert bench.get(url).status == 200
    assert bench.made == []
    assert bench.get("file:///a").status == bench.get("file:///b").status == 200
    assert bench.made == ["file"]
    bench.downloader.make_room(2)
    bench.downloader.cancel_all()
    bench.downloader.close()
    assert bench.web.told == [7, "http://a.test/", "ftp://a.test/", "https://a.test/", -2, "cancel", "close"]
    assert bench.file.told == [7, "file:///a", "file:///b", -2, "cancel", "close"]
    bench.loop.close()


def test_a_request_counts_as_sent_where_its_downloader_does_not_tell() -> None:
    bench = _Bench()
    sent: list[str] = []
    bench.get("http://a.test/", lambda: sent.append("http"))
    bench.get("file:///a", lambda: sent.append("file"))
    assert sent == ["file"]
    bench.loop.close()


def test_a_downloader_that_cannot_be_made_fails_its_requests() -> None:
    bench = _Bench()
    result = bench.get("broken://a/")
    assert (result.failure, result.detail) == (DownloadFailure.PLUGIN, "a library is missing (install it)")
    bench.loop.close()
