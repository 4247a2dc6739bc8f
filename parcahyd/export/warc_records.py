"""The records of a WARC file (WARC 1.1), each a gzip member of its own.

| record | written for |
|---|---|
| warcinfo | the file: who wrote it, and what in it is reconstructed |
| response | an answer: head and body |
| revisit | an answer whose body was written before, in this export; its head is whole |
| resource | a document of a protocol without heads |
| conversion | a page that was put together from an earlier answer and a table of variable information |
| request | the request, where it was kept |
| metadata | the way that led to the URL |

A revisit refers only to a record that this export has written, so nothing dangles, whatever was left out. The payloads that
can be referred to are remembered in bounded memory; a body that was forgotten is written again.

Values from servers stand in fields: they are escaped or left out, so that none can end a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple
from uuid import uuid4

from zlib_ng import zlib_ng

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.version import __version__
from parcahyd.export.exchanges import Exchange, Kind

__all__ = ["REMEMBERED", "Record", "WarcRecords", "date_text", "digest_text", "safe_url", "written_digest"]

REMEMBERED = 50_000
"""Payloads that later records can refer to; some 20 MB."""

_LEVEL = 2
_GZIP = 31
_UNSAFE = re.compile(r"[^\x21-\x7e]")
_ADDRESS = re.compile(r"[0-9A-Fa-f.:]+").fullmatch
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII).fullmatch
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/"
_CONFORMS = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_INFO = (
    f"software: parcahyd/{__version__}\r\nformat: WARC File Format 1.1\r\nconformsTo: {_CONFORMS}\r\n"
    "description: Records with the field PARCAHYD-Reconstructed are reconstructed. The field names the parts that were not "
    "kept as they were received. Headers that do not describe the bytes of the record are named X-Archive-Orig-*.\r\n"
).encode()

_NEVER_EMPTY = frozenset(("br",))
"""Codings in which no bytes at all are an error to fastwarc: an answer with one is written whole, also when it comes again."""

_Field = tuple[str, str]


class Record(NamedTuple):
    """A record as it is written."""

    kind: str
    data: bytes
    """A gzip member."""


class WarcRecords:
    """Makes records; remembers payloads, so one object serves one export."""

    def __init__(self, new_id: Callable[[], str] = lambda: str(uuid4())) -> None:
        self._new_id = new_id
        self._written: dict[bytes, tuple[str, str, str]] = {}
        """By digest of the payload: the URL and the date of the record that has it, and the digest as it stands there."""

    def warcinfo(self, name: str, at: float) -> Record:
        """The first record of the file with that name."""
        return self._record("warcinfo", date_text(at), "application/warc-fields", _INFO, [("WARC-Filename", name)])[1]

    def of(self, exchange: Exchange) -> list[Record]:
        """The records of an exchange. The first is the one that an index refers to."""
        date, url = date_text(exchange.capture.at), safe_url(exchange.capture.url)
        fields = [("WARC-Target-URI", url), *_address(exchange.capture.address)]
        if exchange.protocol is not None:
            fields.append(("WARC-Protocol", exchange.protocol))
        if exchange.reconstructed:
            fields.append(("PARCAHYD-Reconstructed", " ".join(exchange.reconstructed)))
        main_id, main = self._main(exchange, date, url, fields)
        with_main = [("WARC-Target-URI", url), ("WARC-Concurrent-To", f"<urn:uuid:{main_id}>")]
        records = [main]
        if exchange.request is not None:
            told = [("PARCAHYD-Reconstructed", "validators")] if exchange.is_request_reconstructed else []
            of_request = [*with_main, *told]
            records.append(self._record("request", date, "application/http; msgtype=request", exchange.request, of_request)[1])
        records.append(self._record("metadata", date, "application/warc-fields", _way(exchange), with_main)[1])
        return records

    def _main(self, exchange: Exchange, date: str, url: str, fields: list[_Field]) -> tuple[str, Record]:
        digest = exchange.payload_sha256
        payload = ("WARC-Payload-Digest", digest_text(written_digest(exchange)))
        if exchange.kind in (Kind.RESOURCE, Kind.CONVERSION):
            media_type = exchange.capture.media_type
            content_type = media_type if _MEDIA_TYPE(media_type) else "application/octet-stream"
            name = "resource" if exchange.kind is Kind.RESOURCE else "conversion"
            return self._record(name, date, content_type, exchange.body, [*fields, payload])
        head = b"%s\r\n%s\r\n" % (exchange.status_line, exchange.headers)
        target = self._written.get(digest)
        is_confirmed = exchange.kind is Kind.NOT_MODIFIED
        if target is not None and (is_confirmed or (exchange.body and exchange.capture.coding not in _NEVER_EMPTY)):
            profile = "server-not-modified" if is_confirmed else "identical-payload-digest"
            referring = [("WARC-Refers-To-Target-URI", target[0]), ("WARC-Refers-To-Date", target[1])]
            fields += [("WARC-Payload-Digest", target[2]), ("WARC-Profile", _PROFILE + profile), *referring]
            return self._record("revisit", date, "application/http; msgtype=response", head, fields)
        if exchange.body:
            if len(self._written) >= REMEMBERED:
                del self._written[next(iter(self._written))]
            self._written[digest] = (url, date, payload[1])
        if not is_confirmed:  # The digest of a confirmed answer is that of bytes that are not here.
            fields.append(payload)
        return self._record("response", date, "application/http; msgtype=response", head + exchange.body, fields)

    def _record(self, kind: str, date: str, content_type: str, block: bytes, fields: Iterable[_Field]) -> tuple[str, Record]:
        number = self._new_id()
        lines = "".join([f"{name}: {value}\r\n" for name, value in fields])
        head = (
            f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Date: {date}\r\n{lines}"
            f"WARC-Block-Digest: {digest_text(sha256(block).digest())}\r\n"
            f"Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
        )
        return number, Record(kind, zlib_ng.compress(b"%s%s\r\n\r\n" % (head.encode("ascii"), block), _LEVEL, _GZIP))


def written_digest(exchange: Exchange) -> bytes:
    """The digest that a record of the exchange shows: readers compare it with what follows the head, chunks included."""
    return exchange.payload_sha256 if exchange.kind is Kind.NOT_MODIFIED else sha256(exchange.body).digest()


def digest_text(digest: bytes) -> str:
    """A SHA-256 as fields and indexes have it."""
    return f"sha256:{digest.hex()}"


def safe_url(url: str) -> str:
    """The URL with everything escaped that is not printable ASCII; a canonical one is left as it is."""
    return _UNSAFE.sub(_escaped, url)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def date_text(at: float) -> str:
    """A time in UTC, to the microsecond."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _address(address: str) -> list[_Field]:
    return [("WARC-IP-Address", address)] if _ADDRESS(address) else []


def _way(exchange: Exchange) -> bytes:
    capture = exchange.capture
    via = f"via: {safe_url(exchange.via)}\r\n" if exchange.via else ""
    imported = "imported: yes\r\n" if capture.marks & ExchangeMark.IMPORTED else ""
    topic = f"topic: {capture.topic}\r\n" if capture.topic.isprintable() and capture.topic else ""
    return f"{via}hops: {capture.depth}\r\nredirects: {capture.hops}\r\n{topic}{imported}".encode()
