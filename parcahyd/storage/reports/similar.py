"""Near-duplicates among the stored documents: which show nearly the same text, by their similarity fingerprints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, or_, select

from parcahyd.core.records import origin
from parcahyd.rules.media_type import is_html
from parcahyd.rules.near_duplicates import groups
from parcahyd.rules.similarity import NO_SIMILARITY, WITHIN, distance, similarity
from parcahyd.storage.document_format import Damaged, unpack
from parcahyd.storage.reports.records import SimilarGroup, SimilarReport
from parcahyd.storage.schema import documents, fetches, sites, urls

__all__ = ["near_to", "similar_report"]

_PAGE = 50_000
_SHOWN = 5
"""URLs of a group that are named."""


def similar_report(connection: Connection, top: int) -> SimilarReport:
    """All groups counted, the largest ones with some of their URLs. Reads the fingerprint of every document,
    and takes those that are missing."""
    found = groups(_fingerprints(connection))
    largest = tuple(
        SimilarGroup(documents=len(group), urls=tuple(_urls_of(connection, group[:_SHOWN]))) for group in found[:top]
    )
    return SimilarReport(groups=len(found), documents=sum(map(len, found)), within=WITHIN, largest=largest)


def near_to(connection: Connection, document: int, fingerprint: int | None, most: int) -> tuple[str, ...]:
    """URLs whose document is a near-duplicate of this one, and another, as far as fingerprints were taken already."""
    if not fingerprint:
        return ()
    near = [
        number
        for number, other in _fingerprints(connection, taken_only=True)
        if number != document and distance(fingerprint, other) <= WITHIN
    ]
    return tuple(_urls_of(connection, near[:most]))


def _fingerprints(connection: Connection, *, taken_only: bool = False) -> Iterator[tuple[int, int]]:
    """Number and fingerprint of every document that has one; where none was taken in the haste of a crawl, it is now."""
    wanted = documents.c.similarity != NO_SIMILARITY
    statement = select(documents.c.id, documents.c.similarity).order_by(documents.c.id)
    statement = statement.where(wanted if taken_only else or_(wanted, documents.c.similarity.is_(None)))
    after = 0
    while rows := connection.execute(statement.where(documents.c.id > after).limit(_PAGE)).all():
        late = [row[0] for row in rows if row[1] is None]
        yield from ((row[0], row[1]) for row in rows if row[1] is not None)
        for number in late:
            yield number, _taken_now(connection, number)
        after = rows[-1][0]


def _taken_now(connection: Connection, number: int) -> int:
    columns = (documents.c.media_type, documents.c.body, documents.c.length)
    media_type, body, length = connection.execute(select(*columns).where(documents.c.id == number)).one()
    try:
        return similarity(unpack(body, length)) if is_html(media_type) else NO_SIMILARITY
    except Damaged:  # `parcahyd verify` tells of it.
        return NO_SIMILARITY


def _urls_of(connection: Connection, numbers: Sequence[int]) -> Iterator[str]:
    """One URL of each document, by the fetch that brought it."""
    for number in numbers:
        row = connection.execute(
            select(sites.c.scheme, sites.c.host, sites.c.port, urls.c.path)
            .select_from(fetches)
            .join(urls, (urls.c.site_id == fetches.c.site_id) & (urls.c.key == fetches.c.key))
            .join(sites, sites.c.id == urls.c.site_id)
            .where(fetches.c.document_id == number)
            .limit(1)
        ).first()
        if row is not None:
            yield f"{origin(row.scheme, row.host, row.port)}{row.path}"
