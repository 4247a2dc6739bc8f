"""Exports from a desk, with what they told."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parcahyd.export.archive import ExportReport, Listener, export_wacz, export_warc
from parcahyd.export.selection import Selection
from parcahyd.export.site_files import export_files
from parcahyd.storage.reports.reader import Reader
from tests.export.samples import AT
from tests.storage.desk import Desk

__all__ = ["Told", "files", "wacz", "warc"]


@dataclass
class Told:
    """What an export tells, and a way to interrupt it."""

    progress: list[tuple[int, int]] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    resumed: list[int] = field(default_factory=list)
    interrupt: Callable[[int], bool] = lambda _done: False

    def listener(self) -> Listener:
        return Listener(self._progress, lambda url, _what: self.damaged.append(url), self.resumed.append)

    def _progress(self, done: int, total: int) -> None:
        self.progress.append((done, total))
        if self.interrupt(done):
            raise KeyboardInterrupt


def warc(desk: Desk, place: Path, told: Told | None = None, size: int = 10**9, now: float = AT, **choice: Any) -> ExportReport:
    with closing(Reader(desk.url)) as reader:
        return export_warc(reader, Selection(reader, **choice), place, now, size, (told or Told()).listener())


def wacz(desk: Desk, place: Path, told: Told | None = None, size: int = 10**9, **choice: Any) -> ExportReport:
    with closing(Reader(desk.url)) as reader:
        return export_wacz(reader, Selection(reader, **choice), place, AT, size, (told or Told()).listener())


def files(desk: Desk, place: Path, told: Told | None = None, **choice: Any) -> ExportReport:
    with closing(Reader(desk.url)) as reader:
        return export_files(reader, Selection(reader, **choice), place, (told or Told()).listener())
