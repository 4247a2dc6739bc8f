"""How fresh the stored pages are expected to be, read from all URLs that have a document, some at a time.

Tested in tests/storage/reports/test_status.py.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from parcahyd.config.schema import WorkConf
from parcahyd.core.states import State
from parcahyd.refresh.freshness import expected_age
from parcahyd.refresh.schedule import Revisits
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.reports.records import FreshnessReport
from parcahyd.storage.revisits import History, rate_of
from parcahyd.storage.schema import sites, urls

__all__ = ["history_of", "read_freshness"]

_PAGE = 5000


def read_freshness(reader: Reader, work: WorkConf, now: float) -> FreshnessReport:
    """Expected freshness and age under the estimated rates; pages that were never checked again count with the first guess.

    Reads the whole table in short transactions: a page that changes meanwhile counts as it was or as it is.
    """
    columns = (urls.c.site_id, urls.c.key, urls.c.state, sites.c.in_scope, *(urls.c[name] for name in History._fields))
    statement = select(*columns).join(sites, sites.c.id == urls.c.site_id).where(urls.c.document_id.is_not(None))
    guess = Revisits(work).guess
    pages = kept = overdue = rechecked = changed = 0
    fresh = age = 0.0
    for rows in reader.pages(urls, statement, _PAGE):
        for row in rows:
            if row.state != State.STORED:
                kept += 1
                continue
            history = history_of(row)
            rate = rate_of(history, guess)
            since = max(0.0, now - history.last_good)
            pages += 1
            rechecked += rate is not None
            changed += history.changes > 0
            fresh += (rate or guess).unchanged_for(since)
            age += expected_age(rate or guess, since)
            overdue += row.in_scope and row.due_at is not None and row.due_at < now
    return FreshnessReport(
        pages=pages,
        rechecked=rechecked,
        changed=changed,
        fresh=fresh / pages if pages else None,
        mean_age=age / pages if pages else None,
        overdue=overdue,
        kept=kept,
    )


def history_of(row: Any) -> History:
    """The history in a row of `urls`."""
    return History._make(getattr(row, name) for name in History._fields)
