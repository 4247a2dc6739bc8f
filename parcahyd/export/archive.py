"""`parcahyd export warc` and `wacz`: from the database to the finished files.

All work is done in a folder for unfinished work beside or inside the place that the user named, and moved there at the end.
So a file under its final name is whole, and an interrupted export goes on with its finished parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.export.archive_parts import ArchiveParts, Counts
from parcahyd.export.captures import count_captures, read_captures
from parcahyd.export.cdxj import merged_lines
from parcahyd.export.exchanges import read_exchanges
from parcahyd.export.selection import Selection
from parcahyd.export.wacz import pack_wacz
from parcahyd.storage.reports.reader import Reader

__all__ = ["UNFINISHED", "ExportReport", "Listener", "export_wacz", "export_warc", "require_empty", "require_something"]

UNFINISHED = ".unfinished"
"""The folder inside a folder that is being written. Beside a WACZ file, it is what is added to the file's name."""


class Listener(msgspec.Struct, frozen=True):
    """Who is told of an export while it goes on."""

    progress: Callable[[int, int], None]
    """How many of how many stored versions were looked at."""
    damaged: Callable[[str, str], None]
    """A URL whose stored bytes cannot be read, and what is wrong with them."""
    resumed: Callable[[int], None]
    """An interrupted export goes on, in which so many exchanges are written; with 0 it begins anew."""


class ExportReport(msgspec.Struct, frozen=True):
    """What an export wrote."""

    place: Path
    counts: Counts
    files: int
    size: int
    """In bytes."""


def export_warc(reader: Reader, selection: Selection, folder: Path, now: float, size: int, listener: Listener) -> ExportReport:
    """Writes WARC files of about `size` bytes and `index.cdxj` into a folder that is empty, or that an export has left."""
    require_empty(folder)
    require_something(reader, selection, folder)
    parts = ArchiveParts(folder / UNFINISHED, f"warc {size} {selection.words}", now, size, has_pages=False)
    try:
        _write_parts(reader, selection, parts, listener)
        warcs = parts.warcs()
        index = parts.folder / "index.cdxj"
        with index.open("wb") as file:
            file.writelines(merged_lines(parts.indexes()))
        # The index is moved last: where it is, everything is.
        for file_ in (*warcs, index):
            if file_.exists():  # An export that was interrupted right here has moved some already.
                os.replace(file_, folder / file_.name)
        parts.remove()
    finally:
        parts.close()
    sizes = [(folder / warc.name).stat().st_size for warc in warcs]
    return ExportReport(folder, parts.counts, len(warcs), sum(sizes))


def export_wacz(reader: Reader, selection: Selection, file: Path, now: float, size: int, listener: Listener) -> ExportReport:
    """Writes one WACZ file, under a name that is not taken."""
    if os.path.lexists(file):
        raise UserError(f"{file} is there already", "remove it, or name another file")
    require_something(reader, selection, file)
    work = file.with_name(file.name + UNFINISHED)
    parts = ArchiveParts(work, f"wacz {size} {selection.words}", now, size, has_pages=True)
    try:
        _write_parts(reader, selection, parts, listener)
        packed = work / "packed"
        pack_wacz(packed, parts.warcs(), parts.indexes(), parts.pages(), work, parts.started_at)
        os.replace(packed, file)
        parts.remove()
    finally:
        parts.close()
    return ExportReport(file, parts.counts, 1, file.stat().st_size)


def _write_parts(reader: Reader, selection: Selection, parts: ArchiveParts, listener: Listener) -> None:
    total, looked_at = count_captures(reader), 0

    def passed(number: int) -> None:
        nonlocal looked_at
        looked_at += number
        listener.progress(looked_at, total)

    if parts.is_resumed:
        listener.resumed(parts.counts.exchanges)
    for exchange in read_exchanges(reader, read_captures(reader, selection, parts.after, passed), listener.damaged):
        parts.write(exchange)
    parts.finish()


def require_something(reader: Reader, selection: Selection, place: Path) -> None:
    """UserError where nothing is chosen; then nothing is written either."""
    if next(read_captures(reader, selection), None) is None:
        raise UserError(
            f"nothing is stored that fits, so {place} was not written", "parcahyd urls --state stored lists what is"
        )


def require_empty(folder: Path) -> None:
    """UserError unless the folder is empty, does not exist, or was left by an interrupted export."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise UserError(f"{folder} is not a folder", "name a folder that is empty, or that does not exist yet")
    if folder.is_dir() and not (folder / UNFINISHED).is_dir() and any(folder.iterdir()):
        raise UserError(f"the folder {folder} is not empty", "name one that is, or that does not exist yet")
