"""The URL Dispatcher (P10): reads sites with URLs that are new or due, and fills the URL-IP Queue.

It requests leases from Update Database, one request at a time, while the queue has room for the answer. It also decides when
the run is over: nothing is leased, nothing is due, and nothing falls due soon enough to wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from parcahyd.core.messages import Committed, LeaseRequest, Leases, Signal, SignalBoard
from parcahyd.core.ports import Clock
from parcahyd.core.records import SiteLease

__all__ = ["UrlDispatcher"]

_LEASES_AT_ONCE = 64
_WEIGHT_AT_ONCE = 32 * 1024 * 1024


class _Queue(Protocol):
    @property
    def room(self) -> int: ...

    def put(self, lease: SiteLease) -> bool: ...


def weight_of(lease: SiteLease) -> int:
    """About how many bytes of memory a pair occupies until its worker has it."""
    return 1000 + len(lease.known) + 300 * len(lease.urls)


class UrlDispatcher:
    """Takes leases from Update Database, and puts them into the URL-IP Queue as pairs.

    `ask` sends a LeaseRequest. The coordinator calls `leases` with the answer, `committed` when visits are over or the database
    has new work, and `handed_over` when a pair has left the coordinator.
    """

    def __init__(
        self,
        queue: _Queue,
        signals: SignalBoard,
        clock: Clock,
        ask: Callable[[LeaseRequest], None],
        *,
        forever: bool,
        wait_for_retries: float,
    ) -> None:
        self._queue = queue
        self._signals = signals
        self._clock = clock
        self._ask = ask
        self._forever = forever
        self._wait_for_retries = wait_for_retries
        self._open: dict[int, int] = {}
        self._weight = 0
        self._requested = 0
        self._has_new_work = True
        self._stopped = False
        self._rests_until = 0.0
        self.next_due: float | None = None

    @property
    def open_visits(self) -> int:
        """Sites that are leased and not yet released."""
        return len(self._open)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is leased or requested."""
        return not self._open and not self._requested

    def committed(self, message: Committed) -> None:
        """Visits are over and committed; there may be new sites to lease."""
        for visit in message.released:
            self._weight -= self._open.pop(visit, 0)
        # A host that keeps its usual delay is no reason to end the run.
        self._rests_until = max(self._rests_until, message.rests_until)
        if message.new_work:
            self._has_new_work = True
            self.dispatch()

    def stop(self) -> None:
        """Request no more leases; the coordinator hands back what is leased."""
        self._stopped = True

    def dispatch(self) -> None:
        """Request leases if there is new work, or a site fell due, and the queue has room for the answer."""
        if self._requested or self._stopped or not (self._has_new_work or self._fell_due()):
            return
        count = min(_LEASES_AT_ONCE, self._queue.room)
        if count <= 0 or self._weight > _WEIGHT_AT_ONCE:
            return
        self._requested = count
        self._has_new_work = False
        self._ask(LeaseRequest(count, self._clock.now() if self._forever else None))

    def leases(self, answer: Leases) -> None:
        """The answer to the last request. As many leases as requested mean that there may be more."""
        self._has_new_work = self._has_new_work or len(answer.pairs) >= self._requested
        self._requested = 0
        self.next_due = answer.next_due
        for lease in answer.pairs:
            self._open[lease.visit] = weight_of(lease)
            self._weight += self._open[lease.visit]
            self._queue.put(lease)
        if answer.pairs:
            self._signals.raise_(Signal.SOMETHING_TO_MAP)
        self.dispatch()

    def handed_over(self, visit: int) -> None:
        """The pair is with its worker, or was handed back: it occupies no memory of the coordinator."""
        self._weight -= self._open.get(visit, 0)
        if visit in self._open:
            self._open[visit] = 0

    def is_over(self) -> bool:
        """Whether nothing is leased or requested, and nothing falls due within WaitForRetries or after a usual delay."""
        if not self.is_idle:
            return False
        if self._stopped:
            return True
        if self._has_new_work or self._forever:
            return False
        return self.next_due is None or self.next_due > max(self._clock.now() + self._wait_for_retries, self._rests_until)

    def wakes_at(self) -> float | None:
        """When to call `dispatch` without a signal, because the next site falls due."""
        return None if self._stopped or self._requested else self.next_due

    def _fell_due(self) -> bool:
        return self.next_due is not None and self.next_due <= self._clock.now()
