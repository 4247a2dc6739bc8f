"""WARC files as two independent readers see them: fastwarc with full decoding, and warcio."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import brotli
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

__all__ = ["Block", "Seen", "blocks", "by_fastwarc", "by_warcio", "only"]


@dataclass(frozen=True)
class Seen:
    """A record as a reader sees it."""

    kind: str
    fields: dict[str, str]
    """Those of the record, by name in lower case."""
    status_line: str
    headers: list[tuple[str, str]]
    """Of the answer in it."""
    body: bytes
    """Without codings, as far as the headers name any."""

    @property
    def url(self) -> str:
        return self.fields.get("warc-target-uri", "")

    def header(self, name: str) -> list[str]:
        return [value for found, value in self.headers if found.lower() == name.lower()]


@dataclass(frozen=True)
class Block:
    """A record as it is written."""

    fields: dict[str, str]
    """By name in lower case."""
    block: bytes

    @property
    def kind(self) -> str:
        return self.fields["warc-type"]

    @property
    def url(self) -> str:
        return self.fields.get("warc-target-uri", "")

    @property
    def reconstructed(self) -> str:
        """The parts that were not kept as they were received."""
        return self.fields.get("parcahyd-reconstructed", "")


def blocks(file: Path) -> list[Block]:
    """All records; nothing is parsed or decoded."""
    with file.open("rb") as stream:
        return [
            Block({name.lower(): value for name, value in record.headers}, record.reader.read())
            for record in ArchiveIterator(stream, parse_http=False)
        ]


def by_fastwarc(file: Path) -> list[Seen]:
    """All records; every block digest is checked, and payloads are decoded as a browser would."""
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, parse_http=False):
            assert record.verify_block_digest(), record.headers
    with file.open("rb") as stream:
        return [_seen(record) for record in ArchiveIterator(stream, parse_http=True, auto_decode="all")]


def _seen(record: object) -> Seen:
    from fastwarc.warc import WarcRecord

    assert isinstance(record, WarcRecord)
    has_head = record.record_type in (WarcRecordType.response, WarcRecordType.revisit)
    http = record.http_headers if has_head else None
    return Seen(
        str(record.record_type),
        {name.lower(): value for name, value in record.headers},
        "" if http is None else str(http.status_line or ""),
        [] if http is None else list(http),
        record.reader.read(),
    )


def by_warcio(file: Path) -> list[Seen]:
    """All records; both digests of each are checked."""
    found = []
    with file.open("rb") as stream:
        for record in WarcioIterator(stream, check_digests="raise"):
            http = record.http_headers
            is_brotli = http is not None and http.get_header("content-encoding") == "br"
            # warcio decodes Brotli only with another package of that name.
            body = brotli.decompress(record.raw_stream.read()) if is_brotli else record.content_stream().read()
            fields = {name.lower(): value for name, value in record.rec_headers.headers}
            status = "" if http is None else f"{http.protocol} {http.statusline}"
            found.append(Seen(record.rec_type, fields, status, [] if http is None else list(http.headers), body))
    return found


def only(records: list[Seen], kind: str, url: str) -> Seen:
    """The one record of that kind for a URL."""
    (found,) = [record for record in records if record.kind == kind and record.url == url]
    return found
