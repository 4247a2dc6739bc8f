"""DocURLQ: writes pages with the links first seen in them, and confirmations that a page did not change.

A page and its links are committed together (architecture, section 2, idea 1). Most pages of a visit were found in that visit,
so often a page has no row yet. It is then inserted as stored, without having been known first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, insert, literal_column, null, update

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.messages import Written
from parcahyd.core.records import LinksRecord, PageRecord, TableFact, UnchangedRecord
from parcahyd.core.states import Event, Reason, State
from parcahyd.rules.politeness.validators import validator
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.rules.urls.orders import LATER, ByPageRank
from parcahyd.rules.urls.parameters import Canon
from parcahyd.storage.change_learning import BATCH_BYTES, ChangeLearning, is_learnable
from parcahyd.storage.documents import DocumentRows, LearnedRow, PriorVersion, SharedDocument, VersionRows
from parcahyd.storage.exchanges import ExchangeRows
from parcahyd.storage.expressions import ONE, ZERO, bound, filled, plain, same
from parcahyd.storage.fetch_rows import FetchRows
from parcahyd.storage.heads import HeadRows, RequestRows
from parcahyd.storage.other_partitions import FoundUrl
from parcahyd.storage.overfull import OverfullPages
from parcahyd.storage.packing import PackedPage, PackedRegion
from parcahyd.storage.revisits import Histories, History, LastmodRows, RevisitPlanner
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import sites, state_after, urls
from parcahyd.storage.sites import SiteRows
from parcahyd.storage.urls import SEEN_BEFORE, SeedRows, SeenUrl, UrlLookup, UrlRow, UrlRows
from parcahyd.storage.writer import Writer

__all__ = ["PageRows"]


_PLACE = ("site_id", "key", "path")
_RATE = ("change_weight", "change_span", "change_restless")
_PAGE = {
    **bound("depth", "hops", "due_at", "status", "etag", "modified", "document_id", "fetch_id", "visited_in"),
    "reason": filled("reason"),
    "priority": bindparam("depth"),
    "checked_at": bindparam("at"),
    "confirmed_at": bindparam("at"),
}
_FIRST_CHECK = {"checks": ONE, "changes": ZERO, "changed_at": bindparam("at")}
_AS_STORED = {"state": state_after(Event.DOCUMENT), "tries": ZERO, "detail": null()}

_INSERT = insert(urls).values(
    {
        "state": state_after(Event.DOCUMENT, None),
        **bound(*_PLACE),
        **_PAGE,
        **_FIRST_CHECK,
        **bound("via_site", "via_key"),
        "first_seen": bindparam("at"),
    }
)
"""A page whose URL was not known."""
_UPDATE_FIRST = (
    update(urls).where(*same(urls, *_PLACE)).values({**_AS_STORED, **_PAGE, **_FIRST_CHECK, **dict.fromkeys(_RATE, null())})
)
"""A page whose URL was known and had no version."""
_UPDATE_AGAIN = (
    update(urls).where(*same(urls, *_PLACE)).values({**_AS_STORED, **_PAGE, **bound("checks", "changes", "changed_at", *_RATE)})
)
"""A page that had a version before."""
_CONFIRM = (
    update(urls)
    .where(*same(urls, *_PLACE))
    .values(
        {
            **_AS_STORED,
            "state": state_after(Event.UNCHANGED),
            "reason": null(),
            **bound("due_at", "status", "visited_in", *_RATE),
            **{name: func.coalesce(filled(f"new_{name}"), urls.c[name]) for name in ("etag", "modified")},
            "checked_at": bindparam("at"),
            "confirmed_at": bindparam("at"),
            "checks": urls.c.checks + ONE,
        }
    )
)
_LINKED_FROM = (
    update(urls)
    .where(*same(urls, *_PLACE), urls.c.reason == literal_column(f"'{Reason.NOFOLLOW.word}'"), urls.c.detail.is_(None))
    .values(bound("detail"))
)
_COUNT = (
    update(sites)
    .where(*same(sites, "id"))
    .values({name: sites.c[name] + bindparam(f"more_{name}") for name in ("urls", "pages", "bytes")})
)


class _Rows:
    """The rows that a batch writes."""

    def __init__(self) -> None:
        self.new: list[dict[str, Any]] = []
        """Of pages without a row."""
        self.first: list[dict[str, Any]] = []
        """Of pages with a row and without a version."""
        self.again: list[dict[str, Any]] = []
        """Of pages that had a version before."""
        self.seeds: list[tuple[int, int, str]] = []
        """Pages that count as seeds from now on."""
        self.left_out: list[tuple[int, int, int, int]] = []
        """Site and key of each page, and how many of its links were left out, to its own site and to others."""
        self.fetches: list[dict[str, Any]] = []
        self.trimmed: list[tuple[int, int]] = []
        self.forgotten: list[tuple[int, int]] = []
        self.histories: dict[tuple[int, int], History] = {}
        """By place: the histories of pages that had a version before."""
        self.sites: dict[int, list[int]] = {}
        """By site: new URLs, pages and bytes."""
        # By fetch.
        self.versions: dict[int, PriorVersion] = {}
        """The versions that the pages had before."""
        self.kept: set[int] = set()
        """Versions that stay the newest of their page."""
        self.imported: set[int] = set()
        """Versions that the pages had before, from an archive of somebody else. What we fetch is not compared with them."""
        self.regions: dict[int, Sequence[PackedRegion]] = {}
        self.repacked: dict[int, tuple[bytes, Sequence[PackedRegion]]] = {}
        """Versions that get another document, by its SHA-256, and other regions that make up the same bytes."""
        self.tables: dict[int, TableFact | None] = {}
        self.learned: dict[int, LearnedRow] = {}
        """By the version before, until the new one has its number."""
        self.compared = 0
        """Bytes of pages that were compared with their version before."""


class PageRows:
    """Writes pages and confirmations; used inside a transaction of the writer."""

    def __init__(
        self,
        writer: Writer,
        state: RunState,
        site_rows: SiteRows,
        url_rows: UrlRows,
        seed_rows: SeedRows,
        overfull: OverfullPages,
    ) -> None:
        self._overfull = overfull
        self._writer = writer
        self._state = state
        self._sites = site_rows
        self._urls = url_rows
        self._seeds = seed_rows
        self._documents = DocumentRows(writer)
        self._versions = VersionRows(writer)
        heads, requests = HeadRows(writer), RequestRows(writer)
        self.exchanges = ExchangeRows(writer, state, heads, requests)
        self._fetches = FetchRows(heads, requests, self.exchanges)
        self._learning = ChangeLearning(self._versions)
        self._histories = Histories(writer)
        self._lastmods = LastmodRows(writer, state, url_rows, self._histories)
        self._planner = RevisitPlanner(writer, state, self._lastmods)

    # --- pages ----------------------------------------------------------------------------------------------------------

    def write(self, pages: Sequence[PackedPage], now: float, written: Written) -> None:
        """Stores pages, each with the URLs first seen in it."""
        for packed in pages:
            if packed.page.lastmods:
                self._lastmods.note(packed.page.site, packed.page.fetched_at, packed.page.lastmods)
        for distinct in _each_url_once(pages):
            self._write(distinct, now, written)
        self._lastmods.settle()

    def _write(self, pages: Sequence[PackedPage], now: float, written: Written) -> None:
        targets = self._targets(pages, now)
        seen_urls = self._seen_in(pages, targets)
        places = {seen[:2] for seen in seen_urls}
        places.update((packed.page.site, packed.page.key) for packed in pages)
        lookup = self._urls.look_up(places)
        if isinstance(self._urls.order, ByPageRank):
            seen_urls = _with_parts(seen_urls, self._parts_of(pages, lookup, self._urls.order))
        rows = _Rows()
        again = _seen_before(pages, lookup)
        if again:
            pages = self._compare(rows, pages, again)
        documents = self._documents.share(pages)
        for packed in pages:
            self._add(rows, lookup, packed, documents.get(packed.sha256))
        _add_via(rows.new, seen_urls)
        self._writer.many(_INSERT, rows.new)
        self._writer.many(_UPDATE_FIRST, rows.first)
        self._writer.many(_UPDATE_AGAIN, rows.again)
        self._urls.mark_seeds(rows.seeds)
        self._overfull.note(rows.left_out)
        self._documents.add_fetches(rows.fetches)
        self._add_parts(rows, documents)
        self.exchanges.write()
        self._writer.many(
            _COUNT,
            [
                {"id": site, "more_urls": new, "more_pages": kept, "more_bytes": size}
                for site, (new, kept, size) in rows.sites.items()
            ],
        )
        self._documents.trim(rows.trimmed, self._state.work.KeepVersions)
        self._documents.trim(rows.forgotten, 0)
        self._urls.mark_targets(lookup, seen_urls)
        written.stored += len(rows.fetches)
        not_kept = Counter(packed.page.reason for packed in pages if packed.page.reason)
        written.unchanged += len(pages) - len(rows.fetches) - not_kept.total()
        written.pages += sum([_counts(packed.page) for packed in pages])
        for word, count in not_kept.items():
            written.not_kept[word] = written.not_kept.get(word, 0) + count
        self._count_bytes(pages, written)
        written.found += len(rows.new) + self._urls.insert_seen(lookup, seen_urls, now)
        self._writer.many(_LINKED_FROM, self._not_followed(pages))

    def _parts_of(self, pages: Sequence[PackedPage], lookup: UrlLookup, order: ByPageRank) -> dict[tuple[int, int], int]:
        """What each page adds to the priority of each of its links, by its site and key."""
        parts = {}
        for page in (packed.page for packed in pages if packed.page.links_found):
            row = lookup.place(page.site, page.key, page.path)[1]
            waited = row.priority if row is not None and row.state == State.KNOWN else 0
            parts[page.site, page.key] = order.part(waited, page.links_found)
        return parts

    def _count_bytes(self, pages: Sequence[PackedPage], written: Written) -> None:
        """What came on the wire, and what did not: codings made it fewer, or a table brought the parts that changed."""
        written.received += sum([packed.page.received for packed in pages])
        _add_saved(written, "coding", sum([packed.page.saved for packed in pages]))
        merged = [packed.version[1] for packed in pages if packed.page.marks & ExchangeMark.MERGED]
        _add_saved(written, "tables", sum(merged))

    def _count_confirmed(self, fetches: Sequence[int], by_table: Set[int], written: Written) -> None:
        """The documents that were not sent, since a server or a table confirmed them."""
        for fetch, length in self._versions.lengths(fetches):
            _add_saved(written, "tables" if fetch in by_table else "conditional", length)

    def _not_followed(self, pages: Sequence[PackedPage]) -> list[dict[str, Any]]:
        """The links of pages to their own sites that ask not to be followed, each with the page that it is on."""
        return [
            {"site_id": page.site, "key": self._urls.key_of(path), "path": path, "detail": plain(f"linked from {page.path}")}
            for page in (packed.page for packed in pages if packed.page.refused)
            for word, path in page.refused
            if word == Reason.NOFOLLOW.word and path.startswith("/")
        ]

    def _compare(self, rows: _Rows, pages: Sequence[PackedPage], again: Mapping[int, PackedPage]) -> Sequence[PackedPage]:
        """Reads the versions that pages had before, by their fetches, and notes which pages have not changed.

        A page with other bytes is judged by what was learned of it. Returns the pages as they are to be stored.
        """
        versions = self._versions.of(again)
        rows.imported = {fetch for fetch, version in versions.items() if version.marks & ExchangeMark.IMPORTED}
        rows.versions = {fetch: version for fetch, version in versions.items() if fetch not in rows.imported}
        rows.histories = self._histories.of([(packed.page.site, packed.page.key) for packed in again.values()])
        stored: dict[tuple[int, str], PackedPage] = {}
        for fetch, packed in again.items():
            version = rows.versions.get(fetch)
            if version is None or not packed.sha256 or version.sha256 is None:
                continue
            if version.sha256 != packed.version[0]:
                packed = self._judge(rows, version, packed)  # noqa: PLW2901 (as it is to be stored)
            elif not packed.regions:
                if version.learned and self._state.work.LearnRegions:
                    rows.learned[fetch] = self._learning.seen_again(packed, version)
                rows.kept.add(fetch)
            if fetch in rows.kept:  # It keeps the document that it has.
                packed = self._without_document(packed)  # noqa: PLW2901 (the same)
            stored[packed.page.site, packed.page.path] = packed
        return [stored.get((packed.page.site, packed.page.path), packed) for packed in pages]

    def _without_document(self, packed: PackedPage) -> PackedPage:
        """A page that came again as it is stored; its coded form may be another one."""
        own = packed.document if packed.coding and self._state.work.KeepCoded else None
        return msgspec.structs.replace(packed, sha256=b"", packed=b"", regions=(), whole=packed.version, own_body=own)

    def _judge(self, rows: _Rows, version: PriorVersion, packed: PackedPage) -> PackedPage:
        """A page with other bytes than before, as it is to be stored."""
        work = self._state.work
        if not work.LearnRegions:
            return packed
        if not is_learnable(packed, version):
            return packed
        judgement = self._learning.same(packed, version)
        if judgement is None:
            rows.compared += packed.length
            if rows.compared > BATCH_BYTES:
                return packed
            place = (packed.page.site, packed.page.key)
            checks = rows.histories[place].checks if place in rows.histories else 1
            in_parts = work.MergeMode == "lazy" and work.KeepVersions > 1
            judgement = self._learning.new(packed, version, checks, self._state.compress, in_parts=in_parts)
        if judgement.is_same:
            rows.kept.add(version.id)
        elif judgement.before is not None:
            rows.repacked[version.id] = (judgement.page.sha256, judgement.before)
        rows.learned[version.id] = judgement.learned
        return judgement.page

    def _add_parts(self, rows: _Rows, documents: Mapping[bytes, SharedDocument]) -> None:
        """Writes the rows that belong to the batch's fetches. Almost always there are none."""
        self._versions.add_regions(rows.regions)
        if rows.repacked:
            moved = {fetch: (documents[sha256].id, regions) for fetch, (sha256, regions) in rows.repacked.items()}
            self._versions.repack(moved)
            self._documents.collect({left for fetch in moved if (left := rows.versions[fetch].document_id) is not None})
        self._versions.set_tables(rows.tables)
        self._versions.set_learned(rows.learned)

    def _add(self, rows: _Rows, lookup: UrlLookup, packed: PackedPage, shared: SharedDocument | None) -> None:
        page = packed.page
        document = shared.id if shared is not None else None
        site, path, at, status = page.site, page.path, page.fetched_at, page.status
        key, row = lookup.place(site, page.key, path)
        lookup.taken[site, key] = path
        redirect = plain(page.redirect, self._state.work.MaxUrlLength) or None if page.redirect else None
        fetch = row.fetch_id if row is not None else None
        is_new = row is None or fetch is None
        is_imported = page.marks & ExchangeMark.IMPORTED
        # Nothing is learned from the answers of strangers: the page counts as one that was never checked.
        is_first = is_new or is_imported or fetch in rows.imported
        is_same = False
        if fetch is not None and row is not None:
            is_same = self._is_same(rows, fetch, packed, redirect)
            if fetch in rows.kept:
                document = row.document_id
        if page.reason:  # noindex or noarchive: nothing is stored, and older versions are deleted.
            rows.forgotten += [] if is_new else [(site, key)]
            fetch = None
        elif not is_same:
            if not is_new:
                rows.trimmed.append((site, key))
            fetch = self._new_fetch(rows, packed, fetch)
            rows.fetches.append(self._fetches.row(fetch, key, packed, shared, document, redirect))
        elif fetch is not None and self._is_check(rows, fetch, packed):
            self.exchanges.same_again(packed, key, fetch)
        stored = {
            "site_id": site,
            "key": key,
            "path": path,
            "reason": page.reason or (Reason.REDIRECT.word if redirect else ""),
            "depth": page.depth if row is None else min(page.depth, row.depth),
            "hops": page.hops if row is None else min(page.hops, row.hops),
            "status": status,
            "at": at,
            "etag": "" if is_imported else validator(page.etag),
            "modified": "" if is_imported else validator(page.modified),
            "document_id": document,
            "fetch_id": fetch,
            "visited_in": 0 if is_imported else self._state.crawl_run,
        }
        if is_first:
            stored["due_at"] = self._first_due(page, row, key)
            (rows.new if row is None else rows.first).append(stored)
        else:
            self._check_again(rows, stored, changed=not is_same)
            rows.again.append(stored)
        rows.left_out.append((site, key, page.left_out, page.left_out_external))
        if page.seed and not (row is not None and row.seed):
            rows.seeds.append((site, key, path))
        if is_new and (row is None or row.state != State.STORED):
            self._planner.add_new()
        counts = rows.sites.setdefault(site, [0, 0, 0])
        counts[0] += row is None
        counts[1] += (document is not None) - (row is not None and row.document_id is not None)
        counts[2] += page.received

    def _first_due(self, page: PageRecord, row: UrlRow | None, key: int) -> float | None:
        """When a page is to be asked for again that was not checked yet."""
        due = self._planner.first_due(page.path, page.fetched_at, key)
        if due is None or not page.marks & ExchangeMark.IMPORTED or row is None or row.state == State.STORED:
            return due
        return page.fetched_at  # An archive does not put off what the crawl has to ask for.

    def _is_same(self, rows: _Rows, fetch: int, packed: PackedPage, redirect: str | None) -> bool:
        """Whether a page has not changed since its version before. Its regions and its table may be new, and are noted."""
        version = rows.versions.get(fetch)
        if version is None or packed.page.reason:
            return False
        if fetch not in rows.kept and (version.redirect != redirect or version.sha256 != (packed.version[0] or None)):
            return False
        if packed.page.table is not None or version.tvi is not None:
            rows.tables[fetch] = packed.page.table
        if packed.regions:
            rows.repacked[fetch] = (packed.sha256, packed.regions)
        return True

    def _is_check(self, rows: _Rows, fetch: int, packed: PackedPage) -> bool:
        """Whether an answer that changed nothing goes on record. One that differs in learned places does not: its own bytes are
        not kept, and an archive would say that it brought those of the version."""
        if not self._state.work.KeepChecks or packed.page.marks & ExchangeMark.MERGED:
            return False
        return rows.versions[fetch].sha256 == (packed.version[0] or None)

    def _new_fetch(self, rows: _Rows, packed: PackedPage, before: int | None) -> int:
        """The number of a new version; notes the rows that belong to it."""
        fetch = self._documents.new_fetch()
        if packed.regions:
            rows.regions[fetch] = packed.regions
        if packed.page.table is not None:
            rows.tables[fetch] = packed.page.table
        version = rows.versions.get(before) if before is not None else None
        if version is not None:
            if version.id in rows.learned:
                rows.learned[fetch] = rows.learned.pop(version.id)
            if version.learned:
                rows.learned[version.id] = LearnedRow(b"", b"")
            if version.tvi is not None:
                rows.tables[version.id] = None
        return fetch

    def _check_again(self, rows: _Rows, stored: dict[str, Any], *, changed: bool) -> None:
        """Sets the due time and the history of a page that had a version before."""
        site, key, at = stored["site_id"], stored["key"], stored["at"]
        before = rows.histories.get((site, key))
        if before is None:  # another URL has its place, so it has the next one
            before = self._histories.of([(site, key)])[site, key]
        due, rate = self._planner.learn(before, site, key, at, changed=changed)
        stored["due_at"] = None if "#" in stored["path"] else due
        stored["checks"] = before.checks + 1
        stored["changes"] = before.changes + changed
        stored["changed_at"] = at if changed else before.changed_at
        stored |= zip(_RATE, rate, strict=True)

    def committed(self) -> None:
        """Called after the commit: what was written counts for the budget of revisits from now on."""
        self._planner.committed()
        self._lastmods.committed()

    def collect(self, documents: Collection[int]) -> None:
        """Deletes those of the documents that no fetch refers to."""
        self._documents.collect(documents)

    def write_past(self, pages: Sequence[tuple[int, PackedPage]]) -> None:
        """Stores versions that are not the newest of their URLs, each with the key of its URL."""
        shared = self._documents.share([packed for _, packed in pages])
        fetches = []
        for key, packed in pages:
            found = shared.get(packed.sha256)
            redirect = plain(packed.page.redirect, self._state.work.MaxUrlLength) or None
            document = found.id if found is not None else None
            fetches.append(self._fetches.row(self._documents.new_fetch(), key, packed, found, document, redirect))
        self._documents.add_fetches(fetches)
        self.exchanges.write()

    # --- URLs seen in pages ---------------------------------------------------------------------------------------------

    def write_links(self, parts: Sequence[LinksRecord], now: float, written: Written) -> None:
        """Inserts links of pages that are not stored yet, because they have very many."""
        if not parts:
            return
        key_of = self._urls.key_of
        seen_urls: list[SeenUrl] = []
        outside: list[FoundUrl] = []
        later: list[FoundUrl] = []
        for part in parts:
            if part.lastmods:
                self._lastmods.note(part.site, part.read_at, part.lastmods)
            place = (part.depth, 0, "", False, 0, part.via, LATER * part.is_later)
            seen_urls += [(part.site, key_of(path), path, *place) for path in part.internal]
            if not self._state.is_already_stored(part.visit, part.depth, part.external):
                found = later if part.is_later else outside
                found += [(url, part.depth, 0, False, "", part.site, part.via) for url in part.external]
        seen_urls += self._urls.seen_of(outside)
        seen_urls += self._urls.seen_of(later, LATER) if later else ()
        lookup = self._urls.look_up({seen[:2] for seen in seen_urls})
        written.found += self._urls.insert_seen(lookup, seen_urls, now)

    def _targets(self, pages: Sequence[PackedPage], now: float) -> dict[str, str]:
        """The canonical targets of redirects. Those of seeds join the scope (architecture, section 3)."""
        targets: dict[str, str] = {}
        of_seeds = []
        canon = Canon.of(self._state.work)
        for packed in pages:
            page = packed.page
            target = canonical(page.redirect) if page.redirect else None
            target = canon.apply(target) if canon is not None and target is not None else target
            if target is None or len(target) > self._state.work.MaxUrlLength:
                continue
            targets[page.redirect] = target
            if page.seed and page.hops < self._state.work.MaxRedirects:
                of_seeds.append((page.site, page.path, target))
        self._seeds.follow(of_seeds, now)
        return targets

    def _seen_in(self, pages: Sequence[PackedPage], targets: Mapping[str, str]) -> list[SeenUrl]:
        """Every URL in the pages, with its place before any conflict."""
        key_of = self._urls.key_of
        seen_urls: list[SeenUrl] = []
        outside: list[FoundUrl] = []
        later: list[FoundUrl] = []
        for packed in pages:
            page = packed.page
            site, via, below, weight = page.site, page.key, page.depth + 1, LATER * page.is_later
            seen_urls += [(site, key_of(path), path, below, 0, "", False, 0, via, weight) for path in page.internal]
            seen_urls += [(site, key_of(path), path, below, 0, SEEN_BEFORE, False, 0, via, weight) for path in page.linked]
            if not self._state.is_already_stored(page.visit, below, page.external):
                found = later if weight else outside
                found += [(url, below, 0, False, "", site, via) for url in page.external]
            for word, text in page.refused:
                if text.startswith("/"):
                    seen_urls.append((site, key_of(text), text, below, 0, word, False, 0, via, 0))
                else:
                    outside.append((text, below, 0, False, word, site, via))
            # A target on the page's own site was judged by the worker.
            if (target := targets.get(page.redirect)) and not page.refused:
                outside.append((target, page.depth, page.hops + 1, page.seed, "", site, via))
        seen_urls += self._urls.seen_of(outside)
        return seen_urls + self._urls.seen_of(later, LATER) if later else seen_urls

    # --- confirmations --------------------------------------------------------------------------------------------------

    def confirm(self, records: Sequence[UnchangedRecord], written: Written) -> None:
        """Stores the server's answers that a stored page is current. Records of URLs without a document are ignored."""
        if not records:
            return
        lookup = self._urls.look_up({(record.site, record.key) for record in records})
        meant: dict[tuple[int, int], UnchangedRecord] = {}
        fetches: list[int] = []
        tables: dict[int, TableFact | None] = {}
        by_table: set[int] = set()
        for record in records:
            key, row = lookup.place(record.site, record.key, record.path)
            if row is not None and row.document_id is not None:
                meant[record.site, key] = record
                if row.fetch_id is not None:
                    if (answer := record.exchange) is not None:
                        place = (record.site, key, record.checked_at, record.status, record.address)
                        self.exchanges.check(*place, answer, row.fetch_id)
                    fetches.append(row.fetch_id)
                    if record.is_by_table:
                        by_table.add(row.fetch_id)
                    if record.table is not None or record.is_table_gone:
                        tables[row.fetch_id] = record.table
        histories = self._histories.of(meant)
        rows = []
        for (site, key), record in meant.items():
            at = record.checked_at
            due, rate = self._planner.learn(histories[site, key], site, key, at, changed=False)
            confirmed: dict[str, Any] = {
                "site_id": site,
                "key": key,
                "path": record.path,
                "due_at": due,
                "status": record.status,
                "at": at,
                "new_etag": validator(record.etag),
                "new_modified": validator(record.modified),
                "visited_in": self._state.crawl_run,
            }
            rows.append(confirmed | dict(zip(_RATE, rate, strict=True)))
        self._writer.many(_CONFIRM, rows)
        self.exchanges.write()
        self._versions.set_tables(tables)
        if self._state.work.LearnRegions and fetches:
            self._learning.confirmed(fetches)
        self._lastmods.settle()
        self._count_confirmed(fetches, by_table, written)
        written.unchanged += len(rows)
        written.pages += len(rows)


def _with_parts(seen_urls: Sequence[SeenUrl], parts: Mapping[tuple[int, int], int]) -> list[SeenUrl]:
    """Links with what their pages add; the page of a link is told by its asker (0: its own site) and its key."""
    return [
        (*seen[:9], seen[9] + parts.get((seen[7] or seen[0], seen[8]), 0)) if seen[8] is not None else seen
        for seen in seen_urls
    ]


def _counts(page: PageRecord) -> bool:
    """Whether a page is one of those that were asked for and that brought something: what MaxPages counts."""
    return not page.reason and not page.redirect and "#" not in page.path


def _add_via(new: Sequence[dict[str, Any]], seen_urls: Sequence[SeenUrl]) -> None:
    """Adds to the rows of pages that were not known the page that they were first seen on, if that is in the same batch."""
    missing = {(row["site_id"], row["path"]): row for row in new}
    for row in new:
        row["via_site"], row["via_key"] = 0, None
    if not missing:
        return
    for seen in seen_urls:
        page = missing.get((seen[0], seen[2]))
        if page is not None and page["via_key"] is None:
            page["via_site"], page["via_key"] = seen[7], seen[8]


def _add_saved(written: Written, what: str, size: int) -> None:
    if size > 0:
        written.saved[what] = written.saved.get(what, 0) + size


def _seen_before(pages: Sequence[PackedPage], lookup: UrlLookup) -> dict[int, PackedPage]:
    """The pages that we fetched and that have a version already, by its fetch."""
    found = {}
    for packed in pages:
        page = packed.page
        if (page.site, page.key) in lookup.rows and not page.marks & ExchangeMark.IMPORTED:
            row = lookup.place(page.site, page.key, page.path)[1]
            if row is not None and row.fetch_id is not None:
                found[row.fetch_id] = packed
    return found


def _each_url_once(pages: Sequence[PackedPage]) -> Iterator[Sequence[PackedPage]]:
    """The pages in their order, in parts in which no URL occurs twice. Nearly every batch is one part."""
    waiting = pages
    while waiting:
        distinct: dict[tuple[int, str], PackedPage] = {}
        rest = [packed for packed in waiting if distinct.setdefault((packed.page.site, packed.page.path), packed) is not packed]
        yield list(distinct.values())
        waiting = rest
