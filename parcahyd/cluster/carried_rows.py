"""Carries the rows of a site from the tables of one partition to those of another, some URLs in each transaction.

Rows keep their numbers, which no two partitions have in common, so nothing that refers to them has to follow. Documents and
requests are shared by the sites of a partition. They get numbers of their own here, unless the same bytes are here already.

A row leaves the one schema in the statement that brings it into the other. So readers of the whole crawl see it once at every
moment, and a move that was killed goes on with what is left.

Tested in tests/cluster/test_site_moves.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import (
    CTE,
    BigInteger,
    BindParameter,
    ColumnElement,
    Executable,
    MetaData,
    Table,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert as insert_once

from parcahyd.cluster.tables import starts, states
from parcahyd.core.records import origin
from parcahyd.core.states import Reason
from parcahyd.storage.cluster_schemas import partition_schema
from parcahyd.storage.expressions import MOST, numbers, same
from parcahyd.storage.other_partitions import FoundUrl
from parcahyd.storage.schema import (
    HELD,
    documents,
    errands,
    exchanges,
    fetches,
    head_bases,
    learned,
    links,
    metadata,
    overfull,
    own_bodies,
    requests,
    seeds,
    sites,
    summaries,
    tvis,
    urls,
    volatile,
)
from parcahyd.storage.writer import Writer

__all__ = ["CarriedRows", "CarriedUrls"]

_OF_VERSIONS = (own_bodies, volatile, tvis, learned)
_OF_DOCUMENTS = (links, summaries)
_ABOUT = 8 * 1024 * 1024
"""Bytes of documents that one transaction carries, about."""
_NUMBER = bindparam("number", type_=BigInteger)
_NEW = bindparam("new_number", type_=BigInteger)
_SITES_HERE = select(sites.c.id, sites.c.scheme, sites.c.host, sites.c.port).where(*same(sites, "host")).order_by(sites.c.id)
_CAME_BEFORE = (
    delete(urls)
    .where(*same(urls, "site_id"), urls.c.key.in_(numbers("keys")))
    .returning(*(urls.c[name] for name in ("path", "depth", "hops", "seed", "reason", "via_site", "via_key")))
)
_COUNT = (
    update(sites)
    .where(*same(sites, "id"))
    .values(
        urls=select(func.count()).where(urls.c.site_id == sites.c.id).scalar_subquery(),
        pages=select(func.count()).where(urls.c.site_id == sites.c.id, urls.c.document_id.is_not(None)).scalar_subquery(),
        visit=null(),
        rested_in=literal_column("0"),
    )
)
_REFER = update(fetches).where(*same(fetches, "id")).values(document_id=_NEW)
_REFER_REQUEST = [
    update(table).where(table.c.site_id == bindparam("site"), table.c.request_id == _NUMBER).values(request_id=_NEW)
    for table in (fetches, exchanges)
]
_digest = bindparam("digest", type_=fetches.c.coded_sha256.type)
_KEEP_DIGEST = update(fetches).where(*same(fetches, "id")).values(coded_sha256=func.coalesce(fetches.c.coded_sha256, _digest))


class CarriedUrls(msgspec.Struct, frozen=True):
    """What one transaction carried."""

    urls: int
    left_documents: tuple[int, ...]
    """Documents that may have nobody left where the site came from."""
    came_before: tuple[FoundUrl, ...]
    """URLs that were found again while their rows were still elsewhere: they are to be judged once more."""


class _Statements:
    """Those for one source."""

    def __init__(self, source: int) -> None:
        there: dict[str, Table] = {
            name: one.to_metadata(MetaData(), schema=partition_schema(source)) for name, one in metadata.tables.items()
        }
        self.sites = _carrying(sites, there, there["sites"].c.host == bindparam("host"), visit=literal_column(str(HELD)))
        site: BindParameter[int] = bindparam("site")
        self.beside_sites = [
            _carrying(one, there, there[one.name].c.site_id == site) for one in (seeds, overfull, errands, head_bases)
        ]
        of_urls, of_fetches, of_exchanges = there["urls"], there["fetches"], there["exchanges"]
        size = select(func.sum(func.octet_length(there["documents"].c.body)))
        of_url = size.where(
            there["documents"].c.id.in_(
                select(of_fetches.c.document_id).where(
                    of_fetches.c.site_id == of_urls.c.site_id, of_fetches.c.key == of_urls.c.key
                )
            )
        ).scalar_subquery()
        self.next_urls = (
            select(of_urls.c.key, func.coalesce(of_url, 0)).where(of_urls.c.site_id == site).order_by(of_urls.c.key).limit(MOST)
        )
        in_keys = numbers("keys")
        self.versions = select(of_fetches.c.id, of_fetches.c.document_id, of_fetches.c.request_id).where(
            of_fetches.c.site_id == site, of_fetches.c.key.in_(in_keys)
        )
        of_documents = there["documents"]
        twins = (documents.c.df == of_documents.c.df) & (documents.c.sha256 == of_documents.c.sha256)
        its_own_code = (of_documents.c.coding != literal_column("''")) & of_documents.c.coded_sha256.is_distinct_from(
            documents.c.coded_sha256
        )
        self.documents = (
            select(of_documents.c.id, documents.c.id, its_own_code, of_documents.c.coded_sha256)
            .select_from(of_documents.outerjoin(documents, twins))
            .where(of_documents.c.id.in_(numbers("ids")))
        )
        self.requests = (
            select(there["requests"].c.id, requests.c.id)
            .select_from(there["requests"].outerjoin(requests, requests.c.content == there["requests"].c.content))
            .where(there["requests"].c.id.in_(numbers("ids")))
        )
        self.request_ids = (
            select(of_exchanges.c.request_id)
            .where(of_exchanges.c.site_id == site, of_exchanges.c.key.in_(in_keys), of_exchanges.c.request_id.is_not(None))
            .distinct()
        )
        self.copy_document = _copying(documents, there, "id")
        self.copy_beside = [_copying(one, there, "document_id") for one in _OF_DOCUMENTS]
        self.copy_request = _copying(requests, there, "id")
        from_there = there["documents"]
        self.keep_coded_body = (
            insert_once(own_bodies)
            .from_select(
                ["fetch_id", "body", "length", "coding"],
                select(bindparam("fetch", type_=BigInteger), from_there.c.body, from_there.c.length, from_there.c.coding).where(
                    from_there.c.id == _NUMBER, from_there.c.coding != literal_column("''")
                ),
            )
            .on_conflict_do_nothing()
        )
        self.of_versions = [_carrying(one, there, there[one.name].c.fetch_id.in_(numbers("ids"))) for one in _OF_VERSIONS]
        self.fetches = _carrying(fetches, there, (of_fetches.c.site_id == site) & of_fetches.c.key.in_(in_keys))
        self.exchanges = _carrying(exchanges, there, (of_exchanges.c.site_id == site) & of_exchanges.c.key.in_(in_keys))
        gone = _gone(of_urls, (of_urls.c.site_id == site) & of_urls.c.key.in_(in_keys))
        its_document = select(fetches.c.document_id).where(fetches.c.id == gone.c.fetch_id).scalar_subquery()
        visited = case(
            (gone.c.visited_in == bindparam("run_there"), bindparam("run_here", type_=BigInteger)), else_=literal_column("0")
        )
        self.urls = _inserting(
            urls, gone, document_id=case((gone.c.document_id.is_(None), null()), else_=its_document), visited_in=visited
        )
        # The exchanges of a robots.txt have the key of a path that need not be a URL of the crawl.
        self.rest_keys = select(of_exchanges.c.key).where(of_exchanges.c.site_id == site).distinct().limit(MOST)
        self.is_left = select(
            or_(*(exists(select(one.c.site_id).where(one.c.site_id == site)) for one in (of_urls, of_fetches, of_exchanges)))
        )


def _gone(table: Table, condition: ColumnElement[bool]) -> CTE:
    return delete(table).where(condition).returning(*table.c).cte("gone")


def _inserting(table: Table, gone: CTE, **values: Any) -> Executable:
    columns = [column.name for column in table.c]
    return (
        insert_once(table)
        .from_select(columns, select(*(values.get(name, gone.c[name]) for name in columns)))
        .on_conflict_do_nothing()
    )


def _carrying(table: Table, there: Mapping[str, Table], condition: ColumnElement[bool], **values: Any) -> Executable:
    """Takes rows out of the table there, and puts them into the one here."""
    return _inserting(table, _gone(there[table.name], condition), **values)


def _copying(table: Table, there: Mapping[str, Table], key: str) -> Executable:
    """Copies one row, under a new number."""
    source = there[table.name]
    columns = [column.name for column in table.c]
    chosen = select(*(_NEW if name == key else source.c[name] for name in columns)).where(source.c[key] == _NUMBER)
    return insert(table).from_select(columns, chosen)


_statements = lru_cache(_Statements)

_RUN_OF = select(func.min(starts.c.start)).where(
    *same(starts, "partition"),
    starts.c.run == select(states.c.run).where(states.c.partition == bindparam("here")).scalar_subquery(),
)


class CarriedRows:
    """Carries sites to the partition of a writer, from one other; used inside its transactions."""

    def __init__(self, writer: Writer, source: int, here: int) -> None:
        self._writer = writer
        self._source = source
        self._here = here
        self._of = _statements(source)

    def take_sites(self, host: str) -> list[tuple[int, str, str, int]]:
        """Takes over the rows of a host in `sites`, where no visit begins before `finish`, and what is beside them.

        Returns number, scheme, host and port of each. From then on everything new of the host is stored here.
        """
        self._writer.run(self._of.sites, host=host)
        taken: list[tuple[int, str, str, int]] = self._writer.rows(_SITES_HERE, host=host)
        for number, *_ in taken:
            for statement in self._of.beside_sites:
                self._writer.run(statement, site=number)
        return taken

    def carry(self, site: tuple[int, str, str, int], most: int) -> CarriedUrls | None:
        """Carries the next URLs of a site with all their versions; None where nothing is left."""
        number, of = site[0], self._of
        keys = self._next_keys(number, most)
        if not keys:
            keys = [row[0] for row in self._writer.rows(of.rest_keys, site=number, most=most)]
        if not keys:
            return None
        bound = self._writer.lists.bind(keys)
        before = self._writer.rows(_CAME_BEFORE, site_id=number, keys=bound)
        versions = self._writer.rows(of.versions, site=number, keys=bound)
        requested = {row[0] for row in self._writer.rows(of.request_ids, site=number, keys=bound)}
        requested.update(request for *_, request in versions if request is not None)
        documents_there = {document for _, document, _ in versions if document is not None}
        self._writer.run(of.fetches, site=number, keys=bound)
        self._share_documents(versions, documents_there)
        fetch_ids = self._writer.lists.bind([fetch for fetch, *_ in versions])
        for statement in of.of_versions:
            self._writer.run(statement, ids=fetch_ids)
        self._writer.run(of.exchanges, site=number, keys=bound)
        self._share_requests(number, requested)
        self._writer.run(of.urls, site=number, keys=bound, run_there=self._run(self._source), run_here=self._run(self._here))
        return CarriedUrls(len(keys), tuple(sorted(documents_there)), tuple(_found(site, row) for row in before))

    def _next_keys(self, site: int, most: int) -> list[int]:
        """One at least, and so many that their documents have about as many bytes as a transaction carries."""
        keys: list[int] = []
        size = 0
        for key, more in self._writer.rows(self._of.next_urls, site=site, most=most):
            if keys and size + more > _ABOUT:
                break
            keys.append(key)
            size += more
        return keys

    def _run(self, partition: int) -> int:
        """The number that the run under way has in a partition."""
        return self._writer.value(_RUN_OF, partition=partition, here=self._here) or 0

    def _share_documents(self, versions: Sequence[tuple[int, int | None, int | None]], ids: Collection[int]) -> None:
        """Has versions refer to documents here: to those with the same bytes, or to copies."""
        if not ids:
            return
        bound = self._writer.lists.bind(sorted(ids))
        here: dict[int, int] = {}
        digests: dict[int, bytes] = {}
        new = []
        for number, twin, has_own_code, digest in self._writer.rows(self._of.documents, ids=bound):
            here[number] = self._writer.new_id(documents) if twin is None else twin
            if twin is None:
                new.append({"number": number, "new_number": here[number]})
            elif has_own_code:
                digests[number] = digest
        self._writer.many(self._of.copy_document, new)
        for statement in self._of.copy_beside:
            self._writer.many(statement, new)
        found = [(fetch, document) for fetch, document, _ in versions if document in here]
        # The twin has not the coded form in which these versions came.
        lacking = [(fetch, document) for fetch, document in found if document in digests]
        self._writer.many(self._of.keep_coded_body, [{"fetch": fetch, "number": document} for fetch, document in lacking])
        self._writer.many(_KEEP_DIGEST, [{"id": fetch, "digest": digests[document]} for fetch, document in lacking])
        self._writer.many(_REFER, [{"id": fetch, "new_number": here[document]} for fetch, document in found])

    def _share_requests(self, site: int, ids: Collection[int]) -> None:
        """The same with the requests of versions and exchanges."""
        if not ids:
            return
        bound = self._writer.lists.bind(sorted(ids))
        here = []
        new = []
        for number, twin in self._writer.rows(self._of.requests, ids=bound):
            row = {"number": number, "new_number": self._writer.new_id(requests) if twin is None else twin}
            here.append({"site": site, **row})
            if twin is None:
                new.append(row)
        self._writer.many(self._of.copy_request, new)
        for statement in _REFER_REQUEST:
            self._writer.many(statement, here)

    def finish(self, site: int) -> None:
        """All rows of a site are here: visits may begin."""
        self._writer.run(_COUNT, id=site)


def _found(site: tuple[int, str, str, int], row: Any) -> FoundUrl:
    """A URL as if it was found once more."""
    _, scheme, host, port = site
    path, depth, hops, is_seed, reason, via_site, via_key = row
    refusal = reason if reason == Reason.NOFOLLOW.word else ""  # Any other is judged anew.
    return f"{origin(scheme, host, port)}{path}", depth, hops, is_seed, refusal, via_site, via_key
