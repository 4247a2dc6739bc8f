"""Recorded data that experiments read: plain text, UTF-8, compressed with xz or not, with the checksum that a table shows.

Tested in tests/lab/test_report.py.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from io import TextIOWrapper
from pathlib import Path

import msgspec

from parcahyd.core.errors import UserError

__all__ = ["DataFile", "data_file", "fields", "lines", "link_rows"]


class DataFile(msgspec.Struct, frozen=True):
    """A file of recorded data."""

    path: Path
    sha256: str

    @property
    def label(self) -> str:
        """For the line below a table: the last folder, the name, and the beginning of the checksum."""
        return f"{self.path.parent.name}/{self.path.name} (sha256 {self.sha256[:12]})"


def data_file(folder: Path, name: str) -> DataFile:
    """The file `name` of a folder, as it is or with `.xz` behind its name. UserError: there is none."""
    for path in (folder / f"{name}.xz", folder / name):
        if path.is_file():
            with path.open("rb") as stream:
                return DataFile(path, file_digest(stream, "sha256").hexdigest())
    raise UserError(f"there is no {name} or {name}.xz in {folder}", "docs/lab/data.md says what the lab reads")


def lines(file: DataFile) -> Iterator[str]:
    """The lines without their ends. A first line that begins with # names the columns and is left out."""
    with _opened(file.path) as stream:
        try:
            for number, line in enumerate(stream):
                if number or not line.startswith("#"):
                    yield line.rstrip("\n")
        except (lzma.LZMAError, EOFError, UnicodeDecodeError) as error:
            raise UserError(f"{file.path} cannot be read: {error}", "compare its checksum, and copy it again") from error


def fields(file: DataFile, least: int) -> Iterator[list[str]]:
    """The fields of each line, divided by tabs. UserError: a line has fewer than `least`."""
    for number, line in enumerate(lines(file), 1):
        found = line.split("\t")
        if len(found) < least:
            raise UserError(f"{file.path}: row {number} has {len(found)} fields, not {least}", "docs/lab/data.md says the form")
        yield found


def link_rows(file: DataFile, pages: int) -> Iterator[tuple[int, ...]]:
    """Of each page, the rows of the pages that it links to. UserError: a row is damaged, or there are not as many as pages."""
    number = 0
    for number, line in enumerate(lines(file), 1):
        words = line.split()
        if not all(word.isdecimal() and int(word) < pages for word in words):
            raise UserError(f"{file.path}: line {number} has what is no row number of a page", "docs/lab/data.md says the form")
        yield tuple([int(word) for word in words])
    if number != pages:
        raise UserError(f"{file.path} has {number} lines for {pages} pages", "docs/lab/data.md says the form")


@contextmanager
def _opened(path: Path) -> Iterator[TextIOWrapper]:
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as stream:
        yield stream
