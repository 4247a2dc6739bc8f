"""What the tests of downloaders share: a web server and a bench that runs requests on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.event_loop import EventLoop
from parcahyd.core.ports import Downloader
from parcahyd.net.downloader_curl import CurlDownloader
from parcahyd.net.downloader_requests import RequestsDownloader
from parcahyd.runtime.lean_loop import LeanLoop
from tests.net.bench import Bench
from tests.net.web_server import WebServer

FACTORIES: dict[str, Callable[[WorkConf, EventLoop], Downloader]] = {"curl": CurlDownloader, "requests": RequestsDownloader}


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


LOOPS: dict[str, Callable[[], LeanLoop | asyncio.AbstractEventLoop]] = {"lean": LeanLoop, "asyncio": asyncio.new_event_loop}


@pytest.fixture(params=[(factory, loop) for factory in FACTORIES for loop in LOOPS], ids="-".join)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Every shipped downloader in turn, on either loop: a stranger's may use it on asyncio's."""
    factory, loop = request.param
    with Bench(FACTORIES[factory], LOOPS[loop]) as made:
        yield made
