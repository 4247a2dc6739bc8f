"""The heads of answers, compressed against another head of their site, and the headers of requests.

The first head that a run gets from a site is stored as it is. The second, and all that follow, are compressed against the
first, which is stored once more for that, in `head_bases`: versions of a page come and go, and what others are read with must
stay. A head of 240 bytes takes 25 this way, and 4 µs.
"""

from __future__ import annotations

import re
import zlib
from collections import OrderedDict
from typing import Any

from sqlalchemy import insert, select

from parcahyd.core.status_lines import usual_status_line
from parcahyd.storage.expressions import same
from parcahyd.storage.packing import UnpackingFailure
from parcahyd.storage.schema import head_bases, requests
from parcahyd.storage.writer import Writer

__all__ = ["HeadRows", "RequestRows", "head_of", "header_lines", "is_chunked", "request_head"]

_WINDOW = 12
"""As a power of two, of bytes: so small a window is set up in no time."""
_BASE_BYTES = 2**_WINDOW
_MOST_SITES = 2000
"""Whose heads are held in memory, the last ones. A site that comes again later gets another base."""
_LARGEST = 64 * 1024
"""Bytes that a stored head may unpack to; those that are stored are smaller."""

_WEB = frozenset(("http", "https"))
_IS_CHUNKED = re.compile(rb"(?im)^transfer-encoding:[ \t]*(?:[^\r\n]*,[ \t]*)?chunked[ \t]*\r?$").search

_INSERT_BASE = insert(head_bases)
_INSERT_REQUEST = insert(requests)
_REQUEST = select(requests.c.id).where(*same(requests, "content"))


class HeadRows:
    """Compresses heads; used inside a transaction of the writer. After one that failed it begins anew: a base is lost then."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._bases: OrderedDict[int, tuple[int, bytes]] = OrderedDict()
        """By site: the number of its base, or 0 while nothing was compressed against it, and its content."""
        writer.on_failure(self._bases.clear)

    def pack(self, site: int, head: bytes) -> tuple[bytes, int | None]:
        """A head as it is stored, and the number of the base that it is compressed against, if it is."""
        if not head:
            return head, None
        known = self._bases.get(site)
        if known is None:
            self._bases[site] = (0, head[:_BASE_BYTES])
            if len(self._bases) > _MOST_SITES:
                self._bases.popitem(last=False)
            return head, None
        number, base = known
        packer = zlib.compressobj(6, zlib.DEFLATED, -_WINDOW, 4, zlib.Z_DEFAULT_STRATEGY, base)
        packed = packer.compress(head) + packer.flush()
        if len(packed) >= len(head):
            return head, None
        if not number:
            number = self._writer.new_id(head_bases)
            self._writer.run(_INSERT_BASE, id=number, site_id=site, content=base)
            self._bases[site] = (number, base)
        return packed, number


class RequestRows:
    """Gives each kind of request its number; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._known: dict[bytes, int] = {}
        writer.on_failure(self._known.clear)

    def number(self, content: bytes) -> int | None:
        """The number of a request's header lines; None where there are none."""
        if not content:
            return None
        found = self._known.get(content)
        if found is None:
            found = self._writer.value(_REQUEST, content=content)
            if found is None:
                found = self._writer.new_id(requests)
                self._writer.run(_INSERT_REQUEST, id=found, content=content)
            self._known[content] = found
        return found


def head_of(row: Any, base: bytes | None) -> bytes:
    """The head of a fetch, from its row and the content of its base; UnpackingFailure where it is damaged.

    That of a fetch of an older version of the tables is made up of its status and its header lines.
    """
    if row.head is None:
        return b"".join((usual_status_line(row.status), b"\r\n", row.headers, b"\r\n"))
    if row.head_base is None:
        return bytes(row.head)
    if base is None:
        raise UnpackingFailure("the head that its own is compressed against is not there")
    stream = zlib.decompressobj(-_WINDOW, bytes(base))
    try:
        head = stream.decompress(row.head, _LARGEST)
    except zlib.error as error:
        raise UnpackingFailure(f"its head cannot be decompressed: {error}") from None
    if not stream.eof:
        raise UnpackingFailure("its compressed head ends too early")
    return head


def header_lines(head: bytes) -> bytes:
    """The header lines of a head, without its status line and its blank line."""
    return head.partition(b"\n")[2].removesuffix(b"\n").removesuffix(b"\r")


def is_chunked(lines: bytes) -> bool:
    """Whether a head, or its header lines, say that the body came in chunks."""
    return _IS_CHUNKED(lines) is not None


def request_head(url: str, lines: bytes, validators: bytes = b"") -> bytes | None:
    """The head of a request, from its header lines as they are stored, and those of its validators; None for a protocol that
    has no such heads."""
    scheme, _, rest = url.partition("://")
    if scheme not in _WEB:
        return None
    host, _, path = rest.partition("/")
    before, *last = lines.rpartition(b"Accept-Encoding:")  # It is sent last.
    return b"".join((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n".encode(), before, validators, *last, b"\r\n"))
