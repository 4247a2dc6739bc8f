"""Near-duplicates among the stored documents, by the similarity fingerprints of their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Select, select

from parcahyd.core.records import origin
from parcahyd.rules.html.fingerprints import NO_SIMILARITY, WITHIN, distance, similarity
from parcahyd.rules.html.near_duplicates import groups
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.storage.packing import UnpackingFailure, unpack
from parcahyd.storage.reports.records import SimilarGroup, SimilarReport
from parcahyd.storage.schema import documents, fetches, sites, urls

__all__ = ["near_to", "similar_report"]

_PAGE = 50_000
_SHOWN = 5
"""URLs of a group that are named."""


def similar_report(connection: Connection, top: int) -> SimilarReport:
    """All groups counted, the largest ones with some of their URLs. Reads the fingerprint of every document, and the text
    of those that have none: Similarity was off when they were stored."""
    missing = [(number, _taken_now(connection, number)) for number in _without(connection)]
    taken_now = [(number, mark) for number, mark in missing if mark != NO_SIMILARITY]
    found = groups(sorted([*_fingerprints(connection), *taken_now]))
    largest = tuple(
        SimilarGroup(documents=len(group), urls=tuple(_urls_of(connection, group[:_SHOWN]))) for group in found[:top]
    )
    return SimilarReport(
        groups=len(found),
        documents=sum(map(len, found)),
        within=WITHIN,
        largest=largest,
        taken_now=len(missing),
    )


def near_to(connection: Connection, document: int, fingerprint: int | None, most: int) -> tuple[str, ...]:
    """URLs whose document is a near-duplicate of this one, and another, as far as fingerprints were taken already."""
    if not fingerprint:
        return ()
    near = [
        number for number, other in _fingerprints(connection) if number != document and distance(fingerprint, other) <= WITHIN
    ]
    return tuple(_urls_of(connection, near[:most]))


def _fingerprints(connection: Connection) -> Iterator[tuple[int, int]]:
    """Number and fingerprint of every document that has one."""
    statement = select(documents.c.id, documents.c.similarity).where(documents.c.similarity != NO_SIMILARITY)
    for page in _pages(connection, statement):
        yield from ((row.id, row.similarity) for row in page)


def _without(connection: Connection) -> Iterator[int]:
    """The documents whose fingerprint was not taken."""
    for page in _pages(connection, select(documents.c.id).where(documents.c.similarity.is_(None))):
        yield from (row.id for row in page)


def _pages(connection: Connection, statement: Select[Any]) -> Iterator[Sequence[Any]]:
    after = 0
    ordered = statement.order_by(documents.c.id).limit(_PAGE)
    while rows := connection.execute(ordered.where(documents.c.id > after)).all():
        yield rows
        after = rows[-1].id


def _taken_now(connection: Connection, number: int) -> int:
    columns = (documents.c.media_type, documents.c.body, documents.c.length, documents.c.coding)
    media_type, *stored = connection.execute(select(*columns).where(documents.c.id == number)).one()
    try:
        return similarity(unpack(*stored)) if is_html(media_type) else NO_SIMILARITY
    except UnpackingFailure:  # `parcahyd verify` reports it.
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
