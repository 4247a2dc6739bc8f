"""The store: the only writer of a crawl's database, used from one thread of the Update Database process.

Every method is one transaction. It is committed as a whole, or StoreFailure is raised and nothing is changed, so that it can
be tried again. A RecordRefusal is a StoreFailure for which a record is to blame, not the database. Times are passed in.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import msgspec

from parcahyd.config.schema import Configuration
from parcahyd.core.errors import UserError
from parcahyd.core.messages import Written
from parcahyd.core.ports import Order
from parcahyd.core.records import (
    BadRecord,
    ExternRecord,
    LinksRecord,
    Pause,
    PauseRecord,
    RobotsFact,
    RobotsRedirectRecord,
    SiteAddresses,
    SiteLease,
    SiteRecord,
    UnchangedRecord,
    VisitOver,
)
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.rules.urls.canonical_url import key_of as usual_key_of
from parcahyd.rules.urls.cross_links import ALWAYS_LOCAL
from parcahyd.rules.urls.orders import LATER
from parcahyd.rules.urls.parameters import Canon
from parcahyd.storage.connection import open_database
from parcahyd.storage.frontier import Leases
from parcahyd.storage.imports import ImportedExchange, ImportRows, ImportWritten
from parcahyd.storage.last_settings import last_settings
from parcahyd.storage.migrations import migrate
from parcahyd.storage.other_partitions import FoundUrl, OtherPartitions
from parcahyd.storage.overfull import OverfullPages
from parcahyd.storage.packing import PackedPage
from parcahyd.storage.pages import PageRows
from parcahyd.storage.robots import RobotsRows
from parcahyd.storage.run_state import RunState
from parcahyd.storage.runs import IMPORTED, RunRows
from parcahyd.storage.sites import Origin, SiteRows
from parcahyd.storage.urls import BadUrlRows, SeedRows, UrlRows
from parcahyd.storage.writer import Writer

__all__ = ["RunStart", "Store", "TakenMail"]


class RunStart(msgspec.Struct, frozen=True):
    """What `begin_run` finds in the database."""

    run: int
    pauses: tuple[Pause, ...]
    """Those that are still in force."""
    empty: bool
    """The database knows no URL yet: it needs a seed."""


class TakenMail(msgspec.Struct):
    """What came from other partitions in one batch of letters."""

    urls: list[FoundUrl] = []
    seeds: list[str] = []
    """Canonical URLs of the user, who gave them to the crawl as a whole."""
    robots_questions: list[tuple[int, str, int]] = []
    """A site of another partition, the robots.txt here that it awaits, and how many redirects led there."""
    robots_answers: list[tuple[int, RobotsFact]] = []
    """A site that awaits its robots.txt, and that file as another partition fetched it."""
    left_documents: list[int] = []
    """Documents of sites that went to another partition: others here may have them, too."""


_SEEDS_SHOWN = 10


class Store:
    """Leases sites, and writes the records of their visits. `begin_run` comes first."""

    def __init__(
        self, writer: Writer, key_of: Callable[[str], int] = usual_key_of, others: OtherPartitions | None = None
    ) -> None:
        """`others` is the rest of the crawl, where this is the store of one partition."""
        self._writer = writer
        self._state = RunState()
        self._doubtful = False
        self._others = others
        self._sites = SiteRows(self._writer, self._state)
        self._urls = UrlRows(self._writer, self._state, self._sites, key_of)
        self._sites.others = self._urls.others = others
        self._seeds = SeedRows(self._writer, self._sites, self._urls)
        self._overfull = OverfullPages(self._writer, self._state)
        self._pages = PageRows(self._writer, self._state, self._sites, self._urls, self._seeds, self._overfull)
        self._imports = ImportRows(self._writer, self._state, self._sites, self._urls, self._pages)
        self._bad = BadUrlRows(self._writer, self._state, self._sites, self._urls, self._pages.exchanges)
        self._robots = RobotsRows(self._writer, self._state, self._sites, self._pages.exchanges)
        self._leases = Leases(self._writer, self._state, self._sites, self._robots, self._overfull)
        self._runs = RunRows(self._writer, self._state, self._sites)

    @classmethod
    def open(cls, url: str, *, create: bool = True, key_of: Callable[[str], int] = usual_key_of) -> Self:
        """Opens the database of that URL; one that cannot be opened is a DatabaseUnusable with a remedy."""
        return cls(Writer(open_database(url, create=create)), key_of)

    def close(self) -> None:
        self._writer.close()

    def set_order(self, order: Order) -> None:
        """Sets the order in which known URLs are fetched; the default is by distance from a seed."""
        self._urls.order = order

    def set_local_schemes(self, schemes: frozenset[str]) -> None:
        """Sets the schemes whose documents are of this machine; `file` is always one."""
        self._state.local_schemes = schemes | ALWAYS_LOCAL

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def claim(self, wait: float = 10.0) -> None:
        """Makes this store the only writer of its database. Waits up to `wait` seconds for another run, then CrawlBusy.

        From then on, a transaction after which an SQLite file is no longer where it was is a RunFailure.
        """
        self._writer.lock(wait)

    # --- runs -----------------------------------------------------------------------------------------------------------

    def last_settings(self) -> dict[str, Any] | None:
        """What the last run recorded of its settings; None in a database without a run. It migrates the tables first."""
        migrate(self._writer)
        with self._writer.transaction() as connection:
            return last_settings(connection)

    def begin_run(
        self,
        configuration: Configuration,
        now: float,
        *,
        forever: bool = False,
        is_import: bool = False,
        goes_on: bool | None = None,
    ) -> RunStart:
        """Starts a run: migrates the tables, frees sites of visits that never ended, applies changed settings.

        The caller holds the lock of the crawl, so every visit that is still open belongs to a process that is gone. A run that
        was killed or interrupted goes on, unless one of the two refreshes for ever: what it has visited is not visited again.
        An import is recorded as a run that visits nothing. On a cluster the hub knows which run this is, and says with
        `goes_on` whether the partition has begun it before.
        """
        migrate(self._writer)
        self._writer.forget()
        with self._writer.transaction():
            number, crawl_run, changed = self._runs.begin(
                configuration, now, forever=forever, is_import=is_import, goes_on=goes_on
            )
            self._state.start(number, crawl_run, configuration.work, now)
            self._leases.recover(self._leases.visited(), now, {})
            self._runs.count_pages(now)
            self._runs.apply(changed, now)
            if changed or not goes_on:
                self._sites.settle(self._overfull.read_all_again(now))
            return RunStart(number, self._leases.pauses_in_force(now), self._urls.is_empty())

    def end_run(self, outcome: str, counts: dict[str, int], now: float) -> None:
        """Closes the run with its final counts."""
        with self._writer.transaction():
            self._runs.end(outcome, counts, now)

    def end_import(self, counts: dict[str, int], now: float) -> None:
        """Notes what an import brought. One that was killed has no end, and is no run that could be gone on with."""
        self.end_run(IMPORTED, counts, now)

    def waiting(self) -> tuple[dict[str, int], float | None]:
        """What is left to do when a run ends: known and failed URLs, counted by state, and when the next falls due."""
        with self._writer.transaction():
            return self._runs.waiting()

    def held_back(self) -> int:
        """How many URLs wait until MaxPagesPerSite is raised."""
        with self._writer.transaction():
            return self._runs.held_back()

    # --- visits ---------------------------------------------------------------------------------------------------------

    def lease(
        self, count: int, now: float, again_before: float | None, visit_pages: int, meta_keys: int
    ) -> tuple[list[SiteLease], float | None]:
        """Leases up to `count` due sites, earliest first, each as a new visit.

        Due are known and failed URLs whose time has come. Stored, refused and gone URLs are due, too, if they were due before
        the start of the run and the run has not visited them: so it visits each once at most, whatever the clock does. A crawl
        that refreshes for ever says `again_before` instead: due is what was due before that time, however often it is visited.
        The second value is the time at which the next site falls due under the same rules: in the past if more sites are due
        than were asked for, None if none will ever be.
        """
        doubtful, self._doubtful = self._doubtful, True
        with self._writer.transaction():
            if doubtful:
                self._leases.clear_strays()
            pairs, following = self._leases.lease(count, now, again_before, visit_pages, meta_keys)
            if pairs and self._others is not None:
                self._others.begin_work()
        self._doubtful = False
        self._leases.committed()
        self._state.visits.update((pair.visit, pair.site) for pair in pairs)
        return pairs, following

    def note_addresses(self, resolved: Sequence[SiteAddresses]) -> None:
        """Writes the addresses of sites as soon as they are resolved (statement P11). Visits that ended change nothing."""
        with self._writer.transaction():
            self._leases.note_addresses(resolved)

    def assign(self, addresses: Mapping[int, str]) -> None:
        """Writes the address that each open visit uses, for the case that its process dies."""
        with self._writer.transaction():
            self._leases.assign(addresses)

    def release(self, batch: Sequence[VisitOver], now: float) -> None:  # noqa: ARG002 (every batch has its time)
        """Ends visits: their sites can be leased again from `not_before` on. All their other records are committed."""
        overs = {over.visit: over for over in batch if self._is_open(over)}
        with self._writer.transaction():
            self._leases.release(overs.values())
        self._state.close(overs)

    def pause(self, record: PauseRecord) -> None:
        """Writes pauses of hosts and addresses. That of the site itself counts only while the visit is open."""
        with self._writer.transaction():
            self._leases.note_pauses(record)

    def judge(self, guilty: Sequence[int], innocent: Sequence[int]) -> None:
        """Notes which open visits the death of a worker is put down to, before they are abandoned. Writes nothing."""
        self._state.guilty.update(self._state.visits.keys() & guilty)
        self._state.innocent.update(self._state.visits.keys() & innocent)

    def abandon(self, visits: Sequence[int], now: float, addresses: Mapping[int, str] | None = None) -> None:
        """Ends visits whose worker is gone. Host and address wait one full delay: it is unknown what was requested.
        A site to which this happens again and again is paused for longer each time. The site's next visits are watched.

        `addresses` are those of the visits for which `assign` was not called.
        """
        gone = set(visits).intersection(self._state.visits)
        with self._writer.transaction():
            orphans = [row for row in self._leases.visited() if row.visit in gone]
            self._leases.recover(orphans, now, addresses or {}, worker_died=True)
        self._state.worker_died(gone)
        self._state.close(gone)

    def _is_open(
        self, record: PackedPage | LinksRecord | VisitOver | BadRecord | UnchangedRecord | SiteRecord | RobotsRedirectRecord
    ) -> bool:
        if isinstance(record, PackedPage):
            return self._state.visits.get(record.page.visit) == record.page.site
        return self._state.visits.get(record.visit) == record.site

    # --- what visits bring ----------------------------------------------------------------------------------------------

    def check_local_seeds(self, given: Iterable[str]) -> None:
        """UserError if seeds of an earlier run lead to documents of this machine, and the user has not `given` them again.

        Somebody else may have written the database, and which files are read is not theirs to say.
        """
        with self._writer.transaction():
            known = self._seeds.of_schemes(self._state.local_schemes)
        if missing := sorted(set(known) - set(map(canonical, given))):
            raise UserError(
                f"a seed of this crawl leads to documents of this machine, which no run takes from a database: {missing[0]}",
                f"repeat it: parcahyd run {shlex.join(missing[:_SEEDS_SHOWN])}; or remove it: parcahyd forget {missing[0]}",
            )

    def add_seeds(self, addresses: Sequence[str], now: float) -> None:
        """Adds the user's seeds, all or none; one that is no URL is a UserError."""
        seeds = []
        canon = Canon.of(self._state.work)
        for address in addresses:
            url = canonical(address)
            if url is None:
                raise UserError(f'the seed "{address}" is not a URL', "write it in full, such as https://example.org/")
            seeds.append(url if canon is None else canon.apply(url))
        with self._writer.transaction():
            self._seeds.add(seeds, now)

    def store_extern(self, batch: Sequence[ExternRecord], now: float) -> Written:
        """ExternLQ: links to other sites, most of them ahead of the pages they stand in. Repetition changes nothing."""
        state = self._state
        current = [record for record in batch if record.visit in state.visits]
        written = Written(late=len(batch) - len(current))
        new = [record for record in current if not state.is_already_stored(record.visit, record.depth, record.urls)]
        if new:
            self._see_extern(new, written, now)
        for record in current:
            state.note_stored(record.visit, record.depth, record.urls)
        return written

    def _see_extern(self, records: Sequence[ExternRecord], written: Written, now: float) -> None:
        self._sites.take_new_work()  # Sites that became due before this batch were reported before.
        with self._writer.transaction():
            asker = self._state.visits
            seen: dict[bool, list[FoundUrl]] = {False: [], True: []}
            for record in records:
                place = (record.depth, 0, False, "", asker[record.visit], record.via)
                seen[record.is_later] += [(url, *place) for url in record.urls]
            seen_urls = self._urls.seen_of(seen[False])
            seen_urls += self._urls.seen_of(seen[True], LATER) if seen[True] else ()
            lookup = self._urls.look_up({seen_url[:2] for seen_url in seen_urls})
            written.found = self._urls.insert_seen(lookup, seen_urls, now)
        written.has_new_work = self._sites.take_new_work()

    def store_documents(
        self, batch: Sequence[PackedPage | LinksRecord | UnchangedRecord | SiteRecord | RobotsRedirectRecord], now: float
    ) -> Written:
        """DocURLQ: pages with their links, confirmations, and what visits learned about their sites."""
        current = [record for record in batch if self._is_open(record)]
        written = Written(late=len(batch) - len(current))
        pages = [record for record in current if isinstance(record, PackedPage)]
        parts = [record for record in current if isinstance(record, LinksRecord)]
        unchanged = [record for record in current if isinstance(record, UnchangedRecord)]
        self._sites.take_new_work()
        with self._writer.transaction():
            self._pages.write_links(parts, now, written)
            self._pages.write(pages, now, written)
            self._pages.confirm(unchanged, written)
            self._robots.learn((record for record in current if isinstance(record, SiteRecord)), now)
            self._robots.answered((record for record in current if isinstance(record, RobotsRedirectRecord)), now)
            if self._others is not None:
                self._others.count_pages(written.pages)
        self._pages.committed()
        written.has_new_work = self._sites.take_new_work()
        self._state.fruitful.update([record.visit for record in unchanged])
        for part in parts:
            self._state.note_stored(part.visit, part.depth, part.external)
        for packed in pages:
            page = packed.page
            self._state.fruitful.add(page.visit)
            self._state.note_stored(page.visit, page.depth + 1, page.external)
        return written

    def store_bad(self, batch: Sequence[BadRecord], now: float) -> Written:  # noqa: ARG002 (every batch has its time)
        """BadURLQ: URLs that gave no document. A document that one had before stays."""
        current = [record for record in batch if self._is_open(record)]
        with self._writer.transaction():
            self._bad.write(current)
        self._state.blanked.update(record.visit for record in current if record.blank_address)
        return Written(late=len(batch) - len(current))

    # --- what other partitions bring: used inside transactions ----------------------------------------------------------

    def next_due(self, now: float, again_before: float | None) -> float | None:
        """When the next site falls due that no visit has: see `lease`."""
        return self._leases.next_due(now, again_before)

    @property
    def open_visits(self) -> int:
        return len(self._state.visits)

    def take_in(self, mail: TakenMail, now: float) -> bool:
        """Stores what other partitions posted, and posts on what lives elsewhere by now. Returns whether a site became due."""
        self._sites.take_new_work()
        seen_urls = self._urls.seen_of(mail.urls, from_letters=True)
        lookup = self._urls.look_up({seen_url[:2] for seen_url in seen_urls})
        self._urls.insert_seen(lookup, seen_urls, now)
        self._urls.mark_targets(lookup, seen_urls)
        seeds = mail.seeds if self._others is None else self._others.post_seeds(mail.seeds)
        if seeds:
            self._seeds.add(seeds, now)
        for asker, url, hops in mail.robots_questions:
            self._robots.take_question(asker, url, hops, now)
        for asker, fact in mail.robots_answers:
            self._robots.take_answer(asker, fact)
        self._pages.collect(mail.left_documents)
        return self._sites.take_new_work()

    def admit(self, origins: Collection[Origin], now: float) -> bool:
        """The scope of the whole crawl has grown by these sites; returns whether a site became due."""
        self._sites.take_new_work()
        self._sites.admit(origins, now)
        return self._sites.take_new_work()

    def settle(self, sites: Collection[int]) -> None:
        """Sites came from another partition: sets when they fall due."""
        self._sites.settle(sites)

    def take_new_work(self) -> bool:
        """Whether a site became due since the last call."""
        return self._sites.take_new_work()

    # --- what archives bring --------------------------------------------------------------------------------------------

    def sites_of(self, origins: Iterable[Origin]) -> dict[Origin, tuple[int, bool]]:
        """The numbers of sites, and whether each is in scope. Those that were never seen are inserted, as the seeds have it."""
        with self._writer.transaction():
            return self._sites.find(origins)

    def store_imported(self, batch: Sequence[PackedPage | LinksRecord | ImportedExchange], now: float) -> ImportWritten:
        """Answers from archives. Those that are there already change nothing, and none has a say in what is requested."""
        parts = [record for record in batch if isinstance(record, LinksRecord)]
        answers = [record for record in batch if not isinstance(record, LinksRecord)]
        with self._writer.transaction():
            self._pages.write_links(parts, now, Written())
            written = self._imports.write(answers, now)
        self._pages.committed()
        return written
