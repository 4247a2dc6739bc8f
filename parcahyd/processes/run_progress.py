"""The progress of a run: counts and notices so far, handed to the observer."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from parcahyd.core.messages import Committed, Finished, RequestProcessed
from parcahyd.core.ports import Clock
from parcahyd.core.progress import Observer, Progress, RunSummary, WorkerProgress

if TYPE_CHECKING:
    from parcahyd.topology import CoordinatorBoxes

__all__ = ["RunProgress"]

_NOTES_KEPT = 20


class RunProgress:
    """Keeps the run's counts and the last sentences about what went wrong, and reports them to the observer."""

    def __init__(self, clock: Clock, observer: Observer) -> None:
        self._committed = Committed((), False, 0, 0, 0, 0, 0, 0, {}, 0, 0)
        self.requests = 0
        self.unstored = 0
        """Records that wait for a database that takes nothing; 0 where it takes them."""
        self._notes: deque[str] = deque(maxlen=_NOTES_KEPT)
        self._note = ""
        """The newest sentence, as long as it holds."""
        self._clock = clock
        self._observer = observer
        self._started = clock.monotonic()
        self._last_report = self._started, 0

    @property
    def seconds(self) -> float:
        """How long the run has taken so far."""
        return self._clock.monotonic() - self._started

    @property
    def pages(self) -> int:
        """Documents that were stored or found unchanged."""
        return self._committed.pages

    def set_committed(self, message: Committed) -> None:
        self._committed = message
        if self.unstored and not message.unstored:
            self._note = ""  # The database takes records again.
        self.unstored = message.unstored

    def count_requests(self, message: RequestProcessed) -> None:
        self.requests += message.requests

    def note(self, sentence: str, unstored: int = 0) -> None:
        self._notes.append(sentence)
        self._note = sentence
        self.unstored = unstored or self.unstored

    def report(self, phase: str, boxes: CoordinatorBoxes | None, workers: tuple[WorkerProgress, ...]) -> None:
        """A snapshot of the run as it stands."""
        now = self._clock.monotonic()
        committed = self._committed
        pages = committed.stored + committed.unchanged
        before, pages_before = self._last_report
        self._last_report = now, pages
        self._observer.progress(
            Progress(
                seconds=now - self._started,
                stored=committed.stored,
                unchanged=committed.unchanged,
                failed=committed.failed,
                refused=committed.refused,
                gone=committed.gone,
                received=committed.received,
                reasons=committed.reasons,
                pages_per_second=(pages - pages_before) / max(now - before, 0.001),
                url_ip_queue=len(boxes.url_ip_queue) if boxes else 0,
                resolved_queue=len(boxes.resolved_queue) if boxes else 0,
                open_visits=boxes.url_dispatcher.open_visits if boxes else 0,
                buffer_records=committed.buffer_records,
                buffer_bytes=committed.buffer_bytes,
                workers=workers,
                phase=phase,
                note=self._note,
                at=self._clock.now(),
                waits_until=boxes.url_dispatcher.wakes_at() if boxes else None,
                unstored=self.unstored,
            )
        )

    def close(self, outcome: str, finished: Finished | None) -> None:
        """The summary, when the run's row is closed; None stands for a run that ended before the database could close it."""
        committed = self._committed
        if finished is None:
            self.note(_not_stored(committed))
            finished = Finished({}, None)
        self._observer.finished(
            RunSummary(
                outcome=outcome,
                seconds=self.seconds,
                requests=self.requests,
                stored=committed.stored,
                unchanged=committed.unchanged,
                failed=committed.failed,
                refused=committed.refused,
                gone=committed.gone,
                received=committed.received,
                reasons=committed.reasons,
                waiting=finished.waiting,
                next_due=finished.next_due,
                notes=tuple(self._notes),
                held_back=finished.held_back,
                documents=committed.pages,
                saved=committed.saved,
            )
        )


def _not_stored(committed: Committed) -> str:
    records, size = committed.buffer_records, committed.buffer_bytes
    what = (
        f"{records:,} records ({size:,} bytes) that had been received were not stored"
        if records
        else "nothing waited to be stored"
    )
    return f"the run was ended before the database could close it: {what}; the next run fetches what is missing"
