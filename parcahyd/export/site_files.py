"""`parcahyd export files`: the newest version of every document as a file, with links that lead from file to file.

Names and redirects are kept in a small database in the folder for unfinished work, not in memory. The files are written there,
too, and moved to their place at the end. An interrupted export begins anew: pages that came in the meantime may have changed
what links lead to.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from parcahyd.core.errors import UserError
from parcahyd.export.archive import UNFINISHED, ExportReport, Listener, require_empty, require_something
from parcahyd.export.archive_parts import Counts
from parcahyd.export.captures import Capture, count_captures, read_captures
from parcahyd.export.exchanges import Exchange, read_exchanges
from parcahyd.export.file_names import distinct, file_name, folded
from parcahyd.export.offline_pages import offline_page, offline_style
from parcahyd.export.selection import Selection
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.storage.reports.reader import Reader

__all__ = ["export_files"]

_MOST_REDIRECTS = 10
_LARGEST_PAGE = 2 * 1024 * 1024
"""A larger page is written as it is: its tree takes some fifty times as many bytes."""
_OWNER = "files"
"""An empty file that says whose work it is."""


def export_files(reader: Reader, selection: Selection, folder: Path, listener: Listener) -> ExportReport:
    """Writes the files into a folder that is empty, or that an interrupted export of files has left."""
    require_empty(folder)
    require_something(reader, selection, folder)
    work = folder / UNFINISHED
    site = work / "site"
    if _begin(work):
        listener.resumed(0)
    site.mkdir()
    progress = _Passes(listener.progress, 2 * count_captures(reader))
    counts, size = Counts(), 0
    with _Names(work / "names.db") as names:
        for capture in read_captures(reader, selection, passed=progress.passed):
            names.add(capture)
        chosen = (capture for capture in read_captures(reader, selection, passed=progress.passed) if names.is_newest(capture))
        for exchange in read_exchanges(reader, chosen, listener.damaged):
            name = names.name_of(exchange.capture.url)
            if name is not None:
                counts.exchanges += 1
                size += _write(site / name, _offline(exchange, name, names))
    for entry in site.iterdir():
        os.replace(entry, folder / entry.name)
    shutil.rmtree(work)
    return ExportReport(folder, counts, counts.exchanges, size)


def _begin(work: Path) -> bool:
    """Makes the folder for unfinished work; returns whether an interrupted export of files had left one, which is removed."""
    is_left = work.exists()
    if is_left and not (work / _OWNER).exists():
        raise UserError(f"{work} has an unfinished export with other options", "give the same options, or remove that folder")
    if is_left:
        if any(entry != work for entry in work.parent.iterdir()):
            raise UserError(f"the folder {work.parent} is not empty", "name one that is, or that does not exist yet")
        shutil.rmtree(work)
    work.mkdir(parents=True)
    (work / _OWNER).write_bytes(b"")
    return is_left


def _offline(exchange: Exchange, name: str, names: _Names) -> bytes:
    capture = exchange.capture
    if is_html(capture.media_type) and len(exchange.document) <= _LARGEST_PAGE:
        return offline_page(exchange.document, capture.charset, capture.url, name, names.resolve)
    if capture.media_type == "text/css":
        return offline_style(exchange.document, capture.charset, capture.url, name, names.resolve)
    return exchange.document


def _write(path: Path, data: bytes) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.write_bytes(data)


class _Passes:
    """Adds up what two passes over the versions have looked at."""

    def __init__(self, progress: Callable[[int, int], None], total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def passed(self, number: int) -> None:
        self._done += number
        self._progress(self._done, self._total)


class _Names:
    """By URL: the newest version, and its file or where it redirects to. A context manager."""

    def __init__(self, file: Path) -> None:
        self._database = sqlite3.connect(file, isolation_level=None)
        for statement in (
            "PRAGMA journal_mode = OFF",
            "PRAGMA synchronous = OFF",
            "CREATE TABLE files (url TEXT PRIMARY KEY, number INTEGER, name TEXT, redirect TEXT) WITHOUT ROWID",
            "CREATE TABLE taken (name TEXT PRIMARY KEY) WITHOUT ROWID",
            "BEGIN",
        ):
            self._database.execute(statement)

    def __enter__(self) -> _Names:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, capture: Capture) -> None:
        """Versions come oldest first; a URL keeps its first name, unless its kind has changed."""
        name = None
        if capture.sha256 is not None:
            wanted = file_name(capture.url, capture.media_type)
            before = self.name_of(capture.url)
            is_kept = before is not None and before in (wanted, distinct(wanted, capture.url))
            name = before if is_kept else self._free(wanted, capture.url)
        row = (capture.url, capture.number, name, capture.redirect)
        self._database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", row)

    def is_newest(self, capture: Capture) -> bool:
        row = self._row(capture.url)
        return row is not None and row[0] == capture.number

    def name_of(self, url: str) -> str | None:
        row = self._row(url)
        return None if row is None else row[1]

    def resolve(self, url: str) -> str | None:
        """The file that a URL leads to, by redirects too; None where there is none."""
        for _ in range(_MOST_REDIRECTS):
            row = self._row(url)
            if row is None or row[1] is not None or row[2] is None:
                return None if row is None else row[1]
            url = row[2]
        return None

    def _free(self, wanted: str, url: str) -> str:
        for name in (wanted, distinct(wanted, url)):
            if self._database.execute("INSERT OR IGNORE INTO taken VALUES (?)", (folded(name),)).rowcount:
                return name
        return distinct(wanted, url)  # It was this URL's name before.

    def _row(self, url: str) -> tuple[int, str | None, str | None] | None:
        found = self._database.execute("SELECT number, name, redirect FROM files WHERE url = ?", (url,)).fetchone()
        return None if found is None else (found[0], found[1], found[2])
