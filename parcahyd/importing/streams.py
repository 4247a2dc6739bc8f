"""The bytes of an archive file, as streams that are read forwards: the file itself, or what each gzip member of it unpacks to.

Each record of a compressed archive is a gzip member of its own, as a rule. So a member that is damaged takes nothing else with
it: the next one is looked for. Members that do not begin with a record go on with the one before. What a member unpacks to is
bounded by its size, and never held in memory as a whole.

Tested in tests/end_to_end/test_import.py and tests/torture/test_readers.py.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

__all__ = ["PIECE", "ByteFile", "DamagedMember", "MemberStream", "PlainStream", "is_gzip", "streams"]

PIECE = 64 * 1024
_GZIP = 31
_MAGIC = b"\x1f\x8b\x08"
_RATIO = 200
_ALWAYS_ALLOWED = 64 * 1024 * 1024
"""Bytes that a member may unpack to, whatever its size: pages that repeat themselves compress very well."""
_PEEK = 512
_FIRST_BYTES = 64


class ByteFile(Protocol):
    """What is needed of a file."""

    def read(self, size: int, /) -> bytes: ...

    def seek(self, offset: int, /) -> int: ...


class DamagedMember(Exception):
    """A gzip member that cannot be unpacked, or not to its end."""


class PlainStream:
    """A file that is not compressed, from a place on. `tell` counts what was read."""

    def __init__(self, file: ByteFile, offset: int = 0) -> None:
        self.offset = offset
        self._file = file
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        # Another stream may have moved the place in the file.
        self._file.seek(self.offset + self._read)
        piece = self._file.read(PIECE if size < 0 else min(size, PIECE))
        self._read += len(piece)
        return piece

    def tell(self) -> int:
        return self._read

    def seek(self, offset: int, whence: int = 0) -> int:  # noqa: ARG002 (only the place is ever asked for)
        return self._read

    def again(self, at: int) -> PlainStream:
        return PlainStream(self._file, self.offset + at)


class MemberStream:
    """What a gzip member unpacks to, and those that go on with it. DamagedMember is raised where that cannot be read.

    `begin` is how a record begins. `ahead` are the bytes of the file from `offset` on that were read already.
    """

    def __init__(self, file: ByteFile, offset: int, begin: re.Pattern[bytes], ahead: bytes = b"") -> None:
        self.offset = offset
        self.is_at_end = False
        self.behind = b""
        """What was read of the file behind the member, once that is read to its end."""
        self._file = file
        self._begin = begin
        self._inflating = zlib.decompressobj(_GZIP)
        self._waiting = ahead
        self._position = offset + len(ahead)
        """How far the file was read."""
        self._read = 0

    @property
    def end(self) -> int:
        """Behind the member, once that is read to its end."""
        return self._position - len(self.behind)

    def read(self, size: int = -1) -> bytes:
        wanted = PIECE if size < 0 else min(size, PIECE)
        while wanted and not self.is_at_end:
            piece = self._inflate(wanted)
            self._check_ratio(len(piece))
            if piece:
                return piece
        return b""

    def _inflate(self, wanted: int) -> bytes:
        data, is_over = self._waiting, False
        if not data:
            data = self._more()
            is_over = not data
        try:
            piece = self._inflating.decompress(data, wanted)
        except zlib.error as error:
            raise DamagedMember(f"it cannot be decompressed: {error}") from None
        self._waiting = self._inflating.unconsumed_tail
        if self._inflating.eof:
            self._member_ended()
        elif is_over and not piece:
            raise DamagedMember("its compressed bytes end too early")
        return piece

    def _more(self) -> bytes:
        self._file.seek(self._position)
        data = self._file.read(PIECE)
        self._position += len(data)
        return data

    def _member_ended(self) -> None:
        behind = self._inflating.unused_data
        if len(behind) < _PEEK:
            behind += self._more()
        self._inflating = zlib.decompressobj(_GZIP)
        if is_gzip(behind) and _begins(behind[:_PEEK], self._begin) is False:
            self._waiting = behind
        else:
            self.behind, self.is_at_end = behind, True

    def _check_ratio(self, more: int) -> None:
        self._read += more
        if self._read > _ALWAYS_ALLOWED and self._read > _RATIO * (self._position - self.offset):
            raise DamagedMember(f"it unpacks to more than {_RATIO} times its size")

    def tell(self) -> int:
        return self._read

    def seek(self, offset: int, whence: int = 0) -> int:  # noqa: ARG002 (only the place is ever asked for)
        return self._read

    def again(self, at: int) -> MemberStream:
        stream = MemberStream(self._file, self.offset, self._begin)
        while stream.tell() < at and stream.read(at - stream.tell()):
            pass
        return stream

    def drain(self) -> int:
        """Reads the rest; returns how many bytes there were."""
        before = self._read
        while self.read():
            pass
        return self._read - before


def is_gzip(begin: bytes) -> bool:
    return begin.startswith(_MAGIC)


def streams(
    file: ByteFile, begin: re.Pattern[bytes], damaged: Callable[[int, str], None]
) -> Iterator[PlainStream | MemberStream]:
    """The streams of a file: one, or one for each gzip member. `damaged` is told what is between members.

    Read each to its end before the next: where it ends early, or is damaged, the next member is looked for.
    """
    file.seek(0)
    if not is_gzip(file.read(3)):
        yield PlainStream(file)
        return
    member: MemberStream | None = MemberStream(file, 0, begin)
    while member is not None:
        yield member
        if not member.is_at_end:
            member = _look_for_member(file, member.offset + 1, begin)
        elif is_gzip(member.behind):
            member = MemberStream(file, member.end, begin, member.behind)
        else:
            if member.behind.strip(b"\0"):  # Zeros that fill up a block may follow.
                damaged(member.end, "what follows is no gzip member")
            member = _look_for_member(file, member.end, begin) if member.behind else None


def _look_for_member(file: ByteFile, at: int, begin: re.Pattern[bytes]) -> MemberStream | None:
    """The next gzip member that begins with a record."""
    kept = b""
    while True:
        file.seek(at + len(kept))
        piece = file.read(PIECE * 16)
        data = kept + piece
        found = data.find(_MAGIC)
        while found >= 0 and (found + _PEEK <= len(data) or not piece):
            if _begins(data[found : found + _PEEK], begin):
                return MemberStream(file, at + found, begin)
            found = data.find(_MAGIC, found + 1)
        if not piece:
            return None
        kept = data[-_PEEK:]
        at += len(data) - len(kept)


def _begins(member: bytes, begin: re.Pattern[bytes]) -> bool | None:
    """Whether what the beginning of a gzip member unpacks to is that of a record; None where it cannot be unpacked."""
    try:
        return begin.match(zlib.decompressobj(_GZIP).decompress(member, _FIRST_BYTES)) is not None
    except zlib.error:
        return None
