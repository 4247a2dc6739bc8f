"""What a visit to a site is to ask for: its due URLs, in order, and the keys of all that it has."""

from __future__ import annotations

from array import array
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Integer, bindparam, select

from parcahyd.core.records import DueUrl
from parcahyd.storage.tables import FAILED, GONE, KNOWN, REFUSED, STORED, urls
from parcahyd.storage.writer import Writer, limited

__all__ = ["DueUrls"]

_COLUMNS = (
    *(urls.c.key, urls.c.path, urls.c.depth, urls.c.hops, urls.c.seed, urls.c.tries, urls.c.state),
    *(urls.c.etag, urls.c.modified, urls.c.document_id),
)


class DueUrls:
    """Reads due URLs by steps into the partial indexes; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        of_site = select(*_COLUMNS).where(urls.c.site_id == bindparam("site"))
        most: BindParameter[int] = bindparam("most", type_=Integer)

        def rest(state: ColumnElement[int], due: ColumnElement[bool]) -> str:
            statement = of_site.where(urls.c.state != KNOWN, urls.c.state == state, urls.c.due_at.is_not(None), due)
            return writer.prepare(limited(statement.order_by(urls.c.due_at), most), "site", "before", "most")

        self._known = writer.prepare(
            limited(of_site.where(urls.c.state == KNOWN).order_by(urls.c.priority, urls.c.due_at, urls.c.key), most),
            *("site", "most"),
        )
        self._failed = rest(FAILED, urls.c.due_at <= bindparam("before"))
        # Strictly less: what a run has looked at is due at that moment or later, so no run looks at it twice.
        self._again = [rest(state, urls.c.due_at < bindparam("before")) for state in (STORED, REFUSED, GONE)]
        self._keys = writer.prepare(select(urls.c.key).where(urls.c.site_id == bindparam("site")).order_by(urls.c.key), "site")

    def of(self, site: int, now: float, again_before: float, most: int) -> tuple[DueUrl, ...]:
        """Known ones by priority, then those to be tried again, then those to be looked at again."""
        found = [_due(row) for row in self._writer.rows(self._known, site, most)]
        for statement, before in ((self._failed, now), *((again, again_before) for again in self._again)):
            if len(found) < most:
                found += [_due(row) for row in self._writer.rows(statement, site, before, most - len(found))]
        return tuple(found)

    def keys(self, site: int) -> bytes:
        """The keys of all its URLs, ascending."""
        return array("q", [key for (key,) in self._writer.rows(self._keys, site)]).tobytes()


def _due(row: Any) -> DueUrl:
    key, path, depth, hops, seed, tries, state, etag, modified, document = row
    if document is None:
        etag = modified = ""
    return DueUrl(key, path, depth, hops, bool(seed), tries, state, etag, modified)
