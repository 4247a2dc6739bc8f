"""A plugin that ends its process when it meets a page of which the test says so, in the way that DEADLY names."""

from __future__ import annotations

import os
import signal
from asyncio import AbstractEventLoop
from collections.abc import Callable

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import Summary
from parcahyd.core.ports import Downloader, DownloadRequest, DownloadResult
from parcahyd.hookspecs import hookimpl
from parcahyd.net.downloader_curl import CurlDownloader

__all__ = ["DeadlyDownloader", "DeadlyRecognizer", "DeadlySummarizer"]

_WAY = os.environ.get("DEADLY", "")
_MARK = b"this page is deadly"


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DeadlyRecognizer:
    """Dies on the event loop."""

    def __init__(self, _conf: WorkConf) -> None:
        pass

    def recognize(self, content_type: str, body: bytes, media_type: str) -> str | None:  # noqa: ARG002 (the port's)
        if _WAY == "read" and _MARK in body:
            _die()
        return None


class DeadlySummarizer:
    """Dies in the thread that reads documents."""

    media_types = frozenset({"text/plain"})

    def __init__(self, _conf: WorkConf) -> None:
        pass

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002 (the port's)
        if _WAY == "read in a thread" and _MARK in body:
            os.abort()
        return None


class DeadlyDownloader(CurlDownloader):
    """Dies when the answer arrives, before anyone reads it."""

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        def ended(result: DownloadResult) -> None:
            if _MARK in result.body:
                _die()
            done(result)

        super().start(request, ended)


@hookimpl
def parcahyd_downloaders() -> dict[str, Callable[[WorkConf, AbstractEventLoop], Downloader]]:
    return {"deadly": DeadlyDownloader}


@hookimpl
def parcahyd_recognizers() -> dict[str, Callable[[WorkConf], DeadlyRecognizer]]:
    return {"deadly": DeadlyRecognizer}


@hookimpl
def parcahyd_summarizers() -> dict[str, Callable[[WorkConf], DeadlySummarizer]]:
    return {"deadly": DeadlySummarizer}
