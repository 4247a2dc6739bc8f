"""The five signals of the pipeline (statement P20)."""

from collections.abc import Callable
from enum import Enum

__all__ = ["Signal", "SignalBoard"]


class Signal(Enum):
    """A signal, which wakes a box.

    | signal | raised by | wakes |
    |---|---|---|
    | Something to map | URL Dispatcher, after it filled the URL-IP Queue | Mapping Manager |
    | Hungry | URL Mapper, when its set is finished | Mapping Manager |
    | Something to crawl | URL Mapper, after it filled the Resolved URL Queue | Crawl Manager |
    | Request processed | Crawl Worker, when a visit is over | Crawl Manager |
    | Something to update | Crawl Worker, with every record for the buffer | Update Database |

    A signal carries no data: the work is in the queues, so a signal that is raised twice does no harm.
    """

    SOMETHING_TO_MAP = "Something to map"
    HUNGRY = "Hungry"
    SOMETHING_TO_CRAWL = "Something to crawl"
    REQUEST_PROCESSED = "Request processed"
    SOMETHING_TO_UPDATE = "Something to update"


class SignalBoard:
    """The functions that each signal calls; `raise_` calls them at once, in the order in which they were wired."""

    def __init__(self) -> None:
        self._receivers: dict[Signal, list[Callable[[], None]]] = {signal: [] for signal in Signal}

    def wire(self, signal: Signal, receiver: Callable[[], None]) -> None:
        self._receivers[signal].append(receiver)

    def raise_(self, signal: Signal) -> None:
        for receiver in self._receivers[signal]:
            receiver()
