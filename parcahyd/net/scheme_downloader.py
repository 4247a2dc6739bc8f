"""One downloader for the Crawl Worker that hands each request to the downloader of its scheme.

The downloader that the user chose serves the schemes that it names itself, http and https above all. The others are made when
the first request of their scheme comes, so that a crawl of the web loads nothing for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from parcahyd.core.errors import UserError
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.net.plugin_guards import GuardedDownloader

__all__ = ["SchemeDownloader"]

Done = Callable[[DownloadResult], None]


class SchemeDownloader:
    """Presents several downloaders as one. `others` makes, by scheme, those that `chosen` does not serve itself."""

    tells_when_sent = True

    def __init__(
        self,
        chosen: GuardedDownloader,
        others: Mapping[str, Callable[[], GuardedDownloader]],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.schemes = chosen.schemes.union(others)
        self.options = chosen.options
        self._others = others
        self._loop = loop
        self._made: list[GuardedDownloader] = [chosen]
        self._by_scheme = dict.fromkeys(chosen.schemes, chosen)
        self._allowed: int | None = None

    def start(self, request: DownloadRequest, done: Done) -> None:
        scheme = request.url.partition(":")[0]
        downloader = self._by_scheme.get(scheme)
        if downloader is None:
            try:
                downloader = self._make(scheme)
            except UserError as error:
                self._loop.call_soon(done, DownloadResult(failure=DownloadFailure.PLUGIN, detail=str(error)))
                return
        downloader.start(request, done)
        if request.sent is not None and not downloader.tells_when_sent:
            request.sent()

    def allow_bytes(self, size: int) -> None:
        self._allowed = size
        for downloader in self._made:
            downloader.allow_bytes(size)

    def make_room(self, wanted: int) -> None:
        for downloader in self._made:
            downloader.make_room(wanted)

    def cancel_all(self) -> None:
        for downloader in self._made:
            downloader.cancel_all()

    def close(self) -> None:
        for downloader in self._made:
            downloader.close()

    def _make(self, scheme: str) -> GuardedDownloader:
        downloader = self._by_scheme[scheme] = self._others[scheme]()
        self._made.append(downloader)
        if self._allowed is not None:
            downloader.allow_bytes(self._allowed)
        return downloader
