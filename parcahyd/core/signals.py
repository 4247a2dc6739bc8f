"""The five signals of the pipeline (statement P20), and who is woken by each.

| signal | raised by | wakes |
|---|---|---|
| Something to map | URL Dispatcher, after it filled the URL-IP Queue | Mapping Manager |
| Hungry | URL Mapper, when its set is finished | Mapping Manager |
| Something to crawl | URL Mapper, after it filled the Resolved URL Queue | Crawl Manager |
| Request processed | Crawl Worker, when a visit is over | Crawl Manager |
| Something to update | Crawl Worker, with every record for the buffer | Update Database |

A signal carries nothing: what there is to do stands in the queues, so a signal that is raised twice does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

__all__ = ["Signal", "SignalBoard"]


class Signal(Enum):
    SOMETHING_TO_MAP = "Something to map"
    HUNGRY = "Hungry"
    SOMETHING_TO_CRAWL = "Something to crawl"
    REQUEST_PROCESSED = "Request processed"
    SOMETHING_TO_UPDATE = "Something to update"


class SignalBoard:
    """Remembers who is woken by which signal; `raise_` runs them at once, in the order they were wired."""

    def __init__(self) -> None:
        self._woken: dict[Signal, list[Callable[[], None]]] = {signal: [] for signal in Signal}

    def wire(self, signal: Signal, woken: Callable[[], None]) -> None:
        self._woken[signal].append(woken)

    def raise_(self, signal: Signal) -> None:
        for woken in self._woken[signal]:
            woken()
