"""Reads the records of ARC files (version 1 and 2), the form of web archives before WARC. fastwarc does not read them.

A record is a line, as many bytes as the last number in it says, and a line end. The line has a URL, an address, 14 digits of
time, a media type and that number; version 2 has more between them. A URL in it may have blanks, so it is read from its end.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from parcahyd.importing.records import MOST_HEADER, Damaged, Limits, RawRecord
from parcahyd.importing.streams import PIECE, DamagedMember, MemberStream, PlainStream

__all__ = ["ArcReader", "begins_arc"]

_FIELDS = {1: 4, 2: 9}
"""By version: how many words follow the URL."""
_LINE = re.compile(rb"\n([a-z][a-z0-9+.-]{1,20}:[^\n]{1,8000} [0-9A-Fa-f.:]{2,45} \d{12,18} [^\n]{1,500} \d{1,18}\r?\n)")
_LONGEST_LINE = 9000
_IS_LENGTH = re.compile(r"\d{1,18}").fullmatch
_IS_TIME = re.compile(r"\d{14}").fullmatch
_FILE = "filedesc:"


def begins_arc(begin: bytes) -> bool:
    """Whether bytes are the beginning of an ARC file."""
    return begin.startswith(b"filedesc:")


class ArcReader:
    """Reads the streams of one file; what its first record says holds for all."""

    def __init__(self, limits: Limits, damaged: Damaged) -> None:
        self._most = limits.most
        self._damaged = damaged
        self._version = 1

    def read(self, stream: PlainStream | MemberStream) -> Iterator[RawRecord]:
        """The records of a stream."""
        at: int | None = 0
        while at is not None:
            at = yield from self._read_from(stream, at)

    def _read_from(self, whole: PlainStream | MemberStream, begin: int) -> Generator[RawRecord, None, int | None]:
        """Reads until the end of the stream; returns None then, or where a record may begin behind a damaged one."""
        source = _Source(whole if begin == 0 else whole.again(begin), begin)
        is_plain = isinstance(whole, PlainStream)
        at = begin
        try:
            while line := source.line():
                at = source.at - len(line)
                if not line.strip():
                    continue
                offset = whole.offset + (at if is_plain else 0)
                record, length, problem = self._header(line, offset)
                block = b""
                if record is not None:
                    block = source.take(length) if length <= self._most else source.skip(length)
                    if source.is_short:
                        record, problem = None, f"it says that it has {length} bytes, and fewer are there"
                if record is None:
                    self._damaged(offset, problem)
                    return _find(whole, at + 1)
                if record.kind == "warcinfo":
                    self._version = 2 if block.startswith(b"2") else 1
                kind = "response" if record.kind != "warcinfo" and block.startswith(b"HTTP/") else record.kind
                yield RawRecord(offset, kind, record.fields, block, length > self._most)
        except DamagedMember as damage:
            self._damaged(whole.offset, str(damage))
        return None

    def _header(self, line: bytes, offset: int) -> tuple[RawRecord | None, int, str]:
        """The record without its block, and the length of that; or what is wrong with the line."""
        text = line.decode("utf-8", "replace").strip()
        is_file = text.startswith(_FILE)
        words = text.rsplit(" ", 4 if is_file else _FIELDS[self._version])
        if len(words) < 5:
            return None, 0, "no record can be read here: its line has too few words"
        if not _IS_LENGTH(words[-1]):
            return None, 0, "its line does not end with a length"
        url, address, time, media_type = words[:4]
        if not _IS_TIME(time) and not is_file:
            return None, 0, "its line has no time of 14 digits"
        fields = {"warc-target-uri": url, "warc-ip-address": address, "warc-date": time, "content-type": media_type}
        return RawRecord(offset, "warcinfo" if is_file else "resource", fields, b""), int(words[-1]), ""


class _Source:
    """A stream, read by lines and by lengths."""

    def __init__(self, stream: PlainStream | MemberStream, at: int) -> None:
        self._stream = stream
        self._ahead = b""
        self.at = at
        self.is_short = False
        """The stream ended before the last length."""

    def line(self) -> bytes:
        """The next line with its end; empty at the end of the stream. A line that is too long is cut."""
        while b"\n" not in self._ahead and len(self._ahead) < MOST_HEADER and (piece := self._stream.read()):
            self._ahead += piece
        end = self._ahead.find(b"\n") + 1 or min(len(self._ahead), MOST_HEADER)
        line, self._ahead = self._ahead[:end], self._ahead[end:]
        self.at += len(line)
        return line

    def take(self, length: int) -> bytes:
        parts, left = [self._ahead[:length]], length - len(self._ahead)
        self._ahead = self._ahead[length:]
        while left > 0 and (piece := self._stream.read(min(left, PIECE))):
            parts.append(piece)
            left -= len(piece)
        self._passed(length, left)
        return b"".join(parts)

    def skip(self, length: int) -> bytes:
        left = length - len(self._ahead)
        self._ahead = self._ahead[length:]
        while left > 0 and (piece := self._stream.read(min(left, PIECE))):
            left -= len(piece)
        self._passed(length, left)
        return b""

    def _passed(self, length: int, left: int) -> None:
        self.is_short = left > 0
        self.at += length - max(left, 0)


def _find(whole: PlainStream | MemberStream, at: int) -> int | None:
    """The next line from there on that looks like that of a record. In a gzip member there is one."""
    if isinstance(whole, MemberStream):
        whole.drain()
        return None
    stream, kept = whole.again(at - 1), b""
    at -= 1
    while piece := stream.read():
        data = kept + piece
        if (found := _LINE.search(data)) is not None:
            return at + found.start(1)
        kept = data[-_LONGEST_LINE:]
        at += len(data) - len(kept)
    return None
