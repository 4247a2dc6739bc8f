"""A network without wires: the downloader port on a clock that jumps from event to event.

A new connection costs one round trip, each request another, and then the answer comes: at the connection's own bandwidth, or at
an equal share of one that all connections have together. Connections are kept. There is no slow start and no loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from urllib.parse import urlsplit

from bench.augmented_web import Web
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult

__all__ = ["Line", "SimulatedClock", "SimulatedNetwork"]

_HEADER_BYTES = 250
_TYPES = {".html": "text/html", ".TOL": "text/vnd.augment.tol", ".TVI": "text/vnd.augment.tvi", ".txt": "text/plain"}


@dataclass(frozen=True)
class Line:
    """How far away all hosts are."""

    latency: float
    """Seconds of a round trip."""
    bandwidth: float = inf
    """Bytes per second of each connection, or of all."""
    is_shared: bool = False


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


class _Pipe:
    """Answers that share one bandwidth, each the same part of it."""

    def __init__(self, clock: SimulatedClock, bandwidth: float) -> None:
        self._clock = clock
        self._bandwidth = bandwidth
        self._each = 0.0
        """Bytes that everybody who was there from the beginning has got so far."""
        self._at = clock.time
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._sequence = 0

    def add(self, size: int, arrived: Callable[[], None]) -> None:
        self._advance()
        self._sequence += 1
        heappush(self._waiting, (self._each + size, self._sequence, arrived))
        self._plan()

    def _advance(self) -> None:
        if self._waiting:
            self._each += (self._clock.time - self._at) * self._bandwidth / len(self._waiting)
        self._at = self._clock.time

    def _plan(self) -> None:
        """The next to arrive, unless another is added before."""
        if self._waiting:
            wanted, plan = self._waiting[0][0] - self._each, self._sequence
            self._clock.at(self._clock.time + max(0.0, wanted) * len(self._waiting) / self._bandwidth, lambda: self._due(plan))

    def _due(self, plan: int) -> None:
        if plan != self._sequence:
            return
        self._advance()
        self._sequence += 1
        _, _, arrived = heappop(self._waiting)
        self._plan()
        arrived()


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
        self._pipe = _Pipe(clock, line.bandwidth)
        self._idle = Counter[str]()
        """Idle connections, by address."""

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        began, seconds = self._clock.time, self._line.latency
        if self._idle[request.address]:
            self._idle[request.address] -= 1
        else:
            seconds += self._line.latency
        result = self._answer(request)
        size = _HEADER_BYTES + len(result.body)

        def arrived() -> None:
            self._idle[request.address] += 1
            result.elapsed = self._clock.time - began
            done(result)

        if self._line.is_shared:
            self._clock.at(began + seconds, lambda: self._pipe.add(size, arrived))
        else:
            self._clock.at(began + seconds + size / self._line.bandwidth, arrived)

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
            return DownloadResult(failure=DownloadFailure.SIZE, peer=request.address)
        headers = (("Content-Type", _TYPES.get(ending, "")), ("Content-Length", str(len(body))))
        return DownloadResult(200, headers, body, request.address)
