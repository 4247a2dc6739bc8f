"""Decides which visit may send its request next: visits wait for their host, then for their address.

A waiting host has one entry in a heap of times, however many URLs it has. When its own rate limit permits a request, its visit
waits for the address. So the next visit is found in logarithmic time of the number of waiting hosts.

A request leaves later than it was decided on, when its connection is ready. Until then no other request to its host and its
address is permitted, and their delays count from there: what matters is how far apart servers see the requests.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from itertools import islice
from math import inf
from typing import Generic, Protocol, TypeVar

from parcahyd.core.records import LOCAL_ADDRESS
from parcahyd.pipeline.crawl_worker.slow_hosts import SlowHosts
from parcahyd.rules.politeness.byte_rate import ByteRate
from parcahyd.rules.politeness.rate_limit import RateLimit

__all__ = ["LONGEST_CONNECTING", "RequestScheduler"]

LONGEST_CONNECTING = 4.0
"""Seconds that other requests wait for one that is connecting: by then the second repetition of a lost packet has left. Whoever
lets connections hang, at an address that others share, must not hold them up for longer."""

_SLOW_HOSTS_WAIT = 1.0
"""Seconds after which a slow host that found the share of slow hosts in use asks again."""


class _Visit(Protocol):
    @property
    def host(self) -> str: ...

    @property
    def address(self) -> str: ...

    @property
    def host_rule(self) -> tuple[float, int]: ...


VisitType = TypeVar("VisitType", bound=_Visit)


class _WaitingLine(Generic[VisitType]):
    """The rate limit of a host or an address, how many visits are open there, and which of them wait."""

    __slots__ = ("byte_rate", "is_host", "limit", "open", "queued", "waiting")

    def __init__(self, limit: RateLimit, is_host: bool) -> None:
        self.limit = limit
        self.is_host = is_host
        self.byte_rate = ByteRate()
        self.open = 0
        self.queued = False
        self.waiting: deque[VisitType] = deque()


class RequestScheduler(Generic[VisitType]):
    """Permits requests; each visit has at most one that waits.

    Call `open` for a visit's host and address, `enqueue` when the visit has a request, `next_ready` for the visit that may send
    now, `connecting` and `sent` before and after the request leaves, `finished` when the answer has arrived, and `close` at the
    end, which returns until when both must rest. A host has its own delay and number of connections: of several visits to it,
    the longest delay and the smallest number count. Times are monotonic.
    """

    def __init__(self, address_delay: float, address_connections: int, slow_hosts: SlowHosts | None = None) -> None:
        self._address_rule = address_delay, address_connections
        self._hosts: dict[str, _WaitingLine[VisitType]] = {}
        self._addresses: dict[str, _WaitingLine[VisitType]] = {}
        self._heap: list[tuple[float, int, _WaitingLine[VisitType]]] = []
        self._sequence = 0
        self._slow_hosts = slow_hosts or SlowHosts(1)
        self._connecting: dict[object, tuple[float, list[_WaitingLine[VisitType]]]] = {}
        """Requests that are not sent yet, the oldest first: how long others wait for each, and whose limits it keeps closed."""

    def open(self, visit: VisitType, host_not_before: float, address_not_before: float) -> None:
        for lines, name, rule, not_before in (
            (self._hosts, visit.host, visit.host_rule, host_not_before),
            (self._addresses, visit.address, self._rule_of(visit.address), address_not_before),
        ):
            line = lines.get(name)
            if line is None:
                line = lines[name] = _WaitingLine(RateLimit(*rule), lines is self._hosts)
            else:
                line.limit.narrow(*rule)
            line.open += 1
            line.limit.hold(not_before)

    def _rule_of(self, address: str) -> tuple[float, int]:
        """Delay and connections of an address. Local documents have no server that could be in need of a pause."""
        return self._address_rule if address != LOCAL_ADDRESS else (0.0, self._address_rule[1])

    def enqueue(self, visit: VisitType) -> None:
        """The visit has one request ready. It must not be queued already."""
        line = self._hosts[visit.host]
        line.waiting.append(visit)
        self._queue(line)

    def next_ready(self, now: float) -> VisitType | None:
        """The next visit that may send its request now, or None. Its host and address count the request as under way."""
        if self._connecting:
            self._release_late(now)
        heap = self._heap
        while heap and heap[0][0] <= now:
            _, _, line = heappop(heap)
            line.queued = False
            if not line.waiting:
                continue
            if line.limit.opens_at() > now:
                self._queue(line)
                continue
            visit = line.waiting.popleft()
            if line.is_host:
                # One visit of a host at a time waits for an address. The others wait while `queued` is set.
                line.queued = True
                address = self._addresses[visit.address]
                address.waiting.append(visit)
                self._queue(address)
                continue
            host = self._hosts[visit.host]
            if self._slow_hosts.names and self._slow_hosts.must_wait(visit.host, now):
                host.limit.hold(now + _SLOW_HOSTS_WAIT)
            if host.limit.opens_at() > now:  # The host was held while its visit waited for the address.
                host.waiting.appendleft(visit)
                host.queued = False
                self._queue(host)
                self._queue(line)
                continue
            line.limit.enter(now)
            self._queue(line)
            host.limit.enter(now)
            host.queued = False
            self._queue(host)
            return visit
        return None

    def count_waiting(self, now: float) -> int:
        """How many requests could be sent now. Those to slow hosts do not count, for nobody gives way to them."""
        found: dict[str, int] = {}
        for at, _, line in self._heap:
            if at > now:
                continue
            # Of a host only the first visit could send. In an address's line one visit of each host waits.
            for visit in islice(line.waiting, 1) if line.is_host else line.waiting:
                host, address = self._lines(visit)
                if host.limit.opens_at() <= now and visit.host not in self._slow_hosts.names:
                    found[visit.address] = min(found.get(visit.address, 0) + 1, address.limit.places(now))
        return sum(found.values())

    def connecting(self, request: object, visit: VisitType, now: float) -> bool:
        """The request that `next_ready` permitted is started; returns whether `sent` must be called when it leaves."""
        lines = [line for line in self._lines(visit) if line.limit.counts_from_sending]
        for line in lines:
            line.limit.connecting += 1
        if lines:
            self._connecting[request] = now + LONGEST_CONNECTING, lines
        return bool(lines)

    def sent(self, request: object, visit: VisitType, now: float) -> None:
        """The request has left: delays count from now."""
        self._release(request)
        for line in self._lines(visit):
            line.limit.sent(now)
            self._queue(line)

    def _lines(self, visit: VisitType) -> tuple[_WaitingLine[VisitType], _WaitingLine[VisitType]]:
        return self._hosts[visit.host], self._addresses[visit.address]

    def _release(self, request: object) -> None:
        _, lines = self._connecting.pop(request, (0.0, ()))
        for line in lines:
            line.limit.connecting -= 1

    def _release_late(self, now: float) -> None:
        """Waits no longer for requests that have been connecting for too long."""
        while self._connecting:
            request, (until, lines) = next(iter(self._connecting.items()))
            if until > now:
                break
            self._release(request)
            for line in lines:
                self._queue(line)

    def finished(self, request: object, visit: VisitType, now: float) -> None:
        """The visit's request has ended, sent or not."""
        self._release(request)
        host = self._hosts[visit.host]
        host.limit.leave(now)
        self._queue(host)
        address = self._addresses[visit.address]
        address.limit.leave(now)
        self._queue(address)

    def hold(self, visit: VisitType, host_until: float, address_until: float) -> None:
        """No request goes to this visit's host, or to its address, before these times."""
        self._hosts[visit.host].limit.hold(host_until)
        self._addresses[visit.address].limit.hold(address_until)

    def received(self, visit: VisitType, size: int, rate: float, started_at: float) -> None:
        """The host has sent so many bytes; it gets its next request when it sent them at this rate, in bytes a second."""
        line = self._hosts[visit.host]
        line.byte_rate.received(size, rate, started_at)
        line.limit.hold(line.byte_rate.opens_at)

    def rate_opens_at(self, visit: VisitType) -> float:
        """Until when the visit's host rests because of the bytes that it sent."""
        return self._hosts[visit.host].byte_rate.opens_at

    def set_delay(self, visit: VisitType, delay: float) -> None:
        """Change the delay of the host; of several visits to it, the longest delay counts."""
        line = self._hosts[visit.host]
        if delay > line.limit.delay or line.open == 1:
            line.limit.set_delay(delay)

    def withdraw(self, visit: VisitType) -> None:
        """Remove the visit from every queue: it has no request any more."""
        host = self._hosts[visit.host]
        address = self._addresses[visit.address]
        if visit in host.waiting:
            host.waiting.remove(visit)
        if visit in address.waiting:
            address.waiting.remove(visit)
            host.queued = False
            self._queue(host)

    def close(self, visit: VisitType) -> tuple[float, float]:
        """The visit is over; returns until when its host and its address must rest."""
        rest = []
        for lines, name in ((self._hosts, visit.host), (self._addresses, visit.address)):
            line = lines[name]
            rest.append(line.limit.next_at)
            line.open -= 1
            if not line.open:
                del lines[name]
        return rest[0], rest[1]

    def next_at(self) -> float:
        """When a visit may send next; infinity while none has a time yet."""
        late = next(iter(self._connecting.values()))[0] if self._connecting else inf
        return min(self._heap[0][0], late) if self._heap else late

    def _queue(self, line: _WaitingLine[VisitType]) -> None:
        if line.queued or not line.waiting:
            return
        at = line.limit.opens_at()
        if at == inf:
            return  # sent() or finished() queues it again.
        line.queued = True
        self._sequence += 1
        heappush(self._heap, (at, self._sequence, line))
