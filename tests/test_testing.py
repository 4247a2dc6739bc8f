"""The checks for plugin authors find what they claim to find: each is run on a plugin with that one flaw."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator

import msgspec
import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import MAX_KEYWORDS, MAX_TEXT, MAX_TITLE, Member, Skipped, Summary
from parcahyd.core.errors import ResolutionFailed
from parcahyd.core.life_cycle import Reason
from parcahyd.core.ports import Clock, Downloader, DownloadFault, DownloadRequest, DownloadResult, Resolution, Resolver
from parcahyd.net.downloader_curl import CurlDownloader
from parcahyd.net.threaded_downloader import ThreadedDownloader
from parcahyd.testing import (
    FakeClock,
    FakeDownloader,
    FakeResolver,
    check_downloader,
    check_expander,
    check_recognizer,
    check_resolver,
    check_summarizer,
)

_NEEDS_A_SECOND_ADDRESS = pytest.mark.skipif(sys.platform != "linux", reason="only Linux answers on all of 127.0.0.0/8")
_KNOWN = {"a.test": ["192.0.2.1", "2001:db8::1"]}
_REQUEST = DownloadRequest("http://a.test/", "192.0.2.1", 80, (), 1000)


def test_the_fake_clock_moves_when_it_is_told_to() -> None:
    clock: Clock = FakeClock(100.0)
    assert (clock.now(), clock.monotonic()) == (100.0, 0.0)
    assert isinstance(clock, FakeClock)
    clock.advance(2.5)
    assert (clock.now(), clock.monotonic()) == (102.5, 2.5)


def test_the_fake_resolver_conforms() -> None:
    resolver = FakeResolver({"a.test": ["192.0.2.1", "2001:db8::1"], "down.test": Reason.DNS_TIMEOUT})
    with pytest.raises(ResolutionFailed) as failure:
        resolver.resolve("down.test")
    assert failure.value.reason is Reason.DNS_TIMEOUT
    check_resolver(resolver, _KNOWN, "unknown.test")
    assert resolver.closed


def test_the_fake_downloader_answers_when_it_is_told_to() -> None:
    downloader = FakeDownloader({"http://a.test/": b"page", "http://b.test/": DownloadResult(fault=DownloadFault.RESET)})
    results: list[DownloadResult] = []
    for url in ("http://a.test/", "http://b.test/", "http://c.test/"):
        downloader.start(DownloadRequest(url, "192.0.2.1", 80, (), 1000), results.append)
    assert results == []
    downloader.deliver()
    assert [(result.status, result.fault, result.peer) for result in results] == [
        (200, None, "192.0.2.1"),
        (0, DownloadFault.RESET, "192.0.2.1"),
        (404, None, "192.0.2.1"),
    ]
    downloader.start(_REQUEST, results.append)
    downloader.cancel_all()
    downloader.deliver()
    assert [result.fault for result in results[3:]] == [DownloadFault.CANCELLED]
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


# --- flawed resolvers -----------------------------------------------------------------------------------------------


def _unlocked_by_count() -> Callable[[str], Resolution]:
    calls: list[str] = []

    def resolve(host: str) -> Resolution:
        calls.append(host)
        return Resolution(("192.0.2.1", "2001:db8::1") if len(calls) < 5 else ("192.0.2.66",), 60)

    return resolve


@pytest.mark.parametrize(
    ("resolve", "text"),
    [
        (lambda _host: "192.0.2.1", "returns a Resolution"),
        (lambda _host: Resolution(list(_KNOWN["a.test"]), 60), "as a tuple"),  # type: ignore[arg-type]  # the flaw under test
        (lambda _host: Resolution(("192.0.2.9",), 60), "192.0.2.9"),
        (lambda _host: Resolution(("2001:db8::1", "192.0.2.1"), 60), "IPv4 addresses before IPv6"),
        (lambda _host: Resolution(("192.0.2.1", "2001:db8::1"), -1), "TTL"),
        (lambda _host: Resolution(("192.0.2.1", "2001:db8::1"), 60), "raises ResolutionFailed and does not return"),
        (_unlocked_by_count(), "many threads at once"),
    ],
)
def test_a_flawed_resolver_is_found_out(
    resolve: Callable[[str], Resolution], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = FakeResolver({})
    monkeypatch.setattr(resolver, "resolve", resolve)
    with pytest.raises(AssertionError, match=text):
        check_resolver(resolver, _KNOWN, "unknown.test")


@pytest.mark.parametrize(
    ("error", "text"),
    [(KeyError("unknown.test"), "not KeyError"), (ResolutionFailed(Reason.MISSING), "fails with a DNS reason")],
)
def test_a_resolver_with_the_wrong_failure_is_found_out(error: Exception, text: str) -> None:
    class Flawed(FakeResolver):
        def resolve(self, host: str) -> Resolution:
            if host == "unknown.test":
                raise error
            return super().resolve(host)

    with pytest.raises(AssertionError, match=text):
        check_resolver(Flawed({"a.test": ["192.0.2.1", "2001:db8::1"]}), _KNOWN, "unknown.test")


def test_something_that_is_no_resolver_is_found_out() -> None:
    nothing: Resolver = object()  # type: ignore[assignment]  # the flaw under test
    with pytest.raises(AssertionError, match="resolve and close"):
        check_resolver(nothing, {}, "unknown.test")


# --- flawed downloaders ---------------------------------------------------------------------------------------------


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
                url = request.url.replace("/turn", result.header("location"))
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
        if result.fault is DownloadFault.TRUNCATED:
            return DownloadResult(200, (), b"short", result.peer)
        return result


class _ResolvesTheName(ThreadedDownloader):
    """What a careless author would write first."""

    def fetch(self, request: DownloadRequest) -> DownloadResult:
        from urllib.request import urlopen

        with urlopen(request.url, timeout=5) as answer:  # noqa: S310  only ever given this module's own URLs
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


# --- what reads documents, with flaws -------------------------------------------------------------------------------

_SAMPLE = b"LINES\none\ntwo\nthree\n"
_SAMPLES = {"application/x-lines": _SAMPLE}


class _Lines:
    """Does everything right, but for what a subclass changes."""

    media_types = frozenset({"application/x-lines"})

    def __init__(self, conf: WorkConf) -> None:
        self.conf = conf

    def recognize(self, content_type: str, body: bytes, media_type: str) -> str | None:  # noqa: ARG002  the port's
        return "application/x-lines" if body.startswith(b"LINES\n") else None

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        return Summary("lines") if body.startswith(b"LINES\n") else None

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:  # noqa: ARG002  the port's
        left = self.conf.ExpandBytes
        lines = dict.fromkeys(line for line in body.split(b"\n")[1:] if line.isalpha())
        for line in list(lines)[: self.conf.ExpandMembers]:
            left -= len(line)
            if left < 0:
                yield Member("", skipped=Skipped.BYTES)
                return
            is_fit = len(line) <= self.conf.MaxBytes
            yield Member(line.decode(), line) if is_fit else Member(line.decode(), skipped=Skipped.SIZE)


def test_flawless_readers_conform() -> None:
    check_recognizer(_Lines(WorkConf()), _SAMPLES)
    check_summarizer(_Lines(WorkConf()), _SAMPLES)
    check_expander(_Lines, _SAMPLES, ["one", "two", "three"])


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda _body: None, "tells application/x-lines, not None"),
        (lambda body: "application/x-lines" if body == _SAMPLE else "Text/Plain", "lower case or None"),
        (lambda body: "application/x-lines" if body == _SAMPLE else "", "lower case or None"),
    ],
)
def test_a_flawed_recognizer_is_found_out(answer: Callable[[bytes], str | None], text: str) -> None:
    class Flawed(_Lines):
        def recognize(self, content_type: str, body: bytes, media_type: str) -> str | None:  # noqa: ARG002  the port's
            return answer(body)

    with pytest.raises(AssertionError, match=text):
        check_recognizer(Flawed(WorkConf()), _SAMPLES)


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        (None, "makes a Summary"),
        ("lines", "makes a Summary"),
        (Summary("two\nlines"), "single lines"),
        (Summary("t" * (MAX_TITLE + 1)), "the title"),
        (Summary(text="t" * (MAX_TEXT + 1)), "the text"),
        (Summary(keywords=("k",) * (MAX_KEYWORDS + 1)), "keywords"),
        (Summary(keywords=("k" * 1000,)), "a keyword"),
        (Summary(headings=("h",) * 1000), "headings"),
        (Summary(links=("http://a.test/",) * 99_999), "links"),
        (Summary(links=("relative.html",)), "canonical absolute URLs"),
    ],
)
def test_a_flawed_summarizer_is_found_out(summary: Summary | None, text: str) -> None:
    class Flawed(_Lines):
        def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
            return summary

    with pytest.raises(AssertionError, match=text):
        check_summarizer(Flawed(WorkConf()), _SAMPLES)


def test_wrong_claims_are_found_out() -> None:
    for claims in (frozenset(), ["text/plain"], frozenset({"Text/Plain"}), frozenset({"xml"})):
        reader = _Lines(WorkConf())
        reader.media_types = claims  # type: ignore[assignment]  # the flaw under test
        with pytest.raises(AssertionError, match="media_types"):
            check_summarizer(reader, _SAMPLES)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda _lines, members: members[:-1], "the members of"),
        (lambda _lines, members: [*members, members[0]], "comes once"),
        (lambda _lines, members: [*members, Member("../x", b"")], "clean"),
        (lambda _lines, members: [*members, Member("", b"")], "have names"),
        (lambda _lines, members: [*members, Member("x", b"x", Skipped.DAMAGED)], "has no body"),
        (lambda _lines, _members: ["a"], "gives Members"),
        (lambda lines, _members: list(_Lines(WorkConf()).expand(_SAMPLE, "", "")) if lines.conf else [], "ExpandMembers"),
    ],
)
def test_a_flawed_expander_is_found_out(change: Callable[[_Lines, list[Member]], list[Member]], text: str) -> None:
    class Flawed(_Lines):
        def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:
            yield from change(self, list(super().expand(body, media_type, url)))

    with pytest.raises(AssertionError, match=text):
        check_expander(Flawed, _SAMPLES, ["one", "two", "three"])


@pytest.mark.parametrize("setting", ["MaxBytes", "ExpandBytes"])
def test_an_expander_that_forgets_a_bound_is_found_out(setting: str) -> None:
    class Flawed(_Lines):
        def __init__(self, conf: WorkConf) -> None:
            super().__init__(msgspec.structs.replace(conf, **{setting: 1_000_000}))

    with pytest.raises(AssertionError, match="only as far as"):
        check_expander(Flawed, _SAMPLES, ["one", "two", "three"])
