"""Changes that the user makes to a crawl while no run works on it: URLs are asked for again, or forgotten.

The caller holds the lock of the crawl. Every transaction leaves a database that `verify` finds nothing in, so a command that is
killed half-way is repeated, and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

import msgspec
from sqlalchemy import ColumnElement, Connection, Text, bindparam, delete, literal_column, or_, select, tuple_, update

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.records import Pause, origin
from parcahyd.rules.urls.canonical_url import key_of as usual_key_of
from parcahyd.rules.urls.canonical_url import recorded
from parcahyd.rules.urls.parameters import Canon
from parcahyd.storage.connection import Database, open_database
from parcahyd.storage.documents import DocumentRows
from parcahyd.storage.expressions import ZERO
from parcahyd.storage.last_settings import last_settings
from parcahyd.storage.migrations import check_version
from parcahyd.storage.reports.named_sites import named_sites
from parcahyd.storage.reports.url_report import find_url
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import FAILED, GONE, STORED, errands, exchanges, fetches, head_bases, seeds, sites, urls
from parcahyd.storage.sites import PauseRows, SiteRows
from parcahyd.storage.writer import Writer

__all__ = ["Edits"]

_PAGE = 500
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1

_HERE = tuple_(urls.c.site_id, urls.c.key)
# Members of archives come with the archive. A URL that is refused without a due time waits for other settings, and a known one
# is due already.
_ASKED_AGAIN = (
    urls.c.path.not_like(literal_column("'%#%'", Text)),
    or_(urls.c.state.in_((STORED, FAILED, GONE)), urls.c.due_at.is_not(None)),
)
_LESS = (
    update(sites)
    .where(sites.c.id == bindparam("site"))
    .values(urls=sites.c.urls - bindparam("fewer_urls"), pages=sites.c.pages - bindparam("fewer_pages"))
)


class Edits:
    """The writing side of a crawl for commands; a context manager, used from one thread."""

    def __init__(self, database: Database, key_of: Callable[[str], int] = usual_key_of) -> None:
        self._writer = Writer(database)
        self._key_of = key_of
        self._state = RunState()
        self._sites = SiteRows(self._writer, self._state)
        self._documents = DocumentRows(self._writer)

    @classmethod
    def open(cls, url: str) -> Self:
        """Opens the database of that URL as its only writer. CrawlBusy where a run has it, DatabaseUnusable without a crawl."""
        edits = cls(open_database(url, create=False))
        try:
            edits._writer.lock(wait=0.0)
            with edits._writer.transaction() as connection:
                check_version(connection)
        except BaseException:
            edits.close()
            raise
        return edits

    def close(self) -> None:
        self._writer.close()

    def last_settings(self) -> dict[str, Any] | None:
        """What the last run recorded of its settings."""
        with self._writer.transaction() as connection:
            return last_settings(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # --- which URLs -----------------------------------------------------------------------------------------------------

    def _places(self, connection: Connection, wanted: Sequence[str], canon: Canon | None) -> list[tuple[int, int]]:
        """Site and key of each URL. One that the crawl does not know is a UserError, before anything is changed."""
        places = []
        for url in wanted:
            found = find_url(connection, url)
            if found is None and canon is not None and (text := recorded(url)) is not None:
                found = find_url(connection, canon.apply(text))
            if found is None:
                raise UserError(f"{url} is not in this crawl", "parcahyd urls lists what is; parcahyd run URL adds one")
            places.append((found[1].site_id, found[1].key))
        return places

    def _site_ids(self, connection: Connection, name: str) -> list[int]:
        ids = named_sites(connection, name)
        if not ids:
            raise UserError(f"the site {name} is not in this crawl", "parcahyd status --sites lists those that have pages")
        return ids

    # --- to be asked for again ------------------------------------------------------------------------------------------

    def refresh(self, now: float, wanted: Sequence[str] = (), site: str | None = None, canon: Canon | None = None) -> int:
        """Makes URLs due now: these, those of a site, or all of the crawl where neither is given. Returns how many."""
        with self._writer.transaction() as connection:
            if wanted:
                places = self._places(connection, wanted, canon)
                chosen: ColumnElement[bool] | None = _HERE.in_(places)
                ids: Sequence[int] | None = sorted({place[0] for place in places})
            elif site is not None:
                ids = self._site_ids(connection, site)
                chosen = urls.c.site_id.in_(ids)
            else:
                ids = chosen = None
            # The next start may go on with the last run, which does not visit a URL twice of its own accord.
            conditions = (*_ASKED_AGAIN, or_(urls.c.due_at.is_(None), urls.c.due_at > now, urls.c.visited_in != ZERO))
            statement = update(urls).where(*conditions, *(() if chosen is None else (chosen,)))
            number = connection.execute(statement.values(due_at=now, visited_in=0)).rowcount
            connection.execute(update(sites).where(*(() if ids is None else (sites.c.id.in_(ids),))).values(rested_in=0))
            if ids is None:
                self._sites.settle_all()
            else:
                self._sites.settle(ids)
        return number

    # --- to be forgotten ------------------------------------------------------------------------------------------------

    def forget(self, wanted: Sequence[str], canon: Canon | None = None) -> int:
        """Removes URLs with their versions, and documents that nothing else has. Returns how many.

        Where one was a seed, sites that no other seed admits leave the scope.
        """
        with self._writer.transaction() as connection:
            places = self._places(connection, wanted, canon)
            rows = list(connection.execute(_rows_at(places)))
            of_them = select(sites).where(sites.c.id.in_({row.site_id for row in rows}))
            origins = {row.id: origin(row.scheme, row.host, row.port) for row in connection.execute(of_them)}
            texts = [f"{origins[row.site_id]}{row.path}" for row in rows]
            was_seed = connection.execute(delete(seeds).where(seeds.c.url.in_(texts))).rowcount
            self._remove(connection, rows)
            if was_seed:
                self._narrow_scope(connection)
        return len(rows)

    def forget_site(self, name: str, now: float) -> int:
        """Removes a site (a host, or scheme://host[:port]) with all its URLs. Returns how many.

        Until when its host is to be left alone is not forgotten.
        """
        with self._writer.transaction() as connection:
            ids = self._site_ids(connection, name)
        number = 0
        for site in ids:
            for count in self._empty(site):
                number += count
            with self._writer.transaction() as connection:
                self._remove_site(connection, site, now)
        return number

    def _empty(self, site: int) -> Iterator[int]:
        """Removes the URLs of a site, some in each transaction."""
        some = select(urls.c.site_id, urls.c.key, urls.c.path, urls.c.document_id).where(urls.c.site_id == site)
        while True:
            with self._writer.transaction() as connection:
                rows = list(connection.execute(some.order_by(urls.c.key).limit(_PAGE)))
                self._remove(connection, rows)
            if not rows:
                return
            yield len(rows)

    def _remove(self, connection: Connection, rows: Sequence[Any]) -> None:
        places = [(row.site_id, row.key) for row in rows]
        if not places:
            return
        self._documents.trim(places, 0)
        connection.execute(delete(urls).where(_HERE.in_(places)))
        connection.execute(delete(exchanges).where(tuple_(exchanges.c.site_id, exchanges.c.key).in_(places)))
        fewer, pages = Counter(row.site_id for row in rows), Counter(row.site_id for row in rows if row.document_id is not None)
        for site, number in fewer.items():
            connection.execute(_LESS, {"site": site, "fewer_urls": number, "fewer_pages": pages[site]})
        self._close_gaps(connection, places)
        self._sites.settle(fewer)

    def _close_gaps(self, connection: Connection, places: Sequence[tuple[int, int]]) -> None:
        """Moves URLs that took a later place because that of their key was taken: they are looked for up to the first gap."""
        behind = {(site, _following(key)): (site, key) for site, key in places}
        here = select(urls.c.site_id, urls.c.key).where(_HERE.in_(list(behind)))
        followed = {*map(tuple, connection.execute(here)), *behind.keys() & set(places)}
        # From the last to the first: what moves into one gap may have to move on into the gap before.
        for place in sorted(followed, reverse=True):
            self._close_gap(connection, *behind[place])

    def _close_gap(self, connection: Connection, site: int, gap: int) -> None:
        key = gap
        while True:
            key = _following(key)
            path = connection.scalar(select(urls.c.path).where(urls.c.site_id == site, urls.c.key == key))
            if path is None:
                return
            if (key - self._key_of(path)) % 2**64 < (key - gap) % 2**64:
                continue  # Its own place lies behind the gap.
            for table in (urls, fetches, exchanges):
                connection.execute(update(table).where(table.c.site_id == site, table.c.key == key).values(key=gap))
            gap = key

    def _remove_site(self, connection: Connection, site: int, now: float) -> None:
        row = connection.execute(select(sites).where(sites.c.id == site)).one()
        if row.not_before > now:
            pause = Pause(f"host {row.host}", row.not_before, row.reason or "", row.failures)
            PauseRows(self._writer).extend([pause])
        connection.execute(delete(head_bases).where(head_bases.c.site_id == site))
        connection.execute(delete(exchanges).where(exchanges.c.site_id == site))
        connection.execute(delete(errands).where(or_(errands.c.asker == site, errands.c.site_id == site)))
        was_seed = connection.execute(delete(seeds).where(seeds.c.site_id == site)).rowcount
        connection.execute(delete(sites).where(sites.c.id == site))
        if was_seed:
            self._narrow_scope(connection)

    def _narrow_scope(self, connection: Connection) -> None:
        """Takes sites out of the scope that the remaining seeds do not admit, by the settings of the last run."""
        settings = last_settings(connection) or {}
        values = {key: settings[f"Work.{key}"] for key in ("Scope", "Domains") if f"Work.{key}" in settings}
        self._state.work = msgspec.convert(values, WorkConf)
        self._sites.forget()
        scope = self._sites.scope
        self._sites.expel([number for number, place, inside in self._sites.all_sites() if inside and not scope.admits(*place)])


def _following(key: int) -> int:
    return _LOWEST if key == _HIGHEST else key + 1


def _rows_at(places: Sequence[tuple[int, int]]) -> Any:
    return select(urls.c.site_id, urls.c.key, urls.c.path, urls.c.document_id).where(_HERE.in_(places))
