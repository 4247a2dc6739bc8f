"""One URL from the database: its document, and everything else that is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, or_, select, tuple_

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import DatabaseUnusable, UserError
from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.records import RobotsFact, RobotsStatus, TableFact, origin
from parcahyd.core.states import Reason, State
from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.rules.urls.canonical_url import key_of, recorded, split
from parcahyd.storage.heads import head_of
from parcahyd.storage.packing import (
    PackedRegion,
    StoredBytes,
    UnpackingFailure,
    compressor,
    parts_of,
    stored_whole,
    unpack,
    whole_of,
)
from parcahyd.storage.reports.left_out import left_out_of_page, left_out_of_site
from parcahyd.storage.reports.records import DocumentReport, FetchReport, SparedSite, StoredDocument, UrlDetails
from parcahyd.storage.reports.similar import near_to
from parcahyd.storage.revisits import History, rate_of
from parcahyd.storage.schema import HELD, documents, fetches, head_bases, learned, pauses, seeds, sites, tvis, urls, volatile

__all__ = [
    "ROBOTS_WAIT_REASONS",
    "find_url",
    "head_notes",
    "read_document",
    "read_url_details",
    "regions_of",
    "sentence_of",
    "stored_bytes",
    "version_reports",
    "whole",
]

ROBOTS_WAIT_REASONS = {
    RobotsStatus.ERROR.value: Reason.ROBOTS_ERROR.word,
    RobotsStatus.UNREACHABLE.value: Reason.ROBOTS_UNREACHABLE.word,
}
"""Why a site waits for a robots.txt from another site, by the status of its robots.txt."""

_TWINS = 20
_SIMILAR = 10
_NEIGHBOURS = 5
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def sentence_of(reason: str | None) -> str:
    """A reason's word as a sentence; empty where there is no such reason."""
    try:
        return Reason.of(reason).sentence if reason else ""
    except KeyError:
        return ""


def read_document(connection: Connection, url: str, at: float | None = None) -> StoredDocument | None:
    """The document of a URL as it was received last, or as it was at a time; None where none is stored."""
    found = find_url(connection, url)
    if found is None:
        return None
    text, row = found
    fetch = _version(connection, row, at)
    if fetch is None or fetch.document_id is None:
        return None
    document = connection.execute(select(documents).where(documents.c.id == fetch.document_id)).one()
    try:
        body = whole(connection, fetch.id, stored_bytes(document))
        if len(body) != fetch.length or fingerprint(body).sha256 != fetch.sha256:
            raise UnpackingFailure("it is not what was received")
        head = head_of(fetch, _base(connection, fetch.head_base))
    except UnpackingFailure as damage:
        raise DatabaseUnusable(f"the stored document of {text} is damaged: {damage}", "see `parcahyd verify`") from None
    return StoredDocument(
        url=text,
        body=body,
        head=head,
        status=fetch.status,
        fetched_at=fetch.at,
        address=fetch.address,
        media_type=document.media_type,
        charset=document.charset,
        notes=tuple(head_notes(fetch)),
        coded=bytes(document.body) if document.coding and document.coding == fetch.coding else b"",
    )


def head_notes(row: Any) -> list[str]:
    """What of the head of an answer is not as it was received, in sentences; from its row."""
    if row.head is None:
        return ["status line and codings were not kept when this was fetched: the line is made up, and the body is decoded"]
    notes = []
    if row.marks & ExchangeMark.MERGED:
        notes.append("this version was put together from an earlier answer, whose head this is, and a table of what changes")
    if row.marks & ExchangeMark.HEAD_MADE_UP:
        notes.append("the head is written from status and headers: the downloader does not hand it over as it was received")
    elif row.protocol in ("2", "3"):
        notes.append(f"HTTP/{row.protocol} has no head in lines: libcurl wrote it in the form of HTTP/1")
    if row.marks & ExchangeMark.HEAD_CUT:
        notes.append("the last lines of the head are missing: it was larger than is kept")
    return notes


def _base(connection: Connection, number: int | None) -> bytes | None:
    """What a head is compressed against."""
    return None if number is None else connection.scalar(select(head_bases.c.content).where(head_bases.c.id == number))


def _version(connection: Connection, row: Any, at: float | None) -> Any:
    """The newest version of a URL, or the one that was the newest at a time; None where there is none."""
    if at is None:
        return connection.execute(select(fetches).where(fetches.c.id == row.fetch_id)).first()
    of_url = select(fetches).where(fetches.c.site_id == row.site_id, fetches.c.key == row.key, fetches.c.at <= at)
    # Versions that were read from archives need not have come in the order of their times.
    return connection.execute(of_url.order_by(fetches.c.at.desc(), fetches.c.id.desc()).limit(1)).first()


def read_url_details(connection: Connection, url: str) -> UrlDetails | None:
    """Everything about a URL and its site; None where the URL was never seen."""
    found = find_url(connection, url)
    if found is None:
        return None
    text, row = found
    site = connection.execute(select(sites).where(sites.c.id == row.site_id)).one()
    history = connection.execute(
        select(fetches)
        .where(fetches.c.site_id == row.site_id, fetches.c.key == row.key)
        .order_by(fetches.c.site_id.desc(), fetches.c.key.desc(), fetches.c.id.desc())
    ).all()
    # Versions that were read from archives need not have come in the order of their times.
    history = sorted(history, key=lambda fetch: (fetch.at, fetch.id), reverse=True)
    is_redirect = row.state == State.STORED and row.reason == Reason.REDIRECT.word
    waits_for_site = max(site.not_before, site.errand_until)
    spared = _pauses(connection, site)
    return UrlDetails(
        url=text,
        site=origin(site.scheme, site.host, site.port),
        in_scope=site.in_scope,
        addresses=tuple(site.addresses.split(",")) if site.addresses else (),
        addresses_expire=site.addresses_expire,
        robots=_robots(site),
        augmentation=bytes(site.augmentation or b""),
        visiting=site.visit not in (None, HELD),
        not_before=waits_for_site,
        site_reason=site.reason or (ROBOTS_WAIT_REASONS.get(site.robots_status) if site.errand_until else None),
        site_failures=site.failures,
        state=State(row.state).word,
        reason=row.reason,
        sentence=sentence_of(row.reason),
        detail=row.detail or "",
        depth=row.depth,
        hops=row.hops,
        seed=row.seed,
        via=connection.scalar(select(seeds.c.via).where(seeds.c.url == text)),
        first_seen=row.first_seen,
        seen_on=_seen_on(connection, row),
        checked_at=row.checked_at,
        tries=row.tries,
        status=row.status,
        etag=row.etag,
        modified=row.modified,
        checks=row.checks,
        changes=row.changes,
        changed_at=row.changed_at,
        changes_every=_changes_every(row),
        next_visit=max(row.due_at, waits_for_site, _left_alone_until(site, spared))
        if site.in_scope and row.due_at is not None
        else None,
        redirect=next((fetch.redirect for fetch in history if fetch.id == row.fetch_id), None) if is_redirect else None,
        document=_document(connection, row.document_id),
        fetches=tuple(version_reports(connection, history)),
        volatile_places=_volatile_places(connection, row.fetch_id),
        table=_table(connection, row.fetch_id),
        twins=_twins(connection, row),
        similar=_similar(connection, row.document_id),
        guards=bytes(site.guards or b""),
        neighbours=_neighbours(connection, site),
        pauses=spared,
        lastmod=row.lastmod,
        lastmod_read=row.lastmod_read,
        lastmod_trust=site.lastmod_trust,
        left_out=left_out_of_page(connection, row.site_id, row.key, text),
        site_left_out=left_out_of_site(connection, row.site_id, origin(site.scheme, site.host, site.port)),
    )


def _neighbours(connection: Connection, site: Any) -> tuple[str, ...]:
    """Hosts that share an address with the site's, as far as the crawl knows; a pass over the sites."""
    if not site.addresses:
        return ()
    listed = "," + sites.c.addresses + ","
    shared = or_(*(listed.contains(f",{address},", autoescape=True) for address in site.addresses.split(",")))
    statement = select(sites.c.host).where(shared, sites.c.host != site.host).distinct().limit(_NEIGHBOURS)
    return tuple(sorted(connection.scalars(statement)))


def _pauses(connection: Connection, site: Any) -> tuple[SparedSite, ...]:
    subjects = [f"host {site.host}", *(f"address {address}" for address in site.addresses.split(",") if address)]
    statement = select(pauses).where(pauses.c.subject.in_(subjects), pauses.c.reason != "").order_by(pauses.c.subject)
    return tuple(
        SparedSite(
            site=row.subject, until=row.not_before, reason=row.reason, sentence=sentence_of(row.reason), failures=row.failures
        )
        for row in connection.execute(statement)
    )


def _left_alone_until(site: Any, spared: tuple[SparedSite, ...]) -> float:
    """When a request may go to its host, at one of its addresses at least."""
    until = {pause.site: pause.until for pause in spared}
    addresses = [until.get(f"address {address}", 0.0) for address in site.addresses.split(",")]
    return max(until.get(f"host {site.host}", 0.0), min(addresses))


def find_url(connection: Connection, url: str) -> tuple[str, Any] | None:
    """The canonical URL and its row. If another URL has its place, it has one of the next (architecture, section 5)."""
    text = recorded(url)
    if text is None:
        raise UserError(f'"{url}" is not a URL', "write it in full, such as https://example.org/")
    scheme, host, port, path = split(text)
    site = connection.scalar(select(sites.c.id).where(sites.c.host == host, sites.c.scheme == scheme, sites.c.port == port))
    if site is None:
        return None
    key = key_of(path)
    while True:
        row = connection.execute(select(urls).where(urls.c.site_id == site, urls.c.key == key)).first()
        if row is None or row.path == path:
            return None if row is None else (text, row)
        key = _LOWEST if key == _HIGHEST else key + 1


def _robots(site: Any) -> RobotsFact | None:
    if site.robots_status is None:
        return None
    return RobotsFact(
        RobotsStatus(site.robots_status),
        site.robots_text or b"",
        site.robots_fetched_at,
        site.robots_expires_at,
        site.robots_detail,
        site.robots_failing_since,
        site.robots_delay,
    )


def _document(connection: Connection, number: int | None) -> DocumentReport | None:
    columns = [column for column in documents.c if column is not documents.c.body]
    row = connection.execute(select(*columns).where(documents.c.id == number)).first() if number is not None else None
    if row is None:
        return None
    return DocumentReport(
        document=row.id,
        df=row.df,
        sha256=row.sha256.hex(),
        length=row.length,
        media_type=row.media_type,
        charset=row.charset,
        title=row.title,
        language=row.language,
        similarity=row.similarity,
        topic=row.topic,
    )


def _volatile_places(connection: Connection, fetch: int | None) -> int:
    """How many places of a page were learned to be volatile."""
    content = connection.scalar(select(learned.c.content).where(learned.c.fetch_id == fetch)) if fetch is not None else None
    if content is None:
        return 0
    from parcahyd.augment.volatile_places import read_learned

    known = read_learned(content)
    return sum(known.is_volatile(place) for place in known.places)


def _table(connection: Connection, fetch: int | None) -> TableFact | None:
    columns = (tvis.c.etag, tvis.c.modified, tvis.c.refresh, tvis.c.merges)
    row = connection.execute(select(*columns).where(tvis.c.fetch_id == fetch)).first() if fetch is not None else None
    return None if row is None else TableFact(*row)


def _changes_every(row: Any) -> float | None:
    history = History(*(getattr(row, name) for name in History._fields))
    rate = rate_of(history, ChangeRate.guess(WorkConf().RevisitAfter)) if row.document_id is not None else None
    return 1 / rate.per_second if rate is not None and rate.per_second > 0 else None


def _similar(connection: Connection, document: int | None) -> tuple[str, ...]:
    mark = connection.scalar(select(documents.c.similarity).where(documents.c.id == document)) if document is not None else None
    return near_to(connection, document or 0, mark, _SIMILAR)


def _seen_on(connection: Connection, row: Any) -> str | None:
    """The page that a URL was first seen on, as far as it is known and still there."""
    if row.via_key is None:
        return None
    columns = select(sites.c.scheme, sites.c.host, sites.c.port, urls.c.path).join(sites, sites.c.id == urls.c.site_id)
    page = connection.execute(columns.where(urls.c.site_id == (row.via_site or row.site_id), urls.c.key == row.via_key)).first()
    return None if page is None else f"{origin(*page[:3])}{page.path}"


def _twins(connection: Connection, row: Any) -> tuple[str, ...]:
    """Other URLs whose current document is the same; the index of `fetches` leads to them."""
    if row.document_id is None:
        return ()
    statement = (
        select(sites.c.scheme, sites.c.host, sites.c.port, urls.c.path)
        .distinct()
        .select_from(fetches)
        .join(urls, (urls.c.site_id == fetches.c.site_id) & (urls.c.key == fetches.c.key))
        .join(sites, sites.c.id == urls.c.site_id)
        .where(fetches.c.document_id == row.document_id, urls.c.document_id == row.document_id)
        .where(tuple_(urls.c.site_id, urls.c.key) != tuple_(row.site_id, row.key))
        .limit(_TWINS)
    )
    return tuple(sorted(f"{origin(*site)}{path}" for *site, path in connection.execute(statement)))


# --- Stored versions for readers: whole, and compared with each other ---------------------------------------------------


def stored_bytes(row: Any) -> StoredBytes:
    """The bytes of a document, from a row with these columns of it."""
    return StoredBytes(row.body, row.length, row.coding)


def whole(connection: Connection, fetch: int, stored: StoredBytes) -> bytes:
    """The document that a fetch received: the skeleton with its volatile regions put back, or UnpackingFailure."""
    return whole_of(stored, regions_of(connection, fetch))


def version_reports(connection: Connection, history: Sequence[Any]) -> Iterator[FetchReport]:
    """The versions of a URL, newest first, from their rows in that order."""
    regions = {row.id: regions_of(connection, row.id) for row in history}
    only = {
        newer.id: _differ_in_regions(connection, newer, regions[newer.id], older, regions[older.id])
        for newer, older in pairwise(history)
    }
    for row in history:
        yield FetchReport(
            at=row.at,
            status=row.status,
            address=row.address,
            redirect=row.redirect,
            sha256=None if row.sha256 is None else row.sha256.hex(),
            length=row.length,
            regions=sum(1 for region in regions[row.id] if region.id),
            only_regions=only.get(row.id, False),
            imported=bool(row.marks & ExchangeMark.IMPORTED),
        )


def regions_of(connection: Connection, fetch: int) -> list[PackedRegion]:
    """The regions of a version, ascending, as they are stored."""
    columns = select(volatile.c.id, volatile.c.offset, volatile.c.length, volatile.c.content)
    ordered = columns.where(volatile.c.fetch_id == fetch).order_by(volatile.c.offset, volatile.c.region)
    return [PackedRegion(*row) for row in connection.execute(ordered)]


def _differ_in_regions(
    connection: Connection, newer: Any, its_regions: list[PackedRegion], older: Any, other_regions: list[PackedRegion]
) -> bool:
    """Whether two versions have the same skeleton, and regions with names in it."""
    if not all(region.id for region in (*its_regions, *other_regions)) or not its_regions or not other_regions:
        return False
    if not stored_whole(its_regions) and not stored_whole(other_regions):
        return bool(newer.document_id == older.document_id)
    return _skeleton(connection, newer, its_regions) == _skeleton(connection, older, other_regions)


def _skeleton(connection: Connection, row: Any, regions: list[PackedRegion]) -> bytes | None:
    columns = select(documents.c.body, documents.c.length, documents.c.coding).where(documents.c.id == row.document_id)
    document = connection.execute(columns).first()
    if document is None:
        return None
    try:
        parts = parts_of(stored_bytes(document), regions, compressor(WorkConf()))
        return unpack(parts.packed, parts.length)
    except UnpackingFailure:
        return None
