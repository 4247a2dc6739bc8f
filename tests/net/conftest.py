"""What the tests of downloaders share: a web server and a bench that runs requests on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import Downloader
from parcahyd.net.downloader_curl import CurlDownloader
from parcahyd.net.downloader_requests import RequestsDownloader
from tests.net.bench import Bench
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
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Every built-in downloader in turn."""
    with Bench(FACTORIES[request.param]) as made:
        yield made
