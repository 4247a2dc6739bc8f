"""What a container holds: office documents, books and programs are ZIP or OLE archives with known parts.

Only names are looked at, a bounded number of them, and nothing is unpacked. No input raises.

Tested in tests/rules/media_types/test_media_type.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from struct import Struct
from typing import NamedTuple

__all__ = [
    "OLE",
    "ZIP",
    "Entry",
    "entries",
    "ole_kind",
    "zip_kind",
]

ZIP = "application/zip"
OLE = "application/x-ole-storage"
"""Containers: their content decides about the type."""

_LOOKED_AT = 200
_OOXML = "application/vnd.openxmlformats-officedocument."
_FOLDERS = {
    "word/": f"{_OOXML}wordprocessingml.document",
    "xl/": f"{_OOXML}spreadsheetml.sheet",
    "ppt/": f"{_OOXML}presentationml.presentation",
}
_FOLDER = re.compile(r"word/|xl/|ppt/").match

# OpenDocument and EPUB put their type into a first member, stored as it is, so that it can be read in place
# (OpenDocument 1.3 part 2, section 3.3; EPUB 3.3, section 4.2.3).
_MIMETYPE = re.compile(
    rb"PK\x03\x04.{4}\0\0.{12}(..)\0\0\x08\0..mimetype.{0,8}?(application/(?:epub\+zip|vnd\.[a-z0-9.+-]{1,80}))", re.DOTALL
).match

_DIRECTORY_ENTRY = 128
_DIRECTORY_ENTRIES = 32
# MS-CFB section 2.6.1: names are UTF-16, up to 32 code units with the final zero.
_STREAMS = {
    "WordDocument": "application/msword",
    "Workbook": "application/vnd.ms-excel",
    "Book": "application/vnd.ms-excel",
    "PowerPoint Document": "application/vnd.ms-powerpoint",
    "__properties_version1.0": "application/vnd.ms-outlook",
    "VisioDocument": "application/vnd.visio",
}


def zip_kind(body: bytes) -> str:
    """The media type of a ZIP archive: the document that it is, or ZIP for any other."""
    declared = _MIMETYPE(body[:256])
    if declared is not None:
        size = int.from_bytes(declared[1], "little")  # 0 where the writer did not know it yet
        return declared[2][: size or None].decode("ascii")
    names = [entry.name for entry in islice(entries(body), _LOOKED_AT)]
    if "[Content_Types].xml" in names:
        for name in names:
            folder = _FOLDER(name)
            if folder is not None:
                return _FOLDERS[folder[0]]
    if "AndroidManifest.xml" in names:
        return "application/vnd.android.package-archive"
    return "application/java-archive" if "META-INF/MANIFEST.MF" in names else ZIP


def ole_kind(body: bytes) -> str:
    """The media type of an OLE2 file by the streams that the beginning of its directory names, or OLE for any other."""
    shift = int.from_bytes(body[30:32], "little")
    if shift not in (9, 12):
        return OLE
    at = int.from_bytes(body[48:52], "little") + 1 << shift
    for start in range(at, at + _DIRECTORY_ENTRIES * _DIRECTORY_ENTRY, _DIRECTORY_ENTRY):
        entry = body[start : start + _DIRECTORY_ENTRY]
        size = int.from_bytes(entry[64:66], "little")
        if 2 <= size <= 64:
            kind = _STREAMS.get(entry[: size - 2].decode("utf-16-le", "replace"))
            if kind is not None:
                return kind
    return OLE


# --- The directory at the end of a ZIP archive (APPNOTE 6.3.10, sections 4.3.12 to 4.3.16), entry by entry, nothing unpacked.
# `zipfile` reads the whole directory into objects before it gives the first one, and an archive of 32 MB can hold 700,000
# entries; this reads as many as are asked for. No input raises.


_END = Struct("<4s4H2LH")
_END_64 = Struct("<4sQ2H2L4Q")
_LOCATOR_64 = Struct("<4sLQL")
_ENTRY = Struct("<4s6H3L5H2L")
_LONGEST_COMMENT = 65535
_ABSENT = 0xFFFFFFFF
_UTF_8, _ENCRYPTED = 0x800, 0x1


class Entry(NamedTuple):
    """What the directory says about one member. It may be wrong."""

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
    """The entries in the directory's order; none where there is no directory. A damaged entry ends them."""
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
