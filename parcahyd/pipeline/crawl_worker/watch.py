"""Tells the coordinator how far each request of a watched visit is, before every step with which the process may die.

A visit is watched where a worker's process ended during a visit to the same site. Other visits have no watch.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Generic, TypeVar

from parcahyd.core.messages import Watched, WatchStep
from parcahyd.core.records import SiteLease
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest

__all__ = ["SuspectLine", "Watch"]

VisitType = TypeVar("VisitType")


class Watch:
    """The requests of one visit. A request is over when its answer is handled and no thread reads its document."""

    def __init__(self, lease: SiteLease, tell: Callable[[Watched], None]) -> None:
        self._visit = lease.visit
        self._site = lease.site
        self._tell = tell
        self._numbers: dict[PlannedRequest, int] = {}
        self._in_threads: Counter[PlannedRequest] = Counter()
        self._handling: PlannedRequest | None = None
        self._sent = 0

    def sent(self, request: PlannedRequest) -> None:
        self._sent += 1
        self._numbers[request] = self._sent
        self._tell(Watched(self._visit, self._site, self._sent, WatchStep.SENT, request.item))

    def answered(self, request: PlannedRequest) -> None:
        """The answer is handled from here on, until `handled`."""
        self._handling = request
        self._tell(Watched(self._visit, self._site, self._numbers[request], WatchStep.HANDLED))

    def to_thread(self) -> PlannedRequest | None:
        """A thread goes on with the request that is being handled; returns it."""
        if self._handling is not None:
            self._in_threads[self._handling] += 1
        return self._handling

    def from_thread(self, request: PlannedRequest | None) -> None:
        """The thread is done; what it gave is handled from here on, until `handled`."""
        if request is not None:
            self._in_threads[request] -= 1
            self.answered(request)

    def handled(self, request: PlannedRequest | None) -> None:
        self._handling = None
        if request is None:
            return
        number = self._numbers[request]
        if self._in_threads[request]:
            self._tell(Watched(self._visit, self._site, number, WatchStep.IN_THREAD))
        else:
            del self._in_threads[request], self._numbers[request]
            self._tell(Watched(self._visit, self._site, number, WatchStep.OVER))


class SuspectLine(Generic[VisitType]):
    """Visits that want to request a suspect; the first one may. So a worker has one suspect under way at a time.

    Suspects fail together and fall due together: an innocent one would be blamed again and again for a guilty one.
    """

    def __init__(self) -> None:
        self._line: deque[VisitType] = deque()

    def enter(self, visit: VisitType) -> bool:
        """Whether the visit, which is not in the line, may send its request now. If not, `leave` returns it when it may."""
        self._line.append(visit)
        return len(self._line) == 1

    def leave(self, visit: VisitType) -> VisitType | None:
        """The visit has no suspect under way or waiting any more; returns the visit that may send now in its place."""
        if visit not in self._line:
            return None
        was_first = self._line[0] == visit
        self._line.remove(visit)
        return self._line[0] if was_first and self._line else None
