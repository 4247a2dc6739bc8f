"""A sitemap's bytes as UTF-8 text: gzip opened within a limit, the encoding found, its byte order mark removed.

Both are recognised by content, because names and headers of sitemaps are often wrong. Nothing is validated here: UTF-8 that is
broken stays so, and the reader decides what that means.

Tested in tests/rules/sitemaps/test_reader.py.
"""

from __future__ import annotations

import codecs
import re
import zlib
from typing import NamedTuple

__all__ = ["MAX_DECODED", "Plain", "plain_utf8"]

MAX_DECODED = 50 * 1024 * 1024
"""Bytes of a sitemap that are read, after decompression: what the protocol (sitemaps.org) allows."""

_GZIP = b"\x1f\x8b"
_MAX_MEMBERS = 16
_PIECE = 1 << 16

_CUT = "it is larger than 50 MB; the rest was not read"
_DAMAGED = "its gzip stream is damaged or ends early; what came before that is used"
_NESTED = "it is gzip within gzip, which is not opened"
_MEMBERS = "its gzip stream has many members; the rest was not read"

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_SHAPES = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"), (b"h\0t\0", "utf-16-le"), (b"\0h\0t", "utf-16-be"))
_DECLARED = re.compile(rb"[\t\n\r ]{0,64}<\?xml[^>]{0,200}?encoding[\t\n\r ]{0,8}=[\t\n\r ]{0,8}[\"']([A-Za-z0-9._-]{1,40})")
# Codecs that take linear time and only decode; Python has others, which compress or encode. ASCII and Latin-1 mean
# windows-1252, as the Encoding Standard says.
_CODEC = re.compile(
    r"iso-?8859-(?:[2-9]|1[03-6])|windows-125[0-8]|koi8-[ru]|gb2312|gbk|gb18030|big5|shift[_-]jis|euc-(?:jp|kr)|iso-2022-jp"
)
_WESTERN = frozenset(("iso-8859-1", "iso8859-1", "latin1", "latin-1", "us-ascii", "ascii", "windows-1252"))


class Plain(NamedTuple):
    """Bytes that are UTF-8 as far as that can be had."""

    data: bytes
    was_cut: bool
    failures: tuple[str, ...]


def plain_utf8(body: bytes, charset: str = "") -> Plain:
    """The text of a sitemap that came as `body`; `charset` is what its header said, which counts least.

    A gzip within the gzip is not opened: nothing is left of it.
    """
    opened = _inflated(body) if body.startswith(_GZIP) else _within_limit(body, ())
    if body.startswith(_GZIP) and opened.data.startswith(_GZIP):
        return Plain(b"", opened.was_cut, (*opened.failures, _NESTED))
    data, was_cut, failures = opened
    mark, codec = next((marked for marked in _MARKS if data.startswith(marked[0])), (b"", ""))
    data = data[len(mark) :] if mark else data
    codec = codec or _codec_of(data, charset)
    if codec == "utf-8":
        return Plain(data, was_cut, failures)
    recoded = _within_limit(_recoded(data, codec), failures)
    return recoded._replace(was_cut=was_cut or recoded.was_cut)


def _within_limit(data: bytes, failures: tuple[str, ...]) -> Plain:
    if len(data) <= MAX_DECODED:
        return Plain(data, False, failures)
    return Plain(data[:MAX_DECODED], True, (*failures, _CUT))


def _inflated(body: bytes) -> Plain:
    """What the gzip members hold, up to the limit or to the first damage; padding after the last member is ignored."""
    pieces: list[bytes] = []
    position, room = 0, MAX_DECODED + 1
    for _ in range(_MAX_MEMBERS):
        position, room = _inflate_member(body, position, pieces, room)
        if not room:
            return _within_limit(b"".join(pieces), ())
        if position < 0:
            return Plain(b"".join(pieces), False, (_DAMAGED,))
        if not body.startswith(_GZIP, position):
            return Plain(b"".join(pieces), False, ())
    return Plain(b"".join(pieces), True, (_MEMBERS,))


def _inflate_member(body: bytes, position: int, pieces: list[bytes], room: int) -> tuple[int, int]:
    """Appends what the member at `position` holds; gives where it ends (-1 if it is damaged) and the room that is left."""
    stream = zlib.decompressobj(wbits=31)
    for start in range(position, len(body), _PIECE):
        end = min(start + _PIECE, len(body))
        try:
            piece = stream.decompress(body[start:end], room)
        except zlib.error:
            return -1, room
        pieces.append(piece)
        room -= len(piece)
        if stream.eof or not room:
            return end - len(stream.unused_data), room
    return -1, room


def _codec_of(data: bytes, charset: str) -> str:
    """By the shape of the first bytes, by the XML declaration, by the header, else UTF-8.

    A declaration of UTF-16 without its shape is a slip of programs that build XML in memory and save it as UTF-8.
    """
    for shape, codec in _SHAPES:
        if data.startswith(shape):
            return codec
    declared = _DECLARED.match(data)
    name = (declared[1].decode("ascii") if declared else charset).lower()
    if name in _WESTERN:
        return "windows-1252"
    if name == "windows-874":
        return "cp874"
    return name if _CODEC.fullmatch(name) else "utf-8"


def _recoded(data: bytes, codec: str) -> bytes:
    """Piece by piece: one character outside the first plane would make a single text four times as large as its bytes."""
    decoder = codecs.getincrementaldecoder(codec)("replace")
    pieces = [decoder.decode(data[start : start + _PIECE]).encode() for start in range(0, len(data), _PIECE)]
    return b"".join([*pieces, decoder.decode(b"", True).encode()])
