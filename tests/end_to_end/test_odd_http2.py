"""Answers that came by HTTP/2 go out with a status line and a framing that they never had, and say so."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.net.downloader_harness import AUTHORITY
from tests.support.crawl import CrawlFactory
from tests.support.nginx import nginx
from tests.support.odd_site import export_warc
from tests.support.warc import blocks, by_fastwarc, by_warcio

# `user` counts only for root, whose folders no other user may read.
_CONFIGURATION = """
user root root;
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/errors;
events {{ worker_connections 256; }}
http {{
  access_log off;
  default_type text/html;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {certificate};
    ssl_certificate_key {certificate};
    root {folder}/pages;
    gzip on;
    gzip_min_length 1000;
    add_header X-Odd-Case Yes;
    location = /moved {{ return 301 /page; }}
  }}
}}
"""
_LONG = b"<title>Long</title>" + b"".join(b"<p>Kettle %d is warm.</p>" % number for number in range(500))
_HOME = b'<title>Home</title><a href="/page">a</a><a href="/long">b</a><a href="/moved">c</a><a href="/missing">d</a>'


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Where nginx listens."""
    (tmp_path / "pages").mkdir()
    for name, content in {"index.html": _HOME, "page": b"<title>Page</title>", "long": _LONG}.items():
        (tmp_path / "pages" / name).write_bytes(content)
    certificate = AUTHORITY.parent / "secure_test.pem"
    with nginx(tmp_path, lambda port: _CONFIGURATION.format(folder=tmp_path, port=port, certificate=certificate)) as port:
        yield port


def test_http2_goes_out_with_heads_that_are_made_up(port: int, crawl: CrawlFactory, tmp_path: Path) -> None:
    names = {"Map.DnsResolverClass": "hosts-file", "Map.HostsFile": "hosts"}
    running = crawl({**names, "Work.CaFile": str(AUTHORITY), "Work.RevisitAfter": 0.01, "Work.RevisitMin": 0.01})
    (running.conf / "hosts").write_text("127.0.0.1 secure.test\n")
    base = f"https://secure.test:{port}"
    for _ in range(2):
        finished = running.command("run", "--conf", str(running.conf), "--archive", f"{base}/")
        assert (finished.code, finished.err) == (0, "")
    file = export_warc(running, tmp_path / "out")
    records = [record for record in blocks(file) if record.kind in ("response", "revisit")]
    assert {record.fields["warc-protocol"] for record in records} == {"h2"}
    assert all("status-line" in record.reconstructed.split() for record in records)
    heads = {(record.url.removeprefix(base), record.kind): record.block.partition(b"\r\n\r\n")[0] for record in records}
    assert heads["/page", "response"].startswith(b"HTTP/1.1 200 OK\r\n")
    assert heads["/page", "revisit"].startswith(b"HTTP/1.1 304 Not Modified\r\n")
    assert heads["/missing", "revisit"].startswith(b"HTTP/1.1 404 Not Found\r\n"), "robots.txt is missing with the same page"
    assert b"\r\nlocation: " in heads["/moved", "response"]
    assert all(b"\r\nx-odd-case: Yes" in heads[path, "response"] for path in ("/", "/page", "/long"))
    # The coded bytes are the server's, without a length or chunks.
    long = next(record for record in records if record.url == f"{base}/long").block.partition(b"\r\n\r\n")
    assert b"\r\ncontent-encoding: gzip" in long[0]
    assert gzip.decompress(long[2]) == _LONG
    for read in (by_fastwarc, by_warcio):
        bodies = {record.url.removeprefix(base): record.body for record in read(file) if record.kind == "response"}
        assert (bodies["/"], bodies["/page"], bodies["/long"]) == (_HOME, b"<title>Page</title>", _LONG)
    running.verify()
