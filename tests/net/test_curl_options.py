"""What libcurl's downloader does for hosts with options of their own."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator

import pytest

from parcahyd.core.ports import GENERAL, DownloadFailure, RequestOptions
from parcahyd.net.downloader_curl import CurlDownloader
from tests.net.downloader_harness import AUTHORITY, DownloaderHarness
from tests.net.ftp_server import FtpServer
from tests.net.proxy_server import ProxyServer
from tests.net.web_server import Exchange, WebServer

TLS = AUTHORITY.parent


@pytest.fixture
def bench() -> Iterator[DownloaderHarness]:
    with DownloaderHarness(CurlDownloader) as made:
        yield made


# Proxies


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_is_asked_for_the_pinned_address_and_no_name(bench: DownloaderHarness, web: WebServer, scheme: str) -> None:
    web.page("/", b"behind")
    with ProxyServer() as proxy:
        options = RequestOptions(proxy=f"{scheme}://127.0.0.1:{proxy.port}")
        for _ in range(2):
            result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=options)
            assert (result.failure, result.body, result.peer) == (None, b"behind", web.address), result.detail
            assert result.header("x-proxy") == ""
        verb = "CONNECT" if scheme == "http" else "SOCKS"
        assert proxy.asked == [f"{verb} {web.address}:{web.port}"]
    assert web.seen[0].header("Host") == f"pages.test:{web.port}"


def test_a_proxy_sees_nothing_of_an_encrypted_request_and_no_password(bench: DownloaderHarness) -> None:
    with WebServer(certificate=TLS / "secure_test.pem") as web, ProxyServer() as proxy:
        web.page("/", b"secret")
        options = RequestOptions(proxy=f"http://me:word@127.0.0.1:{proxy.port}", credentials="user:password")
        result = bench.get(
            f"https://secure.test:{web.port}/", web.address, web.port, headers=(("X-Mine", "1"),), options=options
        )
        assert (result.failure, result.body) == (None, b"secret"), result.detail
        head = proxy.heads[0]
        assert "Proxy-Authorization: Basic " + base64.b64encode(b"me:word").decode() in head
        assert "secure.test" not in head
        assert "X-Mine" not in head
        assert "\nAuthorization" not in head
        assert web.seen[0].header("Proxy-Authorization") is None


def test_one_host_pinned_to_two_addresses_is_not_mixed_up_behind_a_proxy(bench: DownloaderHarness) -> None:
    with WebServer("127.0.0.1") as first, WebServer("127.0.0.1") as second, ProxyServer() as proxy:
        first.page("/", b"first")
        second.page("/", b"second")
        options = RequestOptions(proxy=f"http://127.0.0.1:{proxy.port}")
        for server, body in ((first, b"first"), (second, b"second")) * 2:
            assert bench.get("http://pages.test/", server.address, server.port, options=options).body == body


def test_a_proxy_that_refuses_is_a_failure_of_the_connection(bench: DownloaderHarness, web: WebServer) -> None:
    with ProxyServer(status="403 No") as proxy:
        options = RequestOptions(proxy=f"http://127.0.0.1:{proxy.port}")
        result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=options)
    assert (result.failure, result.detail) == (DownloadFailure.CONNECT, "the proxy answered 403")


def test_a_proxy_that_is_not_there_is_never_gone_round(
    bench: DownloaderHarness, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    web.page("/", b"direct")
    with ProxyServer() as proxy:
        gone = proxy.port
    result = bench.get(
        f"http://pages.test:{web.port}/", web.address, web.port, options=RequestOptions(proxy=f"http://127.0.0.1:{gone}")
    )
    assert result.failure is DownloadFailure.CONNECT
    assert web.seen == []


def test_ftp_does_not_go_through_a_proxy(bench: DownloaderHarness) -> None:
    with FtpServer({"/file": b"x"}) as ftp, ProxyServer() as proxy:
        options = RequestOptions(proxy=f"http://127.0.0.1:{proxy.port}")
        result = bench.get(f"ftp://files.test:{ftp.port}/file", "127.0.0.1", ftp.port, options=options)
        assert result.failure is DownloadFailure.PROTOCOL
        assert "ftp does not go through a proxy" in result.detail
        assert proxy.asked == []


# Authentication


def test_a_password_goes_with_its_own_requests_and_never_with_others(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"", 302, (("Location", "http://other.test/"),))
    options = RequestOptions(credentials="user:pass:w\u00f6rd")
    for given in (options, GENERAL, RequestOptions(credentials="other:x"), GENERAL, options):
        bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=given)
    expected = {
        options: "Basic " + base64.b64encode("user:pass:w\u00f6rd".encode()).decode(),
        GENERAL: None,
        RequestOptions(credentials="other:x"): "Basic " + base64.b64encode(b"other:x").decode(),
    }
    order = (options, GENERAL, RequestOptions(credentials="other:x"), GENERAL, options)
    assert [seen.header("Authorization") for seen in web.seen] == [expected[one] for one in order]


def _md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()  # noqa: S324  the algorithm that RFC 2617 names


def _digest(exchange: Exchange) -> None:
    """Asks for a password by digest and checks the answer (RFC 2617, section 3.2.2)."""
    given = dict(re.findall(r'(\w+)="?([^",]+)', exchange.headers.get("Authorization", "")))
    if given:
        secret = _md5(f"user:realm:{'password'}")
        asked = _md5(f"GET:{given['uri']}")
        fits = _md5(f"{secret}:once:{given['nc']}:{given['cnonce']}:{given['qop']}:{asked}")
        if given["response"] == fits and given["nonce"] == "once":
            exchange.reply(200, b"inside")
            return
    question = (("WWW-Authenticate", 'Digest realm="realm", qop="auth", nonce="once", algorithm=MD5'), ("X-Old", "1"))
    exchange.reply(401, b"who?", question)


def test_digest_answers_the_servers_question(bench: DownloaderHarness, web: WebServer) -> None:
    web.pages["/"] = _digest
    options = RequestOptions(credentials="user:password", authentication="digest")
    first = bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=options)
    assert (first.failure, first.status, first.body) == (None, 200, b"inside")
    assert first.header("x-old") == ""
    assert [seen.header("Authorization") is not None for seen in web.seen] == [False, True]
    second = bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=options)
    assert second.status == 200
    assert len(web.seen) == 3, "the second request knows the question"
    general = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert general.status == 401
    assert web.seen[-1].header("Authorization") is None


def test_a_wrong_password_is_an_answer_of_401(bench: DownloaderHarness, web: WebServer) -> None:
    web.pages["/"] = _digest
    options = RequestOptions(credentials="user:wrong", authentication="digest")
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=options)
    assert (result.status, result.body) == (401, b"who?")
    assert len(web.seen) == 2


def test_ftp_logs_in(bench: DownloaderHarness) -> None:
    with FtpServer({"/file": b"mine"}, login=("user", "password")) as ftp:
        url = f"ftp://files.test:{ftp.port}/file"
        right = bench.get(url, "127.0.0.1", ftp.port, options=RequestOptions(credentials="user:password"))
        anonymous = bench.get(url, "127.0.0.1", ftp.port)
    assert (right.status, right.body) == (200, b"mine")
    assert (anonymous.failure, anonymous.status) == (None, 403)


# TLS


@pytest.mark.parametrize(("certificate", "host"), [("self_signed.pem", "secure.test"), ("secure_test.pem", "other.test")])
def test_an_unverified_host_is_an_exception_for_its_own_requests(bench: DownloaderHarness, certificate: str, host: str) -> None:
    with WebServer(certificate=TLS / certificate) as web:
        web.page("/", b"unverified")
        url = f"https://{host}:{web.port}/"
        trusting = RequestOptions(verify_tls=False)
        assert bench.get(url, web.address, web.port, options=trusting).body == b"unverified"
        assert bench.get(url, web.address, web.port).failure is DownloadFailure.TLS
        assert bench.get(url, web.address, web.port, options=trusting).body == b"unverified"
        assert len(web.seen) == 2


# Cookies


def test_cookies_come_back_to_their_site_alone(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/set", b"", 302, (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2; Domain=example.com"), ("Location", "/")))
    web.page("/", b"")
    options = RequestOptions(cookies=True)

    def ask(host: str, path: str, given: RequestOptions) -> str | None:
        bench.get(f"http://{host}:{web.port}{path}", web.address, web.port, options=given)
        return web.seen[-1].header("Cookie")

    assert ask("www.example.com", "/set", options) is None
    assert ask("www.example.com", "/", options) == "a=1; b=2"
    assert ask("shop.example.com", "/", options) == "b=2"
    assert ask("www.example.org", "/", options) is None
    assert ask("www.example.com", "/", GENERAL) is None
    assert ask("www.example.com", "/", options) == "a=1; b=2"


def test_options_equal_to_the_general_ones_are_the_general_ones(bench: DownloaderHarness, web: WebServer) -> None:
    web.page("/", b"x")
    for options in (GENERAL, RequestOptions()):
        assert bench.get(f"http://pages.test:{web.port}/", web.address, web.port, options=options).body == b"x"
    assert web.connections == 1
