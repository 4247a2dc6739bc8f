"""The rows of `exchanges` and `own_bodies`: answers that brought no version, and bytes that no document holds.

They are kept where KeepChecks, KeepErrors and KeepCoded ask for them; else nothing is written here.

Tested in tests/end_to_end/test_exchange.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import case, delete, insert, select

from parcahyd.core.records import AnswerRecord
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.storage.expressions import numbers, pairs, same
from parcahyd.storage.heads import HeadRows, RequestRows
from parcahyd.storage.packing import PackedPage, StoredBytes
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import documents, exchanges, fetches, own_bodies
from parcahyd.storage.writer import Writer

__all__ = ["ExchangeRows"]

_PAIR = pairs()
_OF_URLS = (
    select(exchanges.c.site_id, exchanges.c.key, exchanges.c.id, exchanges.c.fetch_id)
    .join_from(_PAIR, exchanges, (exchanges.c.site_id == _PAIR.c.site_id) & (exchanges.c.key == _PAIR.c.key))
    .order_by(exchanges.c.id.desc())
)
# The digest of the coded bytes that are kept of a version, with its document or by itself.
_CODED_FORMS = (
    select(
        fetches.c.id,
        case(
            (fetches.c.coded_sha256.is_(None), documents.c.coded_sha256),
            (own_bodies.c.fetch_id.is_not(None), fetches.c.coded_sha256),
        ),
    )
    .join(documents, documents.c.id == fetches.c.document_id, isouter=True)
    .join(own_bodies, own_bodies.c.fetch_id == fetches.c.id, isouter=True)
    .where(fetches.c.id.in_(numbers("ids")))
)
_INSERT = insert(exchanges)
_INSERT_BODY = insert(own_bodies)
_DELETE = delete(exchanges).where(*same(exchanges, "id"))


class ExchangeRows:
    """Collects the exchanges of a batch, and writes them; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, heads: HeadRows, requests: RequestRows) -> None:
        self._writer = writer
        self._state = state
        self._heads = heads
        self._requests = requests
        self._rows: list[dict[str, Any]] = []
        self._bodies: list[dict[str, Any]] = []
        writer.on_failure(self._drop)

    def _drop(self) -> None:
        self._rows.clear()
        self._bodies.clear()

    def error(self, site: int, key: int, at: float, status: int, address: str, answer: AnswerRecord) -> None:
        """An answer with an error."""
        if answer.decoded_length is not None:
            stored = StoredBytes(answer.body, answer.decoded_length, answer.coding)
        else:
            stored = StoredBytes(self._state.compress(answer.body), len(answer.body))
        self._add(site, key, at, status, address, answer, None, stored)

    def robots(self, site: int, at: float, answer: AnswerRecord) -> None:
        """The answer that the robots.txt of a site was read from."""
        self.error(site, key_of(answer.file), at, answer.status, answer.address, answer)

    def check(self, site: int, key: int, at: float, status: int, address: str, answer: AnswerRecord, fetch: int) -> None:
        """An answer that says that the stored version is current."""
        self._add(site, key, at, status, address, answer, fetch, None)

    def same_again(self, packed: PackedPage, key: int, fetch: int) -> None:
        """A page that came again as it is stored. Its own bytes are those of a redirect, or a coded form."""
        page = packed.page
        facts = (page.head, page.marks, page.protocol, page.started_at, page.seconds, page.request, b"", page.coding)
        self._add(
            *(page.site, key, page.fetched_at, page.status, page.address, AnswerRecord(*facts), fetch),
            packed.own_body,
            packed.coded_sha256,
        )

    def body_of(self, fetch: int, packed: PackedPage, coded_sha256: bytes | None) -> None:
        """The bytes of a new version that its document does not hold, if there are any that are kept."""
        own = packed.own_body
        if own is None and coded_sha256 is not None and packed.coding and self._state.work.KeepCoded:
            own = packed.document
        if own is not None:
            self._bodies.append({"fetch_id": fetch, "body": own.packed, "length": own.length, "coding": own.coding})

    def _add(
        self,
        site: int,
        key: int,
        at: float,
        status: int,
        address: str,
        answer: AnswerRecord,
        fetch: int | None,
        stored: StoredBytes | None,
        coded_sha256: bytes = b"",
    ) -> None:
        head, base = self._heads.pack(site, answer.head)
        self._rows.append(
            {
                "id": self._writer.new_id(exchanges),
                "site_id": site,
                "key": key,
                "at": at,
                "status": status,
                "address": address,
                "fetch_id": fetch,
                "head": head,
                "head_base": base,
                "marks": answer.marks,
                "protocol": answer.protocol,
                "started_at": answer.started_at or None,
                "seconds": answer.seconds or None,
                "request_id": self._requests.number(answer.request),
                "body": None if stored is None else stored.packed,
                "length": None if stored is None else stored.length,
                "body_coding": "" if stored is None else stored.coding,
                "coding": answer.coding,
                "file": answer.file,
                "coded_sha256": coded_sha256 or None,
            }
        )

    def write(self) -> None:
        """Writes what was collected, and deletes the oldest exchanges of a URL that has more than are kept."""
        self._writer.many(_INSERT_BODY, self._bodies)
        self._bodies.clear()
        if self._rows:
            self._drop_known_bodies()
            self._writer.many(_INSERT, self._rows)
            self._trim(list({(row["site_id"], row["key"]) for row in self._rows}))
            self._rows.clear()

    def _drop_known_bodies(self) -> None:
        """A coded form that came again is not stored where its version has it."""
        again = [row for row in self._rows if row["coded_sha256"] and row["body"] is not None]
        if again:
            versions = self._writer.lists.bind([row["fetch_id"] for row in again])
            known = dict(self._writer.rows(_CODED_FORMS, ids=versions))
            for row in again:
                if known.get(row["fetch_id"]) == row["coded_sha256"]:
                    row |= {"body": None, "length": None, "body_coding": ""}

    def _trim(self, places: Sequence[tuple[int, int]]) -> None:
        work = self._state.work
        most = {True: work.KeepChecks, False: max(work.KeepErrors, 1)}  # One robots.txt, also where no errors are kept.
        kept: Counter[tuple[int, int, bool]] = Counter()
        dropped = []
        for site, key, number, fetch in self._writer.rows(_OF_URLS, **self._writer.lists.pairs(places)):
            is_check = fetch is not None
            kept[site, key, is_check] += 1
            if kept[site, key, is_check] > most[is_check]:
                dropped.append({"id": number})
        self._writer.many(_DELETE, dropped)
