"""What the tests of downloaders share: a web server and a bench that runs requests on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import Downloader
from parcahyd.net.downloader_curl import CurlDownloader
from parcahyd.net.downloader_requests import RequestsDownloader
from tests.net.downloader_harness import DownloaderHarness
from tests.net.web_server import WebServer

FACTORIES: dict[str, Callable[[WorkConf, asyncio.AbstractEventLoop], Downloader]] = {
    "curl": CurlDownloader,
    "requests": RequestsDownloader,
}


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


@pytest.fixture(params=FACTORIES)
def bench(request: pytest.FixtureRequest) -> Iterator[DownloaderHarness]:
    """Every built-in downloader in turn."""
    with DownloaderHarness(FACTORIES[request.param]) as made:
        yield made
