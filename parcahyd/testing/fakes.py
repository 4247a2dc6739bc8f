"""In-memory stand-ins for the ports: a clock, a resolver and a downloader for tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult, RequestOptions, Resolution
from parcahyd.core.states import Reason

__all__ = ["FakeClock", "FakeDownloader", "FakeResolver"]

Done = Callable[[DownloadResult], None]


class FakeClock:
    """A clock that moves only when `advance` is called."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._start = now
        self._passed = 0.0

    def now(self) -> float:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed

    def advance(self, seconds: float) -> None:
        self._passed += seconds


class FakeResolver:
    """Resolves from a table; a host may have a Reason instead of addresses, and one that is missing has DNS_NO_NAME.

    `asked` lists the hosts in the order of the calls.
    """

    def __init__(self, table: Mapping[str, Sequence[str] | Reason], ttl: float = 3600.0) -> None:
        self.asked: list[str] = []
        self.closed = False
        self._table = table
        self._ttl = ttl

    def resolve(self, host: str) -> Resolution:
        self.asked.append(host)
        found = self._table.get(host, Reason.DNS_NO_NAME)
        if isinstance(found, Reason):
            raise ResolutionFailure(found, host)
        return Resolution(tuple(found), self._ttl)

    def close(self) -> None:
        self.closed = True


class FakeDownloader:
    """Answers from a table of URLs: bytes stand for a 200 with that body, and a URL that is missing gets 404.

    Deliveries are scheduled with `later`, such as `loop.call_soon`; without it they wait for `deliver`. `requests` lists the
    requests that were started. An answer without a peer gets the pinned address as its peer.
    """

    def __init__(
        self,
        pages: Mapping[str, bytes | DownloadResult],
        later: Callable[[Callable[[], None]], object] | None = None,
        schemes: Collection[str] = ("http", "https"),
    ) -> None:
        self.schemes = frozenset(schemes)
        self.options = frozenset(RequestOptions.__struct_fields__)
        self.requests: list[DownloadRequest] = []
        self.closed = False
        self._pages = pages
        self._later = later
        self._waiting: list[tuple[DownloadRequest, Done]] = []

    def start(self, request: DownloadRequest, done: Done) -> None:
        self.requests.append(request)
        self._waiting.append((request, done))
        if self._later is not None:
            self._later(self.deliver)

    def deliver(self) -> None:
        """Answer everything that waits."""
        waiting, self._waiting = self._waiting, []
        for request, done in waiting:
            done(self._answer(request))

    def cancel_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done(DownloadResult(failure=DownloadFailure.CANCELLED, detail="cancelled"))

    def close(self) -> None:
        self.closed = True

    def _answer(self, request: DownloadRequest) -> DownloadResult:
        page = self._pages.get(request.url)
        if page is None:
            return DownloadResult(404, peer=request.address)
        if isinstance(page, bytes):
            return DownloadResult(200, (("Content-Type", "text/html"),), page, request.address)
        return msgspec.structs.replace(page, peer=page.peer or request.address)
