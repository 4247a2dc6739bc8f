"""Writes an archive in parts, in a folder for unfinished work that survives an interruption.

A part is a WARC file with its index and its list of pages. It counts once `state.json` names it; what an interrupted export
left of the part after that is written again. The folder belongs to one export at a time, and to one choice of options.

Tested in tests/export/test_archive.py.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.export.cdxj import index_line, timestamp
from parcahyd.export.exchanges import Exchange
from parcahyd.export.page_text import page_line
from parcahyd.export.warc_records import WarcRecords, date_text

__all__ = ["MOST_EXCHANGES", "ArchiveParts", "Counts"]

MOST_EXCHANGES = 100_000
"""Of one part: its index is sorted in memory."""
_STATE = "state.json"
_LOCK = "lock"


class Counts(msgspec.Struct):
    """What was written so far."""

    exchanges: int = 0
    records: int = 0
    revisits: int = 0


class _State(msgspec.Struct):
    """What survives an interruption."""

    options: str
    started_at: float
    parts: list[str] = []
    """Names of WARC files, without `.warc.gz`."""
    after: int = 0
    """The number of the last exchange in them."""
    counts: Counts = msgspec.field(default_factory=Counts)


class ArchiveParts:
    """The unfinished work in a folder: begun, or gone on with where the folder has some."""

    def __init__(self, folder: Path, options: str, now: float, size: int, *, has_pages: bool) -> None:
        """`size` is how many bytes of a WARC file are enough. UserError where the folder is in use or has other options."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._size = size
        self._has_pages = has_pages
        self._lock = _locked(folder)
        try:
            found = self._read_state()
            self.is_resumed = found is not None
            """Whether an interrupted export left something here."""
            self._state = found or self._first_state(options, now)
            if self._state.options != options:
                raise _other_export(folder)
        except BaseException:
            self._lock.close()
            raise
        self._records = WarcRecords()
        self._warc: BinaryIO | None = None
        self._pages: BinaryIO | None = None
        self._name = ""
        self._lines: list[bytes] = []
        self._offset = 0
        self._exchanges = 0
        self._last = 0

    @property
    def after(self) -> int:
        """The number of the last exchange that need not be read again; 0: none was written."""
        return self._state.after

    @property
    def counts(self) -> Counts:
        return self._state.counts

    @property
    def started_at(self) -> float:
        return self._state.started_at

    def warcs(self) -> list[Path]:
        return [self.folder / f"{name}.warc.gz" for name in self._state.parts]

    def indexes(self) -> list[Path]:
        return [self.folder / f"{name}.cdxj" for name in self._state.parts]

    def pages(self) -> list[Path]:
        return [self.folder / f"{name}.jsonl" for name in self._state.parts]

    def write(self, exchange: Exchange) -> None:
        """Appends the records of an exchange; they stand in one file."""
        if self._warc is None:
            self._begin_part()
        records = self._records.of(exchange)
        line = index_line(exchange, records[0].kind, f"{self._name}.warc.gz", self._offset, len(records[0].data))
        if line is not None:
            self._lines.append(line)
        for record in records:
            self._append(record.data)
        page = page_line(exchange, date_text(exchange.capture.at)) if self._pages is not None else None
        if page is not None and self._pages is not None:
            self._pages.write(page)
        counts = self._state.counts
        counts.exchanges += 1
        counts.records += len(records)
        counts.revisits += records[0].kind == "revisit"
        self._exchanges += 1
        self._last = exchange.capture.number
        if self._offset >= self._size or self._exchanges >= MOST_EXCHANGES:
            self._end_part()

    def finish(self) -> None:
        """Ends the last part."""
        if self._warc is not None:
            self._end_part()

    def remove(self) -> None:
        """Removes the folder with all that is in it."""
        shutil.rmtree(self.folder)
        self._lock.close()

    def close(self) -> None:
        """Leaves the folder to a later export."""
        for file in (self._warc, self._pages):
            if file is not None:
                file.close()
        self._lock.close()

    # --- inside ---------------------------------------------------------------------------------------------------------

    def _begin_part(self) -> None:
        self._name = f"parcahyd-{timestamp(self._state.started_at)}-{len(self._state.parts) + 1:05}"
        self._warc = (self.folder / f"{self._name}.warc.gz").open("wb")
        self._pages = (self.folder / f"{self._name}.jsonl").open("wb") if self._has_pages else None
        self._lines = []
        self._offset = self._exchanges = 0
        self._append(self._records.warcinfo(f"{self._name}.warc.gz", self._state.started_at).data)
        self._state.counts.records += 1

    def _append(self, data: bytes) -> None:
        assert self._warc is not None  # noqa: S101 (only `write` calls it)
        self._warc.write(data)
        self._offset += len(data)

    def _end_part(self) -> None:
        for file in (self._warc, self._pages):
            if file is not None:
                _sync(file)
                file.close()
        self._warc = self._pages = None
        self._lines.sort()
        _write(self.folder / f"{self._name}.cdxj", lambda file: file.writelines(self._lines))
        self._lines = []
        self._state.parts.append(self._name)
        self._state.after = self._last
        self._save(self._state)

    def _save(self, state: _State) -> None:
        text = msgspec.json.encode(state)
        _write(self.folder / f"{_STATE}.new", lambda file: file.write(text))
        os.replace(self.folder / f"{_STATE}.new", self.folder / _STATE)

    def _first_state(self, options: str, now: float) -> _State:
        if any(entry.name not in (_LOCK, f"{_STATE}.new") for entry in self.folder.iterdir()):
            raise _other_export(self.folder)
        state = _State(options, now)
        self._save(state)
        return state

    def _read_state(self) -> _State | None:
        try:
            return msgspec.json.decode((self.folder / _STATE).read_bytes(), type=_State)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError:
            raise UserError(f"{self.folder / _STATE} is damaged", f"remove the folder {self.folder} to begin anew") from None


def _write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    with path.open("wb") as file:
        write(file)
        _sync(file)


def _sync(file: BinaryIO) -> None:
    """What `state.json` names has to be there after a power cut, too."""
    file.flush()
    os.fsync(file.fileno())


def _other_export(folder: Path) -> UserError:
    return UserError(f"{folder} has an unfinished export with other options", "give the same options, or remove that folder")


def _locked(folder: Path) -> BinaryIO:
    lock = (folder / _LOCK).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise UserError(f"another export is writing to {folder}", "wait for it, or name another place") from None
    return lock
