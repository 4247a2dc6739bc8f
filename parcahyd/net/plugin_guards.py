"""What stands between the crawl and a plugin: one that raises is answered for, with its name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from parcahyd.core.errors import ResolutionFailed
from parcahyd.core.life_cycle import Reason
from parcahyd.core.ports import (
    GENERAL,
    Downloader,
    DownloadFault,
    DownloadRequest,
    DownloadResult,
    RequestOptions,
    Resolution,
    Resolver,
)

if TYPE_CHECKING:
    from parcahyd.core.event_loop import EventLoop

__all__ = ["GuardedDownloader", "GuardedResolver", "StrictDownloader", "in_a_line"]

Done = Callable[[DownloadResult], None]


def in_a_line(error: BaseException) -> str:
    """An exception's kind and the first line of its text."""
    first = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


class GuardedResolver:
    """A resolver whose mistakes become ResolutionFailed with the plugin's name, and whose answers hold `max_ttl` at most."""

    def __init__(self, name: str, resolver: Resolver, max_ttl: float) -> None:
        self._name = name
        self._resolver = resolver
        self._max_ttl = max_ttl

    def resolve(self, host: str) -> Resolution:
        try:
            resolution = self._resolver.resolve(host)
        except ResolutionFailed:
            raise
        except Exception as error:
            raise ResolutionFailed(Reason.DNS_FAILURE, f'resolver "{self._name}" raised {in_a_line(error)}') from error
        if not isinstance(resolution, Resolution):
            kind = type(resolution).__name__
            raise ResolutionFailed(Reason.DNS_FAILURE, f'resolver "{self._name}" returned {kind}, not a Resolution')
        if not isinstance(resolution.ttl, int | float):
            kind = type(resolution.ttl).__name__
            raise ResolutionFailed(Reason.DNS_FAILURE, f'resolver "{self._name}" returned a ttl that is {kind}, not a number')
        return resolution if resolution.ttl <= self._max_ttl else Resolution(resolution.addresses, self._max_ttl)

    def close(self) -> None:
        try:
            self._resolver.close()
        except Exception as error:
            import logging  # Seldom needed, and it would be loaded before the first request.

            # The end of a run is not held up by it.
            logging.getLogger(__name__).warning('resolver "%s" raised %s when it was closed', self._name, in_a_line(error))


class GuardedDownloader:
    """A downloader whose `start` never raises and never gets options that it does not honour.

    All that it adds to a general request is a comparison and a try.
    """

    def __init__(self, name: str, downloader: Downloader, loop: EventLoop) -> None:
        self.schemes = downloader.schemes
        self.options: frozenset[str] = getattr(downloader, "options", frozenset())
        self._name = name
        self._downloader = downloader
        self._start = downloader.start
        self._loop = loop

    def start(self, request: DownloadRequest, done: Done) -> None:
        if request.options is not GENERAL and (unknown := self._unknown(request.options)):
            self._loop.call_soon(done, self._fault(unknown))
            return
        try:
            self._start(request, done)
        except Exception as error:
            self._loop.call_soon(done, self._fault(f"raised {in_a_line(error)}"))

    def cancel_all(self) -> None:
        self._ask(self._downloader.cancel_all)

    def close(self) -> None:
        self._ask(self._downloader.close)

    def _ask(self, method: Callable[[], None]) -> None:
        try:
            method()
        except Exception as error:
            message = f'downloader "{self._name}" raised {in_a_line(error)} in {method.__name__}'
            self._loop.call_exception_handler({"message": message, "exception": error})

    def _unknown(self, options: RequestOptions) -> str:
        """What to say of options that the downloader would ignore; empty where it honours all."""
        unknown = options.differences() - self.options
        return f"cannot do what the settings ask for this host: {', '.join(sorted(unknown))}" if unknown else ""

    def _fault(self, what: str) -> DownloadResult:
        return DownloadResult(fault=DownloadFault.PLUGIN, detail=f'downloader "{self._name}" {what}')


class StrictDownloader(GuardedDownloader):
    """The guard of a stranger's downloader: whatever the plugin does, `done` gets one DownloadResult, later and on the loop."""

    def __init__(self, name: str, downloader: Downloader, loop: EventLoop) -> None:
        super().__init__(name, downloader, loop)
        self._thread = threading.get_ident()

    def start(self, request: DownloadRequest, done: Done) -> None:
        if request.options is not GENERAL and (unknown := self._unknown(request.options)):
            self._loop.call_soon(done, self._fault(unknown))
            return
        told = False
        starting = True

        def once(result: DownloadResult) -> None:
            nonlocal told
            if told:
                message = f'downloader "{self._name}" called done twice for {request.url}'
                self._loop.call_exception_handler({"message": message})
                return
            told = True
            result = self._as_promised(result)
            if result.fault is DownloadFault.PLUGIN and self._name not in result.detail:
                result.detail = f'downloader "{self._name}": {result.detail}'
            if threading.get_ident() != self._thread:
                self._loop.call_soon_threadsafe(done, result)
            elif starting:
                self._loop.call_soon(done, result)
            else:
                done(result)

        try:
            self._start(request, once)
        except Exception as error:
            once(self._fault(f"raised {in_a_line(error)}"))
        starting = False

    def _as_promised(self, result: object) -> DownloadResult:
        """The result with fields of the types that are declared, or a fault that says what it is instead."""
        if not isinstance(result, DownloadResult):
            return self._fault(f"gave {type(result).__name__}, not a DownloadResult")
        if isinstance(result.body, str):  # It would be taken for base64.
            return self._fault("gave a body of str, not of bytes")
        try:
            return msgspec.convert(msgspec.structs.asdict(result), DownloadResult)
        except msgspec.ValidationError as error:
            return self._fault(f"gave a DownloadResult of other types: {error}")
