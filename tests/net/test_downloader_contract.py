"""What every shipped downloader does alike. One suite, all of them."""

from __future__ import annotations

import gzip
import os
import socket
import zlib
from pathlib import Path

import pytest

from parcahyd.config.explaining import declared
from parcahyd.core.ports import GENERAL, DownloadFailure, DownloadResult, RequestOptions
from tests.net.downloader_harness import DownloaderHarness, request_to
from tests.net.web_server import Exchange, WebServer

TLS = Path(__file__).parent / "tls"


def _drip(exchange: Exchange, opening: bytes) -> None:
    """A byte now and then, for ever: never idle, never complete."""
    exchange.raw(opening)
    while not exchange.server.web.over.wait(0.05):
        exchange.raw(b"x")


def _stall(exchange: Exchange, opening: bytes) -> None:
    exchange.raw(opening)
    exchange.server.web.over.wait()


def test_an_answer_comes_with_status_headers_body_and_peer(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/a", b"hello", 200, (("X-One", "1"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Latin", "caf\xe9")))
    result = bench.get(f"http://pages.test:{web.port}/a", web.address, web.port)
    assert (result.failure, result.status, result.body, result.peer) == (None, 200, b"hello", "127.0.0.1")
    assert [value for name, value in result.headers if name == "Set-Cookie"] == ["a=1", "b=2"]
    assert result.header("x-latin") == "caf\xe9"
    assert ("X-One", "1") in list(result.headers)


def test_a_request_is_what_it_was_given_with_host_and_codings_and_nothing_else(
    bench: DownloaderHarness, web: WebServer
) -> None:
    given = (("User-Agent", "parcahyd/test"), ("Accept", "text/html"), ("If-None-Match", 'W/"x"'))
    bench.get(f"http://pages.test:{web.port}/%7Ea/b%2Fc?q=%E4&x", web.address, web.port, headers=given)
    bench.get(f"http://pages.test:{web.port}/bare", web.address, web.port)
    full, bare = web.seen
    assert full.path == "/%7Ea/b%2Fc?q=%E4&x"
    assert {name.lower() for name, _ in full.headers} == {"host", "accept-encoding", "user-agent", "accept", "if-none-match"}
    assert full.header("Host") == f"pages.test:{web.port}"
    assert full.header("If-None-Match") == 'W/"x"'
    assert {name.lower() for name, _ in bare.headers} == {"host", "accept-encoding"}


def test_connections_are_kept_alive(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/a", b"x" * 1000)
    for _ in range(5):
        assert bench.get(f"http://pages.test:{web.port}/a", web.address, web.port).status == 200
    assert len(web.seen) == 5
    assert web.connections == 1


@pytest.mark.skipif(not os.path.exists("/proc/sys/net"), reason="only Linux answers on all of 127.0.0.0/8")
def test_one_name_pinned_to_two_addresses_is_never_mixed_up(bench: DownloaderHarness) -> None:
    with WebServer("127.0.0.2") as second, WebServer("127.0.0.3", second.port) as third:
        for server in (second, third):
            server.page("/who", server.address.encode())
        for _ in range(3):
            for server in (second, third):
                result = bench.get(f"http://pages.test:{second.port}/who", server.address, server.port)
                assert (result.body, result.peer) == (server.address.encode(), server.address)
        assert (second.connections, third.connections) == (1, 1)


def test_the_port_is_pinned_too(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"here")
    result = bench.get("http://pages.test/", web.address, web.port)
    assert result.body == b"here"
    assert web.seen[0].header("Host") == "pages.test"


def test_ipv6(bench: DownloaderHarness) -> None:
    if not _has_ipv6():
        pytest.skip("this machine has no IPv6 loopback")
    with WebServer("::1") as web:
        web.page("/", b"six")
        named = bench.get(f"http://pages.test:{web.port}/", "::1", web.port)
        literal = bench.get(f"http://[::1]:{web.port}/", "::1", web.port)
        spelled_out = bench.get(f"http://pages.test:{web.port}/", "0:0:0:0:0:0:0:1", web.port)
        assert (named.body, named.peer) == (b"six", "::1")
        assert (literal.body, literal.peer) == (b"six", "::1")
        assert spelled_out.body == b"six"
        assert web.seen[1].header("Host") == f"[::1]:{web.port}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_answers(bench: DownloaderHarness, web: WebServer, status: int) -> None:
    web.page("/old", b"moved", status, (("Location", f"http://pages.test:{web.port}/new"),))
    web.page("/new", b"new")
    result = bench.get(f"http://pages.test:{web.port}/old", web.address, web.port)
    assert (result.status, result.body) == (status, b"moved")
    assert result.header("location").endswith("/new")
    assert [seen.path for seen in web.seen] == ["/old"]


@pytest.mark.parametrize("status", [204, 304, 404, 429, 500, 503])
def test_other_statuses_are_answers(bench: DownloaderHarness, web: WebServer, status: int) -> None:
    web.page("/", b"" if status in (204, 304) else b"text", status, (("ETag", '"1"'),))
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.status, result.header("etag")) == (None, status, '"1"')


def test_a_header_line_without_a_name_is_no_header(bench: DownloaderHarness, web: WebServer) -> None:
    web.pages["/"] = lambda exchange: exchange.raw(b"HTTP/1.1 200 OK\r\nX: 1\r\n: x\r\nContent-Length: 2\r\n\r\nok")
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.status, result.body) == (None, 200, b"ok")
    assert [*result.headers] == [("X", "1"), ("Content-Length", "2")]


def test_gzip_is_undone(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", gzip.compress(b"text " * 1000), 200, (("Content-Encoding", "gzip"),))
    assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port).body == b"text " * 1000
    assert "gzip" in (web.seen[0].header("Accept-Encoding") or "")


def test_a_body_is_handed_over_as_it_was_transferred(bench: DownloaderHarness, web: WebServer) -> None:
    packed = gzip.compress(b"text " * 1000)
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: identity, x-gzip\r\n\r\n"
    web.pages["/"] = lambda exchange: exchange.raw(head + chunked)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.codings, result.transferred, result.body) == (("gzip",), packed, b"text " * 1000)


@pytest.mark.parametrize("framing", ["length", "close", "chunked"])
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_coded_body_that_was_cut_is_a_fault(bench: DownloaderHarness, web: WebServer, coding: str, framing: str) -> None:
    packed = _packed(coding, os.urandom(3000))[:-1000]
    if framing == "chunked":
        head, body = b"Transfer-Encoding: chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    else:
        head, body = b"Content-Length: %d" % len(packed) if framing == "length" else b"Connection: close", packed
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n%s\r\n\r\n%s" % (coding.encode(), head, body)
    web.pages["/"] = lambda exchange: exchange.raw(answer)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (DownloadFailure.CONTENT_CODING, b"")
    assert result.detail


def _packed(coding: str, body: bytes) -> bytes:
    if coding == "br":
        packed: bytes = pytest.importorskip("brotli", "1.2").compress(body)
        return packed
    return gzip.compress(body) if coding == "gzip" else zlib.compress(body)


@pytest.mark.parametrize(("coding", "body"), [("gzip", b"this is not gzip"), ("rot13", b"uryyb")])
def test_a_coding_that_cannot_be_undone_is_a_fault(bench: DownloaderHarness, web: WebServer, coding: str, body: bytes) -> None:
    web.page("/", body, 200, (("Content-Encoding", coding),))
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (DownloadFailure.CONTENT_CODING, b"")


def test_a_body_that_grows_too_large_is_dropped(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/announced", b"x" * 50_001)
    web.pages["/unannounced"] = lambda exchange: exchange.raw(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 50_001)
    web.page("/fits", b"x" * 50_000)
    bomb = gzip.compress(b"\0" * 30_000_000)
    web.page("/bomb", bomb, 200, (("Content-Encoding", "gzip"),))
    web.page("/bomb-in-bomb", gzip.compress(bomb), 200, (("Content-Encoding", "gzip, gzip"),))
    for path in ("/announced", "/unannounced", "/bomb", "/bomb-in-bomb"):
        result = bench.get(f"http://pages.test:{web.port}{path}", web.address, web.port, max_bytes=50_000)
        assert (result.failure, result.body) == (DownloadFailure.SIZE, b""), path
    fits = bench.get(f"http://pages.test:{web.port}/fits", web.address, web.port, max_bytes=50_000)
    assert (fits.failure, len(fits.body)) == (None, 50_000)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
    ],
)
def test_a_body_that_ends_early_is_truncated(bench: DownloaderHarness, web: WebServer, answer: bytes) -> None:
    web.pages["/"] = lambda exchange: exchange.raw(answer)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (DownloadFailure.TRUNCATED, b"")


def test_a_connection_that_breaks_is_a_fault(bench: DownloaderHarness, web: WebServer) -> None:
    web.pages["/"] = lambda exchange: exchange.raw(b"")
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert result.failure is DownloadFailure.RESET


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n..."])
def test_what_is_not_http_is_a_fault(bench: DownloaderHarness, web: WebServer, answer: bytes) -> None:
    web.pages["/"] = lambda exchange: exchange.raw(answer)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (DownloadFailure.PROTOCOL, b"")


def test_a_redirects_body_counts_for_the_size_limit(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", gzip.compress(b"\0" * 30_000_000), 302, (("Location", "/new"), ("Content-Encoding", "gzip")))
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port, max_bytes=50_000)
    assert result.failure is DownloadFailure.SIZE


def test_a_flood_of_headers_is_a_fault(bench: DownloaderHarness, web: WebServer) -> None:
    many = b"".join(b"X-%d: y\r\n" % number for number in range(20_000))
    web.pages["/many"] = lambda exchange: exchange.raw(b"HTTP/1.1 200 OK\r\n" + many + b"\r\n")
    web.pages["/long"] = lambda exchange: exchange.raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n")
    large = b"X: " + b"y" * 60_000 + b"\r\n"
    web.pages["/large"] = lambda exchange: exchange.raw(b"HTTP/1.1 200 OK\r\n" + large * 200 + b"\r\n")
    for path in ("/many", "/long", "/large"):
        result = bench.get(f"http://pages.test:{web.port}{path}", web.address, web.port)
        assert result.failure is DownloadFailure.PROTOCOL, path
        assert result.detail
        assert not result.headers


def test_a_refused_connection(bench: DownloaderHarness) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        port = unheard.getsockname()[1]
        result = bench.get(f"http://pages.test:{port}/", "127.0.0.1", port)
    assert result.failure is DownloadFailure.CONNECT
    assert result.detail


@pytest.mark.parametrize("opening", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"])
def test_a_silent_server_runs_into_the_idle_limit(bench: DownloaderHarness, web: WebServer, opening: bytes) -> None:
    bench.configure(TimeoutIdle=0.2)
    web.pages["/"] = lambda exchange: _stall(exchange, opening)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (DownloadFailure.TIMEOUT, b"")


@pytest.mark.parametrize("opening", [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"])
def test_a_server_that_drips_runs_into_the_total_limit(bench: DownloaderHarness, web: WebServer, opening: bytes) -> None:
    bench.configure(TimeoutTotal=0.3)
    web.pages["/"] = lambda exchange: _drip(exchange, opening)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (DownloadFailure.TIMEOUT, b"")


def test_the_longest_time_limits_that_settings_allow_are_no_short_ones(bench: DownloaderHarness, web: WebServer) -> None:
    keys = ("TimeoutConnect", "TimeoutFirstByte", "TimeoutIdle", "TimeoutTotal")
    bench.configure(**{key: float(declared("Work")[key].kind.partition(" from 0 to ")[2]) for key in keys})

    def hesitate(exchange: Exchange) -> None:
        exchange.server.web.over.wait(0.2)
        exchange.reply(body=b"late")

    web.pages["/"] = hesitate
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (None, b"late"), result.detail


def test_tls_with_a_trusted_certificate_for_the_urls_host(bench: DownloaderHarness) -> None:
    with WebServer(certificate=TLS / "secure_test.pem") as web:
        web.page("/", b"secret")
        for _ in range(2):
            result = bench.get(f"https://secure.test:{web.port}/", web.address, web.port)
            assert (result.failure, result.body, result.peer) == (None, b"secret", "127.0.0.1"), result.detail
        assert web.connections == 1


def test_a_self_signed_certificate_is_refused(bench: DownloaderHarness) -> None:
    with WebServer(certificate=TLS / "self_signed.pem") as web:
        result = bench.get(f"https://secure.test:{web.port}/", web.address, web.port)
        assert result.failure is DownloadFailure.TLS
        assert web.seen == []


def test_a_certificate_for_another_host_is_refused(bench: DownloaderHarness) -> None:
    with WebServer(certificate=TLS / "secure_test.pem") as web:
        result = bench.get(f"https://other.test:{web.port}/", web.address, web.port)
        assert result.failure is DownloadFailure.TLS
        assert web.seen == []


def test_plain_http_where_tls_is_expected_is_a_tls_fault(bench: DownloaderHarness, web: WebServer) -> None:
    result = bench.get(f"https://secure.test:{web.port}/", web.address, web.port)
    assert result.failure is DownloadFailure.TLS


def test_cookies_and_credentials_stay_with_their_request(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"", 200, (("Set-Cookie", "session=1; Path=/"),))
    bench.get(f"http://user:secret@pages.test:{web.port}/", web.address, web.port)
    bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert web.seen[1].header("Cookie") is None
    assert web.seen[1].header("Authorization") is None
    assert web.seen[1].header("Host") == f"pages.test:{web.port}"


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
def test_the_environments_proxy_is_not_used(
    bench: DownloaderHarness, web: WebServer, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    web.page("/", b"direct")
    assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port).body == b"direct"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://pages.test:{port}/a\r\nX: y", "gemini://pages.test:{port}/", "http://", ""]
)
def test_a_url_that_cannot_be_asked_for_is_a_fault(bench: DownloaderHarness, web: WebServer, url: str) -> None:
    result = bench.get(url.format(port=web.port), web.address, web.port)
    assert result.failure is not None
    assert result.body == b""
    assert web.seen == []


@pytest.mark.parametrize("value", ["a\r\nX-Injected: yes", "a\nX-Injected: yes", "\N{SNOWMAN}"])
def test_a_header_that_cannot_be_sent_is_a_fault(bench: DownloaderHarness, web: WebServer, value: str) -> None:
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port, headers=(("X-Given", value),))
    assert result.failure is not None
    assert web.seen == []
    web.page("/", b"fine")
    assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port).body == b"fine"


def test_an_address_that_is_none_is_a_fault_and_no_name_is_resolved(bench: DownloaderHarness, web: WebServer) -> None:
    result = bench.get(f"http://pages.test:{web.port}/", "localhost", web.port)
    assert result.failure is not None
    assert web.seen == []


def test_many_requests_at_once_are_each_answered_once(bench: DownloaderHarness, web: WebServer) -> None:
    bench.configure(Connections=20, HostConnections=20)
    for number in range(200):
        web.page(f"/{number}", b"%d" % number)
    requests = [request_to(f"http://pages.test:{web.port}/{number}", web.address, web.port) for number in range(200)]
    results = bench.fetch(*requests)
    assert [result.body for result in results] == [b"%d" % number for number in range(200)]


def test_done_comes_later_and_its_exception_stops_nothing(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"fine")
    called: list[DownloadResult] = []

    def done(result: DownloadResult) -> None:
        called.append(result)
        if len(called) == 2:  # Once: a second stop could end the next run of the loop.
            bench.loop.call_soon(bench.loop.stop)
        raise RuntimeError("the caller's own mistake")

    bench.downloader.start(request_to(f"http://pages.test:{web.port}/", web.address, web.port), done)
    bench.downloader.start(request_to("nonsense://", web.address, web.port), done)
    assert called == []
    bench.run()
    assert len(called) == 2
    assert sorted(str(trouble["exception"]) for trouble in bench.troubles) == ["the caller's own mistake"] * 2
    assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port).body == b"fine"


def test_cancelling_from_inside_done_and_starting_again(bench: DownloaderHarness, web: WebServer) -> None:
    bench.configure(Connections=4, HostConnections=4)
    web.page("/", b"quick")
    web.pages["/slow"] = lambda exchange: _stall(exchange, b"")
    results: list[DownloadResult] = []

    def quick(result: DownloadResult) -> None:
        results.append(result)
        bench.downloader.cancel_all()
        bench.downloader.start(request_to(f"http://pages.test:{web.port}/", web.address, web.port), last)

    def last(result: DownloadResult) -> None:
        results.append(result)
        bench.loop.stop()

    for _ in range(3):
        bench.downloader.start(request_to(f"http://pages.test:{web.port}/slow", web.address, web.port), results.append)
    bench.downloader.start(request_to(f"http://pages.test:{web.port}/", web.address, web.port), quick)
    bench.run()
    assert [result.status for result in results if result.failure is None] == [200, 200]
    assert [result.failure for result in results if result.failure] == [DownloadFailure.CANCELLED] * 3
    bench.settle()
    assert len(results) == 5


def test_closing_ends_what_is_under_way_and_whatever_is_started_after_it(bench: DownloaderHarness, web: WebServer) -> None:
    web.pages["/slow"] = lambda exchange: _stall(exchange, b"")
    results: list[DownloadResult] = []
    request = request_to(f"http://pages.test:{web.port}/slow", web.address, web.port)
    bench.downloader.start(request, results.append)
    bench.run_until(lambda: len(web.seen) == 1)
    bench.downloader.close()
    bench.downloader.close()
    bench.downloader.start(request, results.append)
    assert results == []
    bench.run_until(lambda: len(results) == 2)
    bench.settle()
    assert [result.failure for result in results] == [DownloadFailure.CANCELLED] * 2
    assert bench.troubles == []


def test_closing_after_the_loop_is_harmless(bench: DownloaderHarness, web: WebServer) -> None:
    web.pages["/slow"] = lambda exchange: _stall(exchange, b"")
    bench.downloader.start(request_to(f"http://pages.test:{web.port}/slow", web.address, web.port), lambda _result: None)
    bench.run_until(lambda: len(web.seen) == 1)
    bench.loop.close()
    bench.downloader.close()
    bench.loop = type(bench.loop)()


def test_a_server_that_hangs_up_between_requests_costs_nothing(bench: DownloaderHarness, web: WebServer) -> None:
    web.pages["/"] = lambda exchange: exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", close=True)
    for _ in range(3):
        result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
        assert result.body == b"ok", result.detail
        assert web.hung_up.acquire(timeout=120)
        bench.settle()
    assert web.connections == 3


def test_elapsed_and_protocol_are_told(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"x")
    web.pages["/old"] = lambda exchange: exchange.raw(b"HTTP/1.0 200 OK\r\n\r\nold")
    new = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    old = bench.get(f"http://pages.test:{web.port}/old", web.address, web.port)
    assert (new.protocol, old.protocol) == ("1.1", "1.0")
    assert new.elapsed > 0


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more than was announced", b"hello"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;note=x\r\nhello\r\n0\r\nX-T: 1\r\n\r\n", b"hello"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b""),
    ],
)
def test_lengths_that_are_odd_but_plain(bench: DownloaderHarness, web: WebServer, answer: bytes, body: bytes) -> None:
    web.pages["/"] = lambda exchange: exchange.raw(answer)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (None, body), result.detail
    assert "X-T" not in dict(result.headers)
    web.page("/next", b"untouched")
    assert web.hung_up.acquire(timeout=120)  # Before that, a request may still be sent over this connection, and lost.
    assert bench.get(f"http://pages.test:{web.port}/next", web.address, web.port).body == b"untouched"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFF\r\nhello",
        b"HTTP/1.1 99 What\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: " + b", ".join([b"gzip"] * 10) + b"\r\nContent-Length: 2\r\n\r\nok",
    ],
)
def test_lengths_and_codings_that_cannot_be_believed_are_faults(
    bench: DownloaderHarness, web: WebServer, answer: bytes
) -> None:
    web.pages["/"] = lambda exchange: exchange.raw(answer)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert result.failure in (
        DownloadFailure.PROTOCOL,
        DownloadFailure.TRUNCATED,
        DownloadFailure.SIZE,
        DownloadFailure.CONTENT_CODING,
    )
    assert result.detail
    assert result.body == b""


@pytest.mark.parametrize("wrapping", [zlib.MAX_WBITS, -zlib.MAX_WBITS])
def test_deflate_is_undone_with_and_without_its_wrapping(bench: DownloaderHarness, web: WebServer, wrapping: int) -> None:
    packer = zlib.compressobj(wbits=wrapping)
    web.page("/", packer.compress(b"text " * 100) + packer.flush(), 200, (("Content-Encoding", "deflate"),))
    assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port).body == b"text " * 100


def test_a_server_that_is_slow_to_begin_has_a_limit_of_its_own(bench: DownloaderHarness, web: WebServer) -> None:
    bench.configure(TimeoutFirstByte=0.2)
    web.pages["/"] = lambda exchange: _stall(exchange, b"")
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert result.failure is DownloadFailure.TIMEOUT


def test_a_server_may_be_slower_to_begin_than_to_go_on(bench: DownloaderHarness, web: WebServer) -> None:
    bench.configure(TimeoutFirstByte=60.0, TimeoutIdle=0.2)

    def think(exchange: Exchange) -> None:
        exchange.server.web.over.wait(0.6)
        exchange.reply(200, b"at last")

    web.pages["/"] = think
    assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port).body == b"at last"
    web.pages["/"] = lambda exchange: _stall(exchange, b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert result.failure is DownloadFailure.TIMEOUT


# Options


def test_a_password_is_shown_to_its_own_host_only(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"x")
    for options in (RequestOptions(credentials="user:password"), GENERAL):
        assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=options).status == 200
    assert [seen.header("Authorization") for seen in web.seen] == ["Basic dXNlcjpwYXNzd29yZA==", None]


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
def test_a_certificate_may_go_unverified_for_some_hosts(bench: DownloaderHarness) -> None:
    with WebServer(certificate=TLS / "self_signed.pem") as web:
        web.page("/", b"unverified")
        url = f"https://secure.test:{web.port}/"
        trusting = RequestOptions(verify_tls=False)
        assert bench.get(url, web.address, web.port, options=trusting).body == b"unverified"
        assert bench.get(url, web.address, web.port).failure is DownloadFailure.TLS
        assert len(web.seen) == 1


def test_cookies_are_kept_where_they_are_wanted(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"x", 200, (("Set-Cookie", "a=1; Path=/"),))
    for options in (GENERAL, RequestOptions(cookies=True), RequestOptions(cookies=True), GENERAL):
        bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=options)
    assert [seen.header("Cookie") for seen in web.seen] == [None, None, "a=1", None]


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True
