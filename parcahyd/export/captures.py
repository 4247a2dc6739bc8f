"""Which exchanges with servers the database has, without their bytes.

`read_captures` goes through the stored versions in the order of their ids, then through the answers that brought no version (a
check, an error, a robots.txt), some at a time in short transactions, and skips what was not asked for.

Tested in tests/export/test_exchanges.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from sqlalchemy import Table, case, func, literal, null, select

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.records import origin
from parcahyd.export.selection import Selection
from parcahyd.rules.urls.canonical_url import archive_of
from parcahyd.storage.expressions import present
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import documents, exchanges, fetches, own_bodies, sites, tvis, urls, volatile

__all__ = ["WITHOUT_VERSION", "Capture", "count_captures", "ids_of", "read_captures"]

_PAGE = 1000
_NOT_MODIFIED = 304
_NEVER = 1e18
WITHOUT_VERSION = 1 << 62
"""Numbers of captures from here on are those of answers that brought no version."""


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
    topic: str = ""
    """Of the document, where it was labelled."""


_before = fetches.alias("before")
_HEADERS_BEFORE = (
    select(_before.c.headers)
    .where(_before.c.site_id == fetches.c.site_id, _before.c.key == fetches.c.key, _before.c.id < fetches.c.id)
    .order_by(_before.c.id.desc())
    .limit(1)
    .scalar_subquery()
)
_HAS_REGIONS = present(select(volatile.c.fetch_id).where(volatile.c.fetch_id == fetches.c.id, volatile.c.id != ""))
# The digest of the payload with which a version goes out: of its coded bytes, if they are kept, else of the document.
_HAS_OWN_BODY = present(select(own_bodies.c.fetch_id).where(own_bodies.c.fetch_id == fetches.c.id))
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
        *(urls.c.state, urls.c.depth, urls.c.hops, urls.c.seed, urls.c.changes, urls.c.via_site, urls.c.via_key),
        *(sites.c.scheme, sites.c.host, sites.c.port),
        *(
            documents.c.media_type,
            documents.c.charset,
            documents.c.title,
            documents.c.topic,
            func.length(documents.c.body).label("packed"),
        ),
        *(fetches.c.document_id, fetches.c.sha256, fetches.c.length),
    )


def _with_urls(statement: Any, table: Table) -> Any:
    """Outer joins: of an inner join by two columns PostgreSQL expects few rows, and would read whole tables for each page."""
    of_url = (urls.c.site_id == table.c.site_id) & (urls.c.key == table.c.key)
    return statement.join(urls, of_url, isouter=True).join(sites, sites.c.id == table.c.site_id, isouter=True)


_CAPTURES = (
    _with_urls(
        select(
            *_facts(fetches),
            *(urls.c.path, fetches.c.id.label("version"), fetches.c.headers, fetches.c.redirect, tvis.c.merges),
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
            # A robots.txt need not be a URL of the crawl.
            case((exchanges.c.file != "", exchanges.c.file), else_=urls.c.path).label("path"),
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
    sources = ((fetches, _CAPTURES, 0), (exchanges, _OTHER_CAPTURES, WITHOUT_VERSION))
    for table, statement, begin in sources:
        if after >= WITHOUT_VERSION > begin:
            continue
        confirmed = _confirmed_at(selection) if table is fetches and selection.since is not None else null()
        behind = statement.add_columns(confirmed.label("confirmed_at")).where(table.c.id > max(0, after - begin))
        for page in reader.pages(table, behind, _PAGE):
            for row in page:
                if row.path is None or row.host is None:
                    continue  # Its URL is gone.
                url = f"{origin(row.scheme, row.host, row.port)}{row.path}"
                at = row.at if row.confirmed_at is None else row.confirmed_at
                if archive_of(url) is None and selection.admits(row.site_id, at, row.state, row.media_type or "", url):
                    yield _capture(row, begin + row.id, url)
            passed(len(page))


def _confirmed_at(selection: Selection) -> Any:
    """When a chosen answer confirmed a version: that goes along, however old it is, for without it the answer says nothing."""
    checks = exchanges.alias("checks")
    of_version = select(func.max(checks.c.at)).where(checks.c.fetch_id == fetches.c.id, checks.c.status == _NOT_MODIFIED)
    return of_version.where(checks.c.at <= (selection.until or _NEVER)).scalar_subquery()


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
        depth=row.depth or 0,
        hops=row.hops or 0,
        is_seed=bool(row.seed),
        is_merged=_is_merged(row),
        sha256=None if row.document_id is None else bytes(row.sha256),
        packed=(row.packed or 0) + (row.length or 0),
        confirmed=bytes(row.confirmed or b""),
        first_seen_on=None if row.via_key is None else (row.via_site or row.site_id, row.via_key),
        topic=row.topic or "",
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


def ids_of(numbers: list[int]) -> tuple[list[int], list[int]]:
    """The ids of the versions and of the other answers among numbers of captures."""
    versions = [number for number in numbers if number < WITHOUT_VERSION]
    return versions, [number - WITHOUT_VERSION for number in numbers if number >= WITHOUT_VERSION]
