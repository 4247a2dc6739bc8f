"""The guards between the crawl and its plugins. What a plugin raises or returns wrongly becomes a failure with its name.

Every resolver and every downloader has a guard, built-in ones too. The guard of a downloader costs 2 µs per result.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable

import msgspec

from parcahyd.core.errors import ResolutionFailure, error_line
from parcahyd.core.ports import (
    GENERAL,
    Downloader,
    DownloadFailure,
    DownloadRequest,
    DownloadResult,
    Resolution,
    Resolver,
)
from parcahyd.core.states import Reason

__all__ = ["GuardedDownloader", "GuardedResolver"]

_log = logging.getLogger(__name__)

Done = Callable[[DownloadResult], None]


class GuardedResolver:
    """A resolver that raises nothing but ResolutionFailure, and whose answers are valid for `max_ttl` seconds at most."""

    def __init__(self, name: str, resolver: Resolver, max_ttl: float) -> None:
        self._name = name
        self._resolver = resolver
        self._max_ttl = max_ttl

    def resolve(self, host: str) -> Resolution:
        try:
            resolution = self._resolver.resolve(host)
        except ResolutionFailure:
            raise
        except Exception as error:
            raise ResolutionFailure(Reason.DNS_FAILURE, f'resolver "{self._name}" raised {error_line(error)}') from error
        if not isinstance(resolution, Resolution):
            kind = type(resolution).__name__
            raise ResolutionFailure(Reason.DNS_FAILURE, f'resolver "{self._name}" returned {kind}, not a Resolution')
        if not isinstance(resolution.ttl, int | float):
            kind = type(resolution.ttl).__name__
            raise ResolutionFailure(Reason.DNS_FAILURE, f'resolver "{self._name}" returned a ttl that is {kind}, not a number')
        return resolution if resolution.ttl <= self._max_ttl else Resolution(resolution.addresses, self._max_ttl)

    def close(self) -> None:
        try:
            self._resolver.close()
        except Exception as error:
            # The run ends all the same.
            _log.warning('resolver "%s" raised %s when it was closed', self._name, error_line(error))


class GuardedDownloader:
    """A downloader whose `start` never raises, and which calls `done` once, later, on the loop, with a valid DownloadResult.

    Requests with options that the downloader does not honour do not reach it.
    """

    def __init__(self, name: str, downloader: Downloader, loop: asyncio.AbstractEventLoop) -> None:
        self.schemes = downloader.schemes
        self.options: frozenset[str] = getattr(downloader, "options", frozenset())
        self.tells_when_sent: bool = getattr(downloader, "tells_when_sent", False)
        self._name = name
        self._downloader = downloader
        self._start = downloader.start
        self._allow_bytes: Callable[[int], None] | None = getattr(downloader, "allow_bytes", None)
        self._make_room: Callable[[int], None] | None = getattr(downloader, "make_room", None)
        self._loop = loop
        self._thread = threading.get_ident()

    def start(self, request: DownloadRequest, done: Done) -> None:
        if request.options is not GENERAL and (unknown := request.options.differences() - self.options):
            self._loop.call_soon(done, self._unable(unknown))
            return
        is_done = False
        is_starting = True

        def once(result: DownloadResult) -> None:
            nonlocal is_done
            if is_done:
                message = f'downloader "{self._name}" called done twice for {request.url}'
                self._loop.call_exception_handler({"message": message})
                return
            is_done = True
            result = self._checked(result)
            if threading.get_ident() != self._thread:
                self._loop.call_soon_threadsafe(done, result)
            elif is_starting:
                self._loop.call_soon(done, result)
            else:
                done(result)

        try:
            self._start(request, once)
        except Exception as error:
            once(self._failure(f"raised {error_line(error)}"))
        is_starting = False

    def allow_bytes(self, size: int) -> None:
        if self._allow_bytes is not None:
            self._call(self._allow_bytes, size)

    def make_room(self, wanted: int) -> None:
        if self._make_room is not None:
            self._call(self._make_room, wanted)

    def cancel_all(self) -> None:
        self._call(self._downloader.cancel_all)

    def close(self) -> None:
        self._call(self._downloader.close)

    def _call(self, method: Callable[..., None], *arguments: object) -> None:
        try:
            method(*arguments)
        except Exception as error:
            message = f'downloader "{self._name}" raised {error_line(error)} in {method.__name__}'
            self._loop.call_exception_handler({"message": message, "exception": error})

    def _checked(self, result: object) -> DownloadResult:
        """The result if its fields have the declared types, else a failure that names the plugin."""
        if not isinstance(result, DownloadResult):
            return self._failure(f"gave {type(result).__name__}, not a DownloadResult")
        if isinstance(result.body, str):  # msgspec would decode it as base64.
            return self._failure("gave a body of str, not of bytes")
        try:
            valid = msgspec.convert(msgspec.structs.asdict(result), DownloadResult)
        except msgspec.ValidationError as error:
            return self._failure(f"gave a DownloadResult of other types: {error}")
        if valid.failure is DownloadFailure.PLUGIN and self._name not in valid.detail:
            valid.detail = f'downloader "{self._name}": {valid.detail}'
        return valid

    def _unable(self, unknown: frozenset[str]) -> DownloadResult:
        return self._failure(f"cannot do what the settings ask for this host: {', '.join(sorted(unknown))}")

    def _failure(self, what: str) -> DownloadResult:
        return DownloadResult(failure=DownloadFailure.PLUGIN, detail=f'downloader "{self._name}" {what}')
