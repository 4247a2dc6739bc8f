"""What libcurl's downloader does beyond the contract that all share (test_downloader_contract)."""

from __future__ import annotations

import asyncio
import gzip
import os
import resource
import select
import socket
from collections.abc import Iterator
from functools import partial
from urllib.parse import unquote

import msgspec
import pycurl
import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult, RequestOptions
from parcahyd.net import downloader_curl
from parcahyd.net.curl_sockets import LoopSockets
from parcahyd.net.curl_transfer import Transfer
from parcahyd.net.downloader_curl import CurlDownloader
from parcahyd.net.wire_budget import WireBudget
from parcahyd.rules.listings.ftp_listing import FTP_LISTING, ftp_references
from parcahyd.rules.listings.gopher_menu import GOPHER_MENU
from parcahyd.testing import check_downloader
from tests.net.downloader_harness import DownloaderHarness, request_to
from tests.net.ftp_server import FtpServer
from tests.net.proxy_server import ProxyServer
from tests.net.web_server import Exchange, WebServer
from tests.support.gopher_server import GopherServer

# One raw block of four bytes (RFC 8878, section 3.1.1).
_ZSTD = bytes.fromhex("28b52ffd2004210000") + b"zstd"
_BROTLI = bytes.fromhex("1b1701f88d54b5bf061193a393696c6f315b2470691f00")


@pytest.fixture
def bench() -> Iterator[DownloaderHarness]:
    with DownloaderHarness(CurlDownloader) as made:
        yield made


def test_conformance() -> None:
    check_downloader(CurlDownloader)


def test_conformance_where_there_is_no_epoll() -> None:
    check_downloader(partial(CurlDownloader, sockets=LoopSockets))


def test_brotli_is_undone(bench: DownloaderHarness, web: WebServer) -> None:
    pytest.importorskip("brotli", "1.2")
    web.page("/", _BROTLI, 200, (("Content-Encoding", "br"),))
    assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port).body == b"brotli " * 40
    assert "br" in (web.seen[0].header("Accept-Encoding") or "")


def test_the_bytes_on_the_wire_are_counted(bench: DownloaderHarness, web: WebServer) -> None:
    packed = gzip.compress(bytes(1_000_000))
    web.page("/", packed, 200, (("Content-Encoding", "gzip"),))
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert len(result.body) == 1_000_000
    assert len(packed) < result.received < len(packed) + 1000


def test_the_bytes_of_a_body_that_is_too_large_are_counted(bench: DownloaderHarness, web: WebServer) -> None:
    answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + bytes(300_000)
    web.pages["/"] = lambda exchange: exchange.raw(answer)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port, max_bytes=100_000)
    assert result.failure is DownloadFailure.SIZE
    assert result.received >= 100_000


def test_zstd_is_not_asked_for(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", _ZSTD, 200, (("Content-Encoding", "zstd"),))
    assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port).failure is DownloadFailure.CONTENT_CODING
    assert "zstd" not in (web.seen[0].header("Accept-Encoding") or "")


def test_beyond_the_bytes_that_may_be_held_one_body_at_a_time_goes_on(
    bench: DownloaderHarness, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten bodies of 600 kB with room for one: all arrive whole, and never is more held than the room and one body."""
    bodies = {f"/{number}": os.urandom(600_000) for number in range(10)}
    for path, body in bodies.items():
        web.page(path, body)
    downloader = bench.downloader
    assert isinstance(downloader, CurlDownloader)
    downloader.allow_bytes(600_000)
    most, takes = 0, WireBudget.takes

    def watched(budget: WireBudget, transfer: object, size: int) -> bool:
        nonlocal most
        taken = takes(budget, transfer, size)
        most = max(most, budget.held)
        return taken

    monkeypatch.setattr(WireBudget, "takes", watched)
    url = f"http://pages.test:{web.port}"
    results = bench.fetch(*(request_to(url + path, web.address, web.port) for path in bodies))
    assert [result.body for result in results] == [*bodies.values()]
    assert 0 < most <= 1_200_000
    assert downloader._budget.held == 0


def test_nothing_is_taken_while_nothing_may_be_held(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"x" * 100_000)
    downloader = bench.downloader
    assert isinstance(downloader, CurlDownloader)
    downloader.allow_bytes(0)
    results: list[DownloadResult] = []
    downloader.start(request_to(f"http://pages.test:{web.port}/", web.address, web.port), results.append)
    bench.run_until(lambda: downloader._budget.has_paused)
    bench.settle()
    assert not results
    downloader.allow_bytes(1)
    bench.run_until(lambda: bool(results))
    assert results[0].body == b"x" * 100_000


def test_slow_transfers_give_way_where_others_wait(bench: DownloaderHarness, web: WebServer) -> None:
    bench.configure(Connections=2)

    def drip(exchange: Exchange) -> None:
        exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not exchange.server.web.over.wait(0.05):
            exchange.raw(b"x")

    web.pages["/"] = drip
    downloader = bench.downloader
    assert isinstance(downloader, CurlDownloader)
    results: list[DownloadResult] = []
    for _ in range(2):
        downloader.start(request_to(f"http://pages.test:{web.port}/", web.address, web.port), results.append)
    bench.run_until(lambda: all(transfer.received() for transfer in downloader._active.values()))
    downloader.make_room(2)
    bench.settle()
    assert not results, "they have just begun"
    for transfer in downloader._active.values():
        transfer.tempo = None
        transfer.started_at -= 1000
    downloader.make_room(2)
    bench.run_until(lambda: bool(results))
    (result,) = results
    assert result.failure is DownloadFailure.GAVE_WAY
    assert result.detail == "gave way to others: 0 bytes a second"
    assert result.peer == web.address
    assert len(downloader._active) == 1, "slow ones keep their share"


def test_a_body_that_drips_is_given_up_by_its_mean_rate(bench: DownloaderHarness, web: WebServer) -> None:
    # The bytes may be late by twenty times their interval before the limit for no byte at all counts.
    bench.configure(TimeoutIdle=1.0, MinRate=1000.0)

    def drip(exchange: Exchange) -> None:
        exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not exchange.server.web.over.wait(0.05):
            exchange.raw(b"x")

    web.pages["/"] = drip
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert result.failure is DownloadFailure.TIMEOUT
    assert "fewer than 1000" in result.detail


def test_a_flood_of_trailers_is_a_fault(bench: DownloaderHarness, web: WebServer) -> None:
    flood = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n" + b"X: y\r\n" * 20_000 + b"\r\n"
    web.pages["/"] = lambda exchange: exchange.raw(flood)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (DownloadFailure.PROTOCOL, b"")


def test_an_interim_answer_and_trailers_are_left_out(bench: DownloaderHarness, web: WebServer) -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
    final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Final: 1\r\n\r\n4\r\nbody\r\n0\r\nX-Trailer: 1\r\n\r\n"
    web.pages["/"] = lambda exchange: exchange.raw(early + final)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.status, result.body) == (200, b"body")
    assert [name for name, _ in result.headers] == ["Transfer-Encoding", "X-Final"]


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"])
def test_headers_that_break_off_are_no_answer(bench: DownloaderHarness, web: WebServer, answer: bytes) -> None:
    web.pages["/"] = lambda exchange: exchange.raw(answer)
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert result.failure is not None


def test_handles_are_used_again(bench: DownloaderHarness, web: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Transfer] = []

    def make(conf: WorkConf, authorities: str, budget: WireBudget) -> Transfer:
        made.append(Transfer(conf, authorities, budget))
        return made[-1]

    monkeypatch.setattr(downloader_curl, "Transfer", make)
    web.page("/", b"x")
    request = request_to(f"http://pages.test:{web.port}/", web.address, web.port)
    for _ in range(3):
        bench.fetch(request, request)
    assert len(made) == 2


def test_what_differs_between_requests_on_one_handle_is_set_anew(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"x" * 100)
    url = f"http://pages.test:{web.port}/"
    assert bench.get(url, web.address, web.port, headers=(("X-A", "1"),), max_bytes=10).failure is DownloadFailure.SIZE
    assert bench.get(url, web.address, web.port, headers=(("X-B", ""),), max_bytes=100).status == 200
    assert bench.get(url, web.address, web.port, max_bytes=100).status == 200
    assert [(seen.header("X-A"), seen.header("X-B")) for seen in web.seen] == [("1", None), (None, ""), (None, None)]


@pytest.fixture(params=[True, False], ids=["libcurl has a limit", "only ours"])
def counting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 8.20.0 on libcurl limits the decoded body, too. Our own limit must hold without it."""
    if not request.param:
        # As if libcurl had no limit: what is set is the size of an upload.
        monkeypatch.setattr(pycurl, "MAXFILESIZE_LARGE", pycurl.INFILESIZE_LARGE)


@pytest.mark.usefixtures("counting")
def test_conformance_with_and_without_libcurls_limit() -> None:
    check_downloader(CurlDownloader)


@pytest.mark.usefixtures("counting")
def test_never_more_of_a_body_is_held_than_may_be(
    bench: DownloaderHarness, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    finish = Transfer.finish

    def noted(transfer: Transfer, number: int, text: str) -> DownloadResult:
        held.append(sum(map(len, transfer._chunks)))
        return finish(transfer, number, text)

    monkeypatch.setattr(Transfer, "finish", noted)
    ok, gzipped = b"HTTP/1.1 200 OK\r\n", (("Content-Encoding", "gzip"),)
    bomb = gzip.compress(b"\0" * 10_000_000)
    web.page("/announced", b"x" * 50_001)
    web.pages["/unannounced"] = lambda exchange: exchange.raw(ok + b"\r\n" + b"x" * 1_000_000)
    web.pages["/chunked"] = lambda exchange: exchange.raw(
        ok + b"Transfer-Encoding: chunked\r\n\r\n" + b"1000\r\n%s\r\n" % bytes(4096) * 99
    )
    web.page("/bomb", bomb, 200, gzipped)
    web.page("/small-bomb", gzip.compress(b"x" * 50_001), 200, gzipped)
    web.page("/bomb-in-bomb", gzip.compress(bomb), 200, (("Content-Encoding", "gzip, gzip"),))
    for path in ("/announced", "/unannounced", "/chunked", "/bomb", "/small-bomb", "/bomb-in-bomb"):
        result = bench.get(f"http://pages.test:{web.port}{path}", web.address, web.port, max_bytes=50_000)
        assert (result.failure, result.body) == (DownloadFailure.SIZE, b""), path
        assert held.pop() <= 50_000, path


@pytest.mark.usefixtures("counting")
def test_limits_and_what_happens_beyond_them_take_turns_on_one_handle(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"x" * 50_000)
    web.page("/gzip", gzip.compress(b"x" * 50_000), 200, (("Content-Encoding", "gzip"),))
    web.page("/empty", b"")
    for path in ("/", "/gzip") * 2:
        request = request_to(f"http://pages.test:{web.port}{path}", web.address, web.port, max_bytes=40_000)
        assert bench.fetch(request)[0].failure is DownloadFailure.SIZE
        assert bench.fetch(msgspec.structs.replace(request, cut=True))[0].body == b"x" * 40_000
        assert bench.fetch(msgspec.structs.replace(request, max_bytes=50_000))[0].body == b"x" * 50_000
        assert bench.fetch(msgspec.structs.replace(request, max_bytes=49_999))[0].failure is DownloadFailure.SIZE
        assert bench.fetch(msgspec.structs.replace(request, max_bytes=0))[0].failure is DownloadFailure.SIZE
    assert bench.get(f"http://pages.test:{web.port}/empty", web.address, web.port, max_bytes=0).status == 200


def test_a_proxy_by_name_is_resolved_by_libcurl(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"x")
    with ProxyServer() as proxy:
        options = RequestOptions(proxy=f"http://localhost:{proxy.port}")
        assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=options).status == 200


@pytest.mark.parametrize("at_once", [1, 5])
def test_connections_that_the_server_closes_between_requests_are_replaced(
    bench: DownloaderHarness, web: WebServer, at_once: int
) -> None:
    def reply_and_close(exchange: Exchange) -> None:
        exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")

    bench.configure(HostConnections=at_once)
    web.pages["/"] = reply_and_close
    request = request_to(f"http://pages.test:{web.port}/", web.address, web.port)
    for _ in range(4):
        assert [result.body for result in bench.fetch(*[request] * at_once)] == [b"body"] * at_once
        for _ in range(at_once):
            assert web.hung_up.acquire(timeout=120)
    assert web.connections == 4 * at_once


def test_kept_connections_are_bounded_by_the_connections_and_by_the_open_files() -> None:
    assert downloader_curl._connections_kept(2) == 8
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY:
        assert downloader_curl._connections_kept(files) == files // 2


def test_an_old_libcurl_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pycurl, "version_info", lambda: (0, "7.88.1", 0x075801))
    with pytest.raises(UserError, match=r"libcurl 7\.88\.1 is too old"):
        CurlDownloader(WorkConf(), asyncio.new_event_loop())


def test_ftp_gives_a_file_the_status_200_and_no_headers(bench: DownloaderHarness) -> None:
    with FtpServer({"/pub/file.txt": b"over ftp"}) as ftp:
        result = bench.get(f"ftp://files.test:{ftp.port}/pub/file.txt", "127.0.0.1", ftp.port)
    assert (result.failure, result.status, list(result.headers), result.body) == (None, 200, [], b"over ftp"), result.detail
    assert result.peer == "127.0.0.1"


def test_ftp_gives_a_folder_as_the_server_lists_it(bench: DownloaderHarness) -> None:
    with FtpServer({"/pub/a.txt": b"", "/pub/b.txt": b""}) as ftp:
        result = bench.get(f"ftp://files.test:{ftp.port}/pub/", "127.0.0.1", ftp.port)
    assert result.status == 200
    assert result.header("content-type") == FTP_LISTING
    assert ftp_references(result.body) == ["a.txt", "b.txt"]


@pytest.mark.parametrize(
    ("path", "media_type", "body"),
    [
        ("/", GOPHER_MENU, b"0text\t/a\th.test\t70\r\n.\r\n"),
        ("/1/menu%20x", GOPHER_MENU, b"ihello\t\t\t\r\n.\r\n"),
        ("/0/a.txt", "text/plain", b"a text\r\n.\r\n"),
        ("/h/a.html", "text/html", b"<p>"),
        ("/9/empty", "", b""),
    ],
)
def test_gopher_gives_an_item_with_the_type_of_its_url(
    bench: DownloaderHarness, path: str, media_type: str, body: bytes
) -> None:
    with GopherServer() as hole:
        hole.items[unquote(path[2:])] = body
        result = bench.get(f"gopher://hole.test:{hole.port}{path}", "127.0.0.1", hole.port)
        assert hole.selectors == [unquote(path[2:])]
    assert (result.failure, result.status, result.body, result.peer) == (None, 200, body, "127.0.0.1")
    assert result.header("content-type") == media_type


@pytest.mark.parametrize("path", ["/1/none", "/0/none", "/9/none"])
def test_gopher_without_the_item_is_404(bench: DownloaderHarness, path: str) -> None:
    with GopherServer() as hole:
        result = bench.get(f"gopher://hole.test:{hole.port}{path}", "127.0.0.1", hole.port)
    assert (result.failure, result.status, result.body) == (None, 404, b"")


def test_gopher_without_an_answer_is_a_failure(bench: DownloaderHarness) -> None:
    with GopherServer() as hole:
        hole.items[""] = b""
        result = bench.get(f"gopher://hole.test:{hole.port}/", "127.0.0.1", hole.port)
    assert result.failure is DownloadFailure.RESET


@pytest.mark.parametrize("path", ["/0a%0D%0Ab", "/0a%0ab", "/0a%00b", "/0a%09b", "/1%7F", "/0a?b%0d%0ac"])
def test_gopher_sends_one_line_only(bench: DownloaderHarness, path: str) -> None:
    with GopherServer() as hole:
        result = bench.get(f"gopher://hole.test:{hole.port}{path}", "127.0.0.1", hole.port)
        assert hole.selectors == []
    assert result.failure is DownloadFailure.PROTOCOL


def test_gopher_size_is_limited(bench: DownloaderHarness) -> None:
    with GopherServer() as hole:
        hole.items["/big"] = b"x" * 100_001
        result = bench.get(f"gopher://hole.test:{hole.port}/0/big", "127.0.0.1", hole.port, max_bytes=100_000)
    assert (result.failure, result.body) == (DownloadFailure.SIZE, b"")


@pytest.mark.parametrize("path", ["/pub/none.txt", "/none/file.txt"])
def test_ftp_without_the_file_is_404(bench: DownloaderHarness, path: str) -> None:
    with FtpServer({"/pub/file.txt": b""}) as ftp:
        result = bench.get(f"ftp://files.test:{ftp.port}{path}", "127.0.0.1", ftp.port)
    assert (result.failure, result.status, result.body) == (None, 404, b"")


def test_ftp_size_is_limited(bench: DownloaderHarness) -> None:
    with FtpServer({"/file": b"x" * 1001}) as ftp:
        result = bench.get(f"ftp://files.test:{ftp.port}/file", "127.0.0.1", ftp.port, max_bytes=1000)
    assert (result.failure, result.body) == (DownloadFailure.SIZE, b"")


def test_an_ftp_server_cannot_send_the_data_connection_elsewhere(bench: DownloaderHarness) -> None:
    with FtpServer({"/file": b"here"}, passive_address="127.0.0.9", extended=False) as ftp:
        result = bench.get(f"ftp://files.test:{ftp.port}/file", "127.0.0.1", ftp.port)
    assert (result.status, result.body, result.peer) == (200, b"here", "127.0.0.1")


@pytest.mark.parametrize("path", ["/a%0d%0aDELE%20b", "/a%0aDELE%20b", "/%00"])
def test_a_url_cannot_smuggle_ftp_commands(bench: DownloaderHarness, path: str) -> None:
    with FtpServer({"/a": b"x"}) as ftp:
        result = bench.get(f"ftp://files.test:{ftp.port}{path}", "127.0.0.1", ftp.port)
        assert result.status != 200
        assert not any(command.startswith("DELE") for command in ftp.commands)


def _told(request: DownloadRequest, events: list[str]) -> DownloadRequest:
    return msgspec.structs.replace(request, sent=lambda: events.append("sent"))


def test_it_tells_when_a_request_has_left(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"x")
    events: list[str] = []
    request = _told(request_to(f"http://pages.test:{web.port}/", web.address, web.port), events)
    for _ in range(2):  # Over a new connection, and over a kept one.
        events.clear()
        bench.downloader.start(request, lambda result: events.append(f"status {result.status}"))
        bench.run_until(lambda: len(events) == 2)
        assert events == ["sent", "status 200"]
    assert CurlDownloader.tells_when_sent


def test_a_request_whose_connection_never_gets_ready_has_not_left(bench: DownloaderHarness) -> None:
    """The listener takes the connection, and never answers the first words of TLS."""
    events: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        request = _told(request_to(f"https://pages.test:{port}/", "127.0.0.1", port), events)
        bench.downloader.start(request, lambda result: events.append(str(result.failure)))
        connection, _ = listener.accept()
        with connection:
            bench.run_until(lambda: _has_bytes(connection))
            assert events == []
        bench.run_until(lambda: bool(events))
    assert events != ["sent"]
    assert len(events) == 1


def _has_bytes(connection: socket.socket) -> bool:
    return bool(select.select([connection], [], [], 0)[0])
