"""Reports a run to programs: one line of JSON per interval, and one at the end."""

from __future__ import annotations

import time
from typing import BinaryIO

import msgspec

from parcahyd.core.progress import Progress, RunSummary

__all__ = ["JsonLines"]


class JsonLines:
    """Writes `{"event": "progress", ...}` every `interval` seconds of the run and `{"event": "summary", ...}` at its end.

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
