"""The progress of a run: snapshots count what was committed, the summary closes them, and only the last notices are kept."""

from __future__ import annotations

from parcahyd.core.messages import Committed, Finished, RequestProcessed
from parcahyd.core.progress import Progress, RunSummary, WorkerProgress
from parcahyd.processes.run_progress import RunProgress
from parcahyd.testing import FakeClock


class Observer:
    def __init__(self) -> None:
        self.snapshots: list[Progress] = []
        self.summaries: list[RunSummary] = []

    def progress(self, snapshot: Progress) -> None:
        self.snapshots.append(snapshot)

    def finished(self, summary: RunSummary) -> None:
        self.summaries.append(summary)


def test_a_snapshot_has_the_rate_since_the_last_one() -> None:
    clock, observer = FakeClock(), Observer()
    progress = RunProgress(clock, observer)
    worker = WorkerProgress(0, 1, 2, 3, 4, 5, 6)
    progress.set_committed(Committed((), False, 10, 2, 1, 1, 1, 1000, {"robots": 1}, 7, 70))
    clock.advance(4.0)
    progress.report("crawling", None, (worker,))
    clock.advance(1.0)
    progress.report("waiting", None, ())
    first, second = observer.snapshots
    assert (first.stored, first.unchanged, first.pages_per_second, first.workers) == (10, 2, 3.0, (worker,))
    assert (first.buffer_records, first.buffer_bytes, first.phase) == (7, 70, "crawling")
    assert (second.pages_per_second, second.phase, second.seconds) == (0.0, "waiting", 5.0)


def test_records_that_wait_for_the_database_are_counted_until_it_takes_some() -> None:
    progress = RunProgress(FakeClock(), Observer())
    progress.note("a plugin broke its contract")
    assert progress.unstored == 0
    progress.note("the database takes nothing", 12)
    progress.note("a plugin broke its contract")
    assert progress.unstored == 12
    progress.set_committed(Committed((), False, 10, 2, 1, 1, 1, 1000, {}, 13, 130, unstored=13))
    assert progress.unstored == 13
    progress.set_committed(Committed((), False, 10, 2, 1, 1, 1, 1000, {}, 0, 0))
    assert progress.unstored == 0


def test_a_snapshot_says_that_the_database_takes_nothing_only_while_it_does() -> None:
    observer = Observer()
    progress = RunProgress(FakeClock(), observer)
    progress.note("the database takes nothing", 12)
    progress.report("crawling", None, ())
    progress.set_committed(Committed((), False, 10, 2, 1, 1, 1, 1000, {}, 0, 0))
    progress.report("crawling", None, ())
    assert [(snapshot.unstored, snapshot.note) for snapshot in observer.snapshots] == [
        (12, "the database takes nothing"),
        (0, ""),
    ]
    progress.close("done", Finished({}, None))
    assert observer.summaries[0].notes == ("the database takes nothing",)


def test_the_summary_has_every_request_and_the_last_notices() -> None:
    clock, observer = FakeClock(), Observer()
    progress = RunProgress(clock, observer)
    for visit in range(3):
        progress.count_requests(RequestProcessed(visit, 1, 5, ()))
    for number in range(30):
        progress.note(f"notice {number}")
    progress.close("done", Finished({"known": 3}, 99.0))
    (summary,) = observer.summaries
    assert (summary.outcome, summary.requests, summary.waiting, summary.next_due) == ("done", 15, {"known": 3}, 99.0)
    assert summary.notes == tuple(f"notice {number}" for number in range(10, 30))


def test_the_summary_of_a_run_that_was_cut_short_says_what_is_not_stored() -> None:
    observer = Observer()
    progress = RunProgress(FakeClock(), observer)
    progress.set_committed(Committed((), False, 10, 2, 1, 1, 1, 1000, {}, 1234, 70000))
    progress.close("interrupted", None)
    (summary,) = observer.summaries
    assert (summary.outcome, summary.stored, summary.waiting, summary.next_due) == ("interrupted", 10, {}, None)
    assert "1,234 records (70,000 bytes) that had been received were not stored" in summary.notes[-1]
    progress.set_committed(Committed((), False, 10, 2, 1, 1, 1, 1000, {}, 0, 0))
    progress.close("interrupted", None)
    assert "nothing waited to be stored" in observer.summaries[-1].notes[-1]
