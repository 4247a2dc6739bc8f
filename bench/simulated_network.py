"""A network without wires: the downloader port on a clock that jumps from event to event.

A connection to a new address costs one round trip, each request another, and then the answer comes at the connection's own
bandwidth. Connections are kept. There is no slow start, no loss, and nothing that connections share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from urllib.parse import urlsplit

from bench.made_up_web import Web
from parcahyd.core.ports import DownloadFault, DownloadRequest, DownloadResult

__all__ = ["Line", "SimulatedClock", "SimulatedNetwork"]

_HEADER_BYTES = 250
_TYPES = {".html": "text/html", ".TOL": "text/vnd.augment.tol", ".TVI": "text/vnd.augment.tvi", ".txt": "text/plain"}


@dataclass(frozen=True)
class Line:
    """How far away all hosts are."""

    latency: float
    """Seconds of a round trip."""
    bandwidth: float = inf
    """Bytes per second of each connection."""


class SimulatedClock:
    """Time that stands still while something happens, and jumps to the next event."""

    def __init__(self) -> None:
        self.time = 1000.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._sequence = 0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    def at(self, time: float, happen: Callable[[], None]) -> None:
        self._sequence += 1
        heappush(self._events, (time, self._sequence, happen))

    def run(self) -> None:
        """Until nothing is left to happen."""
        while self._events:
            time, _, happen = heappop(self._events)
            self.time = max(self.time, time)
            happen()


class SimulatedNetwork:
    """Serves a web; counts requests by what was asked for, and bytes of answers."""

    schemes = frozenset({"http"})

    def __init__(self, clock: SimulatedClock, web: Web, line: Line) -> None:
        self.requests = Counter[str]()
        """By ending of the path."""
        self.misses = 0
        self.bytes = 0
        self._clock = clock
        self._web = web
        self._line = line
        self._idle = Counter[str]()
        """Connections that nobody uses, by address."""

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        began, seconds = self._clock.time, self._line.latency
        if self._idle[request.address]:
            self._idle[request.address] -= 1
        else:
            seconds += self._line.latency
        result = self._answer(request)
        seconds += (_HEADER_BYTES + len(result.body)) / self._line.bandwidth

        def arrived() -> None:
            self._idle[request.address] += 1
            result.elapsed = self._clock.time - began
            done(result)

        self._clock.at(began + seconds, arrived)

    def cancel_all(self) -> None:
        raise NotImplementedError("simulated crawls run to their end")

    def close(self) -> None:
        pass

    def _answer(self, request: DownloadRequest) -> DownloadResult:
        url = urlsplit(request.url)
        ending = url.path[url.path.rfind(".") :]
        self.requests[ending] += 1
        body = self._web.get(url.netloc, {}).get(url.path)
        if body is None:
            self.misses += 1
            return DownloadResult(404, (), b"", request.address)
        self.bytes += _HEADER_BYTES + len(body)
        if len(body) > request.max_bytes:
            return DownloadResult(fault=DownloadFault.SIZE, peer=request.address)
        headers = (("Content-Type", _TYPES.get(ending, "")), ("Content-Length", str(len(body))))
        return DownloadResult(200, headers, body, request.address)
