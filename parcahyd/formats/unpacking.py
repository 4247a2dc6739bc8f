"""Unpacks in small pieces: members of ZIP archives, and compressed streams that are read like files.

Every unpacked byte counts against a budget, whether or not it is kept. So an archive costs no more than its bounds allow, even
if its members overlap or expand very much.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from itertools import islice
from typing import Protocol, cast

from zlib_ng import zlib_ng

from parcahyd.core.documents import Skipped
from parcahyd.rules.media_types.containers import Entry, entries

__all__ = ["Budget", "Source", "source_of", "unzipped", "zip_parts"]

_CHUNK = 64 * 1024
_RATIO = 200
_ALWAYS_ALLOWED = 4 * 1024 * 1024
_STREAMS = 1000
_XZ_MEMORY = 128 * 1024 * 1024
_FILE_TYPE, _REGULAR = 0o170000, 0o100000


class Budget:
    """How many bytes an archive may still unpack to: its bound, or 200 times its size where that is less and over 4 MiB."""

    def __init__(self, archive: int, most: int) -> None:
        by_ratio = max(_ALWAYS_ALLOWED, archive * _RATIO)
        self.left = min(most, by_ratio)
        self.reason = Skipped.BYTES if most <= by_ratio else Skipped.RATIO
        """The reason for skipping the rest when the budget is spent."""


# --- members of ZIP archives --------------------------------------------------------------------------------------------


def unzipped(body: bytes, entry: Entry, most: int, budget: Budget) -> tuple[bytes, str]:
    """A member's content and no reason, or no content and the reason for skipping it."""
    if entry.is_encrypted:
        return b"", Skipped.ENCRYPTED
    if entry.mode & _FILE_TYPE not in (0, _REGULAR):
        return b"", Skipped.NOT_A_FILE
    if entry.method not in (zlib_stored := 0, zlib.DEFLATED):
        return b"", Skipped.METHOD
    at = entry.offset
    if at < 0 or not body.startswith(b"PK\x03\x04", at):
        return b"", Skipped.DAMAGED
    begin = at + 30 + int.from_bytes(body[at + 26 : at + 28], "little") + int.from_bytes(body[at + 28 : at + 30], "little")
    packed = memoryview(body)[begin : begin + entry.packed]
    if len(packed) != entry.packed:
        return b"", Skipped.DAMAGED
    limit = min(most, budget.left) + 1
    content, is_sound = (bytes(packed[:limit]), True) if entry.method == zlib_stored else _inflated(packed, limit)
    budget.left -= len(content)
    if budget.left < 0:
        return b"", budget.reason
    if len(content) > most:
        return b"", Skipped.SIZE
    return (content, "") if is_sound and zlib.crc32(content) == entry.crc else (b"", Skipped.DAMAGED)


def _inflated(packed: memoryview, limit: int) -> tuple[bytes, bool]:
    """At most `limit` bytes, and whether the data are sound as far as they were read: neither damaged nor cut."""
    inflating = zlib.decompressobj(-15)
    parts: list[bytes] = []
    size = 0
    try:
        for at in range(0, len(packed), _CHUNK):
            piece = inflating.decompress(packed[at : at + _CHUNK], limit - size)
            parts.append(piece)
            size += len(piece)
            if size >= limit:
                return b"".join(parts), True
            if inflating.eof:
                break
    except zlib.error:
        return b"".join(parts), False
    return b"".join(parts), inflating.eof


def zip_parts(body: bytes, is_wanted: Callable[[str], bool], count: int, total: int, looked_at: int) -> dict[str, bytes]:
    """The wanted members by name, as far as they can be read and the bounds allow."""
    budget = Budget(len(body), total)
    parts: dict[str, bytes] = {}
    for entry in islice(entries(body), looked_at):
        if len(parts) >= count or budget.left <= 0:
            break
        if is_wanted(entry.name) and entry.name not in parts:
            content, skipped = unzipped(body, entry, total, budget)
            if not skipped:
                parts[entry.name] = content
    return parts


# --- compressed streams -------------------------------------------------------------------------------------------------


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


class _Stored:
    """Stands in for a decompressor where the data are not compressed."""

    eof = False
    needs_input = True
    unused_data = b""

    def decompress(self, data: bytes, _max_length: int = -1) -> bytes:
        return data


class _Gzip:
    def __init__(self) -> None:
        self._stream = zlib_ng.decompressobj(31)  # with the header and trailer of GZIP
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int = 0) -> bytes:
        piece = self._stream.decompress(self._stream.unconsumed_tail + data, max_length)
        # A full piece may be followed by more, although all input was taken.
        self.needs_input = not self._stream.unconsumed_tail and len(piece) < max_length
        return piece


def _xz() -> _Decompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


_ZLIB_ERROR = cast("type[Exception]", zlib_ng.error)  # Its stubs take the class for an instance.
_DAMAGE = (OSError, EOFError, ValueError, lzma.LZMAError, _ZLIB_ERROR)
_STREAMED: tuple[tuple[bytes, Callable[[], _Decompressor]], ...] = (
    (b"\x1f\x8b", _Gzip),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", _xz),
)


class Source:
    """The unpacked bytes of a stream, read once. `skip_reason` says why it ended too early, or is empty."""

    def __init__(self, body: bytes, make: Callable[[], _Decompressor], budget: Budget) -> None:
        self.skip_reason = ""
        self._body = body
        self._at = 0
        self._make = make
        self._decompressor = make()
        self._streams = 1
        self._ready = bytearray()
        self._budget = budget

    def peek(self, size: int) -> bytes:
        """The next bytes, without consuming them; fewer near the end."""
        while len(self._ready) < size and self._unpack():
            pass
        return bytes(self._ready[:size])

    def read(self, size: int) -> bytes:
        """The next bytes; fewer at the end, and none when the budget is spent."""
        data = self.peek(min(size, self._budget.left + 1))
        self._budget.left -= len(data)
        if self._budget.left < 0:
            self.skip_reason = self._budget.reason
            self._ready.clear()
            return b""
        del self._ready[: len(data)]
        return data

    def skip(self, size: int) -> None:
        while size > 0 and (passed := len(self.read(min(size, _CHUNK)))):
            size -= passed

    def _unpack(self) -> bool:
        """Unpacks the next piece; false at the end."""
        if self.skip_reason:
            return False
        try:
            data = self._next_data()
            if data is None:
                return False
            piece = self._decompressor.decompress(data, _CHUNK)
        except _DAMAGE:
            # Bytes after the end of the first stream need not be a stream.
            self.skip_reason = Skipped.DAMAGED if self._streams == 1 or self._ready else ""
            self._at = len(self._body)
            self._decompressor = _Stored()
            return False
        self._ready += piece
        return True

    def _next_data(self) -> bytes | None:
        """The next input for the decompressor; None at the end."""
        now = self._decompressor
        if now.eof:
            rest = (now.unused_data or self._chunk()).lstrip(b"\0")
            if not rest or self._streams >= _STREAMS:
                return None
            self._streams += 1
            self._decompressor = self._make()
            return rest
        if not now.needs_input:
            return b""
        data = self._chunk()
        if data:
            return data
        if not isinstance(now, _Stored):
            self.skip_reason = Skipped.DAMAGED
        return None

    def _chunk(self) -> bytes:
        data = self._body[self._at : self._at + _CHUNK]
        self._at += len(data)
        return data


def source_of(body: bytes, budget: Budget) -> tuple[Source, bool]:
    """A source of the unpacked bytes, and whether they were compressed."""
    for signature, make in _STREAMED:
        if body.startswith(signature):
            return Source(body, make, budget), True
    return Source(body, _Stored, budget), False
