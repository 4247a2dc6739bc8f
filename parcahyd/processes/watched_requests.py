"""What is under way in the watched visits of one worker, as far as it told. Tested in tests/processes/test_worker_deaths.py."""

from __future__ import annotations

import msgspec

from parcahyd.core.messages import Watched, WatchStep
from parcahyd.core.records import DueUrl

__all__ = ["WatchedRequest", "WatchedRequests"]


class WatchedRequest(msgspec.Struct, frozen=True):
    """A request that is not over."""

    visit: int
    site: int
    url: DueUrl | None
    """None for something other than a page, such as robots.txt."""
    step: WatchStep = WatchStep.SENT


class WatchedRequests:
    """Follows the messages of one worker."""

    def __init__(self) -> None:
        self._requests: dict[tuple[int, int], WatchedRequest] = {}

    def note(self, message: Watched) -> None:
        number = message.visit, message.number
        if message.step is WatchStep.SENT:
            self._requests[number] = WatchedRequest(message.visit, message.site, message.url)
        elif message.step is WatchStep.OVER:
            del self._requests[number]
        else:
            self._requests[number] = msgspec.structs.replace(self._requests[number], step=message.step)

    def under_way(self) -> tuple[WatchedRequest, ...]:
        return tuple(self._requests.values())
