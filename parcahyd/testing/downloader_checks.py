"""Checks whether a downloader keeps its contract, against a real server on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import GENERAL, Downloader, DownloadFailure, DownloadRequest, DownloadResult, RequestOptions
from parcahyd.hookspecs import DownloaderFactory
from parcahyd.net.plugin_guards import GuardedDownloader
from parcahyd.rules.media_types.content_codings import undo
from parcahyd.testing.checks import expect

__all__ = [
    "HOST",
    "LARGE",
    "TIMEOUT",
    "CheckServer",
    "check_downloader",
    "refusing_port",
]

HOST = "conformance.invalid"
LARGE = 200_000
TIMEOUT = 60.0


def check_downloader(factory: DownloaderFactory, conf: WorkConf | None = None) -> None:
    """Check a downloader against a server on loopback; it must serve http. Takes some seconds."""
    loop = asyncio.new_event_loop()
    with _unusable_proxy(), CheckServer("127.0.0.1") as site, contextlib.closing(loop):
        downloader = factory(conf or WorkConf(TimeoutConnect=30.0, TimeoutIdle=2.0, TimeoutTotal=30.0), loop)
        try:
            trial = _Trial(loop, downloader, site)
            _check_shape(downloader)
            for check in (_check_answer, _check_failures, _check_size, _check_pins, _check_redirects, _check_cancelling):
                check(trial)
            _check_options(trial)
        finally:
            downloader.close()


class _Trial:
    """A downloader, its event loop, and the server that it fetches from."""

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
        """Runs one request and returns its result, content codings undone; `done` must be called exactly once."""
        results: list[DownloadResult] = []
        inside_start = True

        def done(result: DownloadResult) -> None:
            if inside_start:
                failures.append("done is called later, not from inside start")
            if threading.get_ident() != here:
                failures.append("done is called on the event loop's thread")
            results.append(result)
            # The loop runs on for a short while, so that a wrong second call is noticed.
            self.loop.call_soon_threadsafe(self.loop.call_later, 0.02, self.loop.stop)

        here = threading.get_ident()
        failures: list[object] = []
        self.loop.set_exception_handler(lambda _loop, context: failures.append(context.get("exception") or context["message"]))
        self.downloader.start(request, done)
        inside_start = False
        if cancel:
            self.loop.call_later(0.05, self.downloader.cancel_all)
        limit = self.loop.call_later(TIMEOUT, self.loop.stop)
        self.loop.run_forever()
        limit.cancel()
        expect(not failures, f"{request.url}: {'; '.join(map(str, failures))}")
        expect(len(results) > 0, f"{request.url}: done is called within {TIMEOUT:g} s")
        expect(len(results) == 1, f"{request.url}: done is called once, not {len(results)} times")
        result = results[0]
        expect(isinstance(result, DownloadResult), f"{request.url}: done gets a DownloadResult")
        if result.codings and result.failure is None:
            undo(result, request.max_bytes, request.cut)
        return result


def _check_shape(downloader: Downloader) -> None:
    expect(isinstance(downloader, Downloader), "a downloader has schemes, start, cancel_all and close")
    expect(isinstance(downloader.schemes, frozenset), "schemes is a frozenset")
    expect("http" in downloader.schemes, 'schemes holds "http", which this check needs')


def _check_answer(trial: _Trial) -> None:
    for _ in range(2):  # the second time perhaps over a kept connection
        result = trial.fetch(trial.request("/plain?a=%7Eb"))
        expect(result.failure is None, f"a plain page is fetched without a fault, not {result.failure}: {result.detail}")
        expect((result.status, result.body) == (200, b"plain"), "a plain page arrives with its status and body")
        expect(result.header("content-type") == "text/plain", "the answer's headers are given")
        expect(result.peer == "127.0.0.1", f'the peer is reported as "127.0.0.1", not "{result.peer}"')
    path, headers = trial.site.seen[-1]
    expect(path == "/plain?a=%7Eb", f"the URL's path is sent as it is, not as {path}")
    expect(
        headers.get("Host") == f"{HOST}:{trial.site.port}", f"the Host header names the URL's host, not {headers.get('Host')}"
    )
    expect(headers.get("X-Conformance") == "yes", "the request's headers are sent")
    expect(headers.get("User-Agent") == "conformance", "the request's User-Agent is sent")
    expect(trial.fetch(trial.request("/missing")).status == 404, "a 404 is an answer, not a fault")
    zipped = trial.fetch(trial.request("/gzip"))
    expect(zipped.body == b"zipped" * 100, "codings names the content codings of the body, if they are not undone already")
    cut = trial.fetch(trial.request("/cut-gzip"))
    expect(cut.failure is not None, f"a coded body that was cut is a fault, not a document of {len(cut.body)} bytes")
    rare = trial.fetch(trial.request("/rare"))
    expect(
        rare.failure is DownloadFailure.CONTENT_CODING,
        f"a content coding that is not known is named in codings, or is the fault CONTENT_CODING, not {rare.failure}",
    )


def _check_failures(trial: _Trial) -> None:
    with refusing_port() as port:
        closed = trial.fetch(trial.request("/", port=port))
    expect(closed.failure is DownloadFailure.CONNECT, f"a refused connection is the fault CONNECT, not {closed.failure}")
    cut = trial.fetch(trial.request("/cut"))
    expected = (DownloadFailure.TRUNCATED, DownloadFailure.RESET)
    expect(
        cut.failure in expected, f"a body that ends early is the fault TRUNCATED, not {cut.failure} with {len(cut.body)} bytes"
    )
    stalled = trial.fetch(trial.request("/stall"))
    expect(
        stalled.failure is DownloadFailure.TIMEOUT, f"a server that falls silent is the fault TIMEOUT, not {stalled.failure}"
    )


def _check_size(trial: _Trial) -> None:
    exact = trial.fetch(trial.request("/large", max_bytes=LARGE))
    expect(len(exact.body) == LARGE, "a body of exactly max_bytes is fetched whole")
    for path in ("/large", "/unannounced", "/bomb"):
        result = trial.fetch(trial.request(path, max_bytes=LARGE - 1))
        expect(
            result.failure is DownloadFailure.SIZE,
            f"{path}: a body beyond max_bytes, as transferred or decoded, is the fault SIZE, not {result.failure}",
        )
        expect(not result.body, f"{path}: a body that is too large is dropped")


def _check_pins(trial: _Trial) -> None:
    try:
        other = CheckServer("127.0.0.2", trial.site.port)
    except OSError:
        return  # not every system has a second loopback address
    with other:
        for address, site in (("127.0.0.1", trial.site), ("127.0.0.2", other)) * 2:
            before = len(site.seen)
            result = trial.fetch(trial.request("/plain", address=address))
            expect(len(site.seen) == before + 1, f"a request pinned to {address} goes there, whatever is still connected")
            expect(result.peer == address, f'the peer of a request pinned to {address} is reported, not "{result.peer}"')


def _check_redirects(trial: _Trial) -> None:
    before = len(trial.site.seen)
    result = trial.fetch(trial.request("/redirect"))
    expect(result.status == 302, f"a redirect is an answer with its status, not {result.status}")
    expect(result.header("location") == "/plain", "a redirect's Location is among the headers")
    expect([path for path, _ in trial.site.seen[before:]] == ["/redirect"], "a redirect is not followed")


def _check_cancelling(trial: _Trial) -> None:
    result = trial.fetch(trial.request("/stall"), cancel=True)
    expect(result.failure is DownloadFailure.CANCELLED, f"cancel_all ends a request with CANCELLED, not {result.failure}")
    expect(trial.fetch(trial.request("/plain")).status == 200, "after cancel_all further requests are served")


def _check_options(trial: _Trial) -> None:
    """Options that the downloader names must take effect; a request with any other option must be refused unsent."""
    honoured: frozenset[str] = getattr(trial.downloader, "options", frozenset())
    expect(isinstance(honoured, frozenset), "options is a frozenset")
    unknown = honoured - {*RequestOptions.__struct_fields__}
    expect(not unknown, f"options names fields of RequestOptions, not {sorted(unknown)}")
    if "credentials" in honoured:
        _check_credentials(trial)
    if "cookies" in honoured:
        _check_cookies(trial)
    if "proxy" in honoured:
        with refusing_port() as port:
            proxied = RequestOptions(proxy=f"http://127.0.0.1:{port}")
            result = trial.fetch(trial.request("/plain", options=proxied))
        expect(
            result.failure is DownloadFailure.CONNECT, f"a proxy that is not there is the fault CONNECT, not {result.failure}"
        )
    guarded = _Trial(trial.loop, GuardedDownloader("checked", trial.downloader, trial.loop), trial.site)
    for name in sorted({*RequestOptions.__struct_fields__} - honoured):
        before = len(trial.site.seen)
        result = guarded.fetch(guarded.request("/plain", options=_UNUSUAL[name]))
        expect(
            result.failure is DownloadFailure.PLUGIN, f"a request whose {name} is not honoured is refused, not {result.failure}"
        )
        expect(len(trial.site.seen) == before, f"a request whose {name} is not honoured is never sent")


_UNUSUAL = {
    "proxy": RequestOptions(proxy="http://127.0.0.1:9"),
    "credentials": RequestOptions(credentials="user:password"),
    "authentication": RequestOptions(credentials="user:password", authentication="digest"),
    "verify_tls": RequestOptions(verify_tls=False),
    "cookies": RequestOptions(cookies=True),
    "http2": RequestOptions(http2=False),
}


def _check_credentials(trial: _Trial) -> None:
    for options, expected in ((_UNUSUAL["credentials"], "Basic dXNlcjpwYXNzd29yZA=="), (GENERAL, None)):
        trial.fetch(trial.request("/plain", options=options))
        shown = trial.site.seen[-1][1].get("Authorization")
        expect(shown == expected, f"credentials go with their own requests: {expected} is sent, not {shown}")


def _check_cookies(trial: _Trial) -> None:
    for options, expected in ((_UNUSUAL["cookies"], None), (_UNUSUAL["cookies"], "c=1"), (GENERAL, None)):
        trial.fetch(trial.request("/cookie", options=options))
        sent = trial.site.seen[-1][1].get("Cookie")
        expect(sent == expected, f"cookies are kept for requests that want them: {expected} is sent, not {sent}")


@contextlib.contextmanager
def _unusable_proxy() -> Iterator[None]:
    """Sets the proxy of the environment to a port that refuses connections: a downloader that uses it fails."""
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


# --- The server on loopback, one path for each behaviour that is checked -----------------------------------------------


class CheckServer:
    """The server on loopback; `seen` lists path and headers of every request."""

    def __init__(self, address: str, port: int = 0) -> None:
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.ended = threading.Event()
        site = self

        class Handler(_Answers):
            def do_GET(self) -> None:
                site.seen.append((self.path, dict(self.headers.items())))
                self.answer(site.ended)

        self._server = _QuietServer((address, port), Handler)
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> CheckServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def server_bind(self) -> None:
        # HTTPServer's own method would look up the name of 127.0.0.1 in the DNS.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, *_request: object) -> None:
        """Prints nothing: some checks make the client close the connection early."""


# Answers that are the same for everyone: a header and a body.
_FIXED = {
    "/plain": (("Content-Type", "text/plain"), b"plain"),
    "/large": (("Content-Type", "text/plain"), b"x" * LARGE),
    "/cut-gzip": (("Content-Encoding", "gzip"), gzip.compress(os.urandom(1000))[:-100]),
    "/rare": (("Content-Encoding", "rot13"), b"uryyb"),
}


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, ended: threading.Event) -> None:
        accepts_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        with contextlib.suppress(OSError):
            match self.path.partition("?")[0]:
                case path if path in _FIXED:
                    coding, body = _FIXED[path]
                    self._head(200, *coding, length=len(body))
                    self.wfile.write(body)
                case "/cookie":
                    self._head(200, "Set-Cookie", "c=1", length=0)
                case "/gzip":
                    self._give(b"zipped" * 100, zipped=accepts_gzip)
                case "/bomb":
                    self._give(b"\0" * 20 * LARGE, zipped=accepts_gzip)
                case "/unannounced":
                    self._head(200, "Connection", "close")
                    self.wfile.write(b"x" * LARGE)
                    self.close_connection = True
                case "/redirect":
                    self._head(302, "Location", "/plain", length=0)
                case "/cut":
                    self._head(200, length=1000)
                    self.wfile.write(b"short")
                    self.close_connection = True
                case "/stall":
                    self._head(200, length=1000)
                    self.wfile.write(b"short")
                    self.wfile.flush()
                    ended.wait(TIMEOUT)
                    self.close_connection = True
                case _:
                    self._head(404, length=0)

    def log_message(self, *_args: object) -> None:
        """Prints nothing."""

    def _give(self, body: bytes, zipped: bool = False) -> None:
        if zipped:
            body = gzip.compress(body)
            self._head(200, "Content-Encoding", "gzip", length=len(body))
        else:
            self._head(200, "Content-Type", "text/plain", length=len(body))
        self.wfile.write(body)

    def _head(self, status: int, *header: str, length: int | None = None) -> None:
        self.send_response(status)
        if header:
            self.send_header(*header)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()


@contextlib.contextmanager
def refusing_port() -> Iterator[int]:
    """A port that refuses connections: bound, so that no other process gets it, but not listening."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]
