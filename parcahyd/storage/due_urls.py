"""The URLs of a site that are due, in the order in which a visit asks for them, and the keys of all that are known."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Executable, Select, bindparam, literal_column, select

from parcahyd.core.records import DueUrl
from parcahyd.core.states import Reason, State
from parcahyd.rules.urls.orders import LATER
from parcahyd.storage.expressions import MOST, numbers, same
from parcahyd.storage.schema import FAILED, GONE, KNOWN, REFUSED, STORED, urls
from parcahyd.storage.writer import Writer

__all__ = ["DueUrls", "Revisits"]

_WORKER_DIED = Reason.WORKER_DIED.word


class Revisits(NamedTuple):
    """Which stored, refused and gone URLs are due."""

    before: float
    """Those that were due before this time,"""
    run: int
    """and that no run with this number or a greater one has visited."""
    is_forever: bool


_FEW = 200
"""Sites with at most this many URLs are read completely, many in one query: most sites are small."""

_STATE, _REASON, _PRIORITY, _VISITED_IN = 6, 10, 11, -2
_BY_ANOTHER_WAY = (Reason.NOFOLLOW.word, Reason.TOPIC.word, Reason.LOCAL.word, Reason.PORT.word)
"""Refusals of links and not of what they lead to: such a URL counts as not known, because another link may lead there."""
_in_order = itemgetter(11, -1, 0)
_by_time = itemgetter(-1, 0)


_COLUMNS = (
    *(urls.c.key, urls.c.path, urls.c.depth, urls.c.hops, urls.c.seed, urls.c.tries, urls.c.state),
    *(urls.c.etag, urls.c.modified, urls.c.document_id, urls.c.reason, urls.c.priority),
)
_EARLIER_RUN = urls.c.visited_in < bindparam("run")
_OF_SITE = select(*_COLUMNS).where(*same(urls, "site_id"))


def _rest(state: ColumnElement[int], due: ColumnElement[bool]) -> Select[Any]:
    """A site's URLs in a state other than known: one step into `urls_rest`."""
    statement = _OF_SITE.where(urls.c.state != KNOWN, urls.c.state == state, urls.c.due_at.is_not(None), due)
    return statement.order_by(urls.c.due_at, urls.c.key).limit(MOST)


_ALL_OF = select(urls.c.site_id, *_COLUMNS, urls.c.visited_in, urls.c.due_at).where(urls.c.site_id.in_(numbers("ids")))
_KNOWN_OF = _OF_SITE.where(urls.c.state == KNOWN).order_by(urls.c.priority, urls.c.due_at, urls.c.key).limit(MOST)
_FAILED_OF = _rest(FAILED, urls.c.due_at <= bindparam("before"))
# Strictly less: a URL that a run has checked is due at that time or later, as long as the clock is not set back.
_AGAIN_OF = tuple(_rest(state, (urls.c.due_at < bindparam("before")) & _EARLIER_RUN) for state in (STORED, REFUSED, GONE))
_KEYS_OF = (
    select(urls.c.key)
    .where(*same(urls, "site_id"), (urls.c.state != KNOWN) | (urls.c.priority < LATER))
    .where(*(urls.c.reason.is_distinct_from(literal_column(f"'{word}'")) for word in _BY_ANOTHER_WAY))
    .order_by(urls.c.key)
)


class DueUrls:
    """Reads due URLs by steps into the indexes; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def of(
        self, counts: dict[int, int], now: float, again: Revisits, most: int, meta_keys: int
    ) -> dict[int, tuple[tuple[DueUrl, ...], bytes]]:
        """By site: its due URLs, at most so many, and the keys of all its URLs if these are not more than `meta_keys`.

        Known ones come first, by priority, then failed ones, then revisits.
        `counts` says how many URLs each site has.
        """
        found = self._of_small([site for site, count in counts.items() if count <= _FEW], now, again, most)
        for site, count in counts.items():
            if count > _FEW:
                found[site] = (
                    self._of_large(site, now, again, most),
                    self._keys_of(site) if count <= meta_keys else b"",
                )
            elif count > meta_keys:
                found[site] = (found[site][0], b"")
        return found

    def _of_small(
        self, ids: Collection[int], now: float, again: Revisits, most: int
    ) -> dict[int, tuple[tuple[DueUrl, ...], bytes]]:
        rows: dict[int, list[Any]] = {site: [] for site in ids}
        if ids:
            for site, *row in self._writer.rows(_ALL_OF, ids=self._writer.lists.bind(list(ids))):
                if row[_REASON] not in _BY_ANOTHER_WAY:
                    rows[site].append(row)
        return {
            site: (
                tuple(_due(row[:-2]) for row in _chosen(its_rows, now, again)[:most]),
                array("q", sorted(row[0] for row in its_rows if not _is_later(row))).tobytes(),
            )
            for site, its_rows in rows.items()
        }

    def _of_large(self, site: int, now: float, again: Revisits, most: int) -> tuple[DueUrl, ...]:
        found = [_due(row) for row in self._writer.rows(_KNOWN_OF, site_id=site, most=most)]
        limits: dict[Executable, dict[str, Any]] = {_FAILED_OF: {"before": now}}
        limits |= {statement: {"before": again.before, "run": again.run} for statement in _AGAIN_OF}
        for statement, limit in limits.items():
            if len(found) < most:
                found += [_due(row) for row in self._writer.rows(statement, site_id=site, most=most - len(found), **limit)]
        return tuple(found)

    def _keys_of(self, site: int) -> bytes:
        return array("q", [key for (key,) in self._writer.rows(_KEYS_OF, site_id=site)]).tobytes()


def _is_later(row: Sequence[Any]) -> bool:
    """Whether a URL waits for others: to a page whose links are followed in order it does not count as known."""
    return bool(row[_STATE] == State.KNOWN and row[_PRIORITY] >= LATER)


def _chosen(rows: Sequence[Any], now: float, again: Revisits) -> list[Any]:
    """The rows that the statements would choose; the last two columns are visited_in and due_at."""
    known = sorted((row for row in rows if row[_STATE] == State.KNOWN), key=_in_order)
    dated = [row for row in rows if row[-1] is not None]
    failed = sorted((row for row in dated if row[_STATE] == State.FAILED and row[-1] <= now), key=_by_time)
    visits = [row for row in dated if row[-1] < again.before and row[_VISITED_IN] < again.run]
    revisits = [
        row
        for state in (State.STORED, State.REFUSED, State.GONE)
        for row in sorted((row for row in visits if row[_STATE] == state), key=_by_time)
    ]
    return known + failed + revisits


def _due(row: Sequence[Any]) -> DueUrl:
    key, path, depth, hops, seed, tries, state, etag, modified, document, reason, _ = row
    if document is None:
        etag = modified = ""
    return DueUrl(
        key,
        path,
        depth,
        hops,
        bool(seed),
        tries,
        state,
        etag,
        modified,
        has_page=document is not None,
        is_suspect=reason == _WORKER_DIED,
        is_later=_is_later(row),
    )
