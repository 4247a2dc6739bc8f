"""What the requests downloader does beyond the contract that all share (test_downloader_contract)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from parcahyd.core.ports import DownloadFailure
from parcahyd.net.downloader_requests import RequestsDownloader
from parcahyd.net.pinned_requests import PinnedAdapter, PinnedRequest
from parcahyd.testing import check_downloader
from tests.net.downloader_harness import AUTHORITY, DownloaderHarness
from tests.net.web_server import WebServer


@pytest.fixture
def bench() -> Iterator[DownloaderHarness]:
    with DownloaderHarness(RequestsDownloader) as made:
        yield made


def test_conformance() -> None:
    check_downloader(RequestsDownloader)


def test_garbage_in_the_place_of_a_chunk_ends_the_body_early(bench: DownloaderHarness, web: WebServer) -> None:
    web.pages["/"] = lambda exchange: exchange.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nshort")
    result = bench.get(f"http://pages.test:{web.port}/", web.address, web.port)
    assert (result.failure, result.body) == (DownloadFailure.TRUNCATED, b"")


def test_a_request_without_a_pin_goes_nowhere() -> None:
    adapter = PinnedAdapter(str(AUTHORITY), 1, 1)
    with pytest.raises(requests.exceptions.InvalidURL, match="without a pinned address"):
        adapter.send(requests.Request("GET", "http://127.0.0.1:9/").prepare())


def test_pools_are_bounded() -> None:
    adapter = PinnedAdapter(str(AUTHORITY), 1, 2)
    pools = []
    for number in range(4):
        request = PinnedRequest()
        request.prepare(method="GET", url=f"http://{number}.test/")
        request.pin = ("127.0.0.1", 80)
        pools.append(adapter.get_connection_with_tls_context(request))
    assert [pool.pool is None for pool in pools] == [True, True, False, False]
    adapter.close()
    assert all(pool.pool is None for pool in pools)
