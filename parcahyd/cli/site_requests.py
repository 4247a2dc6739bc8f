"""Requests to one site, one after the other, with the resolver and the downloader of a crawl: for `parcahyd augment check URL`.

All of them go to the address that the user's own host name has, and to no other: no redirect is followed. Each is bounded in
bytes and in time.

Tested in tests/cli/test_augment_check_url.py.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from parcahyd.config.schema import Configuration
from parcahyd.core.errors import RunFailure
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.core.records import SiteLease
from parcahyd.core.states import Reason
from parcahyd.pipeline.url_mapper import UrlMapper
from parcahyd.plugin_manager import PluginManager
from parcahyd.rules.media_types.content_codings import undo
from parcahyd.rules.urls.address_policy import AddressPolicy
from parcahyd.rules.urls.canonical_url import split
from parcahyd.rules.urls.host_rules import HostRules
from parcahyd.runtime.clock import SystemClock

__all__ = ["SiteRequests"]

_EVERY_ADDRESS = ("0.0.0.0/0", "::/0")
"""The user has named the host; a crawl, which follows what others write, connects to public addresses only."""
_MOST_SECONDS = 60.0
"""For one request; a server that sends a byte now and then does not hold up the command."""


class SiteRequests:
    """Requests to the site of a URL, in a `with` block. A host without an address is a RunFailure."""

    def __init__(self, url: str, configuration: Configuration, most_seconds: float = _MOST_SECONDS) -> None:
        scheme, host, self._port, _ = split(url)
        self._most_seconds = most_seconds
        self._settings = HostRules(configuration.work, {}).of(host, self._port)
        self.user_agent = self._settings.user_agent
        """The one that robots.txt is read for."""
        plugins = PluginManager.load(configuration)
        resolver = plugins.resolver()
        try:
            mapper = UrlMapper(resolver, AddressPolicy(_EVERY_ADDRESS), SystemClock())
            resolved = mapper.map(SiteLease(1, 1, scheme, host, self._port, ()))
        finally:
            resolver.close()
        if resolved.reason:
            raise RunFailure(f"{host} has no address: {Reason.of(resolved.reason).sentence} {resolved.detail}".strip())
        self._address = resolved.addresses[0]
        self.is_public = AddressPolicy(()).admits(self._address)
        self._loop = asyncio.new_event_loop()
        self._downloader = plugins.downloader(self._loop)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._downloader.close()
        self._loop.close()

    def get(self, url: str, max_bytes: int, cut: bool = False) -> DownloadResult:
        """The answer for a URL of the site, its content codings undone; a body beyond `max_bytes` is a failure, or is cut."""
        request = DownloadRequest(url, self._address, self._port, self._settings.headers, max_bytes, cut=cut)
        done: list[DownloadResult] = []

        def ended(result: DownloadResult) -> None:
            done.append(result)
            self._loop.stop()

        alarm = self._loop.call_later(self._most_seconds, self._downloader.cancel_all)
        self._downloader.start(request, ended)
        if not done:
            self._loop.run_forever()
        alarm.cancel()
        result = done[0]
        if result.failure is DownloadFailure.CANCELLED:
            return DownloadResult(failure=DownloadFailure.TIMEOUT, detail=f"no whole answer within {self._most_seconds:g} s")
        if result.failure is None and result.codings:
            undo(result, max_bytes, cut)
        return result
