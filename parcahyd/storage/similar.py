"""Near-duplicates among the stored documents: which show nearly the same text, by their similarity fingerprints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, select

from parcahyd.core.records import origin
from parcahyd.rules.near_duplicates import groups
from parcahyd.rules.similarity import NO_SIMILARITY, WITHIN, distance
from parcahyd.storage.report_records import SimilarGroup, SimilarReport
from parcahyd.storage.tables import documents, fetches, sites, urls

__all__ = ["near_to", "similar_report"]

_PAGE = 50_000
_SHOWN = 5
"""URLs of a group that are named."""


def similar_report(connection: Connection, top: int) -> SimilarReport:
    """All groups counted, the largest ones with some of their URLs. Reads the fingerprint of every document."""
    found = groups(_fingerprints(connection))
    largest = tuple(
        SimilarGroup(documents=len(group), urls=tuple(_urls_of(connection, group[:_SHOWN]))) for group in found[:top]
    )
    return SimilarReport(groups=len(found), documents=sum(map(len, found)), within=WITHIN, largest=largest)


def near_to(connection: Connection, document: int, fingerprint: int, most: int) -> tuple[str, ...]:
    """URLs whose document is a near-duplicate of this one, and another; reads the fingerprint of every document."""
    if fingerprint == NO_SIMILARITY:
        return ()
    near = [
        number for number, other in _fingerprints(connection) if number != document and distance(fingerprint, other) <= WITHIN
    ]
    return tuple(_urls_of(connection, near[:most]))[:most]


def _fingerprints(connection: Connection) -> Iterator[tuple[int, int]]:
    statement = (
        select(documents.c.id, documents.c.similarity).where(documents.c.similarity != NO_SIMILARITY).order_by(documents.c.id)
    )
    after = 0
    while rows := connection.execute(statement.where(documents.c.id > after).limit(_PAGE)).all():
        yield from ((number, fingerprint) for number, fingerprint in rows)
        after = rows[-1][0]


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
