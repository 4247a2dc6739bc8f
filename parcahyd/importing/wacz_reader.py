"""Finds the WARC files in a WACZ file: a ZIP file that has them in its folder `archive`.

They are read where they are. Nothing is unpacked to disk, so the names in a package lead nowhere.

Tested in tests/end_to_end/test_import.py.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from parcahyd.core.errors import UserError
from parcahyd.importing.streams import ByteFile

__all__ = ["UNREADABLE", "Package", "Part"]

UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, struct.error)
"""What reading a part may raise."""

_MOST_PARTS = 10_000
_MOST_LIST = 16 * 1024 * 1024
"""Bytes of the list of files, which is read as a whole."""
_NAMES = (".warc", ".warc.gz", ".arc", ".arc.gz")
_END = struct.Struct("<4s4H2LH")
_LONG_END = b"PK\x06\x06"


class Package:
    """The list of a package's files; a UserError where it cannot be read, or names no WARC file."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        try:
            _check_list(file)
            self._zip = zipfile.ZipFile(file)
        except UNREADABLE as error:
            raise UserError(f"{name} is not a WACZ file that can be read: {error}", "it may be cut: get it again") from None
        self._entries = [entry for entry in self._zip.infolist() if entry.filename.lower().endswith(_NAMES)]
        if not self._entries:
            raise UserError(f"{name} has no WARC file in it", "a WACZ file has them in its folder archive")
        if len(self._entries) > _MOST_PARTS:
            raise UserError(f"{name} has more than {_MOST_PARTS:,} WARC files in it", "name them one by one")

    def parts(self) -> Iterator[Part]:
        return (Part(self._zip, self._file, entry, f"{self._name}: {entry.filename}") for entry in self._entries)


class Part:
    """A WARC file in a package."""

    def __init__(self, package: zipfile.ZipFile, file: IO[bytes], entry: zipfile.ZipInfo, label: str) -> None:
        self.label = label
        self.offset = entry.header_offset
        parts = entry.filename.replace("\\", "/").split("/")
        self.is_climbing = ".." in parts or not parts[0] or ":" in parts[0]
        self._package = package
        self._file = file
        self._entry = entry

    @contextmanager
    def open(self) -> Iterator[ByteFile]:
        """Its bytes. Where they are not compressed, they are a part of the package, in which going back costs nothing."""
        with self._package.open(self._entry) as opened:
            yield opened if self._entry.compress_type != zipfile.ZIP_STORED else self._window()

    def _window(self) -> ByteFile:
        self._file.seek(self.offset)
        header = self._file.read(30)
        begin = self.offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        return _Window(self._file, begin, self._entry.file_size)


def _check_list(file: IO[bytes]) -> None:
    """The list must not be huge, whatever the package says of the number of its files."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 65536 - _END.size))
    tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0:
        raise zipfile.BadZipFile("its list of files is missing")
    length: int = _END.unpack_from(tail, end)[5]
    if length == 0xFFFFFFFF and (long_end := tail.rfind(_LONG_END)) >= 0:
        length = struct.unpack_from("<Q", tail, long_end + 40)[0]
    if length > _MOST_LIST:
        raise zipfile.BadZipFile("its list of files is too long")


class _Window:
    """Some bytes of a file, as a file."""

    def __init__(self, file: IO[bytes], begin: int, length: int) -> None:
        self._file = file
        self._begin = begin
        self._length = length
        self._place = 0

    def read(self, size: int, /) -> bytes:
        self._file.seek(self._begin + self._place)
        piece = self._file.read(max(0, min(size, self._length - self._place)))
        self._place += len(piece)
        return piece

    def seek(self, offset: int, /) -> int:
        self._place = min(max(offset, 0), self._length)
        return self._place
