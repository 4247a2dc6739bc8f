from __future__ import annotations

import io
import json
import threading
from typing import Any

import msgspec

from parcahyd.cli.reporters import JsonLines, ReporterThread
from parcahyd.core.progress import Progress, RunSummary, SiteProgress, WorkerProgress

EMPTY_SNAPSHOT = Progress(0.0, 0, 0, 0, 0, 0, 0, {}, 0.0, 0, 0, 0, 0, 0, ())
EMPTY_SUMMARY = RunSummary("done", 1.0, 0, 0, 0, 0, 0, 0, 0, {}, {}, None)


class Recording:
    """A reporter that can be stopped, as a terminal with Ctrl-S, and that can lose its output."""

    def __init__(self, failing: bool = False) -> None:
        self.received: list[object] = []
        self.failing = failing
        self.entered = threading.Event()
        self.go = threading.Event()

    def progress(self, snapshot: Progress) -> None:
        self.entered.set()
        self.go.wait()
        if self.failing:
            raise BrokenPipeError
        self.received.append(snapshot.stored)

    def finished(self, summary: RunSummary) -> None:
        self.received.append(summary.outcome)

    def close(self) -> None:
        self.received.append("closed")


def _at(stored: int) -> Progress:
    return msgspec.structs.replace(EMPTY_SNAPSHOT, stored=stored)


def test_a_stopped_terminal_holds_up_nobody_and_misses_the_old_snapshots() -> None:
    reporter = Recording()
    observer = ReporterThread(reporter)
    observer.progress(_at(1))
    reporter.entered.wait()
    for stored in range(2, 100):
        observer.progress(_at(stored))
    observer.finished(EMPTY_SUMMARY)
    assert reporter.received == []
    reporter.go.set()
    observer.close()
    assert reporter.received == [1, 99, "done", "closed"]


def test_a_lost_output_ends_the_telling_not_the_run() -> None:
    reporter = Recording(failing=True)
    reporter.go.set()
    observer = ReporterThread(reporter)
    observer.progress(_at(1))
    observer.finished(EMPTY_SUMMARY)
    observer.close()
    assert reporter.received in (["closed"], ["done", "closed"])


def test_a_run_that_never_began_is_closed_too() -> None:
    reporter = Recording()
    ReporterThread(reporter).close()
    assert reporter.received == ["closed"]


SNAPSHOT = Progress(
    seconds=0.5,
    stored=10,
    unchanged=1,
    failed=2,
    refused=3,
    gone=4,
    received=5000,
    reasons={"robots": 3},
    pages_per_second=20.0,
    url_ip_queue=1,
    resolved_queue=2,
    open_visits=3,
    buffer_records=4,
    buffer_bytes=500,
    workers=(WorkerProgress(0, 4711, 1, 2, 3, 4, 5, (SiteProgress("http://a.example", "192.0.2.1", 0, 7, 8),)),),
)
SUMMARY = RunSummary("done", 2.0, 12, 10, 1, 2, 3, 4, 5000, {"robots": 3}, {"failed": 2}, 1_700_000_000.0)


def _lines(output: io.BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_one_line_per_interval_of_the_run() -> None:
    output = io.BytesIO()
    lines = JsonLines(output, interval=5.0)
    for half_seconds in range(21):
        lines.progress(msgspec.structs.replace(SNAPSHOT, seconds=half_seconds / 2))
    assert [(line["event"], line["seconds"]) for line in _lines(output)] == [("progress", 5.0), ("progress", 10.0)]


def test_a_line_has_the_whole_snapshot() -> None:
    output = io.BytesIO()
    JsonLines(output, interval=0.0).progress(SNAPSHOT)
    (line,) = _lines(output)
    assert line.pop("event") == "progress"
    assert line.pop("time") > 1_600_000_000
    assert msgspec.convert(line, Progress) == SNAPSHOT


def test_the_last_line_is_the_summary() -> None:
    output = io.BytesIO()
    lines = JsonLines(output, interval=5.0)
    lines.progress(SNAPSHOT)
    lines.finished(SUMMARY)
    lines.close()
    last = _lines(output)[-1]
    assert last.pop("event") == "summary"
    assert last.pop("time") > 1_600_000_000
    assert msgspec.convert(last, RunSummary) == SUMMARY
