"""What was exchanged with one URL: every answer that is on record, and one of them with its bytes.

An answer that brought a version is a row of `fetches`, any other a row of `exchanges`. Both are read with the same columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Table, exists, func, literal, null, select

from parcahyd.core.errors import DatabaseUnusable
from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.rules.urls.canonical_url import key_of, recorded, split
from parcahyd.storage.heads import head_of, is_chunked, request_head
from parcahyd.storage.packing import StoredBytes, UnpackingFailure
from parcahyd.storage.reports.records import ExchangeReport, StoredExchange
from parcahyd.storage.reports.url_report import find_url, head_notes, stored_bytes, whole
from parcahyd.storage.schema import documents, exchanges, fetches, head_bases, learned, own_bodies, requests, sites

__all__ = ["read_exchange", "read_history"]

_NOT_MODIFIED = 304
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(\d{1,18})[ \t]*\r?$").findall

_OF_DOCUMENT = (
    *(documents.c.coding.label("document_coding"), documents.c.coded_sha256.label("document_coded_sha256")),
    func.length(documents.c.body).label("document_size"),
)


def _facts(table: Table) -> tuple[Any, ...]:
    """The columns that both tables have, and what an answer was compared with."""
    columns = table.c
    return (
        *(columns.id, columns.at, columns.status, columns.address, columns.head, columns.head_base, columns.coding),
        *(columns.coded_sha256, columns.marks, columns.protocol, columns.started_at, columns.seconds, columns.request_id),
        *(fetches.c.document_id, fetches.c.length, fetches.c.sha256, fetches.c.redirect),
        *(head_bases.c.content.label("base"), *_OF_DOCUMENT),
    )


_VERSIONS = (
    select(
        *_facts(fetches),
        *(fetches.c.headers, fetches.c.id.label("version"), null().label("version_at"), literal("").label("file")),
        *(null().label("version_coded_sha256"), literal(False).label("is_learned"), own_bodies.c.coding.label("own_coding")),
        *(own_bodies.c.length.label("own_length"), func.length(own_bodies.c.body).label("own_size")),
    )
    .select_from(fetches)
    .join(documents, documents.c.id == fetches.c.document_id, isouter=True)
    .join(own_bodies, own_bodies.c.fetch_id == fetches.c.id, isouter=True)
    .join(head_bases, head_bases.c.id == fetches.c.head_base, isouter=True)
)
_IS_LEARNED = exists().where(learned.c.fetch_id == exchanges.c.fetch_id)
_own_size = func.coalesce(func.length(exchanges.c.body), func.length(own_bodies.c.body))
_OTHERS = (
    select(
        *_facts(exchanges),
        *(literal(b"").label("headers"), exchanges.c.fetch_id.label("version"), fetches.c.at.label("version_at")),
        *(exchanges.c.file, fetches.c.coded_sha256.label("version_coded_sha256"), _IS_LEARNED.label("is_learned")),
        func.coalesce(own_bodies.c.coding, exchanges.c.body_coding).label("own_coding"),
        *(func.coalesce(exchanges.c.length, own_bodies.c.length).label("own_length"), _own_size.label("own_size")),
    )
    .select_from(exchanges)
    .join(fetches, fetches.c.id == exchanges.c.fetch_id, isouter=True)
    .join(documents, documents.c.id == fetches.c.document_id, isouter=True)
    .join(own_bodies, own_bodies.c.fetch_id == exchanges.c.fetch_id, isouter=True)
    .join(head_bases, head_bases.c.id == exchanges.c.head_base, isouter=True)
)


def read_history(connection: Connection, url: str) -> tuple[str, list[ExchangeReport]] | None:
    """The canonical URL and every exchange with it that is on record, newest first; None where the URL was never seen."""
    found = _place(connection, url)
    if found is None:
        return None
    text, site, key = found
    with _undamaged(text):
        return text, [_report(row, _head(row)) for row in _rows(connection, text, site, key)]


def read_exchange(connection: Connection, url: str, at: float | None = None) -> StoredExchange | None:
    """The last exchange with a URL, or the last one by a time; None where none is on record."""
    found = _place(connection, url)
    if found is None:
        return None
    text, site, key = found
    row = next((row for row in _rows(connection, text, site, key) if at is None or row.at <= at), None)
    with _undamaged(text):
        return None if row is None else _exchange(connection, text, row)


@contextmanager
def _undamaged(url: str) -> Iterator[None]:
    try:
        yield
    except UnpackingFailure as damage:
        raise DatabaseUnusable(f"an exchange with {url} is damaged: {damage}", "see `parcahyd verify`") from None


def _place(connection: Connection, url: str) -> tuple[str, int, int] | None:
    """The canonical URL, its site and its key. A robots.txt need not be a URL of the crawl."""
    found = find_url(connection, url)
    if found is not None:
        return found[0], found[1].site_id, found[1].key
    text = recorded(url) or ""
    scheme, host, port, path = split(text)
    site = connection.scalar(select(sites.c.id).where(sites.c.host == host, sites.c.scheme == scheme, sites.c.port == port))
    asked = select(exchanges.c.id).where(exchanges.c.site_id == site, exchanges.c.key == key_of(path), exchanges.c.file == path)
    return None if site is None or connection.scalar(asked.limit(1)) is None else (text, site, key_of(path))


def _rows(connection: Connection, url: str, site: int, key: int) -> list[Any]:
    path = split(url)[3]
    rows: list[Any] = []
    for table, statement in ((fetches, _VERSIONS), (exchanges, _OTHERS)):
        rows += connection.execute(statement.where(table.c.site_id == site, table.c.key == key).order_by(table.c.id.desc()))
    return sorted((row for row in rows if row.file in ("", path)), key=lambda row: row.at, reverse=True)


def _report(row: Any, head: bytes) -> ExchangeReport:
    is_version = row.version is not None and row.version_at is None
    return ExchangeReport(
        at=row.at,
        status=row.status,
        brought=_brought(row),
        redirect=row.redirect,
        version_at=row.version_at,
        length=row.length if is_version else None,
        sha256=row.sha256.hex() if is_version and row.sha256 is not None else None,
        received=_received(row, head),
        started_at=row.started_at,
        seconds=row.seconds,
        protocol=row.protocol,
        address=row.address,
        conditional=bool(row.marks & ExchangeMark.CONDITIONAL),
        merged=bool(row.marks & ExchangeMark.MERGED),
    )


def _brought(row: Any) -> str:
    if row.version_at is not None:
        return "unchanged"
    if row.version is not None:
        return "version" if row.redirect is None else "redirect"
    return "robots" if row.file else "error"


def _head(row: Any) -> bytes:
    return head_of(row, None if row.base is None else bytes(row.base))


# --- bodies, and how many bytes they had ------------------------------------------------------------------------------


def _coded_in(row: Any) -> Table | None:
    """Which table has the coded bytes of an answer as they were transferred; None where none has them."""
    is_check = row.version_at is not None
    if not row.coding:
        return None
    if is_check and row.coded_sha256 is not None:
        digest = bytes(row.coded_sha256)
        if digest == bytes(row.document_coded_sha256 or b""):
            return documents
        return own_bodies if row.own_coding and digest == bytes(row.version_coded_sha256 or b"") else None
    if not is_check and row.document_coding == row.coding and row.coded_sha256 is None:
        return documents
    return own_bodies if not is_check and row.own_coding else None


def _has_body(row: Any) -> bool:
    """Whether the body of an answer is kept, with or without its codings. A redirect that came again may have another body."""
    if row.status == _NOT_MODIFIED or (row.version_at is not None and row.redirect is not None):
        return False
    return row.document_id is not None or row.own_size is not None


def _received(row: Any, head: bytes) -> int | None:
    marks = ExchangeMark.MERGED | ExchangeMark.HEAD_MADE_UP | ExchangeMark.HEAD_CUT
    if row.head is None or not head or row.marks & marks:
        return None
    body = _body_size(row)
    if body is None:
        declared = {int(length) for length in _LENGTH(head)}
        body = declared.pop() if len(declared) == 1 and not is_chunked(head) else None
    return None if body is None else len(head) + body


def _body_size(row: Any) -> int | None:
    """Bytes of a body as it was transferred; None where they are not known from what is stored."""
    if row.status == _NOT_MODIFIED:
        return 0
    table = _coded_in(row)
    if table is not None:
        return int(row.document_size if table is documents else row.own_size)
    if row.coding or row.is_learned or row.marks & ExchangeMark.BODY_CUT or not _has_body(row):
        return None
    return int(row.length if row.document_id is not None else row.own_length)


def _exchange(connection: Connection, url: str, row: Any) -> StoredExchange:
    head = _head(row)
    lines = connection.scalar(select(requests.c.content).where(requests.c.id == row.request_id))
    return StoredExchange(
        url=url,
        report=_report(row, head),
        request=None if lines is None else request_head(url, bytes(lines)),
        head=head,
        body=_body(connection, row) if _has_body(row) else b"",
        request_notes=tuple(_request_notes(row, lines is not None)),
        notes=(*head_notes(row), *_body_notes(row, head)),
    )


def _body(connection: Connection, row: Any) -> bytes:
    coded_in = _coded_in(row)
    if row.document_id is not None and coded_in is not own_bodies:
        stored = stored_bytes(connection.execute(select(documents).where(documents.c.id == row.document_id)).one())
        return bytes(stored.packed) if coded_in is documents else whole(connection, row.version, stored)
    own = select(own_bodies.c.body, own_bodies.c.length, own_bodies.c.coding).where(own_bodies.c.fetch_id == row.version)
    if row.version is None:
        own = select(exchanges.c.body, exchanges.c.length, exchanges.c.body_coding).where(exchanges.c.id == row.id)
    body, length, coding = connection.execute(own).one()
    return bytes(body) if coded_in is own_bodies else StoredBytes(bytes(body), length, coding).unpack()


# --- what is not as it was exchanged ----------------------------------------------------------------------------------


def _request_notes(row: Any, is_kept: bool) -> list[str]:
    if not is_kept:
        return ["the request was not kept"]
    notes = ["the request's first line and Host are written from the URL; headers with secrets are not kept"]
    if row.marks & ExchangeMark.CONDITIONAL:
        notes.append("the request was conditional: If-None-Match or If-Modified-Since, which are not kept, were in it besides")
    return notes


def _body_notes(row: Any, head: bytes) -> list[str]:
    if row.status == _NOT_MODIFIED:
        return []
    if not _has_body(row):
        is_empty = b"0" in _LENGTH(head)
        return [] if is_empty else ["the body, if there was one, was not kept (KeepErrors keeps those of errors and redirects)"]
    notes = []
    if row.version_at is not None:
        differed = ", but for places that were learned to change on most visits" if row.is_learned else ""
        notes.append(f"the body is that of the version, which came again{differed}")
    if row.marks & ExchangeMark.BODY_CUT:
        notes.append("the end of the body is missing: it was larger than is kept")
    if row.coding and _coded_in(row) is None:
        notes.append(f"the body is without its content coding ({row.coding}): its coded bytes were not kept (KeepCoded)")
    if is_chunked(head) and row.protocol in ("", "1.1"):
        notes.append("the chunks that the body came in are joined")
    return notes
