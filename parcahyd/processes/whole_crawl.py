"""What a run is part of: nothing, where one machine crawls alone. `PartOfCrawl` is the other answer.

The coordinator asks its part at a few places, and knows no more of a cluster than this page.
Tested in tests/end_to_end/test_interrupt.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from parcahyd.config.database_url import database_url
from parcahyd.config.schema import Configuration
from parcahyd.core.messages import Ready
from parcahyd.core.progress import Observer
from parcahyd.pipeline.crawl_manager import Permits, Unshared
from parcahyd.processes.surroundings import Surroundings
from parcahyd.runtime.run_lock import RunLock

if TYPE_CHECKING:
    from parcahyd.processes.coordinator import Coordinator

__all__ = ["Part", "WholeCrawl"]


class Part(Protocol):
    """The part of a crawl that one coordinator has."""

    surroundings: Surroundings
    observer: Observer
    permits: Permits
    memory: int | None
    """The open file of what the processes of a pipeline share."""
    partition: bytes
    """The HeldPartition, encoded."""
    is_alone: bool
    """A user started this process and may interrupt it. It ends the run, at MaxPages and MaxSeconds too."""

    def lock(self, configuration: Configuration) -> RunLock:
        """Keeps other runs of this part away."""
        ...

    def begin(self, coordinator: Coordinator) -> None:
        """The channels to the other processes are there."""
        ...

    def ready(self, coordinator: Coordinator, message: Ready) -> None:
        """The database is open; the boxes are made next."""
        ...

    def max_pages(self, limit: int | None) -> int | None:
        """How many pages may be stored, as far as this is known now. None: there is no limit."""
        ...

    def has_nothing_to_do(self, coordinator: Coordinator) -> None:
        """Nothing is leased, and nothing falls due within WaitForRetries. Called after every event, as long as that is so."""
        ...

    def is_blocked(self, host: str) -> bool:
        """Whether the user wants nothing to be requested of a host for now."""
        ...

    def end(self) -> None:
        """Every other process has ended."""
        ...


class WholeCrawl:
    """The only part of a crawl: everything is its own, and when there is nothing to do, the run is over."""

    memory: int | None = None
    partition = b""
    is_alone = True

    def __init__(self, observer: Observer) -> None:
        self.surroundings = Surroundings()
        self.observer = observer
        self.permits: Permits = Unshared()

    def lock(self, configuration: Configuration) -> RunLock:
        """That of the database."""
        return RunLock(database_url(configuration))

    def begin(self, coordinator: Coordinator) -> None:
        """There is nobody to talk to."""

    def ready(self, coordinator: Coordinator, message: Ready) -> None:
        """There is nobody to talk to."""

    def max_pages(self, limit: int | None) -> int | None:
        """The limit itself; 0 stands for none."""
        return limit or None

    def has_nothing_to_do(self, coordinator: Coordinator) -> None:
        """The run is over."""
        coordinator.finish("done")

    def is_blocked(self, host: str) -> bool:  # noqa: ARG002 (the port's signature)
        """No host is."""
        return False

    def end(self) -> None:
        """Nothing was shared."""
