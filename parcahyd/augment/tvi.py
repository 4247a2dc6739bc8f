"""TVI/1, the table of variable information: all regions of one document, each with its place in the skeleton and its content.

An incomplete table cannot be used: a reader reports errors early, and returns the table only when its last line was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from parcahyd.augment.framing import Frame, escaped, framed, hash_text, is_reference, read_hash, read_number, unescaped
from parcahyd.augment.refusal import DEFAULT_LIMITS, Limits, Refusal, RefusalReason

__all__ = ["REGION_ID", "Region", "Tvi", "TviReader", "read_tvi", "write_tvi"]

REGION_ID = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}"
"""The pattern of a region's ID."""

_REQUIRED = ("Document", "Base-Hash", "Base-Length", "Hash", "Length")
_KNOWN = (*_REQUIRED, "Refresh", "ETag", "Last-Modified")
_LINE = re.compile(rf"({REGION_ID})\t(0|[1-9][0-9]{{0,15}})\t(0|[1-9][0-9]{{0,15}})\t([^\t\n]*+)".encode())
_IS_ID = re.compile(REGION_ID)


class Region(NamedTuple):
    """A part of a document that changes."""

    id: str
    offset: int
    """Where its content is inserted, in bytes of the skeleton."""
    content: bytes


class Tvi(msgspec.Struct, frozen=True):
    """A complete table. Regions ascend, and the lengths are consistent."""

    document: str
    """A URL reference, to be resolved against the table's own URL."""
    base_hash: bytes
    """SHA-256 of the skeleton."""
    base_length: int
    hash: bytes
    """SHA-256 of the whole document."""
    length: int
    regions: tuple[Region, ...] = ()
    refresh: int | None = None
    """Seconds after which the author expects a change."""
    etag: str = ""
    last_modified: str = ""


class TviReader:
    """Reads one table from chunks."""

    __slots__ = ("_frame", "_limits", "_lines")

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._frame = Frame("TVI", _KNOWN, limits)
        self._limits = limits
        self._lines: list[bytes] = []

    def feed(self, chunk: bytes) -> Refusal | None:
        """The refusal so far, or None; after a refusal the caller can stop reading."""
        lines = self._frame.feed(chunk)
        if lines:
            self._lines.append(lines)
        return self._frame.refusal

    def finish(self) -> Tvi | Refusal:
        """The table, or the refusal."""
        refusal = self._frame.finish()
        if refusal is not None:
            return refusal
        if self._frame.rest:
            return Refusal(RefusalReason.END, "more follows")
        regions = _read_regions(b"".join(self._lines))
        return regions if isinstance(regions, Refusal) else _table(self._frame.headers, regions, self._limits)


def read_tvi(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Tvi | Refusal:
    """The table in these bytes, or the refusal."""
    reader = TviReader(limits)
    return reader.feed(data) or reader.finish()


def write_tvi(tvi: Tvi, limits: Limits = DEFAULT_LIMITS) -> bytes | Refusal:
    """The table's bytes; refused where `read_tvi` would not read the same table."""
    error = _error_in(tvi, limits)
    if error is not None:
        return error
    headers = [
        ("Document", tvi.document),
        ("Base-Hash", hash_text(tvi.base_hash)),
        ("Base-Length", str(tvi.base_length)),
        ("Hash", hash_text(tvi.hash)),
        ("Length", str(tvi.length)),
    ]
    optional = (
        ("Refresh", None if tvi.refresh is None else str(tvi.refresh)),
        ("ETag", tvi.etag),
        ("Last-Modified", tvi.last_modified),
    )
    headers += [(name, value) for name, value in optional if value]
    if any(read_hash(value) is None for name, value in headers if name.endswith("Hash")):
        return Refusal(RefusalReason.HEADER, "Hash")
    if any(read_number(value) is None for name, value in headers if name.endswith(("Length", "Refresh"))):
        return Refusal(RefusalReason.HEADER, "Length")
    return framed("TVI", headers, b"".join(map(_line, tvi.regions)), limits)


def _line(region: Region) -> bytes:
    content = escaped(region.content)
    return b"%b\t%d\t%d\t%b\n" % (region.id.encode(), region.offset, len(region.content), content)


def _read_regions(body: bytes) -> tuple[Region, ...] | Refusal:
    regions = []
    for number, line in enumerate(body.split(b"\n")[:-1], 1):
        fields = _LINE.fullmatch(line)
        if fields is None:
            return Refusal(RefusalReason.FIELD, f"body line {number}")
        content = unescaped(fields[4])
        if content is None:
            return Refusal(RefusalReason.ESCAPE, f"body line {number}")
        if len(content) != int(fields[3]):
            return Refusal(RefusalReason.LENGTH, f"body line {number}")
        regions.append(Region(fields[1].decode(), int(fields[2]), content))
    return tuple(regions)


def _table(headers: dict[str, str], regions: tuple[Region, ...], limits: Limits) -> Tvi | Refusal:
    hashes = [read_hash(headers.get(name, "")) for name in ("Base-Hash", "Hash")]
    numbers = [read_number(headers.get(name, "")) for name in ("Base-Length", "Length")]
    refresh = read_number(headers["Refresh"]) if "Refresh" in headers else None
    if hashes[0] is None or hashes[1] is None or numbers[0] is None or numbers[1] is None or "Document" not in headers:
        return Refusal(RefusalReason.HEADER, next((name for name in _REQUIRED if name not in headers), "a hash or a length"))
    if refresh is None and "Refresh" in headers:
        return Refusal(RefusalReason.HEADER, "Refresh")
    dates = headers.get("ETag", ""), headers.get("Last-Modified", "")
    tvi = Tvi(headers["Document"], hashes[0], numbers[0], hashes[1], numbers[1], regions, refresh, *dates)
    return _error_in(tvi, limits) or tvi


def _error_in(tvi: Tvi, limits: Limits) -> Refusal | None:
    """The first inconsistency of the table, or None."""
    if not is_reference(tvi.document, limits):
        return Refusal(RefusalReason.HEADER, "Document")
    before = -1
    for region in tvi.regions:
        if region.offset <= before or not _IS_ID.fullmatch(region.id):
            return Refusal(RefusalReason.REGIONS, "order or ID")
        before = region.offset
    if before > tvi.base_length:
        return Refusal(RefusalReason.REGIONS, "beyond the skeleton")
    if len({region.id for region in tvi.regions}) < len(tvi.regions):
        return Refusal(RefusalReason.REGIONS, "one ID twice")
    if tvi.base_length + _total(tvi.regions) != tvi.length:
        return Refusal(RefusalReason.LENGTH, "of the whole")
    return None


def _total(regions: Iterable[Region]) -> int:
    return sum([len(region.content) for region in regions])
