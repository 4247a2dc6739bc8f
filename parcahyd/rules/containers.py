"""What a container holds: office documents, books and programs are ZIP or OLE archives with known parts.

Only names are looked at, a bounded number of them, and nothing is unpacked. No input raises.
"""

from __future__ import annotations

import re
from itertools import islice

from parcahyd.rules.zip_directory import entries

__all__ = ["OLE", "ZIP", "ole_kind", "zip_kind"]

ZIP = "application/zip"
OLE = "application/x-ole-storage"
"""Containers, of which the content tells more."""

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
    told = _MIMETYPE(body[:256])
    if told is not None:
        size = int.from_bytes(told[1], "little")  # 0 where it was not known yet when this was written
        return told[2][: size or None].decode("ascii")
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
