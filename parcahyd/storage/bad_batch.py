"""BadURLQ: URLs that gave no document, with state, reason and the time of the next try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from parcahyd.core.records import BadRecord
from parcahyd.storage.moments import never
from parcahyd.storage.plain_text import plain
from parcahyd.storage.site_rows import SiteRows
from parcahyd.storage.url_rows import UrlRows
from parcahyd.storage.writer import Writer

__all__ = ["BadBatch"]


class BadBatch:
    """Writes bad URLs; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, site_rows: SiteRows, url_rows: UrlRows) -> None:
        self._writer = writer
        self._sites = site_rows
        self._urls = url_rows
        self._insert = writer.statements["bad_batch.insert"]
        self._update = writer.statements["bad_batch.update"]
        self._blank = writer.statements["bad_batch.blank"]

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
