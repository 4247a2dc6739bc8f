"""The check of downloaders finds what it claims to find: it is run on downloaders with one flaw each."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from urllib.request import build_opener

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import Downloader, DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.net.downloader_curl import CurlDownloader
from parcahyd.net.threaded_downloader import ThreadedDownloader
from parcahyd.testing import check_downloader

_NEEDS_A_SECOND_ADDRESS = pytest.mark.skipif(sys.platform != "linux", reason="only Linux answers on all of 127.0.0.0/8")


class _Altered(CurlDownloader):
    """Does everything right, but for what a subclass changes in a request or in its result."""

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        super().start(self.before(request), lambda result: done(self.after(request, result)))

    def before(self, request: DownloadRequest) -> DownloadRequest:
        return request

    def after(self, _request: DownloadRequest, result: DownloadResult) -> DownloadResult:
        return result


class _TellsNoPeer(_Altered):
    def after(self, _request: DownloadRequest, result: DownloadResult) -> DownloadResult:
        result.peer = ""
        return result


class _TellsThePinAsPeer(_Altered):
    def before(self, request: DownloadRequest) -> DownloadRequest:
        return DownloadRequest(request.url, "127.0.0.1", request.port, request.headers, request.max_bytes)

    def after(self, request: DownloadRequest, result: DownloadResult) -> DownloadResult:
        result.peer = request.address
        return result


class _HasNoLimit(_Altered):
    def before(self, request: DownloadRequest) -> DownloadRequest:
        return DownloadRequest(request.url, request.address, request.port, request.headers, 1 << 30)


class _ForgetsHeaders(_Altered):
    def before(self, request: DownloadRequest) -> DownloadRequest:
        return DownloadRequest(request.url, request.address, request.port, (), request.max_bytes)


class _NamesTheAddressAsHost(_Altered):
    def before(self, request: DownloadRequest) -> DownloadRequest:
        url = request.url.replace("conformance.invalid", request.address)
        return DownloadRequest(url, request.address, request.port, request.headers, request.max_bytes)


class _FollowsRedirects(CurlDownloader):
    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        def follow(result: DownloadResult) -> None:
            if result.status == 302:
                url = request.url.replace("/redirect", result.header("location"))
                self.start(DownloadRequest(url, request.address, request.port, request.headers, request.max_bytes), done)
            else:
                done(result)

        super().start(request, follow)


class _TellsTwice(CurlDownloader):
    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        def twice(result: DownloadResult) -> None:
            done(result)
            done(result)

        super().start(request, twice)


class _TellsFromInsideStart(CurlDownloader):
    def start(self, _request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        done(DownloadResult(200))


class _TellsFromAThread(CurlDownloader):
    def start(self, _request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        threading.Thread(target=done, args=(DownloadResult(200),)).start()


class _CannotCancel(CurlDownloader):
    def cancel_all(self) -> None:
        pass


class _CutsBodies(_Altered):
    def after(self, _request: DownloadRequest, result: DownloadResult) -> DownloadResult:
        if result.failure is DownloadFailure.TRUNCATED:
            return DownloadResult(200, (), b"short", result.peer)
        return result


class _ResolvesTheName(ThreadedDownloader):
    """What a careless author would write first."""

    def fetch(self, request: DownloadRequest) -> DownloadResult:
        # Not urlopen, which keeps the proxies of its first call for the rest of the process.
        with build_opener().open(request.url, timeout=5) as answer:
            return DownloadResult(answer.status, answer.getheaders(), answer.read(), request.address)


class _NamesUnheardOptions(CurlDownloader):
    options = frozenset({"teleport"})


class _IgnoresOptions(_Altered):
    """Says that it honours every option, and does not."""

    def before(self, request: DownloadRequest) -> DownloadRequest:
        return DownloadRequest(request.url, request.address, request.port, request.headers, request.max_bytes)


class _IgnoresCookies(_IgnoresOptions):
    options = frozenset({"cookies"})


class _IgnoresProxies(_IgnoresOptions):
    options = frozenset({"proxy"})


class _ListsSchemes(CurlDownloader):
    schemes = ("http",)  # type: ignore[assignment]  # the flaw under test


@pytest.mark.parametrize(
    ("flawed", "text"),
    [
        (_TellsNoPeer, "the peer is reported"),
        pytest.param(_TellsThePinAsPeer, r"pinned to 127\.0\.0\.2 goes there", marks=_NEEDS_A_SECOND_ADDRESS),
        (_HasNoLimit, "fault SIZE"),
        (_ForgetsHeaders, "headers are sent"),
        (_NamesTheAddressAsHost, "Host header"),
        (_FollowsRedirects, "a redirect is an answer"),
        (_TellsTwice, "done is called once"),
        (_TellsFromInsideStart, "not from inside start"),
        (_TellsFromAThread, "event loop's thread"),
        (_CannotCancel, "CANCELLED"),
        (_CutsBodies, "ends early"),
        (_ResolvesTheName, "without a fault"),
        (_ListsSchemes, "frozenset"),
        (_NamesUnheardOptions, "teleport"),
        (_IgnoresOptions, "credentials go with their own requests"),
        (_IgnoresCookies, "cookies are kept"),
        (_IgnoresProxies, "a proxy that is not there"),
    ],
)
def test_a_flawed_downloader_is_found_out(
    flawed: Callable[[WorkConf, asyncio.AbstractEventLoop], Downloader], text: str
) -> None:
    with pytest.raises(AssertionError, match=text):
        check_downloader(flawed)
