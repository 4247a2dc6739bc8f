"""Reads a crawl's database for `status`, `urls`, `show`, `history`, `diff`, `explain` and `verify`, also while a crawl runs.

Tested in tests/storage/reports/test_status.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from types import TracebackType
from typing import Any, Self

import msgspec
from sqlalchemy import Connection, func, literal_column, select

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.progress import SizeEstimate
from parcahyd.core.records import origin
from parcahyd.core.states import Reason, State
from parcahyd.rules.urls.url_patterns import UrlPatterns
from parcahyd.storage.last_settings import last_settings
from parcahyd.storage.reports.exchanges import read_exchange, read_history
from parcahyd.storage.reports.freshness import read_freshness
from parcahyd.storage.reports.left_out import left_out_by_site
from parcahyd.storage.reports.named_sites import named_sites
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.reports.records import (
    ExchangeReport,
    Finding,
    FreshnessReport,
    ReasonCount,
    RunReport,
    SeedOutcome,
    SimilarReport,
    SiteReport,
    SparedSite,
    StatusReport,
    StoredDocument,
    StoredExchange,
    UrlDetails,
    UrlReport,
)
from parcahyd.storage.reports.seed_outcomes import read_next_due, read_seed_outcomes
from parcahyd.storage.reports.size_estimates import estimate_crawl, estimate_site
from parcahyd.storage.reports.url_report import ROBOTS_WAIT_REASONS, read_document, read_url_details, sentence_of
from parcahyd.storage.reports.verification import findings
from parcahyd.storage.reports.versions import TwoVersions, read_two_versions
from parcahyd.storage.schema import FAILED, HELD, documents, fetches, pauses, runs, seeds, sites, urls

__all__ = ["Reports"]

_PAGE = 1000


class Reports:
    """The reading side of a crawl; a context manager, used from one thread."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def reader(self) -> Reader:
        """What it reads with, for reports of other packages."""
        return self._reader

    @classmethod
    def open(cls, url: str) -> Self:
        """Opens the database of that URL; where no crawl is stored yet, a DatabaseUnusable says what to do."""
        return cls(Reader(url))

    def close(self) -> None:
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def status(self, now: float, top: int | None = 10) -> StatusReport:
        """The crawl as a whole; `top` bounds the lists of sites, and None does not."""
        with self._reader.transaction() as connection:
            return _status(connection, now, top)

    def in_the_end(self) -> SizeEstimate | None:
        """How many pages the crawl will have in the end; None: not known yet. Reads all URLs, as `status` does."""
        with self._reader.transaction() as connection:
            return estimate_crawl(connection)

    def last_settings(self) -> dict[str, Any] | None:
        """What the last run recorded of its settings, by `Map.KEY` and `Work.KEY`; None where there was no run."""
        with self._reader.transaction() as connection:
            return last_settings(connection)

    def freshness(self, now: float, work: WorkConf) -> FreshnessReport:
        """How fresh the stored pages are expected to be; reads all URLs."""
        return read_freshness(self._reader, work, now)

    def urls(
        self,
        state: str | None = None,
        site: str | None = None,
        reason: str | None = None,
        match: str | None = None,
        topic: str | None = None,
    ) -> Iterator[UrlReport]:
        """Every URL, or those in a state, of a site (a host, or scheme://host[:port]), with the word of a reason, that a
        pattern fits (as in the setting Include), or whose documents have a topic; by site, then by key."""
        columns = (
            *(urls.c.site_id, urls.c.key, urls.c.path, urls.c.state, urls.c.reason, urls.c.depth, urls.c.status, urls.c.seed),
            *(urls.c.first_seen, urls.c.checked_at, urls.c.due_at, urls.c.tries),
            *(
                fetches.c.length,
                documents.c.media_type,
                documents.c.title,
                documents.c.language,
                documents.c.topic,
                fetches.c.sha256,
            ),
            *(sites.c.scheme, sites.c.host, sites.c.port),
        )
        statement = (
            select(*columns)
            .join(sites, sites.c.id == urls.c.site_id)
            .join(documents, documents.c.id == urls.c.document_id, isouter=True)
            .join(fetches, fetches.c.id == urls.c.fetch_id, isouter=True)
        )
        if state is not None:
            statement = statement.where(urls.c.state == int(_state(state)))
        if site is not None:
            with self._reader.transaction() as connection:
                statement = statement.where(urls.c.site_id.in_(named_sites(connection, site)))
        if reason is not None:
            statement = statement.where(urls.c.reason == _reason(reason).word)
        if topic is not None:
            statement = statement.where(documents.c.topic == topic)
        fits = None if match is None else _pattern(match)
        pages = self._reader.pages(urls, statement, _PAGE)
        found = (_url_report(row) for page in pages for row in page)
        return found if fits is None else (url for url in found if fits.admits(url.url))

    def seed_outcomes(self, wanted: Iterable[str] | None = None) -> Iterator[SeedOutcome]:
        """What became of these seeds, or of all that the user gave."""
        return read_seed_outcomes(self._reader, wanted)

    def next_due(self) -> float | None:
        """When the next URL falls due, whatever its state."""
        return read_next_due(self._reader)

    def similar(self, top: int = 10) -> SimilarReport:
        """Near-duplicates, counted, and the largest groups with some of their URLs; reads the fingerprint of every document."""
        from parcahyd.storage.reports.similar import similar_report

        with self._reader.transaction() as connection:
            return similar_report(connection, top)

    def document(self, url: str, at: float | None = None) -> StoredDocument | None:
        """The document of a URL, byte for byte, as it was received last or as it was at a time; None where none is stored."""
        with self._reader.transaction() as connection:
            return read_document(connection, url, at)

    def exchange(self, url: str, at: float | None = None) -> StoredExchange | None:
        """The last exchange with a URL, with its bytes, or the last one by a time; None where none is on record."""
        with self._reader.transaction() as connection:
            return read_exchange(connection, url, at)

    def history(self, url: str) -> tuple[str, list[ExchangeReport]] | None:
        """The canonical URL and every exchange with it that is on record, newest first; None where it was never seen."""
        with self._reader.transaction() as connection:
            return read_history(connection, url)

    def two_versions(self, url: str, older: float | None, newer: float | None) -> TwoVersions:
        """The documents of a URL at two times; without a time, the newest one and the one before it."""
        with self._reader.transaction() as connection:
            return read_two_versions(connection, url, older, newer)

    def url_details(self, url: str) -> UrlDetails | None:
        """Everything about a URL and its site; None where the URL was never seen."""
        with self._reader.transaction() as connection:
            return read_url_details(connection, url)

    def verify(self, *, running: bool = True) -> Iterator[Finding]:
        """Every inconsistency in the database.

        With `running=False` open visits are findings, too. Only the holder of the crawl's lock can know that none is running.
        """
        return findings(self._reader, running=running)


def _state(word: str) -> State:
    try:
        return State[word.upper()]
    except KeyError:
        words = ", ".join(state.word for state in State)
        raise UserError(f'"{word}" is not a state', f"states are {words}") from None


def _reason(word: str) -> Reason:
    try:
        return Reason.of(word)
    except KeyError:
        words = [reason.word for reason in Reason]
        near = get_close_matches(word, words, 1)
        remedy = f'did you mean "{near[0]}"? ' if near else ""
        raise UserError(f'"{word}" is not a reason', f"{remedy}reasons are {', '.join(sorted(words))}") from None


def _pattern(match: str) -> UrlPatterns:
    try:
        return UrlPatterns((match,))
    except ValueError as error:
        raise UserError(f'the pattern "{match}" cannot be read: {error}', 'such as "*/news/*"') from None


def _url_report(row: Any) -> UrlReport:
    site = origin(row.scheme, row.host, row.port)
    return UrlReport(
        url=f"{site}{row.path}",
        state=State(row.state).word,
        reason=row.reason,
        depth=row.depth,
        status=row.status,
        site=site,
        seed=row.seed,
        first_seen=row.first_seen,
        checked_at=row.checked_at,
        due_at=row.due_at,
        tries=row.tries,
        length=row.length,
        media_type=row.media_type,
        title=row.title,
        language=row.language,
        topic=row.topic,
        sha256=None if row.sha256 is None else row.sha256.hex(),
    )


def _status(connection: Connection, now: float, top: int | None) -> StatusReport:
    states = dict.fromkeys((state.word for state in State), 0)
    reasons = []
    by_reason = select(urls.c.state, urls.c.reason, func.count()).group_by(urls.c.state, urls.c.reason)
    for state, reason, number in connection.execute(by_reason):
        states[State(state).word] += number
        if reason is not None:
            counted = ReasonCount(state=State(state).word, reason=reason, sentence=sentence_of(reason), urls=number)
            reasons.append(counted)
    later = _number(connection, select(func.count()).where(urls.c.state == FAILED, urls.c.due_at > now))
    of_documents = select(func.count(), func.sum(documents.c.length), func.sum(func.length(documents.c.body)))
    count, length, packed = connection.execute(of_documents.select_from(documents)).one()
    free = sites.c.visit.is_(None)
    return StatusReport(
        states=states,
        reasons=tuple(sorted(reasons, key=lambda counted: (-counted.urls, counted.reason))),
        sites=_number(connection, select(func.count()).select_from(sites)),
        sites_in_scope=_number(connection, select(func.count()).where(sites.c.in_scope)),
        seeds=_number(connection, select(func.count()).select_from(seeds)),
        documents=count,
        document_bytes=int(length or 0),
        stored_bytes=int(packed or 0),
        fetches=_number(connection, select(func.count()).select_from(fetches)),
        last_run=_last_run(connection),
        spared=_spared(connection, now, top),
        top_sites=_top_sites(connection, top),
        sites_with_pages=_number(connection, select(func.count()).where(sites.c.pages > 0)),
        due_now=states[State.KNOWN.word] + states[State.FAILED.word] - later,
        due_later=later,
        next_due=connection.scalar(select(func.min(sites.c.due_at)).where(free)),
        next_again=connection.scalar(select(func.min(sites.c.again_at)).where(free)),
        left_out=left_out_by_site(connection, top),
        in_the_end=estimate_crawl(connection),
        topics=_topics(connection),
    )


def _topics(connection: Connection) -> dict[str, int]:
    """By the index of labelled documents, which is empty where nothing is labelled."""
    labelled = documents.c.topic != literal_column("''")
    counts = select(documents.c.topic, func.count()).where(labelled).group_by(documents.c.topic)
    return dict(sorted((tuple(row) for row in connection.execute(counts)), key=lambda pair: (-pair[1], pair[0])))


def _number(connection: Connection, statement: Any) -> int:
    return int(connection.scalar(statement) or 0)


def _last_run(connection: Connection) -> RunReport | None:
    row = connection.execute(select(runs).order_by(runs.c.id.desc()).limit(1)).first()
    if row is None:
        return None
    return RunReport(
        run=row.id,
        version=row.version,
        started_at=row.started_at,
        ended_at=row.ended_at,
        outcome=row.outcome,
        counts=msgspec.json.decode(row.counts) if row.counts else {},
    )


def _spared(connection: Connection, now: float, top: int | None) -> tuple[SparedSite, ...]:
    statement = select(sites).where(sites.c.reason.is_not(None), sites.c.not_before > now)
    of_hosts = select(pauses).where(pauses.c.reason != "", pauses.c.not_before > now)
    of_robots = select(sites).where(sites.c.errand_until > now, sites.c.robots_status.in_(ROBOTS_WAIT_REASONS))
    return (
        tuple(
            SparedSite(
                site=row.subject,
                until=row.not_before,
                reason=row.reason,
                sentence=sentence_of(row.reason),
                failures=row.failures,
            )
            for row in connection.execute(of_hosts.order_by(pauses.c.not_before.desc(), pauses.c.subject).limit(top))
        )
        + tuple(
            SparedSite(
                site=origin(row.scheme, row.host, row.port),
                until=row.not_before,
                reason=row.reason,
                sentence=sentence_of(row.reason),
                failures=row.failures,
            )
            for row in connection.execute(statement.order_by(sites.c.not_before.desc(), sites.c.id).limit(top))
        )
        + tuple(
            SparedSite(
                site=origin(row.scheme, row.host, row.port),
                until=row.errand_until,
                reason=(reason := ROBOTS_WAIT_REASONS[row.robots_status]),
                sentence=sentence_of(reason),
                failures=row.failures,
            )
            for row in connection.execute(of_robots.order_by(sites.c.errand_until.desc(), sites.c.id).limit(top))
        )
    )


def _top_sites(connection: Connection, top: int | None) -> tuple[SiteReport, ...]:
    statement = select(sites).where(sites.c.pages > 0).order_by(sites.c.pages.desc(), sites.c.id).limit(top)
    return tuple(
        SiteReport(
            site=origin(row.scheme, row.host, row.port),
            in_scope=row.in_scope,
            urls=row.urls,
            pages=row.pages,
            received=row.bytes,
            requests=row.requests,
            visiting=row.visit not in (None, HELD),
            due_at=row.due_at,
            in_the_end=estimate_site(connection, row),
        )
        for row in connection.execute(statement).all()
    )
