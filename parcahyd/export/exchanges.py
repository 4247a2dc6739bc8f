"""What was exchanged with servers, read from the database for an export.

`read_exchanges` adds to captures their heads, bodies and requests, as many at a time as fit into a bounded number of bytes. So
memory does not grow with the crawl, and a crawl may write meanwhile.

An exchange goes out as it was received, as far as the database has it. `Exchange.reconstructed` names the parts that it does
not have so: codings that were not kept, the status line of HTTP/2, everything but the headers of crawls before version 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from hashlib import sha256

import msgspec
from sqlalchemy import Connection, Table, select, tuple_

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.records import origin
from parcahyd.core.status_lines import usual_status_line
from parcahyd.export.captures import WITHOUT_VERSION, Capture, ids_of
from parcahyd.export.heads import (
    agreeing_head,
    as_one_chunk,
    ends_early,
    has_other_length,
    has_trailers,
    with_crlf,
)
from parcahyd.export.sent_validators import validators_of_checks, validators_of_versions
from parcahyd.storage.heads import head_of, header_lines, is_chunked, request_head
from parcahyd.storage.packing import PackedRegion, StoredBytes, UnpackingFailure, whole_of
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import (
    documents,
    exchanges,
    fetches,
    head_bases,
    own_bodies,
    requests,
    seeds,
    sites,
    urls,
    volatile,
)

__all__ = ["Exchange", "Kind", "read_exchanges"]

_BATCH_BYTES = 8 << 20
_BATCH = 256
_PROTOCOLS = {"1.0": "http/1.0", "1.1": "http/1.1", "2": "h2", "3": "h3"}


class Kind(Enum):
    """What an exchange brought."""

    RESPONSE = "an answer with its head"
    NOT_MODIFIED = "an answer that confirms the bytes of an earlier one"
    RESOURCE = "a document of a protocol that has no heads (ftp)"
    CONVERSION = "a page that was put together from an earlier answer and a table of variable information"


class Exchange(msgspec.Struct, frozen=True, gc=False):
    """A request and its answer, as they go out."""

    capture: Capture
    kind: Kind
    status_line: bytes
    """Without the line's end."""
    headers: bytes
    """Lines ended by CR LF. They agree with the body."""
    body: bytes
    """As the headers describe it."""
    payload_sha256: bytes
    """Of the body, without chunks, so that equal ones are known. For NOT_MODIFIED it is that of the body that was confirmed."""
    document: bytes
    """The body without codings."""
    reconstructed: tuple[str, ...] = ()
    """The parts that were not kept as they were received; empty: it is all as it was."""
    request: bytes | None = None
    """The head of the request; None: it was not kept."""
    is_request_reconstructed: bool = False
    """Its validators are told by the answers before."""
    protocol: str | None = None
    """Such as "http/1.1" or "h2"; None: not known."""
    via: str | None = None
    """The URL that led to it, where that is known."""


def read_exchanges(reader: Reader, captures: Iterable[Capture], damaged: Callable[[str, str], None]) -> Iterator[Exchange]:
    """The exchanges of captures, in their order. `damaged` is told the URL and what is wrong, where bytes cannot be read.

    A version that was deleted in the meantime is left out.
    """
    for batch in _batches(captures):
        with reader.transaction() as connection:
            stored = _Stored(connection, batch)
        for capture in batch:
            try:
                exchange = stored.exchange(capture)
            except UnpackingFailure as failure:
                damaged(capture.url, str(failure))
                continue
            if exchange is not None:
                yield exchange


def _batches(captures: Iterable[Capture]) -> Iterator[list[Capture]]:
    batch: list[Capture] = []
    size = 0
    for capture in captures:
        if batch and (len(batch) >= _BATCH or size + capture.packed > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(capture)
        size += capture.packed
    if batch:
        yield batch


class _Stored:
    """What the database has beside the rows of some captures. All is read in one transaction: a crawl may rewrite how a version
    is stored."""

    def __init__(self, connection: Connection, captures: list[Capture]) -> None:
        versions = [capture.version for capture in captures if capture.version is not None and capture.status != _NOT_MODIFIED]
        self._documents = _documents(connection, versions)
        # An answer that brought the same bytes again refers to the version that has them.
        again = {capture.version for capture in captures if capture.coded_sha256 and capture.version is not None}
        self._own = _own_bodies(connection, list(again.union([capture.number for capture in captures])))
        self._bases = _contents(connection, head_bases, {capture.head_base for capture in captures})
        self._requests = _contents(connection, requests, {capture.request for capture in captures})
        self._validators = _validators(connection, captures)
        self._vias = _vias(connection, [capture.url for capture in captures if capture.is_seed])
        self._pages = _urls_of(connection, {capture.first_seen_on for capture in captures})

    def exchange(self, capture: Capture) -> Exchange | None:
        """The exchange of a capture; None where its document is gone. UnpackingFailure where its bytes are damaged."""
        if capture.status == _NOT_MODIFIED and capture.sha256 is not None:
            return self._made(capture, b"", b"", is_as_sent=True)
        document, coded = b"", None
        if capture.sha256 is not None and capture.version is not None:
            found = self._documents.get(capture.version)
            if found is None:
                return None
            stored, regions, coded_sha256 = found
            document = whole_of(stored, regions)
            if sha256(document).digest() != capture.sha256:
                raise UnpackingFailure("it is not what was received")
            if stored.coding and stored.coding == capture.coding and capture.coded_sha256 in (None, coded_sha256):
                coded = stored.packed
        own = self._own.get(capture.number) or self._same_again(capture)
        if own is not None:
            document, coded = own.unpack(), own.packed if own.coding else coded
        if coded is not None:
            return self._made(capture, coded, document, is_as_sent=True)
        has_body = own is not None or capture.sha256 is not None
        return self._made(capture, document, document, is_as_sent=has_body and not capture.coding)

    def _same_again(self, capture: Capture) -> StoredBytes | None:
        """The coded bytes that the version of an answer has by itself, where the answer had the same."""
        own = self._own.get(capture.version or 0) if capture.coded_sha256 else None
        return own if own is not None and sha256(own.packed).digest() == capture.coded_sha256 else None

    def _made(self, capture: Capture, payload: bytes, document: bytes, *, is_as_sent: bool) -> Exchange:
        """`is_as_sent`: the payload has the codings of which the head speaks."""
        line, lines, reconstructed = self._head(capture)
        body = payload
        has_chunks = capture.protocol in _WITH_CHUNKS and is_chunked(lines)
        is_whole = (
            is_as_sent and capture.head is not None and not capture.marks & ExchangeMark.BODY_CUT and not ends_early(lines)
        )
        if is_whole and payload and capture.version is None and not has_chunks:
            is_whole = not has_other_length(lines, len(payload))  # Of a robots.txt, only what is read of it is kept.
        if capture.marks & ExchangeMark.IMPORTED and not has_chunks and capture.status != _NOT_MODIFIED:
            is_whole = is_whole and not is_chunked(lines) and not has_other_length(lines, len(payload))
        if is_whole and has_chunks and not capture.coding:
            body = as_one_chunk(payload)
            reconstructed = (*reconstructed, "trailers") if has_trailers(lines) else reconstructed
        elif not is_whole or has_chunks:
            # fastwarc loses its place behind a coded body in chunks, so that one goes out without them.
            head = agreeing_head(lines, len(payload), is_coded=is_as_sent and bool(capture.coding))
            lines = head.lines
            is_body_lost = not payload and capture.sha256 is None and head.reconstructed
            cut = ("body",) if is_body_lost or capture.marks & ExchangeMark.BODY_CUT else ()
            reconstructed = (*reconstructed, *head.reconstructed, *cut)
        is_confirmation = capture.status == _NOT_MODIFIED and capture.sha256 is not None
        return Exchange(
            capture=capture,
            kind=_kind(capture),
            status_line=line,
            headers=lines,
            body=body,
            payload_sha256=capture.confirmed if is_confirmation else sha256(payload).digest(),
            document=document,
            reconstructed=reconstructed,
            request=self._request(capture),
            is_request_reconstructed=bool(capture.marks & ExchangeMark.CONDITIONAL),
            protocol=_PROTOCOLS.get(capture.protocol),
            via=self._vias.get(capture.url) or self._pages.get(capture.first_seen_on),
        )

    def _head(self, capture: Capture) -> tuple[bytes, bytes, tuple[str, ...]]:
        """Status line, header lines, and what of them was made up."""
        if capture.head is None:
            return usual_status_line(capture.status), capture.headers, ("status-line",)
        head = head_of(capture, self._bases.get(capture.head_base or 0))
        line, lines = head.partition(b"\n")[0].rstrip(b"\r"), header_lines(head)
        reconstructed = []
        if capture.marks & ExchangeMark.HEAD_MADE_UP:
            reconstructed.append("head")
        elif not line.startswith(b"HTTP/1."):  # HTTP/2 and HTTP/3 have no status line.
            line = usual_status_line(capture.status)
            reconstructed.append("status-line")
        if capture.marks & ExchangeMark.HEAD_CUT:
            reconstructed.append("head")
        if head.count(b"\n") != head.count(b"\r\n"):  # Common readers find no end of such a head.
            lines = with_crlf(lines)
            reconstructed.append("line-ends")
        return line, lines, tuple(reconstructed)

    def _request(self, capture: Capture) -> bytes | None:
        lines = self._requests.get(capture.request or 0)
        return None if lines is None else request_head(capture.url, lines, self._validators.get(capture.number, b""))


_NOT_MODIFIED = 304
_WITH_CHUNKS = frozenset(("", "1.1"))


def _documents(connection: Connection, versions: list[int]) -> dict[int, tuple[StoredBytes, list[PackedRegion], bytes | None]]:
    """By version: the bytes of its document, its regions, and the digest of the document's coded bytes."""
    if not versions:
        return {}
    regions: dict[int, list[PackedRegion]] = {}
    columns = (volatile.c.fetch_id, volatile.c.id, volatile.c.offset, volatile.c.length, volatile.c.content)
    of_versions = select(*columns).where(volatile.c.fetch_id.in_(versions))
    for number, *region in connection.execute(of_versions.order_by(volatile.c.offset, volatile.c.region)):
        regions.setdefault(number, []).append(PackedRegion(*region))
    of_document = (documents.c.body, documents.c.length, documents.c.coding, documents.c.coded_sha256)
    statement = select(fetches.c.id, *of_document).join(documents, documents.c.id == fetches.c.document_id)
    return {
        number: (StoredBytes(bytes(body), length, coding), regions.get(number, []), coded and bytes(coded))
        for number, body, length, coding, coded in connection.execute(statement.where(fetches.c.id.in_(versions)))
    }


def _own_bodies(connection: Connection, numbers: list[int]) -> dict[int, StoredBytes]:
    """By number of a capture: bytes that no document holds."""
    versions, others = ids_of(numbers)
    of_versions = select(own_bodies.c.fetch_id, own_bodies.c.body, own_bodies.c.length, own_bodies.c.coding)
    of_others = select(exchanges.c.id, exchanges.c.body, exchanges.c.length, exchanges.c.body_coding)
    found: dict[int, StoredBytes] = {}
    if versions:
        for number, body, length, coding in connection.execute(of_versions.where(own_bodies.c.fetch_id.in_(versions))):
            found[number] = StoredBytes(bytes(body), length, coding)
    if others:
        kept = of_others.where(exchanges.c.id.in_(others), exchanges.c.body.is_not(None))
        for number, body, length, coding in connection.execute(kept):
            found[WITHOUT_VERSION + number] = StoredBytes(bytes(body), length, coding)
    return found


def _validators(connection: Connection, captures: list[Capture]) -> dict[int, bytes]:
    """By number of a capture: the header lines with the validators of its request, where it had some."""
    numbers = [capture.number for capture in captures if capture.request and capture.marks & ExchangeMark.CONDITIONAL]
    versions, others = ids_of(numbers)
    of_others = validators_of_checks(connection, others)
    return validators_of_versions(connection, versions) | {WITHOUT_VERSION + id_: lines for id_, lines in of_others.items()}


def _contents(connection: Connection, table: Table, numbers: set[int | None]) -> dict[int, bytes]:
    wanted = [number for number in numbers if number]
    if not wanted:
        return {}
    rows = connection.execute(select(table.c.id, table.c.content).where(table.c.id.in_(wanted)))
    return {number: bytes(content) for number, content in rows}


def _urls_of(connection: Connection, places: set[tuple[int, int] | None]) -> dict[tuple[int, int] | None, str]:
    """The URLs of pages, by site and key."""
    wanted = [place for place in places if place is not None]
    if not wanted:
        return {}
    columns = (urls.c.site_id, urls.c.key, urls.c.path, sites.c.scheme, sites.c.host, sites.c.port)
    statement = select(*columns).join(sites, sites.c.id == urls.c.site_id)
    rows = connection.execute(statement.where(tuple_(urls.c.site_id, urls.c.key).in_(wanted)))
    return {(site, key): origin(scheme, host, port) + path for site, key, path, scheme, host, port in rows}


def _vias(connection: Connection, of_seeds: list[str]) -> dict[str, str]:
    if not of_seeds:
        return {}
    statement = select(seeds.c.url, seeds.c.via).where(seeds.c.url.in_(of_seeds), seeds.c.via.is_not(None))
    return {url: via for url, via in connection.execute(statement)}  # noqa: C416 (rows are not pairs to a type checker)


def _kind(capture: Capture) -> Kind:
    if capture.is_merged:
        return Kind.CONVERSION
    if capture.status == _NOT_MODIFIED and capture.sha256 is not None:
        return Kind.NOT_MODIFIED
    return Kind.RESPONSE if capture.url.startswith(("http://", "https://")) else Kind.RESOURCE
