"""Answers from archives that others may have written: which of them are new, and where each belongs.

A URL's captures are told apart by time and content, so an import that is repeated, or goes on after it was killed, adds nothing
that is there. Pages are written by `PageRows`, as those of a crawl are.

| an answer that | is |
|---|---|
| is there already | left out |
| has the bytes of the version before it | a check of that version, kept where KeepChecks asks for it |
| is newer than every version, and none was fetched by us | the newest version of its URL |
| else | a version of the past, where KeepVersions leaves room |

What we fetched ourselves stays the newest version: validators, due times and states are never those of a stranger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import select

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.messages import Written
from parcahyd.core.records import AnswerRecord
from parcahyd.storage.expressions import pairs, plain
from parcahyd.storage.packing import PackedPage
from parcahyd.storage.pages import PageRows
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import exchanges, fetches
from parcahyd.storage.sites import SiteRows
from parcahyd.storage.urls import UrlLookup, UrlRow, UrlRows
from parcahyd.storage.writer import Writer

__all__ = ["ImportRows", "ImportWritten", "ImportedExchange"]

_SAME_TIME = 0.001
"""Seconds: archives write times as text."""


class ImportedExchange(msgspec.Struct, frozen=True, gc=False):
    """An answer from an archive that is no version of a page: an error, or a confirmation (304)."""

    site: int
    key: int
    path: str
    url: str
    depth: int
    at: float
    status: int
    address: str
    answer: AnswerRecord

    @property
    def is_check(self) -> bool:
        return self.status == 304


class ImportWritten(msgspec.Struct):
    """What became of the answers of a batch."""

    versions: int = 0
    """Versions of pages, redirects included."""
    checks: int = 0
    """Answers that confirm a version, or have its bytes again."""
    errors: int = 0
    present: int = 0
    """Answers that the database had already."""
    not_kept: int = 0
    """Answers that the settings do not keep: KeepVersions, KeepChecks, KeepErrors."""
    unresolved: int = 0
    """Confirmations of a version that is not there."""

    def add(self, other: ImportWritten) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class _Version(NamedTuple):
    id: int
    at: float
    sha256: bytes | None
    redirect: str | None
    marks: int


_PAIR = pairs()
_VERSIONS = (
    select(fetches.c.site_id, fetches.c.key, *(fetches.c[name] for name in _Version._fields))
    .join_from(_PAIR, fetches, (fetches.c.site_id == _PAIR.c.site_id) & (fetches.c.key == _PAIR.c.key))
    .order_by(fetches.c.at, fetches.c.id)
)
_OTHERS = select(exchanges.c.site_id, exchanges.c.key, exchanges.c.at, exchanges.c.status).join_from(
    _PAIR, exchanges, (exchanges.c.site_id == _PAIR.c.site_id) & (exchanges.c.key == _PAIR.c.key)
)


class ImportRows:
    """Writes answers from archives; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, sites: SiteRows, urls: UrlRows, pages: PageRows) -> None:
        self._writer = writer
        self._state = state
        self._sites = sites
        self._urls = urls
        self._pages = pages

    def write(self, answers: Sequence[PackedPage | ImportedExchange], now: float) -> ImportWritten:
        """Stores the answers in their order."""
        written = ImportWritten()
        for some in _each_url_once(answers):
            self._write(some, now, written)
        self._sites.settle({_place(answer)[0] for answer in answers})
        return written

    def _write(self, answers: Sequence[PackedPage | ImportedExchange], now: float, written: ImportWritten) -> None:
        batch = _Batch(self._urls.look_up({_place(answer) for answer in answers}))
        batch.read(self._writer, answers)
        newest: list[PackedPage] = []
        past: list[tuple[int, PackedPage]] = []
        for answer in answers:
            if isinstance(answer, ImportedExchange):
                self._add_exchange(answer, batch, now, written)
            else:
                self._add_page(answer, batch, newest, past, written)
        self._pages.write(newest, now, Written())
        self._pages.write_past(past)
        written.versions += len(newest) + len(past)

    def _add_page(
        self,
        packed: PackedPage,
        batch: _Batch,
        newest: list[PackedPage],
        past: list[tuple[int, PackedPage]],
        written: ImportWritten,
    ) -> None:
        page, work = packed.page, self._state.work
        key, row = batch.lookup.place(page.site, page.key, page.path)
        versions = batch.versions.get((page.site, key), ())
        content = (packed.version[0] or None, plain(page.redirect, work.MaxUrlLength) or None)
        before = [version for version in versions if version.at <= page.fetched_at + _SAME_TIME]
        if any(_is_at(version.at, page.fetched_at) and _content(version) == content for version in before):
            written.present += 1
        elif before and _content(before[-1]) == content:
            self._add_same(packed, key, before[-1].id, batch, written)
        elif row is None or row.fetch_id is None or (len(before) == len(versions) and _is_strangers(row, versions)):
            newest.append(packed if row is None else _at_depth_of(packed, row))
        elif len(versions) < work.KeepVersions:
            past.append((key, packed))
        else:
            written.not_kept += 1

    def _add_same(self, packed: PackedPage, key: int, version: int, batch: _Batch, written: ImportWritten) -> None:
        page = packed.page
        if batch.has_exchange(page.site, key, page.fetched_at, page.status):
            written.present += 1
        elif self._state.work.KeepChecks:
            self._pages.exchanges.same_again(packed, key, version)
            written.checks += 1
        else:
            written.not_kept += 1

    def _add_exchange(self, answer: ImportedExchange, batch: _Batch, now: float, written: ImportWritten) -> None:
        work = self._state.work
        key, row = batch.lookup.place(answer.site, answer.key, answer.path)
        if batch.has_exchange(answer.site, key, answer.at, answer.status):
            written.present += 1
        elif not (work.KeepChecks if answer.is_check else work.KeepErrors):
            written.not_kept += 1
        elif answer.is_check:
            versions = batch.versions.get((answer.site, key), ())
            before = [version for version in versions if version.at <= answer.at + _SAME_TIME]
            if before:
                place = (answer.site, key, answer.at, answer.status, answer.address)
                self._pages.exchanges.check(*place, answer.answer, before[-1].id)
                written.checks += 1
            else:
                written.unresolved += 1
        else:
            if row is None:  # It is known as if a link had led to it.
                seen = self._urls.seen_of([(answer.url, answer.depth, 0, False, "", 0, None)])
                self._urls.insert_seen(batch.lookup, seen, now)
            self._pages.exchanges.error(answer.site, key, answer.at, answer.status, answer.address, answer.answer)
            written.errors += 1


class _Batch:
    """What the database has of the URLs of a batch."""

    def __init__(self, lookup: UrlLookup) -> None:
        self.lookup = lookup
        self.versions: dict[tuple[int, int], list[_Version]] = {}
        """By place, in the order of their times."""
        self._others: dict[tuple[int, int], list[tuple[float, int]]] = {}

    def read(self, writer: Writer, answers: Sequence[PackedPage | ImportedExchange]) -> None:
        places = set()
        for answer in answers:
            site, key = _place(answer)
            places.add((site, self.lookup.place(site, key, _path(answer))[0]))
        wanted = writer.lists.pairs(places)
        for row in writer.rows(_VERSIONS, **wanted):
            version = _Version(row[2], row[3], None if row[4] is None else bytes(row[4]), row[5], row[6])
            self.versions.setdefault((row[0], row[1]), []).append(version)
        for site, key, at, status in writer.rows(_OTHERS, **wanted):
            self._others.setdefault((site, key), []).append((at, status))

    def has_exchange(self, site: int, key: int, at: float, status: int) -> bool:
        return any(_is_at(found, at) and known == status for found, known in self._others.get((site, key), ()))


def _place(answer: PackedPage | ImportedExchange) -> tuple[int, int]:
    record = answer.page if isinstance(answer, PackedPage) else answer
    return record.site, record.key


def _path(answer: PackedPage | ImportedExchange) -> str:
    return answer.page.path if isinstance(answer, PackedPage) else answer.path


def _content(version: _Version) -> tuple[Any, Any]:
    return version.sha256, version.redirect


def _is_at(at: float, other: float) -> bool:
    return abs(at - other) < _SAME_TIME


def _is_strangers(row: UrlRow, versions: Sequence[_Version]) -> bool:
    """Whether the newest version of a URL comes from an archive."""
    return any(version.id == row.fetch_id and version.marks & ExchangeMark.IMPORTED for version in versions)


def _at_depth_of(packed: PackedPage, row: UrlRow) -> PackedPage:
    """A page of a URL that is known: how far it is from a seed is not for an archive to say."""
    page = msgspec.structs.replace(packed.page, depth=row.depth, hops=row.hops)
    return msgspec.structs.replace(packed, page=page)


def _each_url_once(answers: Sequence[PackedPage | ImportedExchange]) -> Iterator[list[PackedPage | ImportedExchange]]:
    """The answers in their order, in parts in which no URL occurs twice."""
    waiting = list(answers)
    while waiting:
        seen: set[tuple[int, str]] = set()
        some: list[PackedPage | ImportedExchange] = []
        rest: list[PackedPage | ImportedExchange] = []
        for answer in waiting:
            place = (_place(answer)[0], _path(answer))
            (rest if place in seen else some).append(answer)
            seen.add(place)
        yield some
        waiting = rest
