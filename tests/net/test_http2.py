"""HTTP/2 against a real server; Python has none of its own, so this needs nginx."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from parcahyd.core.ports import RequestOptions
from parcahyd.net.downloader_curl import CurlDownloader
from tests.net.downloader_harness import AUTHORITY, DownloaderHarness, request_to
from tests.net.proxy_server import ProxyServer
from tests.support.nginx import nginx

_CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/errors;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {certificate};
    ssl_certificate_key {certificate};
    location / {{ return 200 "$server_protocol $connection"; }}
  }}
}}
"""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Where nginx listens."""
    certificate = AUTHORITY.parent / "secure_test.pem"
    with nginx(tmp_path, lambda port: _CONFIGURATION.format(folder=tmp_path, port=port, certificate=certificate)) as port:
        yield port


def test_requests_to_one_host_share_a_connection(port: int) -> None:
    request = request_to(f"https://secure.test:{port}/", "127.0.0.1", port)
    with DownloaderHarness(CurlDownloader) as bench:
        bench.configure(HostConnections=8)
        results = bench.fetch(*[request] * 8)
    assert {result.status for result in results} == {200}
    assert len({result.body for result in results}) == 1
    assert results[0].body.startswith(b"HTTP/2.0 ")
    assert {result.peer for result in results} == {"127.0.0.1"}
    assert all(name == name.strip() and name for result in results for name, _ in result.headers)


def test_headers_of_an_http2_answer_are_complete(port: int) -> None:
    with DownloaderHarness(CurlDownloader) as bench:
        result = bench.get(f"https://secure.test:{port}/", "127.0.0.1", port)
    assert result.header("content-length") == str(len(result.body))
    assert not any(name.startswith(":") for name, _ in result.headers)


def test_the_protocol_is_told_and_can_be_chosen(port: int) -> None:
    with DownloaderHarness(CurlDownloader) as bench:
        new = bench.get(f"https://secure.test:{port}/", "127.0.0.1", port)
        old = bench.get(f"https://secure.test:{port}/", "127.0.0.1", port, options=RequestOptions(http2=False))
        again = bench.get(f"https://secure.test:{port}/", "127.0.0.1", port)
    assert [result.protocol for result in (new, old, again)] == ["2", "1.1", "2"]
    assert old.body.startswith(b"HTTP/1.1 ")


def test_http2_through_a_proxy(port: int) -> None:
    with DownloaderHarness(CurlDownloader) as bench, ProxyServer() as proxy:
        options = RequestOptions(proxy=f"http://127.0.0.1:{proxy.port}")
        result = bench.get(f"https://secure.test:{port}/", "127.0.0.1", port, options=options)
        assert (result.protocol, result.status, result.peer) == ("2", 200, "127.0.0.1")
        assert proxy.asked == [f"CONNECT 127.0.0.1:{port}"]
