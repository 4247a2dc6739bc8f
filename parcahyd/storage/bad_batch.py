"""BadURLQ: URLs that gave no document, with state, reason and the time of the next try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import bindparam, literal_column, update

from parcahyd.core.records import BadRecord
from parcahyd.storage.moments import never
from parcahyd.storage.plain_text import plain
from parcahyd.storage.site_rows import SiteRows
from parcahyd.storage.tables import sites, urls
from parcahyd.storage.url_rows import UrlRows
from parcahyd.storage.writer import Writer

__all__ = ["BadBatch"]


class BadBatch:
    """Writes bad URLs; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, site_rows: SiteRows, url_rows: UrlRows) -> None:
        self._writer = writer
        self._sites = site_rows
        self._urls = url_rows

        place = ("site_id", "key", "path")
        outcome = ("due_at", "tries", "status", "checked_at")
        names = (*place, "state", "reason", "depth", "hops", "seed", "priority", "first_seen", *outcome, "detail")
        self._insert = writer.prepare_insert(urls, *names)
        # The document of an earlier visit stays: `failed` and `gone` say how the last one went.
        changing = ("state", "reason", *outcome, "detail")
        self._update = writer.prepare(
            update(urls)
            .where(*(urls.c[name] == bindparam(f"its_{name}") for name in place))
            .values({name: bindparam(f"new_{name}") for name in changing}),
            *(f"new_{name}" for name in changing),
            *(f"its_{name}" for name in place),
        )
        self._blank = writer.prepare(
            update(sites)
            .where(sites.c.id == bindparam("site"))
            .values(addresses=literal_column("''"), addresses_expire=literal_column("0")),
            "site",
        )

    def write(self, records: Sequence[BadRecord]) -> None:
        """Stores the outcome of each; of two for one URL the later counts. Addresses that did not answer are blanked."""
        latest = {(record.site, record.path): record for record in records}.values()
        ledger = self._urls.look_up({(record.site, record.key) for record in latest})
        new, old = [], []
        for record in latest:
            key, row = ledger.place(record.site, record.key, record.path)
            ledger.taken[record.site, key] = record.path
            place = (record.site, key, record.path)
            verdict = (record.state, record.reason)
            outcome = (never(record.due_at), record.tries, record.status or None, record.at, plain(record.detail) or None)
            if row is None:
                way = (record.depth, record.hops, record.seed, record.depth)
                new.append((*place, *verdict, *way, record.at, *outcome))
            else:
                old.append((*verdict, *outcome, *place))
        self._writer.many(self._insert, new)
        self._writer.many(self._update, old)
        self._sites.gained(Counter(row[0] for row in new), (), 0.0)
        self._writer.many(self._blank, [(site,) for site in {record.site for record in records if record.blank_address}])
