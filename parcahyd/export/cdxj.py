"""The index of WARC files: CDXJ, one line per record that can be replayed, sorted by SURT and time.

A line is `SURT TIMESTAMP JSON`. Each WARC file has a sorted part of the index; the whole is merged from the parts, so that
memory does not grow with the export. A WACZ file has the index in compressed blocks (`index.cdx.gz`) with the first line of
each in a small table (`index.idx`), so that a browser reads only the blocks that it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from hashlib import sha256
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec
from zlib_ng import zlib_ng

from parcahyd.export.exchanges import Exchange, Kind
from parcahyd.export.surt import surt
from parcahyd.export.warc_records import digest_text, safe_url, written_digest

__all__ = ["index_line", "merged_lines", "timestamp", "write_blocks"]

_BLOCK_LINES = 1024
_GZIP = 31
_REVISIT = "warc/revisit"
_encode = msgspec.json.Encoder().encode


def index_line(exchange: Exchange, record: str, file: str, offset: int, length: int) -> bytes | None:
    """The line of an exchange whose record of kind `record` lies there; None for a record that cannot be replayed.

    A conversion is no answer of a server: replay programs show the answer that it was made from. They would show an answer that
    confirms another (304) without a body, although that has one.
    """
    if record == "conversion" or exchange.kind is Kind.NOT_MODIFIED:
        return None
    capture = exchange.capture
    url = safe_url(capture.url)
    fields = {
        "url": url,
        "mime": _REVISIT if record == "revisit" else capture.media_type or "unk",
        "status": str(capture.status if record != "resource" else 200),
        "digest": digest_text(written_digest(exchange)),
        "length": str(length),
        "offset": str(offset),
        "filename": file,
    }
    return f"{surt(url)} {timestamp(capture.at)} ".encode() + _encode(fields) + b"\n"


def timestamp(at: float) -> str:
    """A time as 14 digits."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y%m%d%H%M%S")


def merged_lines(parts: Sequence[Path]) -> Iterator[bytes]:
    """The lines of sorted files, sorted."""
    with ExitStack() as opened:
        yield from merge(*[opened.enter_context(part.open("rb")) for part in parts])


def write_blocks(lines: Iterable[bytes], blocks: BinaryIO, table: BinaryIO, name: str) -> None:
    """Writes sorted lines as compressed blocks, and their table; `name` is that of the file with the blocks."""
    table.write(b"!meta 0 " + _encode({"format": "cdxj-gzip-1.0", "filename": name}) + b"\n")
    rest = iter(lines)
    offset = 0
    while block := list(islice(rest, _BLOCK_LINES)):
        packed = zlib_ng.compress(b"".join(block), 6, _GZIP)
        key, time, _ = block[0].split(b" ", 2)
        where = {"offset": offset, "length": len(packed), "digest": f"sha256:{sha256(packed).hexdigest()}", "filename": name}
        table.write(b"%s %s %s\n" % (key, time, _encode(where)))
        blocks.write(packed)
        offset += len(packed)
