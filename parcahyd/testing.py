"""For whoever writes a plugin: in-memory twins of the ports, and a conformance check for each kind of plugin.

`check_resolver`, `check_downloader`, `check_recognizer`, `check_summarizer` and `check_expander` try a plugin out (a downloader
against a real server on loopback) and raise AssertionError with a sentence that says what is broken. The shipped plugins pass
the same checks.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ipaddress
import os
import random
import re
import socket
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import (
    MAX_HEADINGS,
    MAX_KEYWORDS,
    MAX_LINKS,
    MAX_TEXT,
    MAX_TITLE,
    MAX_WORD,
    Expander,
    Member,
    Recognizer,
    Summarizer,
    Summary,
)
from parcahyd.core.errors import ResolutionFailed
from parcahyd.core.life_cycle import Reason
from parcahyd.core.ports import (
    GENERAL,
    Downloader,
    DownloadFault,
    DownloadRequest,
    DownloadResult,
    RequestOptions,
    Resolution,
    Resolver,
)
from parcahyd.net.plugin_guards import StrictDownloader
from parcahyd.rules.canonical_url import canonical
from parcahyd.rules.member_url import clean_name

if TYPE_CHECKING:
    from parcahyd.hookspecs import DownloaderFactory, ExpanderFactory

__all__ = [
    "FakeClock",
    "FakeDownloader",
    "FakeResolver",
    "check_downloader",
    "check_expander",
    "check_recognizer",
    "check_resolver",
    "check_summarizer",
]

Done = Callable[[DownloadResult], None]


class FakeClock:
    """A clock that stands still until it is told to advance."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._start = now
        self._passed = 0.0

    def now(self) -> float:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed

    def advance(self, seconds: float) -> None:
        self._passed += seconds


class FakeResolver:
    """Resolves from a table; a host may have a Reason instead of addresses, and one that is missing has DNS_NO_NAME.

    `asked` lists the hosts in the order of the questions.
    """

    def __init__(self, table: Mapping[str, Sequence[str] | Reason], ttl: float = 3600.0) -> None:
        self.asked: list[str] = []
        self.closed = False
        self._table = table
        self._ttl = ttl

    def resolve(self, host: str) -> Resolution:
        self.asked.append(host)
        found = self._table.get(host, Reason.DNS_NO_NAME)
        if isinstance(found, Reason):
            raise ResolutionFailed(found, host)
        return Resolution(tuple(found), self._ttl)

    def close(self) -> None:
        self.closed = True


class FakeDownloader:
    """Answers from a table of URLs: bytes stand for a 200 with that body, and a URL that is missing gets 404.

    Answers are handed to `later`, such as `loop.call_soon`; without it they wait for `deliver`. `requests` lists what was
    started. An answer's peer, where it names none, is the pinned address.
    """

    def __init__(
        self,
        pages: Mapping[str, bytes | DownloadResult],
        later: Callable[[Callable[[], None]], object] | None = None,
        schemes: Collection[str] = ("http", "https"),
    ) -> None:
        self.schemes = frozenset(schemes)
        self.options = frozenset(RequestOptions.__struct_fields__)
        self.requests: list[DownloadRequest] = []
        self.closed = False
        self._pages = pages
        self._later = later
        self._waiting: list[tuple[DownloadRequest, Done]] = []

    def start(self, request: DownloadRequest, done: Done) -> None:
        self.requests.append(request)
        self._waiting.append((request, done))
        if self._later is not None:
            self._later(self.deliver)

    def deliver(self) -> None:
        """Answer everything that waits."""
        waiting, self._waiting = self._waiting, []
        for request, done in waiting:
            done(self._answer(request))

    def cancel_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done(DownloadResult(fault=DownloadFault.CANCELLED, detail="cancelled"))

    def close(self) -> None:
        self.closed = True

    def _answer(self, request: DownloadRequest) -> DownloadResult:
        page = self._pages.get(request.url)
        if page is None:
            return DownloadResult(404, peer=request.address)
        if isinstance(page, bytes):
            return DownloadResult(200, (("Content-Type", "text/html"),), page, request.address)
        return DownloadResult(page.status, page.headers, page.body, page.peer or request.address, page.fault, page.detail)


# --- conformance of a resolver --------------------------------------------------------------------------------------


def check_resolver(resolver: Resolver, known: Mapping[str, Collection[str]], unknown: str) -> None:
    """Try a resolver out on hosts whose addresses are `known` and on one host that is `unknown` to it."""
    _expect(isinstance(resolver, Resolver), "a resolver has the methods resolve and close")
    for host, addresses in known.items():
        resolution = resolver.resolve(host)
        _expect(isinstance(resolution, Resolution), f"resolve({host!r}) returns a Resolution, not {type(resolution).__name__}")
        _expect(isinstance(resolution.addresses, tuple), f"resolve({host!r}) gives the addresses as a tuple")
        _expect(
            set(resolution.addresses) == set(addresses),
            f"resolve({host!r}) gives {sorted(addresses)}, not {sorted(resolution.addresses)}",
        )
        families = [ipaddress.ip_address(address).version for address in resolution.addresses]
        _expect(families == sorted(families), f"resolve({host!r}) gives IPv4 addresses before IPv6")
        _expect(resolution.ttl >= 0, f"resolve({host!r}) gives a TTL that is not negative")
    with ThreadPoolExecutor(8) as threads:
        for host, addresses in known.items():
            answers = list(threads.map(resolver.resolve, [host] * 32))
            _expect(
                all(set(answer.addresses) == set(addresses) for answer in answers),
                f"resolve({host!r}) gives the same addresses to many threads at once",
            )
    try:
        nothing = resolver.resolve(unknown)
    except ResolutionFailed as failure:
        _expect(failure.reason.word.startswith("dns-"), f"resolve({unknown!r}) fails with a DNS reason, not {failure.reason}")
    except Exception as error:
        raise AssertionError(f"resolve({unknown!r}) raises ResolutionFailed, not {type(error).__name__}") from error
    else:
        _expect(False, f"resolve({unknown!r}) raises ResolutionFailed and does not return {nothing}")
    resolver.close()


# --- conformance of a downloader ------------------------------------------------------------------------------------

_HOST = "conformance.invalid"
_LARGE = 200_000
_PATIENCE = 10.0


def check_downloader(factory: DownloaderFactory, conf: WorkConf | None = None) -> None:
    """Try a downloader out against a server on loopback; it must serve http. Takes about a second."""
    loop = asyncio.new_event_loop()
    with _no_proxy_works(), _Site("127.0.0.1") as site, contextlib.closing(loop):
        downloader = factory(conf or WorkConf(TimeoutConnect=5.0, TimeoutIdle=0.3, TimeoutTotal=8.0), loop)
        try:
            bench = _Bench(loop, downloader, site)
            _check_shape(downloader)
            for check in (_check_answer, _check_faults, _check_size, _check_pins, _check_turns, _check_cancelling):
                check(bench)
            _check_options(bench)
        finally:
            downloader.close()


class _Bench:
    def __init__(self, loop: asyncio.AbstractEventLoop, downloader: Downloader, site: _Site) -> None:
        self.loop = loop
        self.downloader = downloader
        self.site = site

    def request(
        self,
        path: str,
        max_bytes: int = 10 * _LARGE,
        address: str = "127.0.0.1",
        port: int = 0,
        options: RequestOptions = GENERAL,
    ) -> DownloadRequest:
        port = port or self.site.port
        headers = (("User-Agent", "conformance"), ("X-Conformance", "yes"))
        return DownloadRequest(f"http://{_HOST}:{port}{path}", address, port, headers, max_bytes, options)

    def fetch(self, request: DownloadRequest, cancel: bool = False) -> DownloadResult:
        """One request from start to the only call of done."""
        results: list[DownloadResult] = []
        inside_start = True

        def done(result: DownloadResult) -> None:
            if inside_start:
                trouble.append("done is called later, not from inside start")
            if threading.get_ident() != here:
                trouble.append("done is called on the event loop's thread")
            results.append(result)
            # What else is on its way, such as a second call, gets the chance to arrive.
            self.loop.call_soon_threadsafe(self.loop.call_later, 0.02, self.loop.stop)

        here = threading.get_ident()
        trouble: list[object] = []
        self.loop.set_exception_handler(lambda _loop, context: trouble.append(context.get("exception") or context["message"]))
        self.downloader.start(request, done)
        inside_start = False
        if cancel:
            self.loop.call_later(0.05, self.downloader.cancel_all)
        limit = self.loop.call_later(_PATIENCE, self.loop.stop)
        self.loop.run_forever()
        limit.cancel()
        _expect(not trouble, f"{request.url}: {'; '.join(map(str, trouble))}")
        _expect(len(results) > 0, f"{request.url}: done is called within {_PATIENCE:g} s")
        _expect(len(results) == 1, f"{request.url}: done is called once, not {len(results)} times")
        _expect(isinstance(results[0], DownloadResult), f"{request.url}: done gets a DownloadResult")
        return results[0]


def _check_shape(downloader: Downloader) -> None:
    _expect(isinstance(downloader, Downloader), "a downloader has schemes, start, cancel_all and close")
    _expect(isinstance(downloader.schemes, frozenset), "schemes is a frozenset")
    _expect("http" in downloader.schemes, 'schemes holds "http", which this check needs')


def _check_answer(bench: _Bench) -> None:
    for _ in range(2):  # the second time perhaps over a kept connection
        result = bench.fetch(bench.request("/plain?a=%7Eb"))
        _expect(result.fault is None, f"a plain page is fetched without a fault, not {result.fault}: {result.detail}")
        _expect((result.status, result.body) == (200, b"plain"), "a plain page arrives with its status and body")
        _expect(result.header("content-type") == "text/plain", "the answer's headers are given")
        _expect(result.peer == "127.0.0.1", f'the peer is reported as "127.0.0.1", not "{result.peer}"')
    path, headers = bench.site.seen[-1]
    _expect(path == "/plain?a=%7Eb", f"the URL's path is sent as it is, not as {path}")
    _expect(
        headers.get("Host") == f"{_HOST}:{bench.site.port}", f"the Host header names the URL's host, not {headers.get('Host')}"
    )
    _expect(headers.get("X-Conformance") == "yes", "the request's headers are sent")
    _expect(headers.get("User-Agent") == "conformance", "the request's User-Agent is sent")
    _expect(bench.fetch(bench.request("/missing")).status == 404, "a 404 is an answer, not a fault")
    zipped = bench.fetch(bench.request("/gzip"))
    _expect(zipped.body == b"zipped" * 100, "content codings that were asked for are removed from the body")


def _check_faults(bench: _Bench) -> None:
    closed = bench.fetch(bench.request("/", port=_closed_port()))
    _expect(closed.fault is DownloadFault.CONNECT, f"a refused connection is the fault CONNECT, not {closed.fault}")
    cut = bench.fetch(bench.request("/cut"))
    expected = (DownloadFault.TRUNCATED, DownloadFault.RESET)
    _expect(cut.fault in expected, f"a body that ends early is the fault TRUNCATED, not {cut.fault} with {len(cut.body)} bytes")
    stalled = bench.fetch(bench.request("/stall"))
    _expect(stalled.fault is DownloadFault.TIMEOUT, f"a server that falls silent is the fault TIMEOUT, not {stalled.fault}")


def _check_size(bench: _Bench) -> None:
    exact = bench.fetch(bench.request("/large", max_bytes=_LARGE))
    _expect(len(exact.body) == _LARGE, "a body of exactly max_bytes is fetched whole")
    for path in ("/large", "/unannounced", "/bomb"):
        result = bench.fetch(bench.request(path, max_bytes=_LARGE - 1))
        _expect(
            result.fault is DownloadFault.SIZE, f"{path}: a decoded body beyond max_bytes is the fault SIZE, not {result.fault}"
        )
        _expect(not result.body, f"{path}: a body that is too large is dropped")


def _check_pins(bench: _Bench) -> None:
    try:
        other = _Site("127.0.0.2", bench.site.port)
    except OSError:
        return  # not every system has a second loopback address
    with other:
        for address, site in (("127.0.0.1", bench.site), ("127.0.0.2", other)) * 2:
            before = len(site.seen)
            result = bench.fetch(bench.request("/plain", address=address))
            _expect(len(site.seen) == before + 1, f"a request pinned to {address} goes there, whatever is still connected")
            _expect(result.peer == address, f'the peer of a request pinned to {address} is reported, not "{result.peer}"')


def _check_turns(bench: _Bench) -> None:
    before = len(bench.site.seen)
    result = bench.fetch(bench.request("/turn"))
    _expect(result.status == 302, f"a redirect is an answer with its status, not {result.status}")
    _expect(result.header("location") == "/plain", "a redirect's Location is among the headers")
    _expect([path for path, _ in bench.site.seen[before:]] == ["/turn"], "a redirect is not followed")


def _check_cancelling(bench: _Bench) -> None:
    result = bench.fetch(bench.request("/stall"), cancel=True)
    _expect(result.fault is DownloadFault.CANCELLED, f"cancel_all ends a request with CANCELLED, not {result.fault}")
    _expect(bench.fetch(bench.request("/plain")).status == 200, "after cancel_all further requests are served")


def _check_options(bench: _Bench) -> None:
    """What it says it honours it must honour, and what it does not say must be refused before it gets there."""
    honoured: frozenset[str] = getattr(bench.downloader, "options", frozenset())
    _expect(isinstance(honoured, frozenset), "options is a frozenset")
    unheard_of = honoured - {*RequestOptions.__struct_fields__}
    _expect(not unheard_of, f"options names fields of RequestOptions, not {sorted(unheard_of)}")
    if "credentials" in honoured:
        _check_credentials(bench)
    if "cookies" in honoured:
        _check_cookies(bench)
    if "proxy" in honoured:
        proxied = RequestOptions(proxy=f"http://127.0.0.1:{_closed_port()}")
        result = bench.fetch(bench.request("/plain", options=proxied))
        _expect(result.fault is DownloadFault.CONNECT, f"a proxy that is not there is the fault CONNECT, not {result.fault}")
    guarded = _Bench(bench.loop, StrictDownloader("checked", bench.downloader, bench.loop), bench.site)
    for name in sorted({*RequestOptions.__struct_fields__} - honoured):
        before = len(bench.site.seen)
        result = guarded.fetch(guarded.request("/plain", options=_UNUSUAL[name]))
        _expect(result.fault is DownloadFault.PLUGIN, f"a request whose {name} is not honoured is refused, not {result.fault}")
        _expect(len(bench.site.seen) == before, f"a request whose {name} is not honoured is never sent")


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
        _expect(shown == expected, f"credentials go with their own requests: {expected} is sent, not {shown}")


def _check_cookies(bench: _Bench) -> None:
    for options, expected in ((_UNUSUAL["cookies"], None), (_UNUSUAL["cookies"], "c=1"), (GENERAL, None)):
        bench.fetch(bench.request("/cookie", options=options))
        sent = bench.site.seen[-1][1].get("Cookie")
        _expect(sent == expected, f"cookies are kept for requests that want them: {expected} is sent, not {sent}")


class _Site:
    """The server of the checks; `seen` lists path and headers of every request."""

    def __init__(self, address: str, port: int = 0) -> None:
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.over = threading.Event()
        site = self

        class Handler(_Answers):
            def do_GET(self) -> None:
                site.seen.append((self.path, dict(self.headers.items())))
                self.answer(site.over)

        self._server = _QuietServer((address, port), Handler)
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> _Site:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def server_bind(self) -> None:
        # HTTPServer's own would ask the name servers who 127.0.0.1 is.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = _HOST, self.server_address[1]

    def handle_error(self, *_request: object) -> None:
        """A client that breaks off is what some checks want."""


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, over: threading.Event) -> None:
        accepts_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        with contextlib.suppress(OSError):
            match self.path.partition("?")[0]:
                case "/plain":
                    self._give(b"plain")
                case "/cookie":
                    self._head(200, "Set-Cookie", "c=1", length=0)
                case "/large":
                    self._give(b"x" * _LARGE)
                case "/gzip":
                    self._give(b"zipped" * 100, zipped=accepts_gzip)
                case "/bomb":
                    self._give(b"\0" * 20 * _LARGE, zipped=accepts_gzip)
                case "/unannounced":
                    self._head(200, "Connection", "close")
                    self.wfile.write(b"x" * _LARGE)
                    self.close_connection = True
                case "/turn":
                    self._head(302, "Location", "/plain", length=0)
                case "/cut":
                    self._head(200, length=1000)
                    self.wfile.write(b"short")
                    self.close_connection = True
                case "/stall":
                    self._head(200, length=1000)
                    self.wfile.write(b"short")
                    self.wfile.flush()
                    over.wait(_PATIENCE)
                    self.close_connection = True
                case _:
                    self._head(404, length=0)

    def log_message(self, *_args: object) -> None:
        """Nothing is written anywhere."""

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


# --- conformance of what reads documents ----------------------------------------------------------------------------

_URL = "http://conformance.invalid/folder/document"
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+").fullmatch
_CLAIM = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:[a-z0-9!#$&^_.+-]+|\*)|\+[a-z0-9.-]+").fullmatch


def check_recognizer(recognizer: Recognizer, samples: Mapping[str, bytes]) -> None:
    """Try a recognizer out on documents by the media type that it should tell, and on damaged ones."""
    _expect(isinstance(recognizer, Recognizer), "a recognizer has the method recognize")
    for expected, body in samples.items():
        told = recognizer.recognize("", body, "application/octet-stream")
        _expect(told == expected, f"recognize tells {expected}, not {told}")
        for spoilt in _spoilt(body):
            answer = recognizer.recognize("text/plain; charset=x", spoilt, "text/plain")
            _expect(
                answer is None or (isinstance(answer, str) and _MEDIA_TYPE(answer) is not None),
                f"recognize gives a media type in lower case or None for a damaged {expected}, not {answer!r}",
            )


def check_summarizer(summarizer: Summarizer, samples: Mapping[str, bytes]) -> None:
    """Try a summarizer out on documents by media type, of each of which it should make a summary, and on damaged ones."""
    _expect(isinstance(summarizer, Summarizer), "a summarizer has media_types and the method summarize")
    _check_claims(summarizer.media_types)
    for media_type, body in samples.items():
        summary = summarizer.summarize(body, media_type, "utf-8", _URL)
        _expect(isinstance(summary, Summary), f"summarize makes a Summary of a {media_type}, not {type(summary).__name__}")
        _check_summary(summary, media_type)
        for spoilt in _spoilt(body):
            _check_summary(summarizer.summarize(spoilt, media_type, "", _URL), f"damaged {media_type}")


def check_expander(factory: ExpanderFactory, samples: Mapping[str, bytes], names: Collection[str]) -> None:
    """Try an expander out on archives by media type, each with files of these (three or more) names, and on damaged ones."""
    expander = factory(WorkConf())
    _expect(isinstance(expander, Expander), "an expander has media_types and the method expand")
    _check_claims(expander.media_types)
    for media_type, body in samples.items():
        members = list(expander.expand(body, media_type, _URL))
        _check_members(members, media_type)
        found = [member.name for member in members if not member.skipped]
        _expect(sorted(found) == sorted(names), f"the members of a {media_type} are {sorted(names)}, not {sorted(found)}")
        few = [m for m in factory(WorkConf(ExpandMembers=2)).expand(body, media_type, _URL) if not m.skipped]
        _expect(len(few) <= 2, f"not more than ExpandMembers members come out of a {media_type}, not {len(few)}")
        total = sum(len(member.body) for member in members)
        for conf in (WorkConf(ExpandBytes=max(1, total - 1)), WorkConf(MaxBytes=max(1, max(len(m.body) for m in members) - 1))):
            size = sum(len(member.body) for member in factory(conf).expand(body, media_type, _URL))
            _expect(size < total, f"a {media_type} is unpacked only as far as ExpandBytes and MaxBytes allow")
        for spoilt in _spoilt(body):
            _check_members(list(expander.expand(spoilt, media_type, _URL)), f"damaged {media_type}")


def _check_claims(media_types: object) -> None:
    _expect(isinstance(media_types, frozenset) and len(media_types) > 0, "media_types is a frozenset and not empty")
    for claim in media_types if isinstance(media_types, frozenset) else ():
        _expect(_CLAIM(claim) is not None, f'media_types holds "type/subtype", "type/*" or "+suffix", not {claim!r}')


def _check_summary(summary: Summary | None, what: str) -> None:
    if summary is None:
        return
    _expect(isinstance(summary, Summary), f"summarize gives a Summary or None for a {what}, not {type(summary).__name__}")
    lines = (summary.title, summary.language, *summary.keywords, *summary.headings)
    _expect(
        all(isinstance(line, str) and line.isprintable() for line in lines), f"title and words of a {what} are single lines"
    )
    _expect(len(summary.title) <= MAX_TITLE, f"the title of a {what} has at most {MAX_TITLE} characters")
    _expect(len(summary.text) <= MAX_TEXT, f"the text of a {what} has at most {MAX_TEXT} characters")
    _expect(len(summary.keywords) <= MAX_KEYWORDS, f"a {what} has at most {MAX_KEYWORDS} keywords")
    _expect(all(len(word) <= MAX_WORD for word in summary.keywords), f"a keyword has at most {MAX_WORD} characters")
    _expect(len(summary.headings) <= MAX_HEADINGS, f"a {what} has at most {MAX_HEADINGS} headings")
    _expect(len(summary.links) <= MAX_LINKS, f"a {what} has at most {MAX_LINKS} links")
    odd = [link for link in summary.links if canonical(link) != link]
    _expect(not odd, f"the links of a {what} are canonical absolute URLs, not {odd[:3]}")


def _check_members(members: list[Member], what: str) -> None:
    _expect(all(isinstance(member, Member) for member in members), f"expand gives Members of a {what}")
    names = [member.name for member in members if not member.skipped]
    _expect(all(names), f"the members of a {what} have names")
    odd = [name for name in names if clean_name(name) != name]
    _expect(not odd, f"the names of members are clean, not {odd[:3]}")
    _expect(len(names) == len(set(names)), f"each name in a {what} comes once")
    _expect(not any(m.body for m in members if m.skipped), f"a member of a {what} that is skipped has no body")


def _spoilt(body: bytes) -> Iterator[bytes]:
    """The same document cut and with wrong bytes, the same way every time."""
    chance = random.Random(len(body))
    yield b""
    for _ in range(20):
        cut = bytearray(body[: chance.randrange(len(body) + 1)] if chance.random() < 0.5 else body)
        for _ in range(min(5, len(cut))):
            cut[chance.randrange(len(cut))] = chance.randrange(256)
        yield bytes(cut)


@contextlib.contextmanager
def _no_proxy_works() -> Iterator[None]:
    """A downloader that believes the environment's proxy goes astray within."""
    names = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")
    before = {name: os.environ.pop(name, None) for name in names}
    os.environ["http_proxy"] = os.environ["ALL_PROXY"] = f"http://127.0.0.1:{_closed_port()}"
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _expect(holds: bool, contract: str) -> None:
    """`contract` is said as it should be; the error says that it is broken."""
    if not holds:
        raise AssertionError(f"broken: {contract}")
