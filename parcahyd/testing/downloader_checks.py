"""Whether a downloader keeps its contract, tried out against a real server on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Iterator

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import GENERAL, Downloader, DownloadFailure, DownloadRequest, DownloadResult, RequestOptions
from parcahyd.hookspecs import DownloaderFactory
from parcahyd.net.plugin_guards import GuardedDownloader
from parcahyd.testing.check_server import HOST, LARGE, PATIENCE, CheckServer, refusing_port
from parcahyd.testing.contract import expect

__all__ = ["check_downloader"]


def check_downloader(factory: DownloaderFactory, conf: WorkConf | None = None) -> None:
    """Try a downloader out against a server on loopback; it must serve http. Takes some seconds."""
    loop = asyncio.new_event_loop()
    with _no_proxy_works(), CheckServer("127.0.0.1") as site, contextlib.closing(loop):
        downloader = factory(conf or WorkConf(TimeoutConnect=30.0, TimeoutIdle=2.0, TimeoutTotal=30.0), loop)
        try:
            bench = _Bench(loop, downloader, site)
            _check_shape(downloader)
            for check in (_check_answer, _check_faults, _check_size, _check_pins, _check_turns, _check_cancelling):
                check(bench)
            _check_options(bench)
        finally:
            downloader.close()


class _Bench:
    def __init__(self, loop: asyncio.AbstractEventLoop, downloader: Downloader, site: CheckServer) -> None:
        self.loop = loop
        self.downloader = downloader
        self.site = site

    def request(
        self,
        path: str,
        max_bytes: int = 10 * LARGE,
        address: str = "127.0.0.1",
        port: int = 0,
        options: RequestOptions = GENERAL,
    ) -> DownloadRequest:
        port = port or self.site.port
        headers = (("User-Agent", "conformance"), ("X-Conformance", "yes"))
        return DownloadRequest(f"http://{HOST}:{port}{path}", address, port, headers, max_bytes, options)

    def fetch(self, request: DownloadRequest, cancel: bool = False) -> DownloadResult:
        """One request from start to the only call of done."""
        results: list[DownloadResult] = []
        inside_start = True

        def done(result: DownloadResult) -> None:
            if inside_start:
                failures.append("done is called later, not from inside start")
            if threading.get_ident() != here:
                failures.append("done is called on the event loop's thread")
            results.append(result)
            # What else is on its way, such as a second call, gets the chance to arrive.
            self.loop.call_soon_threadsafe(self.loop.call_later, 0.02, self.loop.stop)

        here = threading.get_ident()
        failures: list[object] = []
        self.loop.set_exception_handler(lambda _loop, context: failures.append(context.get("exception") or context["message"]))
        self.downloader.start(request, done)
        inside_start = False
        if cancel:
            self.loop.call_later(0.05, self.downloader.cancel_all)
        limit = self.loop.call_later(PATIENCE, self.loop.stop)
        self.loop.run_forever()
        limit.cancel()
        expect(not failures, f"{request.url}: {'; '.join(map(str, failures))}")
        expect(len(results) > 0, f"{request.url}: done is called within {PATIENCE:g} s")
        expect(len(results) == 1, f"{request.url}: done is called once, not {len(results)} times")
        expect(isinstance(results[0], DownloadResult), f"{request.url}: done gets a DownloadResult")
        return results[0]


def _check_shape(downloader: Downloader) -> None:
    expect(isinstance(downloader, Downloader), "a downloader has schemes, start, cancel_all and close")
    expect(isinstance(downloader.schemes, frozenset), "schemes is a frozenset")
    expect("http" in downloader.schemes, 'schemes holds "http", which this check needs')


def _check_answer(bench: _Bench) -> None:
    for _ in range(2):  # the second time perhaps over a kept connection
        result = bench.fetch(bench.request("/plain?a=%7Eb"))
        expect(result.failure is None, f"a plain page is fetched without a fault, not {result.failure}: {result.detail}")
        expect((result.status, result.body) == (200, b"plain"), "a plain page arrives with its status and body")
        expect(result.header("content-type") == "text/plain", "the answer's headers are given")
        expect(result.peer == "127.0.0.1", f'the peer is reported as "127.0.0.1", not "{result.peer}"')
    path, headers = bench.site.seen[-1]
    expect(path == "/plain?a=%7Eb", f"the URL's path is sent as it is, not as {path}")
    expect(
        headers.get("Host") == f"{HOST}:{bench.site.port}", f"the Host header names the URL's host, not {headers.get('Host')}"
    )
    expect(headers.get("X-Conformance") == "yes", "the request's headers are sent")
    expect(headers.get("User-Agent") == "conformance", "the request's User-Agent is sent")
    expect(bench.fetch(bench.request("/missing")).status == 404, "a 404 is an answer, not a fault")
    zipped = bench.fetch(bench.request("/gzip"))
    expect(zipped.body == b"zipped" * 100, "content codings that were asked for are removed from the body")


def _check_faults(bench: _Bench) -> None:
    with refusing_port() as port:
        closed = bench.fetch(bench.request("/", port=port))
    expect(closed.failure is DownloadFailure.CONNECT, f"a refused connection is the fault CONNECT, not {closed.failure}")
    cut = bench.fetch(bench.request("/cut"))
    expected = (DownloadFailure.TRUNCATED, DownloadFailure.RESET)
    expect(
        cut.failure in expected, f"a body that ends early is the fault TRUNCATED, not {cut.failure} with {len(cut.body)} bytes"
    )
    stalled = bench.fetch(bench.request("/stall"))
    expect(
        stalled.failure is DownloadFailure.TIMEOUT, f"a server that falls silent is the fault TIMEOUT, not {stalled.failure}"
    )


def _check_size(bench: _Bench) -> None:
    exact = bench.fetch(bench.request("/large", max_bytes=LARGE))
    expect(len(exact.body) == LARGE, "a body of exactly max_bytes is fetched whole")
    for path in ("/large", "/unannounced", "/bomb"):
        result = bench.fetch(bench.request(path, max_bytes=LARGE - 1))
        expect(
            result.failure is DownloadFailure.SIZE,
            f"{path}: a decoded body beyond max_bytes is the fault SIZE, not {result.failure}",
        )
        expect(not result.body, f"{path}: a body that is too large is dropped")


def _check_pins(bench: _Bench) -> None:
    try:
        other = CheckServer("127.0.0.2", bench.site.port)
    except OSError:
        return  # not every system has a second loopback address
    with other:
        for address, site in (("127.0.0.1", bench.site), ("127.0.0.2", other)) * 2:
            before = len(site.seen)
            result = bench.fetch(bench.request("/plain", address=address))
            expect(len(site.seen) == before + 1, f"a request pinned to {address} goes there, whatever is still connected")
            expect(result.peer == address, f'the peer of a request pinned to {address} is reported, not "{result.peer}"')


def _check_turns(bench: _Bench) -> None:
    before = len(bench.site.seen)
    result = bench.fetch(bench.request("/turn"))
    expect(result.status == 302, f"a redirect is an answer with its status, not {result.status}")
    expect(result.header("location") == "/plain", "a redirect's Location is among the headers")
    expect([path for path, _ in bench.site.seen[before:]] == ["/turn"], "a redirect is not followed")


def _check_cancelling(bench: _Bench) -> None:
    result = bench.fetch(bench.request("/stall"), cancel=True)
    expect(result.failure is DownloadFailure.CANCELLED, f"cancel_all ends a request with CANCELLED, not {result.failure}")
    expect(bench.fetch(bench.request("/plain")).status == 200, "after cancel_all further requests are served")


def _check_options(bench: _Bench) -> None:
    """What it says it honours it must honour, and what it does not say must be refused before it gets there."""
    honoured: frozenset[str] = getattr(bench.downloader, "options", frozenset())
    expect(isinstance(honoured, frozenset), "options is a frozenset")
    unheard_of = honoured - {*RequestOptions.__struct_fields__}
    expect(not unheard_of, f"options names fields of RequestOptions, not {sorted(unheard_of)}")
    if "credentials" in honoured:
        _check_credentials(bench)
    if "cookies" in honoured:
        _check_cookies(bench)
    if "proxy" in honoured:
        with refusing_port() as port:
            proxied = RequestOptions(proxy=f"http://127.0.0.1:{port}")
            result = bench.fetch(bench.request("/plain", options=proxied))
        expect(
            result.failure is DownloadFailure.CONNECT, f"a proxy that is not there is the fault CONNECT, not {result.failure}"
        )
    guarded = _Bench(bench.loop, GuardedDownloader("checked", bench.downloader, bench.loop), bench.site)
    for name in sorted({*RequestOptions.__struct_fields__} - honoured):
        before = len(bench.site.seen)
        result = guarded.fetch(guarded.request("/plain", options=_UNUSUAL[name]))
        expect(
            result.failure is DownloadFailure.PLUGIN, f"a request whose {name} is not honoured is refused, not {result.failure}"
        )
        expect(len(bench.site.seen) == before, f"a request whose {name} is not honoured is never sent")


_UNUSUAL = {
    "proxy": RequestOptions(proxy="http://127.0.0.1:9"),
    "credentials": RequestOptions(credentials="user:password"),
    "authentication": RequestOptions(credentials="user:password", authentication="digest"),
    "verify_tls": RequestOptions(verify_tls=False),
    "cookies": RequestOptions(cookies=True),
    "http2": RequestOptions(http2=False),
}


def _check_credentials(bench: _Bench) -> None:
    for options, expected in ((_UNUSUAL["credentials"], "Basic dXNlcjpwYXNzd29yZA=="), (GENERAL, None)):
        bench.fetch(bench.request("/plain", options=options))
        shown = bench.site.seen[-1][1].get("Authorization")
        expect(shown == expected, f"credentials go with their own requests: {expected} is sent, not {shown}")


def _check_cookies(bench: _Bench) -> None:
    for options, expected in ((_UNUSUAL["cookies"], None), (_UNUSUAL["cookies"], "c=1"), (GENERAL, None)):
        bench.fetch(bench.request("/cookie", options=options))
        sent = bench.site.seen[-1][1].get("Cookie")
        expect(sent == expected, f"cookies are kept for requests that want them: {expected} is sent, not {sent}")


@contextlib.contextmanager
def _no_proxy_works() -> Iterator[None]:
    """A downloader that believes the environment's proxy goes astray within."""
    names = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")
    before = {name: os.environ.pop(name, None) for name in names}
    try:
        with refusing_port() as port:
            os.environ["http_proxy"] = os.environ["ALL_PROXY"] = f"http://127.0.0.1:{port}"
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
