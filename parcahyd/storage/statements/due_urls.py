"""The statements of due URLs."""

from __future__ import annotations

from sqlalchemy import ColumnElement, bindparam, select

from parcahyd.storage.statements.definition import Definition, limited, most
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import FAILED, GONE, KNOWN, REFUSED, STORED, urls

__all__ = ["definitions"]

_COLUMNS = (
    *(urls.c.key, urls.c.path, urls.c.depth, urls.c.hops, urls.c.seed, urls.c.tries, urls.c.state),
    *(urls.c.etag, urls.c.modified, urls.c.document_id),
)
_OF_SITE = select(*_COLUMNS).where(urls.c.site_id == bindparam("site"))


def definitions(idiom: Idiom) -> dict[str, Definition]:
    whole = select(urls.c.site_id, *_COLUMNS, urls.c.priority, urls.c.due_at)
    known = _OF_SITE.where(urls.c.state == KNOWN).order_by(urls.c.priority, urls.c.due_at, urls.c.key)
    keys = select(urls.c.key).where(urls.c.site_id == bindparam("site")).order_by(urls.c.key)
    # Strictly less: what a run has looked at is due at that moment or later, so no run looks at it twice.
    again = urls.c.due_at < bindparam("before")
    return {
        "all_of": Definition(whole.where(urls.c.site_id.in_(idiom.numbers("ids"))), "ids"),
        "known": Definition(limited(known, most()), "site", "most"),
        "failed": _rest(FAILED, urls.c.due_at <= bindparam("before")),
        "stored": _rest(STORED, again),
        "refused": _rest(REFUSED, again),
        "gone": _rest(GONE, again),
        "keys": Definition(keys, "site"),
    }


def _rest(state: ColumnElement[int], due: ColumnElement[bool]) -> Definition:
    """A site's URLs in a state other than known: one step into `urls_rest`."""
    statement = _OF_SITE.where(urls.c.state != KNOWN, urls.c.state == state, urls.c.due_at.is_not(None), due)
    return Definition(limited(statement.order_by(urls.c.due_at, urls.c.key), most()), "site", "before", "most")
