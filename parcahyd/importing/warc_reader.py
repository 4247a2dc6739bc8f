"""Reads the records of WARC files by way of fastwarc, and goes on behind damaged ones.

fastwarc reads one record after the other and gives up where none begins. So a stream with a damaged record is taken up again
at the next place that looks like the beginning of one. A record whose length is wrong makes the place behind it wrong: then it
is the damaged one, and what its length hid is read. A record is handed over once what follows it has shown that its length is
right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from parcahyd.core.errors import UserError
from parcahyd.importing.records import MOST_HEADER, Damaged, Limits, RawRecord, states_its_digest
from parcahyd.importing.streams import PIECE, DamagedMember, MemberStream, PlainStream

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

__all__ = ["read_warc", "require_fastwarc"]

_BEGIN = re.compile(rb"\n(WARC/\d\.\d\r?\n)")
_LONGEST_BEGIN = 16
_BLANK = re.compile(rb"\r?\n\r?\n")
_IS_LENGTH = re.compile(r"\d{1,18}").fullmatch
_TRIES = 100
"""How often a gzip member is unpacked again, behind a damaged record in it."""


def require_fastwarc() -> Any:
    """The module that reads WARC files; a UserError where it is not installed."""
    try:
        from fastwarc import warc
    except ImportError:
        raise UserError("reading WARC files needs the fastwarc package", "pip install 'parcahyd[archives]'") from None
    return warc


def read_warc(stream: PlainStream | MemberStream, limits: Limits, damaged: Damaged) -> Iterator[RawRecord]:
    """The records of a stream."""
    at: int | None = 0
    tries = 0
    while at is not None and tries < _TRIES:
        reading = _Reading(stream, at, limits, damaged)
        yield from reading.records()
        at = reading.go_on_at
        tries += isinstance(stream, MemberStream)
    if isinstance(stream, MemberStream):
        with suppress(DamagedMember):  # It was told, or the whole is of no use.
            stream.drain()


class _Held:
    """A record that waits for what follows it."""

    __slots__ = ("begin", "is_sound", "length", "record")

    def __init__(self, record: RawRecord, begin: int, length: int, is_sound: bool) -> None:
        self.record = record
        self.begin = begin
        """In the stream."""
        self.length = length
        self.is_sound = is_sound
        """Its digest shows that its block is whole."""


class _Reading:
    """One attempt to read a stream from a place on."""

    def __init__(self, stream: PlainStream | MemberStream, at: int, limits: Limits, damaged: Damaged) -> None:
        self._whole = stream
        self._at = at
        self._stream = stream if at == 0 else stream.again(at)
        self._limits = limits
        self._damaged = damaged
        self._begin = at
        """Of the record that is being read."""
        self._held: _Held | None = None
        self._is_named = False
        """The last record is damaged, and that was told."""
        self.go_on_at: int | None = None
        """Where another attempt may find a record; None where the stream is read to its end."""

    def records(self) -> Iterator[RawRecord]:
        archive = require_fastwarc()
        try:
            for record in archive.ArchiveIterator(
                self._stream, parse_http=False, stream_detect=False, max_header_len=MOST_HEADER, auto_decode="none"
            ):
                if (held := self._held) is not None:
                    self._held = None
                    yield held.record
                self._begin = self._at + record.stream_pos
                self._held = self._read(record)
                if self.go_on_at is not None:
                    return
        except DamagedMember as damage:
            self._member_ended(str(damage))
        except OSError as error:
            self._lost_its_place(str(error))
        if self._held is not None:
            yield self._held.record

    def _read(self, record: WarcRecord) -> _Held | None:
        """Reads a record; None where it is damaged, which is told. Then `go_on_at` says whether its length is to be trusted."""
        self._is_named = False
        fields = {name.lower(): value for name, value in record.headers.to_tuples()}
        text = fields.get("content-length", "").strip()
        if not _IS_LENGTH(text):
            self._refuse("its header has no usable Content-Length")
            return None
        length, is_too_large = int(text), int(text) > self._limits.most
        block, size = _read_block(record, length, is_kept=not is_too_large)
        if size < length:
            self._refuse(f"it says that it has {length} bytes, and {size} are there")
            return None
        is_whole = None if is_too_large else states_its_digest(fields.get("warc-block-digest", ""), block)
        if is_whole is False and not self._limits.ignores_digests:
            is_length_wrong = not self._ends_well(self._begin, length)
            self._refuse("its bytes do not have the digest that it states", is_length_wrong=is_length_wrong)
            return None
        kind = fields.get("warc-type", "").strip().lower()
        found = RawRecord(self._offset(self._begin), kind, fields, block, is_too_large)
        return _Held(found, self._begin, length, bool(is_whole))

    def _refuse(self, sentence: str, *, is_length_wrong: bool = True) -> None:
        self._name(self._begin, sentence)
        if is_length_wrong:
            self.go_on_at = self._find(self._begin + 1)

    def _member_ended(self, sentence: str) -> None:
        """A gzip member is damaged, somewhere behind the beginning of the last record."""
        held = self._held
        if held is not None and not held.is_sound and not (held.begin and self._ends_well(held.begin, held.length)):
            self._held = None
        self._name(self._begin, sentence)

    def _lost_its_place(self, sentence: str) -> None:
        """No record begins where one should."""
        held = self._held
        if held is None:
            if not self._is_named:
                self._name(self._begin, f"no record can be read here: {sentence}")
            self.go_on_at = self._find(self._begin + 1)
        elif held.is_sound or self._ends_well(held.begin, held.length):
            end = self._end_of(held.begin, held.length)
            self._name(end, f"no record can be read here: {sentence}")
            self.go_on_at = self._find(end + 5)  # Behind two line ends is the one that cannot be read.
        else:
            self._held = None
            self._name(held.begin, "its Content-Length is not the length of its block")
            self.go_on_at = self._find(held.begin + 1)

    def _name(self, at: int, sentence: str) -> None:
        self._is_named = True
        self._damaged(self._offset(at), sentence)

    def _offset(self, at: int) -> int:
        """The place in the file: in a gzip member, where the member begins."""
        return self._whole.offset + (at if isinstance(self._whole, PlainStream) else 0)

    # --- looking again at what was read: only where something is damaged ------------------------------------------------

    def _end_of(self, begin: int, length: int) -> int:
        """Where a record ends by its length."""
        header = b""
        stream = self._whole.again(begin)
        with suppress(DamagedMember):
            while len(header) < 2 * MOST_HEADER and not _BLANK.search(header) and (piece := stream.read()):
                header += piece
        blank = _BLANK.search(header)
        return begin + (blank.end() if blank is not None else 0) + length

    def _ends_well(self, begin: int, length: int) -> bool:
        """Whether two line ends stand behind the block of a record."""
        try:
            stream = self._whole.again(self._end_of(begin, length))
            behind = b""
            while len(behind) < 4 and (piece := stream.read(4 - len(behind))):
                behind += piece
        except DamagedMember:
            return False
        return behind.startswith((b"\r\n\r\n", b"\n\n")) or not behind

    def _find(self, at: int) -> int | None:
        """The next place from there on that looks like the beginning of a record."""
        try:
            stream = self._whole.again(at)
            kept = b""
            while piece := stream.read():
                data = kept + piece
                if (found := _BEGIN.search(data)) is not None:
                    return at + found.start(1)
                kept = data[-_LONGEST_BEGIN:]
                at += len(data) - len(kept)
        except DamagedMember:
            return None
        return None


def _read_block(record: WarcRecord, length: int, *, is_kept: bool) -> tuple[bytes, int]:
    """The block of a record, if it is kept, and how many of its bytes are there."""
    parts, size = [], 0
    while size < length and (piece := record.reader.read(min(length - size, PIECE))):
        size += len(piece)
        if is_kept:
            parts.append(piece)
    return b"".join(parts), size
