"""What was exchanged with servers, read from the database for an export: the only module of this room that knows the tables.

`read_captures` goes through the stored versions in the order of their ids, some at a time in short transactions, and skips what
was not asked for. `read_exchanges` adds the bodies, as many at a time as fit into a bounded number of bytes. So memory does not
grow with the crawl, and a crawl may write meanwhile.

The tables have no status lines, no requests, no protocols, no bodies of redirects and no codings of bodies. Such an exchange is
*reconstructed*: `Exchange.reconstructed` names the parts that were not kept as they were received.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import Connection, case, exists, func, select

from parcahyd.core.records import origin
from parcahyd.export.heads import agreeing_head, status_line
from parcahyd.export.selection import Selection
from parcahyd.storage.packing import PackedRegion, UnpackingFailure, whole_of
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import documents, fetches, seeds, sites, tvis, urls, volatile

__all__ = ["Capture", "Exchange", "Kind", "count_captures", "read_captures", "read_exchanges"]

_PAGE = 1000
_BATCH_BYTES = 8 << 20
_BATCH = 256
_MEMBER = "#!/"


class Kind(Enum):
    """What an exchange brought."""

    RESPONSE = "an answer with its head"
    NOT_MODIFIED = "an answer that confirms the bytes of an earlier one"
    RESOURCE = "a document of a protocol that has no heads (ftp)"
    CONVERSION = "a page that was put together from an earlier answer and a table of variable information"


class Capture(msgspec.Struct, frozen=True, gc=False):
    """A stored version, without its bytes."""

    number: int
    """Its place in the order of reading; an export goes on after it."""
    url: str
    at: float
    status: int
    address: str
    headers: bytes
    """As they are stored."""
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
    """Of the body. For NOT_MODIFIED it is that of the body that was confirmed."""
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
_COLUMNS = (
    *(fetches.c.id, fetches.c.site_id, fetches.c.at, fetches.c.status, fetches.c.address, fetches.c.headers),
    *(fetches.c.redirect, fetches.c.document_id, fetches.c.sha256, fetches.c.length),
    *(urls.c.path, urls.c.state, urls.c.depth, urls.c.hops, urls.c.seed),
    *(sites.c.scheme, sites.c.host, sites.c.port),
    *(documents.c.media_type, documents.c.charset, documents.c.title, func.length(documents.c.body).label("packed")),
    *(urls.c.changes, tvis.c.merges, _HAS_REGIONS.label("has_regions")),
    case((_HAS_REGIONS, _HEADERS_BEFORE)).label("headers_before"),
)
_CAPTURES = (
    select(*_COLUMNS)
    .select_from(fetches)
    .join(urls, (urls.c.site_id == fetches.c.site_id) & (urls.c.key == fetches.c.key))
    .join(sites, sites.c.id == fetches.c.site_id)
    .join(documents, documents.c.id == fetches.c.document_id, isouter=True)
    .join(tvis, tvis.c.fetch_id == fetches.c.id, isouter=True)
)


def count_captures(reader: Reader) -> int:
    """How many versions are stored, chosen or not."""
    return int(reader.rows(select(func.count()).select_from(fetches))[0][0])


def read_captures(
    reader: Reader, selection: Selection, after: int = 0, passed: Callable[[int], None] = lambda _: None
) -> Iterator[Capture]:
    """The chosen versions behind number `after`, ascending. `passed` is told how many versions were looked at, now and then.

    A member of an archive is left out: it was never sent by itself, and the archive is there. So is a page that asked not to be
    kept, of which the database has nothing.
    """
    for page in reader.pages(fetches, _CAPTURES.where(fetches.c.id > after), _PAGE):
        for row in page:
            url = f"{origin(row.scheme, row.host, row.port)}{row.path}"
            if _MEMBER not in url and selection.admits(row.site_id, row.at, row.state, row.media_type or "", url):
                yield _capture(row, url)
        passed(len(page))


def _capture(row: Any, url: str) -> Capture:
    return Capture(
        number=row.id,
        url=url,
        at=row.at,
        status=row.status,
        address=row.address,
        headers=bytes(row.headers),
        redirect=row.redirect,
        media_type=row.media_type or "",
        charset=row.charset or "",
        title=row.title or "",
        depth=row.depth,
        hops=row.hops,
        is_seed=row.seed,
        is_merged=bool(row.has_regions) and _is_merged(row),
        sha256=None if row.document_id is None else bytes(row.sha256),
        packed=(row.packed or 0) + (row.length or 0),
    )


def _is_merged(row: Any) -> bool:
    """Whether a version with regions was put together from fragments. It then has the headers of the version before it.

    Where the version before is not kept any more, a page that changed and is refreshed by its table is taken for merged.
    """
    if row.headers_before is None:
        return bool(row.changes and row.merges)
    return bytes(row.headers_before) == bytes(row.headers)


def read_exchanges(reader: Reader, captures: Iterable[Capture], damaged: Callable[[str, str], None]) -> Iterator[Exchange]:
    """The exchanges of captures, in their order. `damaged` is told the URL and what is wrong, where bytes cannot be read.

    A version that was deleted in the meantime is left out.
    """
    for batch in _batches(captures):
        with reader.transaction() as connection:
            bodies = _bodies(connection, [capture.number for capture in batch if capture.sha256 is not None])
            vias = _vias(connection, [capture.url for capture in batch if capture.is_seed])
        for capture in batch:
            packed = bodies.pop(capture.number, None)
            if capture.sha256 is None:
                yield _exchange(capture, b"", vias)
            elif packed is not None:
                body = _unpacked(packed, capture, damaged)
                if body is not None:
                    yield _exchange(capture, body, vias)


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


_Packed = tuple[bytes, int, list[PackedRegion]]
"""The bytes of a document, its length, and the regions of the version."""


def _bodies(connection: Connection, numbers: list[int]) -> dict[int, _Packed]:
    """By version. Document and regions are read in one transaction: a crawl may rewrite how a version is stored."""
    if not numbers:
        return {}
    regions: dict[int, list[PackedRegion]] = {}
    columns = (volatile.c.fetch_id, volatile.c.id, volatile.c.offset, volatile.c.length, volatile.c.content)
    of_versions = select(*columns).where(volatile.c.fetch_id.in_(numbers))
    for number, *region in connection.execute(of_versions.order_by(volatile.c.offset, volatile.c.region)):
        regions.setdefault(number, []).append(PackedRegion(*region))
    statement = select(fetches.c.id, documents.c.body, documents.c.length).join(
        documents, documents.c.id == fetches.c.document_id
    )
    return {
        number: (bytes(body), length, regions.get(number, []))
        for number, body, length in connection.execute(statement.where(fetches.c.id.in_(numbers)))
    }


def _vias(connection: Connection, of_seeds: list[str]) -> dict[str, str]:
    if not of_seeds:
        return {}
    statement = select(seeds.c.url, seeds.c.via).where(seeds.c.url.in_(of_seeds), seeds.c.via.is_not(None))
    return {url: via for url, via in connection.execute(statement)}  # noqa: C416 (rows are not pairs to a type checker)


def _unpacked(packed: _Packed, capture: Capture, damaged: Callable[[str, str], None]) -> bytes | None:
    try:
        body = whole_of(*packed)
    except UnpackingFailure as failure:
        damaged(capture.url, str(failure))
        return None
    if sha256(body).digest() != capture.sha256:
        damaged(capture.url, "it is not what was received")
        return None
    return body


def _exchange(capture: Capture, body: bytes, vias: dict[str, str]) -> Exchange:
    head = agreeing_head(capture.headers, len(body))
    return Exchange(
        capture=capture,
        kind=_kind(capture),
        status_line=status_line(capture.status),
        headers=head.lines,
        body=body,
        payload_sha256=capture.sha256 or sha256(body).digest(),
        document=body,
        reconstructed=(
            "status-line",
            *head.reconstructed,
            *(("body",) if capture.sha256 is None and head.reconstructed else ()),
        ),
        via=vias.get(capture.url),
    )


def _kind(capture: Capture) -> Kind:
    if capture.is_merged:
        return Kind.CONVERSION
    return Kind.RESPONSE if capture.url.startswith(("http://", "https://")) else Kind.RESOURCE
