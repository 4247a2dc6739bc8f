"""What was exchanged with servers, read from the database for an export: the only module of this room that knows the tables.

`read_captures` goes through the stored versions in the order of their ids, then through the answers that brought no version (a
check, an error), some at a time in short transactions, and skips what was not asked for. `read_exchanges` adds the bodies, as
many at a time as fit into a bounded number of bytes. So memory does not grow with the crawl, and a crawl may write meanwhile.

An exchange goes out as it was received, as far as the database has it. `Exchange.reconstructed` names the parts that it does
not have so: codings that were not kept, the status line of HTTP/2, everything but the headers of crawls before version 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, case, exists, func, literal, null, select, tuple_

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.records import origin
from parcahyd.export.heads import agreeing_head, as_one_chunk, ends_early, is_chunked, status_line
from parcahyd.export.selection import Selection
from parcahyd.storage.heads import head_of, header_lines
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
    tvis,
    urls,
    volatile,
)

__all__ = ["Capture", "Exchange", "Kind", "count_captures", "read_captures", "read_exchanges"]

_PAGE = 1000
_BATCH_BYTES = 8 << 20
_BATCH = 256
_MEMBER = "#!/"
_WITHOUT_VERSION = 1 << 62
"""Numbers of captures from here on are those of answers that brought no version."""
_PROTOCOLS = {"1.0": "http/1.0", "1.1": "http/1.1", "2": "h2", "3": "h3"}


class Kind(Enum):
    """What an exchange brought."""

    RESPONSE = "an answer with its head"
    NOT_MODIFIED = "an answer that confirms the bytes of an earlier one"
    RESOURCE = "a document of a protocol that has no heads (ftp)"
    CONVERSION = "a page that was put together from an earlier answer and a table of variable information"


class Capture(msgspec.Struct, frozen=True, gc=False):
    """A stored version, or an answer that brought none, without its bytes."""

    number: int
    """Its place in the order of reading; an export goes on after it."""
    version: int | None
    """The version that has the document; None where there is none, as with an error."""
    url: str
    at: float
    status: int
    address: str
    head: bytes | None
    """These three as they are stored: see `head_of`."""
    head_base: int | None
    headers: bytes
    coding: str
    """The content codings that the answer came with."""
    coded_sha256: bytes | None
    """Of the bytes as they were transferred, where the document does not have them."""
    marks: int
    protocol: str
    request: int | None
    redirect: str | None
    media_type: str
    """Empty where there is no document."""
    charset: str
    title: str
    depth: int
    """How many links lead from a seed to it."""
    hops: int
    """How many redirects led to it."""
    is_seed: bool
    is_merged: bool
    sha256: bytes | None
    """Of the document; None where there is none."""
    packed: int
    """About how many bytes are read for it."""
    confirmed: bytes = b""
    """Of a check: the digest of the payload that the version goes out with."""
    first_seen_on: tuple[int, int] | None = None
    """Site and key of the page that first linked to it."""


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
    protocol: str | None = None
    """Such as "http/1.1" or "h2"; None: not known."""
    via: str | None = None
    """The URL that led to it, where that is known."""


_before = fetches.alias("before")
_HEADERS_BEFORE = (
    select(_before.c.headers)
    .where(_before.c.site_id == fetches.c.site_id, _before.c.key == fetches.c.key, _before.c.id < fetches.c.id)
    .order_by(_before.c.id.desc())
    .limit(1)
    .scalar_subquery()
)
_HAS_REGIONS = exists().where(volatile.c.fetch_id == fetches.c.id, volatile.c.id != "")
# The digest of the payload with which a version goes out: of its coded bytes, if they are kept, else of the document.
_HAS_OWN_BODY = exists().where(own_bodies.c.fetch_id == fetches.c.id)
_CONFIRMED = func.coalesce(
    case(
        (fetches.c.coding == "", None),
        (fetches.c.coded_sha256.is_(None), documents.c.coded_sha256),
        (_HAS_OWN_BODY, fetches.c.coded_sha256),
    ),
    fetches.c.sha256,
)


def _facts(table: Table) -> tuple[Any, ...]:
    """The columns that `fetches` and `exchanges` share."""
    columns = table.c
    return (
        *(columns.id, columns.site_id, columns.at, columns.status, columns.address, columns.head, columns.head_base),
        *(columns.coding, columns.coded_sha256, columns.marks, columns.protocol, columns.request_id),
        *(urls.c.path, urls.c.state, urls.c.depth, urls.c.hops, urls.c.seed, urls.c.changes, urls.c.via_site, urls.c.via_key),
        *(sites.c.scheme, sites.c.host, sites.c.port),
        *(documents.c.media_type, documents.c.charset, documents.c.title, func.length(documents.c.body).label("packed")),
        *(fetches.c.document_id, fetches.c.sha256, fetches.c.length),
    )


def _with_urls(statement: Any, table: Table) -> Any:
    return statement.join(urls, (urls.c.site_id == table.c.site_id) & (urls.c.key == table.c.key)).join(
        sites, sites.c.id == table.c.site_id
    )


_CAPTURES = (
    _with_urls(
        select(
            *_facts(fetches),
            *(fetches.c.id.label("version"), fetches.c.headers, fetches.c.redirect, tvis.c.merges),
            *(_HAS_REGIONS.label("has_regions"), case((_HAS_REGIONS, _HEADERS_BEFORE)).label("headers_before")),
            null().label("confirmed"),
        ).select_from(fetches),
        fetches,
    )
    .join(documents, documents.c.id == fetches.c.document_id, isouter=True)
    .join(tvis, tvis.c.fetch_id == fetches.c.id, isouter=True)
)
_OTHER_CAPTURES = (
    _with_urls(
        select(
            *_facts(exchanges),
            *(exchanges.c.fetch_id.label("version"), literal(b"").label("headers"), null().label("redirect")),
            *(null().label("merges"), literal(False).label("has_regions"), null().label("headers_before")),
            _CONFIRMED.label("confirmed"),
        ).select_from(exchanges),
        exchanges,
    )
    .join(fetches, fetches.c.id == exchanges.c.fetch_id, isouter=True)
    .join(documents, documents.c.id == fetches.c.document_id, isouter=True)
)


def count_captures(reader: Reader) -> int:
    """How many versions and other answers are stored, chosen or not."""
    return sum(int(reader.rows(select(func.count()).select_from(table))[0][0]) for table in (fetches, exchanges))


def read_captures(
    reader: Reader, selection: Selection, after: int = 0, passed: Callable[[int], None] = lambda _: None
) -> Iterator[Capture]:
    """The chosen captures behind number `after`, ascending. `passed` is told how many were looked at, now and then.

    A member of an archive is left out: it was never sent by itself, and the archive is there. So is a page that asked not to be
    kept, of which the database has nothing.
    """
    sources = ((fetches, _CAPTURES, 0), (exchanges, _OTHER_CAPTURES, _WITHOUT_VERSION))
    for table, statement, begin in sources:
        if after >= _WITHOUT_VERSION > begin:
            continue
        for page in reader.pages(table, statement.where(table.c.id > max(0, after - begin)), _PAGE):
            for row in page:
                url = f"{origin(row.scheme, row.host, row.port)}{row.path}"
                if _MEMBER not in url and selection.admits(row.site_id, row.at, row.state, row.media_type or "", url):
                    yield _capture(row, begin + row.id, url)
            passed(len(page))


def _capture(row: Any, number: int, url: str) -> Capture:
    return Capture(
        number=number,
        version=row.version if row.document_id is not None else None,
        url=url,
        at=row.at,
        status=row.status,
        address=row.address,
        head=None if row.head is None else bytes(row.head),
        head_base=row.head_base,
        headers=bytes(row.headers),
        coding=row.coding,
        coded_sha256=None if row.coded_sha256 is None else bytes(row.coded_sha256),
        marks=row.marks,
        protocol=row.protocol,
        request=row.request_id,
        redirect=row.redirect,
        media_type=row.media_type or "",
        charset=row.charset or "",
        title=row.title or "",
        depth=row.depth,
        hops=row.hops,
        is_seed=row.seed,
        is_merged=_is_merged(row),
        sha256=None if row.document_id is None else bytes(row.sha256),
        packed=(row.packed or 0) + (row.length or 0),
        confirmed=bytes(row.confirmed or b""),
        first_seen_on=None if row.via_key is None else (row.via_site or row.site_id, row.via_key),
    )


def _is_merged(row: Any) -> bool:
    """Whether a version was put together from fragments. Before version 5 of the tables that is told by its headers, which are
    those of the version before it.

    Where the version before is not kept any more, a page that changed and is refreshed by its table is taken for merged.
    """
    if row.head is not None:
        return bool(row.marks & ExchangeMark.MERGED)
    if not row.has_regions:
        return False
    if row.headers_before is None:
        return bool(row.changes and row.merges)
    return bytes(row.headers_before) == bytes(row.headers)


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
        self._own = _own_bodies(connection, [capture.number for capture in captures])
        self._bases = _contents(connection, head_bases, {capture.head_base for capture in captures})
        self._requests = _contents(connection, requests, {capture.request for capture in captures})
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
            stored, regions = found
            document = whole_of(stored, regions)
            if sha256(document).digest() != capture.sha256:
                raise UnpackingFailure("it is not what was received")
            if stored.coding and stored.coding == capture.coding and capture.coded_sha256 is None:
                coded = stored.packed
        own = self._own.get(capture.number)
        if own is not None:
            document, coded = own.unpack(), own.packed if own.coding else coded
        if coded is not None:
            return self._made(capture, coded, document, is_as_sent=True)
        has_body = own is not None or capture.sha256 is not None
        return self._made(capture, document, document, is_as_sent=has_body and not capture.coding)

    def _made(self, capture: Capture, payload: bytes, document: bytes, *, is_as_sent: bool) -> Exchange:
        """`is_as_sent`: the payload has the codings of which the head speaks."""
        line, lines, reconstructed = self._head(capture)
        body = payload
        has_chunks = capture.protocol in _WITH_CHUNKS and is_chunked(lines)
        is_whole = (
            is_as_sent and capture.head is not None and not capture.marks & ExchangeMark.BODY_CUT and not ends_early(lines)
        )
        if is_whole and has_chunks and not capture.coding:
            body = as_one_chunk(payload)
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
            protocol=_PROTOCOLS.get(capture.protocol),
            via=self._vias.get(capture.url) or self._pages.get(capture.first_seen_on),
        )

    def _head(self, capture: Capture) -> tuple[bytes, bytes, tuple[str, ...]]:
        """Status line, header lines, and what of them was made up."""
        if capture.head is None:
            return status_line(capture.status), capture.headers, ("status-line",)
        head = head_of(capture, self._bases.get(capture.head_base or 0))
        line, lines = head.partition(b"\n")[0].rstrip(b"\r"), header_lines(head)
        reconstructed = []
        if capture.marks & ExchangeMark.HEAD_MADE_UP:
            reconstructed.append("head")
        elif not line.startswith(b"HTTP/1."):  # HTTP/2 and HTTP/3 have no status line.
            line = status_line(capture.status)
            reconstructed.append("status-line")
        if capture.marks & ExchangeMark.HEAD_CUT:
            reconstructed.append("head")
        return line, lines, tuple(reconstructed)

    def _request(self, capture: Capture) -> bytes | None:
        lines = self._requests.get(capture.request or 0)
        if lines is None:
            return None
        scheme, _, rest = capture.url.partition("://")
        host, _, path = rest.partition("/")
        return f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n".encode() + lines + b"\r\n" if scheme in _WEB else None


_NOT_MODIFIED = 304
_WEB = frozenset(("http", "https"))
_WITH_CHUNKS = frozenset(("", "1.1"))


def _documents(connection: Connection, versions: list[int]) -> dict[int, tuple[StoredBytes, list[PackedRegion]]]:
    """By version: the bytes of its document, and its regions."""
    if not versions:
        return {}
    regions: dict[int, list[PackedRegion]] = {}
    columns = (volatile.c.fetch_id, volatile.c.id, volatile.c.offset, volatile.c.length, volatile.c.content)
    of_versions = select(*columns).where(volatile.c.fetch_id.in_(versions))
    for number, *region in connection.execute(of_versions.order_by(volatile.c.offset, volatile.c.region)):
        regions.setdefault(number, []).append(PackedRegion(*region))
    statement = select(fetches.c.id, documents.c.body, documents.c.length, documents.c.coding).join(
        documents, documents.c.id == fetches.c.document_id
    )
    return {
        number: (StoredBytes(bytes(body), length, coding), regions.get(number, []))
        for number, body, length, coding in connection.execute(statement.where(fetches.c.id.in_(versions)))
    }


def _own_bodies(connection: Connection, numbers: list[int]) -> dict[int, StoredBytes]:
    """By number of a capture: bytes that no document holds."""
    versions = [number for number in numbers if number < _WITHOUT_VERSION]
    others = [number - _WITHOUT_VERSION for number in numbers if number >= _WITHOUT_VERSION]
    of_versions = select(own_bodies.c.fetch_id, own_bodies.c.body, own_bodies.c.length, own_bodies.c.coding)
    of_others = select(exchanges.c.id, exchanges.c.body, exchanges.c.length, exchanges.c.body_coding)
    found: dict[int, StoredBytes] = {}
    if versions:
        for number, body, length, coding in connection.execute(of_versions.where(own_bodies.c.fetch_id.in_(versions))):
            found[number] = StoredBytes(bytes(body), length, coding)
    if others:
        kept = of_others.where(exchanges.c.id.in_(others), exchanges.c.body.is_not(None))
        for number, body, length, coding in connection.execute(kept):
            found[_WITHOUT_VERSION + number] = StoredBytes(bytes(body), length, coding)
    return found


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
