"""Two stored versions of a URL, to be compared: their bytes, and which places of them change often.

Tested in tests/cli/test_diff.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from parcahyd.augment.markers import find_regions
from parcahyd.augment.volatile_places import Learned, ranges_of, read_learned
from parcahyd.core.errors import DatabaseUnusable
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.storage.packing import PackedRegion, UnpackingFailure, region_spans, stored_whole, whole_of
from parcahyd.storage.reports.records import DocumentVersion, VolatileSpan
from parcahyd.storage.reports.url_report import find_url, regions_of, stored_bytes
from parcahyd.storage.schema import documents, fetches, learned

__all__ = ["TwoVersions", "read_two_versions"]

TwoVersions = tuple[DocumentVersion | None, DocumentVersion | None]
"""The older one and the newer one; None where there is no document."""

_VERSIONS = select(fetches.c.id, fetches.c.at, fetches.c.document_id).order_by(fetches.c.id.desc())


def read_two_versions(connection: Connection, url: str, older: float | None, newer: float | None) -> TwoVersions:
    """The documents of a URL at two times; None where there was none. Without `newer` it is the newest document, and without
    `older` the one before."""
    found = find_url(connection, url)
    if found is None:
        return None, None
    text, row = found
    versions = connection.execute(_VERSIONS.where(fetches.c.site_id == row.site_id, fetches.c.key == row.key)).all()
    last = _version_at(versions, newer)
    before = [version for version in versions if last is None or version.id < last.id]
    first = _version_at(before if older is None else versions, older)
    content = connection.scalar(select(learned.c.content).where(learned.c.fetch_id == row.fetch_id))
    known = read_learned(bytes(content or b""))
    return (
        None if first is None else _read(connection, text, first.id, known),
        None if last is None else _read(connection, text, last.id, known),
    )


def _version_at(versions: Sequence[Any], at: float | None) -> Any:
    """The newest version with a document, or the newest at a time where that has one."""
    if at is None:
        return next((version for version in versions if version.document_id is not None), None)
    newest = next((version for version in versions if version.at <= at), None)
    return None if newest is None or newest.document_id is None else newest


def _read(connection: Connection, url: str, fetch: int, known: Learned) -> DocumentVersion:
    columns = (fetches.c.at, fetches.c.status, fetches.c.sha256, documents.c.media_type, documents.c.charset)
    stored = (documents.c.body, documents.c.length, documents.c.coding)
    joined = select(*columns, *stored).join(documents, documents.c.id == fetches.c.document_id)
    row = connection.execute(joined.where(fetches.c.id == fetch)).one()
    regions = regions_of(connection, fetch)
    try:
        body = whole_of(stored_bytes(row), regions)
        if fingerprint(body).sha256 != row.sha256:
            raise UnpackingFailure("it is not what was received")
        spans = _named_spans(body, regions)
    except UnpackingFailure as damage:
        raise DatabaseUnusable(f"the stored document of {url} is damaged: {damage}", "see `parcahyd verify`") from None
    return DocumentVersion(
        url=url,
        fetch=fetch,
        at=row.at,
        status=row.status,
        media_type=row.media_type,
        charset=row.charset,
        sha256=row.sha256.hex(),
        body=body,
        volatile=_apart([*spans, *_marked_spans(body, row.media_type, row.charset), *_learned_spans(body, known)]),
    )


def _named_spans(body: bytes, regions: list[PackedRegion]) -> list[VolatileSpan]:
    """The regions that the author named, as they are stored with the version."""
    if not regions or not all(region.id for region in regions):
        return []
    if not stored_whole(regions) and any(region.length is None for region in regions):
        return []
    spans = region_spans(regions, len(body))
    return [VolatileSpan(start=start, end=end, name=one.id) for one, (start, end) in zip(regions, spans, strict=True)]


def _marked_spans(body: bytes, media_type: str, charset: str) -> list[VolatileSpan]:
    """The regions by the markers in the document: versions that came whole are stored without them."""
    if not is_html(media_type) and not media_type.endswith(("/xml", "+xml")):
        return []
    marked = find_regions(body, is_xml=not is_html(media_type), charset=charset)
    return [VolatileSpan(start=span.start, end=span.end, name=span.id) for span in marked.spans]


def _learned_spans(body: bytes, known: Learned) -> list[VolatileSpan]:
    ranges = ranges_of(body, known.places)
    places = [] if ranges is None else zip(known.places, ranges, strict=True)
    return [
        VolatileSpan(start=start, end=end, name="", changes=place.history.bit_count(), visits=known.visits)
        for place, (start, end) in places
        if known.is_volatile(place)
    ]


def _apart(spans: Iterable[VolatileSpan]) -> tuple[VolatileSpan, ...]:
    """Spans in ascending order, without those that overlap an earlier one. Of two that begin alike, the longer one stays."""
    kept: list[VolatileSpan] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end, not span.name)):
        if not kept or (span.start >= kept[-1].end and span != kept[-1]):
            kept.append(span)
    return tuple(kept)
