"""Sockets of a cluster's machines: what was sent is not delivered for longer than the lease allows."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import Downloader, DownloadRequest
from parcahyd.net.downloader_curl import CurlDownloader
from parcahyd.net.downloader_requests import RequestsDownloader
from parcahyd.net.send_timeout import send_timeout


def test_without_a_limit_sockets_are_as_the_system_has_them() -> None:
    assert send_timeout(0.0) == ()


@pytest.mark.parametrize("make", [CurlDownloader, RequestsDownloader])
def test_every_socket_of_a_downloader_gets_the_options(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that listens and never answers: the options of the connecting socket are seen when they are set."""
    seen: list[tuple[Any, ...]] = []
    set_option = socket.socket.setsockopt

    def noting(self: socket.socket, *option: Any) -> None:
        seen.append(option)
        set_option(self, *option)

    monkeypatch.setattr(socket.socket, "setsockopt", noting)
    loop = asyncio.new_event_loop()
    downloader: Downloader = make(WorkConf(SendTimeout=2.0), loop)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        request = DownloadRequest(f"http://127.0.0.1:{port}/", "127.0.0.1", port, (), 1000)
        downloader.start(request, lambda _: loop.stop())
        server.accept()[0].close() if make is RequestsDownloader else loop.call_later(0.05, downloader.cancel_all)
        loop.run_forever()
    downloader.close()
    loop.close()
    assert (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)) in seen
    assert (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 2000) in seen
