"""The tables of one visit: which to ask for and when, what their answers tell, and whether they are believed.

A site that declares nothing costs nothing: no request, one search through its robots.txt, and a look at each page's links for
those that lead to tables, which the scanner has put aside.

`Eager = "always"` asks for bundles before anything else, and, right before every new page that no bundle is for, for its table.
`"auto"` asks where `TableWorth` says that it pays. A page that is stored already has its links in the database: its
table of links is never asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import State
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl, Pair
from parcahyd.pipeline.crawl_worker.asks import Ask, AskKind, TableAsk
from parcahyd.pipeline.crawl_worker.documents import Reading
from parcahyd.pipeline.crawl_worker.local_q import LocalQ
from parcahyd.pipeline.crawl_worker.table_worth import TableWorth
from parcahyd.rules.canonical_url import Joiner
from parcahyd.rules.orders import BREADTH_FIRST
from parcahyd.rules.parameters import Canon

if TYPE_CHECKING:
    from parcahyd.augment.declaration import Declaration
    from parcahyd.pipeline.crawl_worker.offers import Offers
    from parcahyd.pipeline.crawl_worker.table_links import PageTable, Told
    from parcahyd.rules.links import PageLinks

__all__ = ["MAX_BUNDLE", "Tables"]

MAX_BUNDLE = 16 * 1024 * 1024
"""Bytes of a bundle that a visit holds in memory, MaxBytes permitting; what comes after them is not read."""
_MAX_TABLE = 5 * 1024 * 1024
_MAX_FILE = 64 * 1024
_ON_THE_SPOT = 64 * 1024
"""Bytes of tables that do not hold up the event loop."""
_MOST_FILES = 8
"""Files of declarations that one visit asks for."""
_TROUBLES = 3
"""So many tables in a row that could not be had, and the visit goes on without."""
_LOOKED_AT = 64
_ONE_IN = 16
"""So many tables of a visit are held against their documents, and of those after one in so many."""
_MOST_SAMPLES = 256
"""Tables that wait for their documents to be held against."""
_STORED = int(State.STORED)
_NOT_ABSENT = frozenset((401, 403, 408, 425, 429))
_PLAIN_FILES = ("text/plain", "text/vnd.augment", "application/octet-stream")


class Tables:
    """Asked by a visit what to ask for, and told what came of it."""

    __slots__ = (
        *("_allows", "_alone", "_asked_bundles", "_asked_files", "_asked_tables", "_bundled", "_canon", "_eager", "_files"),
        *("_may_follow", "_offers", "_probe", "_samples", "_stored", "_tables", "_troubles", "_work"),
        *("is_active", "on_the_wire", "origin", "worth"),
    )

    def __init__(self, pair: Pair, work: WorkConf, canon: Canon | None, may_follow: Callable[[str], bool]) -> None:
        self.is_active = False
        """Whether there is anything that this visit might ask for."""
        self.worth = TableWorth()
        self.on_the_wire: dict[int, DueUrl] = {}
        """Pages that were asked for and have not come yet; kept only while it is active."""
        self.origin = pair.origin
        self._stored = pair.augmentation
        self._work = work
        self._canon = canon
        self._may_follow = may_follow
        self._allows: Callable[[str], bool] | None = None
        self._offers: Offers | None = None
        # Where LocalQ is not filled in the visit, and where depth is exact, links gain nothing by being known early.
        is_of_use = work.Order == BREADTH_FIRST and work.MaxDepth is None and pair.whole
        self._eager = work.Eager if is_of_use else "never"
        self._probe = work.Probe
        self._files: list[str] = []
        self._asked_bundles: set[str] = set()
        self._asked_files: set[str] = set()
        self._asked_tables: set[int] = set()
        self._bundled: list[Declaration] = []
        """Declarations whose bundles came or are on their way: their pages need no tables of their own."""
        self._samples: dict[str, array[int]] = {}
        self._alone: int | None = None
        """The key of a page on its way beside which no other was asked for."""
        self._tables = 0
        self._troubles = 0

    # --- who offers what -----------------------------------------------------------------------------------------------

    def begin(self, robots: bytes, allows: Callable[[str], bool], now: float) -> None:
        """robots.txt has been read, and pages may be asked for."""
        self._allows = allows
        says_so = b"augment" in robots.lower() if robots else False
        if not says_so and not self._stored and self._probe == "declared":
            return
        offers = self._open_offers()
        if says_so:
            offers.declare(robots)
        if self._probe == "well-known":
            self._ask_for_well_known(offers, now)
        self._consider(now)

    def learn(self, path: str, links: PageLinks, now: float) -> None:
        """A page links to tables."""
        url = self.origin + path
        base = (Joiner(url).join(links.base) or url) if links.base else url
        join = Joiner(base).join
        named: dict[str, str] = {}
        for relation, reference in links.tables:
            target = join(reference)
            if target is not None and target.startswith(self.origin + "/"):
                named.setdefault(relation, target)
        offers = self._open_offers()
        if "augment" in named:
            self._ask_for_file(named["augment"][len(self.origin) :], offers, now)
        if offers.learn(url, named.get("tol", ""), named.get("tvi", "")) or "augment" in named:
            self._consider(now)

    def _open_offers(self) -> Offers:
        if self._offers is None:
            from parcahyd.pipeline.crawl_worker.offers import Offers  # Most sites have no tables.

            self._offers = Offers(self.origin, self._stored, self._probe == "blind")
        return self._offers

    def _consider(self, now: float) -> None:
        """Whether there is anything to ask for: a file of declarations, or tables of links that are believed."""
        offers = self._offers
        if offers is None:
            return
        has_tables = self._probe == "blind" or any(known.tol or known.bundle for known in offers.declarations)
        wants_links = self._eager != "never" and has_tables and not offers.are_links_barred(now)
        self.is_active = self._troubles < _TROUBLES and (wants_links or bool(self._files))
        if not self.is_active:
            self.on_the_wire.clear()

    def _ask_for_well_known(self, offers: Offers, now: float) -> None:
        from parcahyd.pipeline.crawl_worker.offers import WELL_KNOWN

        self._ask_for_file(WELL_KNOWN, offers, now)

    def _ask_for_file(self, path: str, offers: Offers, now: float) -> None:
        """A file of declarations, unless it was had lately. What a query can make a server say is nobody's word."""
        is_new = "?" not in path and path not in self._asked_files and not offers.is_absent(path, now)
        if is_new and len(self._asked_files) < _MOST_FILES:
            self._asked_files.add(path)
            self._files.append(path)

    def _file_came(self, path: str, offers: Offers, now: float) -> None:
        """A file of declarations was had, or is not there: it need not be asked for again for a while."""
        from parcahyd.pipeline.crawl_worker.offers import ABSENT_BUNDLE, ABSENT_DIRECTORY, WELL_KNOWN

        offers.note_absent(path, now + (ABSENT_BUNDLE if path == WELL_KNOWN else ABSENT_DIRECTORY))

    # --- for whoever refreshes by tables of variable information -------------------------------------------------------

    @property
    def has_offers(self) -> bool:
        """Whether the site says anything of tables; where it does not, nothing need be asked of it."""
        return self._offers is not None

    def tvi_of(self, path: str) -> str | None:
        """The path on this site where a document's table of variable information is declared to be."""
        return None if self._offers is None else self._offers.tvi_of(path)

    def is_fragments_barred(self, now: float) -> bool:
        """Whether the site's tables of variable information are ignored for now."""
        offers = self._offers
        return offers is not None and (offers.are_fragments_barred(now) or offers.is_tvi_absent(now))

    def strike(self, now: float) -> None:
        """A table of variable information was wrong."""
        self._open_offers().strike(now)

    def note_tvi(self, now: float, *, is_there: bool) -> None:
        """Whether a table of variable information is there."""
        self._open_offers().note_tvi(now, is_there=is_there)

    def encode(self) -> bytes:
        """What is to be kept with the site; empty where nothing changed."""
        return b"" if self._offers is None else self._offers.encode()

    # --- what to ask for -----------------------------------------------------------------------------------------------

    def ask_first(self, local_q: LocalQ, now: float) -> Ask | None:
        """What is asked for before the next page of a LocalQ that is not dry."""
        offers = self._offers
        if offers is None:
            return None
        while self._files:
            path = self._files.pop(0)
            if self.may_ask(path):
                return Ask(AskKind.TABLE, path, table=TableAsk(), max_bytes=_MAX_FILE)
        if self._eager == "never" or local_q.first.state == _STORED:
            return None  # What is stored has its links in the database.
        if self._eager == "always":
            return self._ask_for_bundle(offers, MAX_BUNDLE, now)
        if self._work.Scope != "site" and (share := self.worth.share(len(local_q))):
            ask = self._ask_for_bundle(offers, share, now)
            if ask is not None:
                self.worth.spend_share(ask.max_bytes)
            return ask
        return None

    def page_asked(self, page: DueUrl) -> None:
        """A page is on its way."""
        self._alone = page.key if not self.on_the_wire else None
        self.on_the_wire[page.key] = page
        self.worth.page_asked()

    def heard(self, ask: Ask, result: DownloadResult) -> None:
        """Any request has ended."""
        page = ask.item if ask.kind is AskKind.PAGE else None
        if page is not None:
            self.on_the_wire.pop(page.key, None)
        if result.fault is None:
            table = ask.table
            length = len(result.body)
            self.worth.answered(ask.seconds, length)
            if page is not None and result.status == 200:
                self.worth.page_came(ask.seconds, length, was_alone=page.key == self._alone)
            elif table is not None and table.page is not None:
                self.worth.table_came(length)

    def ask_before(self, page: DueUrl, now: float) -> Ask | None:
        """The table of links of a page that is asked for next."""
        if self._eager != "always":
            return None
        return self._ask_for_table(page, now)

    def ask_when_dry(self, is_mostly_idle: bool, now: float) -> Ask | None:
        """What is asked for while pages are on their way, nothing waits, no delay is kept, and connections are free."""
        offers, worth = self._offers, self.worth
        if self._eager != "auto" or offers is None:
            return None
        if is_mostly_idle:
            worth.ran_dry()
        has_bytes, is_way_long, is_often_dry = worth.has_bytes_to_spare, worth.is_way_long, worth.is_often_dry
        if is_often_dry and (has_bytes or is_way_long):
            ask = self._ask_for_bundle(offers, MAX_BUNDLE, now)
            if ask is not None:
                return ask
        is_slow = worth.was_dry and worth.is_page_slow and (has_bytes or worth.is_page_large)
        if is_slow or (is_often_dry and is_way_long and worth.is_table_early):
            for page in reversed([*self.on_the_wire.values()]):
                if (ask := self._ask_for_table(page, now)) is not None:
                    return ask
        return None

    def _ask_for_bundle(self, offers: Offers, most: int, now: float) -> Ask | None:
        for path, declaration in offers.bundles(now):
            if path not in self._asked_bundles:
                self._asked_bundles.add(path)
                if self.may_ask(path):
                    self._bundled.append(declaration)
                    size = min(most, MAX_BUNDLE, self._work.MaxBytes)
                    return Ask(AskKind.TABLE, path, table=TableAsk(bundle=declaration), max_bytes=size)
        return None

    def _ask_for_table(self, page: DueUrl, now: float) -> Ask | None:
        if self._offers is None or page.state == _STORED or page.key in self._asked_tables:
            return None
        found = self._offers.tol_of(page.path, now)
        if found is None or any(known.covers(self.origin + page.path) for known in self._bundled):
            return None
        if len(self._asked_tables) >= self._work.VisitPages:
            self._asked_tables.clear()
        self._asked_tables.add(page.key)
        path, declaration = found
        if not self.may_ask(path):
            return None
        table = TableAsk(page=page, tol=declaration)
        return Ask(AskKind.TABLE, path, table=table, max_bytes=min(_MAX_TABLE, self._work.MaxBytes))

    def may_ask(self, path: str) -> bool:
        """Whether robots.txt allows it."""
        return self._allows is not None and self._allows(self.origin + path)

    # --- what came of it -----------------------------------------------------------------------------------------------

    def answered(self, ask: Ask, result: DownloadResult, has_failed: bool, now: float) -> Reader | None:
        """Take an answer; gives what reads it, where it has to be read, and is long where that is best done elsewhere."""
        table, offers = ask.table, self._offers
        if table is None or offers is None:
            return None
        if has_failed or result.fault is not None or result.status in _NOT_ABSENT or result.status >= 500:
            self._troubles += 1
            self._forget_bundle(table)
            self._consider(now)
            return None
        self._troubles = 0
        is_file = table.bundle is None and table.page is None
        if is_file:
            self._file_came(ask.path, offers, now)
        if result.status != 200:
            self._missing(ask, table, offers, now)
            return None
        if is_file:
            kind = result.header("content-type").lower()
            if not kind or kind.startswith(_PLAIN_FILES):
                offers.declare_by_file(ask.path, result.body)
            self._consider(now)
            return None
        return self._reader(ask, table, result.body)

    def _reader(self, ask: Ask, table: TableAsk, body: bytes) -> Reader:
        from parcahyd.pipeline.crawl_worker.table_links import TableTeller

        teller = TableTeller(self.origin, self._canon, self._work.Embedded, self._may_follow)
        if table.bundle is not None:
            return Reader(partial(teller.read_bundle, body, ask.path, table.bundle), len(body) > _ON_THE_SPOT)
        page, declaration = table.page, table.tol
        assert page is not None and declaration is not None  # noqa: S101, PT018 - it is one or the other
        return Reader(partial(teller.read_table, body, ask.path, page.path, declaration.index), len(body) > _ON_THE_SPOT)

    def told(self, ask: Ask, told: Told, now: float) -> bool:
        """A table was read; whether what it tells is to be acted on."""
        table, offers = ask.table, self._offers
        if table is None or offers is None:
            return False
        if told.refusal is not None and not told.pages:
            self._missing(ask, table, offers, now)
            return False
        if table.page is not None:
            offers.note_tol(table.page.path, now, is_there=True)
        return not offers.are_links_barred(now)

    def expect(self, path: str, table: PageTable) -> None:
        """A page will come of which a table told: of some it is seen whether that was true."""
        from parcahyd.pipeline.crawl_worker.table_links import sample_of

        self._tables += 1
        if self._tables > _LOOKED_AT and self._tables % _ONE_IN:
            return
        if len(self._samples) >= _MOST_SAMPLES:
            del self._samples[next(iter(self._samples))]  # The one that waits longest may never come.
        self._samples[path] = sample_of(table, self.origin)

    def _missing(self, ask: Ask, table: TableAsk, offers: Offers, now: float) -> None:
        """It is not there, is no table, or lies elsewhere, which counts as much."""
        from parcahyd.pipeline.crawl_worker.offers import ABSENT_BUNDLE

        if table.page is not None:
            offers.note_tol(table.page.path, now, is_there=False)
        elif table.bundle is not None:
            offers.note_absent(ask.path, now + ABSENT_BUNDLE)
            self._forget_bundle(table)

    def _forget_bundle(self, table: TableAsk) -> None:
        """It did not come: pages that it was for may be asked for their own tables."""
        if table.bundle is not None and table.bundle in self._bundled:
            self._bundled.remove(table.bundle)

    # --- whether it was true -------------------------------------------------------------------------------------------

    @property
    def expects(self) -> bool:
        """Whether documents are awaited that are to be held against their tables."""
        return bool(self._samples)

    def compare(self, page: DueUrl, links: PageLinks, now: float) -> bool:
        """The document has come, and its own links count. Whether tables told so much else that they are not believed."""
        sample, offers = self._samples.pop(page.path, None), self._offers
        if sample is None or offers is None or not sample:
            return False
        from parcahyd.pipeline.crawl_worker.table_links import compare

        offers.count_links(*compare(sample, self.origin + page.path, links, self._canon), now)
        if not offers.are_links_barred(now):
            return False
        self._samples.clear()
        self._consider(now)
        return True


class Reader:
    """Reads an answer; `is_long` where that is to be done beside the event loop."""

    __slots__ = ("is_long", "read")

    def __init__(self, read: Callable[[], Told], is_long: bool) -> None:
        self.read = read
        self.is_long = is_long

    def read_aside(self) -> Reading:
        return Reading("", told=self.read())
