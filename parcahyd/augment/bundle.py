"""A bundle: the tables of links of a whole site, one after another, in one file.

It is read as a stream. Tables before a cut or an error stay usable as hints. After an error nothing more is read, because the
begin of the next table is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from parcahyd.augment.refusal import DEFAULT_LIMITS, Limits, Refusal, RefusalReason
from parcahyd.augment.tol import Tol, TolReader

__all__ = ["BundleReader", "read_bundle", "write_bundle"]

_PIECE = 16 * 1024
"""Bytes that are read together: what follows a table's last line is copied once for each table in the piece."""


class BundleReader:
    """Reads tables of links from chunks, and holds one of them at a time."""

    __slots__ = ("_bytes", "_limits", "_lines", "_reader", "refusal")

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.refusal: Refusal | None = None
        """The error after which nothing more is read, or None."""
        self._limits = limits
        self._reader: TolReader | None = None
        self._bytes = 0
        self._lines = 0

    def feed(self, chunk: bytes) -> Iterator[Tol]:
        """The tables that this chunk completes. The caller must exhaust the iterator before it feeds the next chunk."""
        for start in range(0, len(chunk), _PIECE):
            yield from self._feed(chunk[start : start + _PIECE])

    def finish(self) -> Tol | Refusal | None:
        """Ends the input. Returns the beginning of a last table that is cut, else the refusal, else None."""
        if self.refusal is not None or self._reader is None:
            return self.refusal
        return self._reader.so_far()

    def _feed(self, piece: bytes) -> Iterator[Tol]:
        self._bytes += len(piece)
        if self._bytes > self._limits.bundle_bytes:
            self._refuse(Refusal(RefusalReason.TOO_LARGE))
        while piece and self.refusal is None:
            reader = self._reader = self._reader or TolReader(self._limits)
            before = reader.lines
            reader.feed(piece)
            self._lines += reader.lines - before
            if self._lines > self._limits.bundle_lines:
                self._refuse(Refusal(RefusalReason.TOO_MANY_LINES))
            elif reader.refusal is not None:
                self._refuse(reader.refusal)
            elif not reader.has_ended:
                return
            elif isinstance(table := reader.so_far(), Tol):
                self._reader, piece = None, reader.rest
                yield table

    def _refuse(self, refusal: Refusal) -> None:
        self.refusal = refusal
        self._reader = None


def read_bundle(data: bytes, limits: Limits = DEFAULT_LIMITS) -> tuple[list[Tol], Refusal | None]:
    """The tables of a bundle, and its error or None. The last table may be cut; its `is_complete` is then false."""
    reader = BundleReader(limits)
    tables = list(reader.feed(data))
    last = reader.finish()
    if isinstance(last, Tol):
        return [*tables, last], Refusal(RefusalReason.END, "cut")
    return tables, last


def write_bundle(tables: Iterable[bytes], limits: Limits = DEFAULT_LIMITS) -> bytes | Refusal:
    """Written tables of links one after another; refused where a reader with these limits would refuse."""
    bundle = b"".join(tables)
    if len(bundle) > limits.bundle_bytes:
        return Refusal(RefusalReason.TOO_LARGE, f"{len(bundle):,} bytes")
    if bundle.count(b"\n") > limits.bundle_lines:
        return Refusal(RefusalReason.TOO_MANY_LINES)
    return bundle
