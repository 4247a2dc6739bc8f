"""The directory at the end of a ZIP archive (APPNOTE 6.3.10, sections 4.3.12 to 4.3.16), entry by entry, nothing unpacked.

`zipfile` reads the whole directory into objects before it gives the first one, and an archive of 32 MB can hold 700,000
entries; this reads as many as are asked for. No input raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

__all__ = ["Entry", "entries"]

_END = Struct("<4s4H2LH")
_END_64 = Struct("<4sQ2H2L4Q")
_LOCATOR_64 = Struct("<4sLQL")
_ENTRY = Struct("<4s6H3L5H2L")
_LONGEST_COMMENT = 65535
_ABSENT = 0xFFFFFFFF
_UTF_8, _ENCRYPTED = 0x800, 0x1


class Entry(NamedTuple):
    """What the directory says of one member; nothing of it is to be believed."""

    name: str
    method: int
    """0: stored, 8: deflated."""
    crc: int
    packed: int
    """Bytes within the archive."""
    offset: int
    """Where the member's own header begins."""
    is_encrypted: bool
    mode: int
    """The Unix mode, or 0."""


def entries(body: bytes) -> Iterator[Entry]:
    """The entries in the directory's order; none where there is no directory. One that is damaged ends it."""
    at, end, shift = _directory(body)
    while at + _ENTRY.size <= end:
        magic, made_by, _, flags, method, _, _, crc, packed, unpacked, *sizes, _, _, mode, offset = _ENTRY.unpack_from(body, at)
        name_size, extra_size, comment_size = sizes
        if magic != b"PK\x01\x02":
            return
        after = at + _ENTRY.size + name_size
        raw = body[at + _ENTRY.size : after]
        if _ABSENT in (packed, offset):
            packed, offset = _wide(body[after : after + extra_size], packed, unpacked, offset)
        unix = mode >> 16 if made_by >> 8 == 3 else 0
        yield Entry(_name(raw, flags), method, crc, packed, offset + shift, bool(flags & _ENCRYPTED), unix)
        at = after + extra_size + comment_size


def _directory(body: bytes) -> tuple[int, int, int]:
    """Where the directory begins and ends, and how far everything is moved by what stands before the archive."""
    found = body.rfind(b"PK\x05\x06", max(0, len(body) - _LONGEST_COMMENT - _END.size))
    if found < 0 or found + _END.size > len(body):
        return 0, 0, 0
    size, offset = _END.unpack_from(body, found)[5:7]
    end = found
    locator = found - _LOCATOR_64.size
    if _ABSENT in (size, offset) and locator >= 0 and body.startswith(b"PK\x06\x07", locator):
        end = body.rfind(b"PK\x06\x06", max(0, locator - 1024), locator)
        if end < 0 or end + _END_64.size > len(body):
            return 0, 0, 0
        size, offset = _END_64.unpack_from(body, end)[8:10]
    if size > end:
        return 0, 0, 0
    return end - size, end, end - size - offset


def _name(raw: bytes, flags: int) -> str:
    """Names are code page 437 unless a flag says UTF-8, but many archivers write UTF-8 without saying so."""
    if not flags & _UTF_8:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw.decode("cp437")
    return raw.decode("utf-8", "replace")


def _wide(extra: bytes, packed: int, unpacked: int, offset: int) -> tuple[int, int]:
    """The sizes that did not fit, from the extra field 0x0001: those of the absent ones only, in this order."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = int.from_bytes(extra[at : at + 2], "little"), int.from_bytes(extra[at + 2 : at + 4], "little")
        if kind == 1:
            numbers = [int.from_bytes(extra[i : i + 8], "little") for i in range(at + 4, min(at + 4 + size, at + 28), 8)]
            if unpacked == _ABSENT and numbers:
                del numbers[0]
            if packed == _ABSENT and numbers:
                packed = numbers.pop(0)
            if offset == _ABSENT and numbers:
                offset = numbers[0]
            break
        at += 4 + size
    return packed, offset
