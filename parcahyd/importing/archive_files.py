"""The files that a user names: which form each has, and the records in it.

Tested in tests/end_to_end/test_import.py and tests/torture/test_readers.py.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from parcahyd.core.errors import UserError
from parcahyd.importing.arc_reader import ArcReader, begins_arc
from parcahyd.importing.records import Limits, RawRecord, TooManyDamages
from parcahyd.importing.streams import ByteFile, DamagedMember, MemberStream, is_gzip, streams
from parcahyd.importing.wacz_reader import UNREADABLE, Package, Part
from parcahyd.importing.warc_reader import read_warc

__all__ = ["ArchiveFile", "DamagedRecord"]

MOST_DAMAGES = 1000
"""Damaged places of one file that are named. Behind them the file is not read any more."""

_BEGINS = {"warc": re.compile(rb"\s{0,4}WARC/"), "arc": re.compile(rb"\s{0,4}[a-z][a-z0-9+.-]{1,20}:")}
_ZIP = b"PK\x03\x04"

DamagedRecord = Callable[[str, int, str], None]
"""Is told the name of a file, the place in it in bytes, and what is wrong there."""


class ArchiveFile:
    """A file that is an archive; a UserError where it is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            status = path.stat()
            if stat.S_ISDIR(status.st_mode):
                raise UserError(f"{path} is a folder", f"name the files in it: {path}/*.warc.gz")
            if not stat.S_ISREG(status.st_mode):
                raise UserError(f"{path} is not a file", "name a WARC, WACZ or ARC file")
            with path.open("rb") as file:
                self._form = _form(file)
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror}", "name a WARC, WACZ or ARC file") from None
        self.size = status.st_size
        if not self._form:
            raise UserError(f"{path} is not an archive", "import reads WARC, WACZ and ARC files, also with gzip")
        if self._form == "wacz":
            with path.open("rb") as file:
                Package(file, str(path))  # For its errors, before anything is stored.

    def records(self, limits: Limits, damaged: DamagedRecord, passed: Callable[[int], None]) -> Iterator[tuple[str, RawRecord]]:
        """The records, each with the name of its file. `passed` is told now and then how many bytes of the file are read."""
        name = str(self.path)
        with self.path.open("rb") as file:
            if self._form != "wacz":
                yield from _records(file, name, self._form, limits, damaged, passed)
                return
            for part in Package(file, name).parts():
                if part.is_climbing:
                    damaged(part.label, 0, "its name leads out of the package")
                    continue
                try:
                    with part.open() as member:
                        yield from self._records_of_part(part, member, limits, damaged, passed)
                except UNREADABLE as error:
                    damaged(part.label, 0, f"it cannot be read in its package: {error}")

    def _records_of_part(
        self, part: Part, member: ByteFile, limits: Limits, damaged: DamagedRecord, passed: Callable[[int], None]
    ) -> Iterator[tuple[str, RawRecord]]:
        form = _form(member)
        if form in ("", "wacz"):
            damaged(part.label, 0, "it is no WARC file")
            return
        yield from _records(member, part.label, form, limits, damaged, lambda at: passed(part.offset + at))


def _records(
    file: ByteFile, label: str, form: str, limits: Limits, damaged: DamagedRecord, passed: Callable[[int], None]
) -> Iterator[tuple[str, RawRecord]]:
    number = 0

    def name(at: int, sentence: str) -> None:
        nonlocal number
        number += 1
        damaged(label, at, sentence)
        if number >= MOST_DAMAGES:
            raise TooManyDamages

    arc = ArcReader(limits, name)
    try:
        for stream in streams(file, _BEGINS[form], name):
            for record in arc.read(stream) if form == "arc" else read_warc(stream, limits, name):
                passed(record.offset)
                yield label, record
    except TooManyDamages:
        damaged(label, 0, f"{MOST_DAMAGES:,} places in it are damaged, and the rest is not read")


def _form(file: ByteFile) -> str:
    """`warc`, `arc`, `wacz`, or nothing."""
    begin = file.read(512)
    if begin.startswith(_ZIP):
        return "wacz"
    if is_gzip(begin):
        try:
            begin = MemberStream(file, 0, _BEGINS["warc"]).read(512)
        except DamagedMember:
            return "warc"  # The next member may be sound.
    if begins_arc(begin):
        return "arc"
    return "warc" if begin.lstrip().startswith(b"WARC/") else ""
