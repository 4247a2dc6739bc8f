from __future__ import annotations

import threading

import msgspec

from parcahyd.cli.reporter_thread import ReporterThread
from parcahyd.core.progress import Progress, RunSummary

SNAPSHOT = Progress(0.0, 0, 0, 0, 0, 0, 0, {}, 0.0, 0, 0, 0, 0, 0, ())
SUMMARY = RunSummary("done", 1.0, 0, 0, 0, 0, 0, 0, 0, {}, {}, None)


class Recording:
    """A reporter that can be stopped, as a terminal with Ctrl-S, and that can lose its output."""

    def __init__(self, failing: bool = False) -> None:
        self.told: list[object] = []
        self.failing = failing
        self.entered = threading.Event()
        self.go = threading.Event()

    def progress(self, snapshot: Progress) -> None:
        self.entered.set()
        self.go.wait()
        if self.failing:
            raise BrokenPipeError
        self.told.append(snapshot.stored)

    def finished(self, summary: RunSummary) -> None:
        self.told.append(summary.outcome)

    def close(self) -> None:
        self.told.append("closed")


def _at(stored: int) -> Progress:
    return msgspec.structs.replace(SNAPSHOT, stored=stored)


def test_a_stopped_terminal_holds_up_nobody_and_misses_the_old_snapshots() -> None:
    reporter = Recording()
    observer = ReporterThread(reporter)
    observer.progress(_at(1))
    reporter.entered.wait()
    for stored in range(2, 100):
        observer.progress(_at(stored))
    observer.finished(SUMMARY)
    assert reporter.told == []
    reporter.go.set()
    observer.close()
    assert reporter.told == [1, 99, "done", "closed"]


def test_a_lost_output_ends_the_telling_not_the_run() -> None:
    reporter = Recording(failing=True)
    reporter.go.set()
    observer = ReporterThread(reporter)
    observer.progress(_at(1))
    observer.finished(SUMMARY)
    observer.close()
    assert reporter.told in (["closed"], ["done", "closed"])


def test_a_run_that_never_began_is_closed_too() -> None:
    reporter = Recording()
    ReporterThread(reporter).close()
    assert reporter.told == ["closed"]
