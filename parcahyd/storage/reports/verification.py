"""Checks a database for inconsistencies: the invariants of the architecture's section 9 that a database can show.

Each check reads pages by key, in a transaction for each page, so it can run beside a crawl: it compares only rows of the same
transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import Table, func, select, text

from parcahyd.core.errors import DatabaseUnusable
from parcahyd.core.records import origin
from parcahyd.core.states import REASONS_OF, Reason, State
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.storage.expressions import present
from parcahyd.storage.heads import head_of
from parcahyd.storage.packing import UnpackingFailure, unpack
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.reports.records import Finding
from parcahyd.storage.reports.url_report import stored_bytes, whole
from parcahyd.storage.schema import (
    HELD,
    documents,
    errands,
    exchanges,
    fetches,
    head_bases,
    learned,
    links,
    own_bodies,
    seeds,
    sites,
    summaries,
    tvis,
    urls,
    volatile,
)
from parcahyd.storage.sites import earliest, site_due

__all__ = ["findings"]

_PAGE = 500
_NOT_KEPT = frozenset((Reason.NOINDEX.word, Reason.NOARCHIVE.word))
_WORDS_OF = {state: {reason.word if reason else None for reason in reasons} for state, reasons in REASONS_OF.items()}


def findings(reader: Reader, *, running: bool) -> Iterator[Finding]:
    """Every finding, check by check. A table that cannot be read to its end is a finding itself.

    Partitions are checked one after the other: a row never refers to one of another partition, and two partitions may store
    the same document.
    """
    for number in range(reader.partitions):
        with closing(reader.partition(number)) as partition:
            for finding in findings(partition, running=running):
                yield msgspec.structs.replace(finding, partition=number)
    if not reader.partitions:
        yield from _findings(reader, running=running)


def _findings(reader: Reader, *, running: bool) -> Iterator[Finding]:
    checks: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
        ("documents", lambda: _check_documents(reader)),
        ("links", lambda: _check_beside(reader, links, "links")),
        ("summaries", lambda: _check_beside(reader, summaries, "summary")),
        ("fetches", lambda: _check_fetches(reader)),
        ("own_bodies", lambda: _check_own_bodies(reader)),
        ("exchanges", lambda: _check_exchanges(reader)),
        ("volatile", lambda: _check_volatile(reader)),
        ("urls", lambda: _check_urls(reader)),
        ("sites", lambda: _check_sites(reader, running=running)),
        ("seeds", lambda: _check_references(reader)),
    ]
    if reader.is_sqlite and not running:
        checks.append(("the file", lambda: _check_file(reader)))
    for subject, check in checks:
        try:
            yield from check()
        except DatabaseUnusable as unreadable:
            yield Finding(kind="unreadable", subject=subject, sentence=unreadable.message)


def _check_documents(reader: Reader) -> Iterator[Finding]:
    """Every document unpacks to bytes with its fingerprints, is stored once, and belongs to a fetch."""
    used = present(select(fetches.c.id).where(fetches.c.document_id == documents.c.id)).label("used")
    for page in reader.pages(documents, select(documents.c.id, used), _PAGE):
        for number, is_used in page:
            name = f"document {number}"
            if not is_used:
                yield Finding(kind="document-unused", subject=name, sentence="No fetch refers to it.")
            # One at a time: a page of the largest documents would not fit in memory.
            for row in reader.rows(select(documents).where(documents.c.id == number)):
                if damage := _damage(row):
                    yield Finding(kind="document-damaged", subject=name, sentence=damage)
    twice = select(documents.c.sha256).group_by(documents.c.df, documents.c.sha256).having(func.count() > 1)
    for (digest,) in reader.rows(twice):
        yield Finding(kind="document-twice", subject=digest.hex(), sentence="More than one document has this SHA-256.")


def _damage(row: Any) -> str:
    try:
        mark = fingerprint(stored_bytes(row).unpack())
    except UnpackingFailure as damage:
        return f"{damage}."
    if row.coding and sha256(row.body).digest() != row.coded_sha256:
        return "Its coded bytes do not have the recorded SHA-256."
    if mark.sha256 != row.sha256:
        return "Its bytes do not have the recorded SHA-256."
    return "" if mark.df == row.df else "Its bytes do not have the recorded fingerprint DF."


def _check_beside(reader: Reader, table: Table, what: str) -> Iterator[Finding]:
    """Every table of links, and every summary, is that of a document and can be unpacked."""
    known = present(select(documents.c.id).where(documents.c.id == table.c.document_id)).label("known")
    for page in reader.pages(table, select(table.c.document_id, table.c.content, known), 50):
        for number, content, is_known in page:
            name = f"{what} of document {number}"
            if not is_known:
                yield Finding(kind="dangling", subject=name, sentence="The document does not exist.")
            try:
                unpack(content)
            except UnpackingFailure as damage:
                yield Finding(kind=f"{what}-damaged", subject=name, sentence=f"{damage}.")


def _check_fetches(reader: Reader) -> Iterator[Finding]:
    """Every fetch belongs to a URL, has a document or a redirect, and its bytes can be rebuilt."""
    of_url = (urls.c.site_id == fetches.c.site_id) & (urls.c.key == fetches.c.key)
    statement = (
        select(
            fetches,
            urls.c.path,
            documents.c.id.label("found"),
            documents.c.sha256.label("skeleton_sha256"),
            documents.c.length.label("skeleton_length"),
            head_bases.c.content.label("base"),
            present(select(volatile.c.fetch_id).where(volatile.c.fetch_id == fetches.c.id)).label("varies"),
        )
        .join(urls, of_url, isouter=True)
        .join(documents, documents.c.id == fetches.c.document_id, isouter=True)
        .join(head_bases, head_bases.c.id == fetches.c.head_base, isouter=True)
    )
    for page in reader.pages(fetches, statement, _PAGE):
        for row in page:
            name = f"fetch {row.id}"
            if row.path is None:
                yield Finding(kind="dangling", subject=name, sentence="Its URL does not exist.")
            if damage := _damage_of_head(row):
                yield Finding(kind="head-damaged", subject=name, sentence=damage)
            if row.document_id is None:
                if row.redirect is None:
                    yield Finding(kind="fetch-empty", subject=name, sentence="It has neither a document nor a redirect.")
            elif row.found is None:
                yield Finding(kind="dangling", subject=name, sentence=f"Its document {row.document_id} does not exist.")
            elif sentence := _damage_of_whole(reader, row):
                yield Finding(kind="fetch-damaged", subject=name, sentence=sentence)


def _check_own_bodies(reader: Reader) -> Iterator[Finding]:
    """The bytes of a fetch that no document holds can be unpacked."""
    known = present(select(fetches.c.id).where(fetches.c.id == own_bodies.c.fetch_id)).label("known")
    for page in reader.pages(own_bodies, select(own_bodies, known), 10):
        for row in page:
            name = f"body of fetch {row.fetch_id}"
            if not row.known:
                yield Finding(kind="dangling", subject=name, sentence="The fetch does not exist.")
            if damage := _damage_of_body(row.body, row.length, row.coding):
                yield Finding(kind="body-damaged", subject=name, sentence=damage)


def _check_exchanges(reader: Reader) -> Iterator[Finding]:
    """Every kept answer belongs to a URL, a check also to a version, and what is kept of it can be unpacked."""
    statement = (
        select(exchanges, urls.c.path, fetches.c.id.label("found"), head_bases.c.content.label("base"))
        .join(urls, (urls.c.site_id == exchanges.c.site_id) & (urls.c.key == exchanges.c.key), isouter=True)
        .join(fetches, fetches.c.id == exchanges.c.fetch_id, isouter=True)
        .join(head_bases, head_bases.c.id == exchanges.c.head_base, isouter=True)
    )
    for page in reader.pages(exchanges, statement, 10):
        for row in page:
            name = f"exchange {row.id}"
            if row.path is None and not row.file:
                yield Finding(kind="dangling", subject=name, sentence="Its URL does not exist.")
            if row.fetch_id is not None and row.found is None:
                yield Finding(kind="dangling", subject=name, sentence=f"Its fetch {row.fetch_id} does not exist.")
            if damage := _damage_of_head(row):
                yield Finding(kind="head-damaged", subject=name, sentence=damage)
            if row.body is not None and (damage := _damage_of_body(row.body, row.length, row.body_coding)):
                yield Finding(kind="body-damaged", subject=name, sentence=damage)


def _damage_of_body(body: bytes, length: int, coding: str) -> str:
    try:
        unpack(body, length, coding)
    except UnpackingFailure as damage:
        return f"{damage}."
    return ""


def _damage_of_head(row: Any) -> str:
    try:
        head_of(row, row.base)
    except UnpackingFailure as damage:
        return f"{damage}."
    return ""


def _damage_of_whole(reader: Reader, row: Any) -> str:
    digest, length = row.skeleton_sha256, row.skeleton_length
    if row.varies:
        # The fetch may have been dropped since its page was read, or its document parted in another way.
        columns = (documents.c.body, documents.c.length, documents.c.coding)
        its_document = select(*columns).join(fetches, fetches.c.document_id == documents.c.id)
        with reader.transaction() as connection:
            document = connection.execute(its_document.where(fetches.c.id == row.id)).first()
            if document is None:
                return ""
            try:
                content = whole(connection, row.id, stored_bytes(document))
            except UnpackingFailure as damage:
                return f"It cannot be rebuilt: {damage}."
        digest, length = fingerprint(content).sha256, len(content)
    if length != row.length:
        return f"What it brought has {length} bytes, not the recorded {row.length}."
    return "" if digest == row.sha256 else "What it brought does not have the recorded SHA-256."


def _check_volatile(reader: Reader) -> Iterator[Finding]:
    known = select(fetches.c.id).where(fetches.c.id == volatile.c.fetch_id).exists()
    for page in reader.pages(volatile, select(volatile.c.fetch_id, volatile.c.region).where(~known), _PAGE):
        for fetch, region in page:
            name = f"region {region} of fetch {fetch}"
            yield Finding(kind="dangling", subject=name, sentence="The fetch does not exist.")
    for table, what in ((tvis, "table"), (learned, "what was learned")):
        lost = select(table.c.fetch_id).where(table.c.fetch_id.not_in(select(fetches.c.id)))
        for (fetch,) in reader.rows(lost):
            yield Finding(kind="dangling", subject=f"{what} of fetch {fetch}", sentence="The fetch does not exist.")


def _check_urls(reader: Reader) -> Iterator[Finding]:
    """Every URL has a reason that fits its state, the key of its path, and the document that its state requires."""
    statement = (
        select(
            urls,
            sites.c.scheme,
            sites.c.host,
            sites.c.port,
            sites.c.in_scope,
            documents.c.id.label("found_document"),
            fetches.c.id.label("found_fetch"),
            fetches.c.site_id.label("fetch_site"),
            fetches.c.key.label("fetch_key"),
            fetches.c.document_id.label("fetch_document"),
            fetches.c.redirect,
        )
        .join(sites, sites.c.id == urls.c.site_id, isouter=True)
        .join(documents, documents.c.id == urls.c.document_id, isouter=True)
        .join(fetches, fetches.c.id == urls.c.fetch_id, isouter=True)
    )
    for page in reader.pages(urls, statement, _PAGE):
        for row in page:
            place = f"site {row.site_id}" if row.host is None else origin(row.scheme, row.host, row.port)
            name = f"{place}{row.path}"
            for kind, sentence in (*_wrong_references(row), *_wrong_state(row)):
                yield Finding(kind=kind, subject=name, sentence=sentence)
            if row.key != key_of(row.path) and not _displaced(reader, row):
                yield Finding(kind="key", subject=name, sentence=f"Its key {row.key} is not that of its path.")


def _wrong_references(row: Any) -> Iterator[tuple[str, str]]:
    if row.host is None:
        yield "dangling", "Its site does not exist."
    if row.document_id is not None and row.found_document is None:
        yield "dangling", f"Its document {row.document_id} does not exist."
    if row.fetch_id is None:
        if row.document_id is not None:
            yield "dangling", "It has a document and no fetch that brought it."
    elif row.found_fetch is None:
        yield "dangling", f"Its fetch {row.fetch_id} does not exist."
    elif (row.fetch_site, row.fetch_key) != (row.site_id, row.key):
        yield "dangling", f"Its fetch {row.fetch_id} is another URL's."
    elif row.fetch_document != row.document_id:
        yield "dangling", f"Its document is not that of its fetch {row.fetch_id}."


def _wrong_state(row: Any) -> Iterator[tuple[str, str]]:
    if row.state not in _WORDS_OF:
        yield "state", f"There is no state {row.state}."
        return
    state = State(row.state)
    if row.reason not in _WORDS_OF[state]:
        yield "state", f"A URL that is {state.word} cannot have the reason {row.reason}."
    if row.reason in _NOT_KEPT:
        if row.document_id is not None:
            yield "state", "It asks not to be kept and has a document."
    elif state is State.STORED and row.document_id is None and (row.reason != Reason.REDIRECT.word or row.redirect is None):
        yield "state", "It is stored and has neither a document nor a redirect."
    if state in (State.KNOWN, State.FAILED):
        if row.due_at is None:
            yield "due", "It waits for a turn that never comes."
        if row.in_scope is False:
            yield "scope", "It waits for its turn although its site is outside the scope."


def _displaced(reader: Reader, row: Any) -> bool:
    """Whether a URL has another key because every place from its own up to there was taken."""
    wanted = key_of(row.path)
    distance = (row.key - wanted) % 2**64
    if distance > _PAGE:
        return False
    between = [(wanted + step + 2**63) % 2**64 - 2**63 for step in range(distance)]
    statement = select(func.count()).where(urls.c.site_id == row.site_id, urls.c.key.in_(between))
    return bool(reader.rows(statement)[0][0] == distance)


def _check_sites(reader: Reader, *, running: bool) -> Iterator[Finding]:
    """Every site's counts and due times agree with its URLs."""
    last = 0
    while True:
        with reader.transaction() as connection:
            page = connection.execute(select(sites).where(sites.c.id > last).order_by(sites.c.id).limit(_PAGE)).all()
            ids = [row.id for row in page]
            counted = select(
                *(urls.c.site_id, urls.c.state, func.count(), func.count(urls.c.document_id)),
                *(func.min(urls.c.due_at), func.max(urls.c.due_at)),
            ).where(urls.c.site_id.in_(ids))
            of_site: dict[int, dict[int, Any]] = {number: {} for number in ids}
            for site, state, *figures in connection.execute(counted.group_by(urls.c.site_id, urls.c.state)):
                of_site[site][state] = figures
            asked = select(errands.c.site_id, func.min(errands.c.asked_at)).where(errands.c.site_id.in_(ids))
            asked_at = dict(map(tuple, connection.execute(asked.group_by(errands.c.site_id))))
        for row in page:
            name = origin(row.scheme, row.host, row.port)
            for kind, sentence in _wrong_site(row, of_site[row.id], asked_at.get(row.id), running=running):
                yield Finding(kind=kind, subject=name, sentence=sentence)
        if len(page) < _PAGE:
            return
        last = ids[-1]


def _wrong_site(row: Any, states: dict[int, Any], asked_at: float | None, *, running: bool) -> Iterator[tuple[str, str]]:
    number = sum(figures[0] for figures in states.values())
    pages = sum(figures[1] for figures in states.values())
    if (row.urls, row.pages) != (number, pages):
        yield "count", f"It counts {row.urls} URLs and {row.pages} pages, and has {number} and {pages}."
    if row.visit is not None:
        if not running and row.visit != HELD:
            yield "visit", f"The visit {row.visit} has it, and no crawl is running."
        return

    def first(*wanted: State) -> float | None:
        return earliest(*(states[state][2] for state in wanted if state in states)) if row.in_scope else None

    again = first(State.STORED, State.REFUSED, State.GONE)
    if row.again_at != again:
        yield "due", f"It is to be looked at again at {row.again_at}, its URLs at {again}."
    soonest = site_due(row.not_before, row.errand_until, first(State.KNOWN, State.FAILED), asked_at)
    # Known URLs are all due at once, so any of their times serves.
    known = states[State.KNOWN][3] if row.in_scope and State.KNOWN in states else None
    latest = site_due(row.not_before, row.errand_until, earliest(known, first(State.FAILED)), asked_at)
    if (row.due_at is None) != (soonest is None):
        yield "due", f"It falls due at {row.due_at}, its URLs at {soonest}."
    elif row.due_at is not None and soonest is not None and latest is not None and not soonest <= row.due_at <= latest:
        yield "due", f"It falls due at {row.due_at}, its URLs between {soonest} and {latest}."


def _check_references(reader: Reader) -> Iterator[Finding]:
    present = select(sites.c.id)
    for (url,) in reader.rows(select(seeds.c.url).where(seeds.c.site_id.not_in(present))):
        yield Finding(kind="dangling", subject=url, sentence="The seed's site does not exist.")
    lost = errands.c.site_id.not_in(present) | errands.c.asker.not_in(present)
    for asker, path in reader.rows(select(errands.c.asker, errands.c.path).where(lost)):
        yield Finding(kind="dangling", subject=f"errand of site {asker}", sentence=f"A site of it ({path}) does not exist.")


def _check_file(reader: Reader) -> Iterator[Finding]:
    for (said,) in reader.rows(text("PRAGMA integrity_check(20)")):
        if said != "ok":
            yield Finding(kind="file", subject="the file", sentence=said)
