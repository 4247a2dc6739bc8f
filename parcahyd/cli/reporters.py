"""The reporters of a run, and the thread that they work on: a slow or stopped terminal never delays the crawl.

`live_display.py` has the one that draws on a terminal, apart because it needs rich.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import BinaryIO, Protocol

import msgspec

from parcahyd.core.progress import Observer, Progress, RunSummary

__all__ = [
    "JsonLines",
    "NullReporter",
    "Reporter",
    "ReporterThread",
    "SummaryKeeper",
]


class Reporter(Protocol):
    """Shows the user how a run goes; `close` is called in any case, also when the run never began."""

    def progress(self, snapshot: Progress) -> None: ...

    def finished(self, summary: RunSummary) -> None: ...

    def close(self) -> None: ...


class NullReporter:
    """Shows nothing: `--quiet`."""

    def progress(self, snapshot: Progress) -> None:
        """Nothing."""

    def finished(self, summary: RunSummary) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class ReporterThread:
    """Hands snapshots to a reporter, always the newest; those that came while it was busy are dropped.

    When the output is gone (a closed pipe, a closed terminal) the reporter is given up and the crawl goes on.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._changed = threading.Condition()
        self._snapshot: Progress | None = None
        self._summary: RunSummary | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="reporter", daemon=True)
        self._thread.start()

    def progress(self, snapshot: Progress) -> None:
        with self._changed:
            self._snapshot = snapshot
            self._changed.notify()

    def finished(self, summary: RunSummary) -> None:
        with self._changed:
            self._summary = summary
            self._changed.notify()

    def close(self) -> None:
        """Wait until the reporter has received everything."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        try:
            with suppress(OSError):
                while self._report_next():
                    pass
        finally:
            with suppress(OSError):
                self._reporter.close()

    def _report_next(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._snapshot or self._summary or self._closing)
            snapshot, summary, closing = self._snapshot, self._summary, self._closing
            self._snapshot = self._summary = None
        if snapshot is not None:
            self._reporter.progress(snapshot)
        if summary is not None:
            self._reporter.finished(summary)
        return not closing


class SummaryKeeper:
    """Hands everything on to another observer, and keeps the summary."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.summary: RunSummary | None = None

    def progress(self, snapshot: Progress) -> None:
        self._observer.progress(snapshot)

    def finished(self, summary: RunSummary) -> None:
        self.summary = summary
        self._observer.finished(summary)

    def without_a_document(self) -> RunSummary | None:
        """The summary if the run came to its end and brought no document; a redirect is none."""
        summary = self.summary
        if summary is None or summary.outcome != "done" or summary.documents or summary.unchanged:
            return None
        return summary


class JsonLines:
    """Reports to programs, one JSON object per line.

    It writes `{"event": "progress", ...}` every `interval` seconds of the run and `{"event": "summary", ...}` at its end.
    `time` is in seconds since the epoch; the other fields are those of `Progress` and `RunSummary`.
    """

    def __init__(self, output: BinaryIO, interval: float) -> None:
        self._output = output
        self._interval = interval
        self._next = interval

    def progress(self, snapshot: Progress) -> None:
        if snapshot.seconds >= self._next:
            self._next = snapshot.seconds + self._interval
            self._write("progress", snapshot)

    def finished(self, summary: RunSummary) -> None:
        self._write("summary", summary)

    def close(self) -> None:
        """Every line was flushed when it was written."""

    def _write(self, event: str, report: Progress | RunSummary) -> None:
        line = {"event": event, "time": round(time.time(), 3), **msgspec.structs.asdict(report)}
        line["seconds"] = round(report.seconds, 3)
        self._output.write(msgspec.json.encode(line) + b"\n")
        self._output.flush()
