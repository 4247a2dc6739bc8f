"""Decides which tables of links a visit requests and when, and whether they are trusted.

`Eager = "always"` requests bundles before all pages, and the table of every new page that no bundle covers right before the
page. `"auto"` requests them where `TableWorth` says that it saves time. The table of a stored page is never requested: its
links are in the database.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

from parcahyd.augment.site_offer import Declaration
from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl, SiteLease
from parcahyd.core.states import State
from parcahyd.pipeline.crawl_worker.augmented.offers import ABSENT_BUNDLE, ABSENT_DIRECTORY, WELL_KNOWN, Offers
from parcahyd.pipeline.crawl_worker.augmented.table_links import PageTable, TableLinks, compare, sample_of
from parcahyd.pipeline.crawl_worker.augmented.table_worth import TableWorth
from parcahyd.pipeline.crawl_worker.local_q import LocalQ
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest, RequestKind, TableRequest
from parcahyd.rules.html.links import PageLinks
from parcahyd.rules.urls.canonical_url import Joiner
from parcahyd.rules.urls.orders import BREADTH_FIRST
from parcahyd.rules.urls.parameters import Canon

__all__ = ["MAX_BUNDLE", "TableRequests"]

MAX_BUNDLE = 16 * 1024 * 1024
"""Bytes of a bundle that a visit holds in memory, MaxBytes permitting; what comes after them is not read."""
_MAX_TABLE = 5 * 1024 * 1024
_MAX_FILE = 64 * 1024
_MOST_FILES = 8
"""Files of declarations that one visit requests."""
_MOST_FAILURES = 3
"""After so many requests of tables in a row that failed, the visit requests no more of them."""
_ALL_COMPARED = 64
_ONE_IN = 16
"""The first tables of a visit are all compared with their documents, and one in so many of the others."""
_MOST_SAMPLES = 256
"""Tables that wait for the documents that they are compared with."""
_NOT_ABSENT = frozenset((401, 403, 408, 425, 429))
_PLAIN_FILES = ("text/plain", "text/vnd.augment", "application/octet-stream")


class TableRequests:
    """Plans the requests of tables of links for one visit, and handles their answers.

    `allows` says whether robots.txt allows a path. `offers` is what the site offers.
    """

    __slots__ = (
        *("_allows", "_alone", "_bundled", "_canon", "_eager", "_failures", "_files", "_offers", "_origin", "_probe"),
        *("_requested_bundles", "_requested_files", "_requested_tables", "_samples", "_tables", "_work", "is_active"),
        *("on_the_wire", "worth"),
    )

    def __init__(
        self, lease: SiteLease, work: WorkConf, canon: Canon | None, offers: Offers, allows: Callable[[str], bool], now: float
    ) -> None:
        self.is_active = False
        """Whether there are tables that this visit might request."""
        self.worth = TableWorth()
        self.on_the_wire: dict[int, DueUrl] = {}
        """Pages that were requested and are not answered yet; kept only while `is_active`."""
        self._origin = lease.origin
        self._work = work
        self._canon = canon
        self._allows = allows
        self._offers = offers
        # Early links are of no use where the visit does not fill LocalQ by itself, or where depth must be exact.
        is_of_use = work.Order == BREADTH_FIRST and work.MaxDepth is None and lease.has_all_keys
        self._eager = work.Eager if is_of_use else "never"
        self._probe = work.Probe
        self._files: list[str] = []
        self._requested_bundles: set[str] = set()
        self._requested_files: set[str] = set()
        self._requested_tables: set[int] = set()
        self._bundled: list[Declaration] = []
        """Declarations whose bundles were received or requested: their pages need no tables of their own."""
        self._samples: dict[str, array[int]] = {}
        self._alone: int | None = None
        """The key of a page on the wire since which no other page was requested."""
        self._tables = 0
        self._failures = 0
        if self._probe == "well-known":
            self._request_file(WELL_KNOWN, now)
        self._consider(now)

    # --- what the site offers ------------------------------------------------------------------------------------------

    def learn(self, path: str, links: PageLinks, now: float) -> None:
        """A page links to tables."""
        url = self._origin + path
        base = (Joiner(url).join(links.base) or url) if links.base else url
        join = Joiner(base).join
        named: dict[str, str] = {}
        for relation, reference in links.tables:
            target = join(reference)
            if target is not None and target.startswith(self._origin + "/"):
                named.setdefault(relation, target)
        if "augment" in named:
            self._request_file(named["augment"][len(self._origin) :], now)
        if self._offers.learn(url, named.get("tol", ""), named.get("tvi", "")) or "augment" in named:
            self._consider(now)

    def _consider(self, now: float) -> None:
        """Whether there is anything to request: a file of declarations, or tables of links that are trusted."""
        offers = self._offers
        has_tables = self._probe == "blind" or any(known.tol or known.bundle for known in offers.declarations)
        wants_links = self._eager != "never" and has_tables and not offers.are_links_barred(now)
        self.is_active = self._failures < _MOST_FAILURES and (wants_links or bool(self._files))
        if not self.is_active:
            self.on_the_wire.clear()

    def _request_file(self, path: str, now: float) -> None:
        """Request a file of declarations, unless it was received lately. One with a query is never requested."""
        is_new = "?" not in path and path not in self._requested_files and not self._offers.is_absent(path, now)
        if is_new and len(self._requested_files) < _MOST_FILES:
            self._requested_files.add(path)
            self._files.append(path)

    # --- what to request -----------------------------------------------------------------------------------------------

    def before_pages(self, local_q: LocalQ, now: float) -> PlannedRequest | None:
        """The request that goes before the next page of a LocalQ that is not empty, or None."""
        while self._files:
            path = self._files.pop(0)
            if self._allows(path):
                return PlannedRequest(RequestKind.TOL, path, table=TableRequest(), max_bytes=_MAX_FILE)
        if self._eager == "never" or local_q.first.state == State.STORED:
            return None  # The links of a stored page are in the database.
        if self._eager == "always":
            return self._bundle_request(MAX_BUNDLE, now)
        if self._work.Scope != "site" and (allowed := self.worth.bytes_for_other_sites(len(local_q))):
            request = self._bundle_request(allowed, now)
            if request is not None:
                self.worth.spend_for_other_sites(request.max_bytes)
            return request
        return None

    def before_page(self, page: DueUrl, now: float) -> PlannedRequest | None:
        """The request of the table of links of the next page, or None."""
        return self._table_request(page, now) if self._eager == "always" else None

    def while_idle(self, is_mostly_idle: bool, now: float) -> PlannedRequest | None:
        """The request while pages are on the wire, LocalQ is empty, the host has no delay, and connections are free."""
        worth = self.worth
        if self._eager != "auto":
            return None
        if is_mostly_idle:
            worth.local_q_ran_empty()
        has_bandwidth, is_latency_high, is_often_empty = worth.has_spare_bandwidth, worth.is_latency_high, worth.is_often_empty
        if is_often_empty and (has_bandwidth or is_latency_high):
            request = self._bundle_request(MAX_BUNDLE, now)
            if request is not None:
                return request
        is_slow = worth.was_empty and worth.is_page_slow and (has_bandwidth or worth.is_page_large)
        if is_slow or (is_often_empty and is_latency_high and worth.is_table_quicker):
            for page in reversed([*self.on_the_wire.values()]):
                if (request := self._table_request(page, now)) is not None:
                    return request
        return None

    def _bundle_request(self, most: int, now: float) -> PlannedRequest | None:
        for path, declaration in self._offers.bundles(now):
            if path not in self._requested_bundles:
                self._requested_bundles.add(path)
                if self._allows(path):
                    self._bundled.append(declaration)
                    size = min(most, MAX_BUNDLE, self._work.MaxBytes)
                    return PlannedRequest(RequestKind.TOL, path, table=TableRequest(bundle=declaration), max_bytes=size)
        return None

    def _table_request(self, page: DueUrl, now: float) -> PlannedRequest | None:
        if page.state == State.STORED or page.key in self._requested_tables:
            return None
        found = self._offers.tol_of(page.path, now)
        if found is None or any(known.covers(self._origin + page.path) for known in self._bundled):
            return None
        if len(self._requested_tables) >= self._work.VisitPages:
            self._requested_tables.clear()
        self._requested_tables.add(page.key)
        path, declaration = found
        if not self._allows(path):
            return None
        table = TableRequest(page=page, tol=declaration)
        return PlannedRequest(RequestKind.TOL, path, table=table, max_bytes=min(_MAX_TABLE, self._work.MaxBytes))

    # --- what arrived ---------------------------------------------------------------------------------------------------

    def page_started(self, page: DueUrl) -> None:
        """A page is requested."""
        self._alone = page.key if not self.on_the_wire else None
        self.on_the_wire[page.key] = page
        self.worth.page_requested()

    def request_ended(self, request: PlannedRequest, result: DownloadResult) -> None:
        """Any request of the visit has ended."""
        page = request.item if request.kind is RequestKind.PAGE else None
        if page is not None:
            self.on_the_wire.pop(page.key, None)
        if result.failure is None:
            table = request.table
            length = len(result.body)
            self.worth.answered(request.seconds, length)
            if page is not None and result.status == 200:
                self.worth.page_received(request.seconds, length, was_alone=page.key == self._alone)
            elif table is not None and table.page is not None:
                self.worth.table_received(length)

    def answered(self, request: PlannedRequest, result: DownloadResult, has_failed: bool, now: float) -> bool:
        """Handle an answer; returns whether it is a table that has to be read."""
        table = request.table
        if table is None:
            return False
        if has_failed or result.failure is not None or result.status in _NOT_ABSENT or result.status >= 500:
            self._failures += 1
            self._forget_bundle(table)
            self._consider(now)
            return False
        self._failures = 0
        is_file = table.bundle is None and table.page is None
        if is_file:
            # The file is not requested again for a while, whether it is there or not.
            self._offers.note_absent(request.path, now + (ABSENT_BUNDLE if request.path == WELL_KNOWN else ABSENT_DIRECTORY))
        if result.status != 200:
            self._missing(request, table, now)
            return False
        if is_file:
            media_type = result.header("content-type").lower()
            if not media_type or media_type.startswith(_PLAIN_FILES):
                self._offers.declare_by_file(request.path, result.body)
            self._consider(now)
        return not is_file

    def was_read(self, request: PlannedRequest, links: TableLinks, now: float) -> bool:
        """A table was read; returns whether its links may be used."""
        table = request.table
        if table is None:
            return False
        if links.refusal is not None and not links.pages:
            self._missing(request, table, now)
            return False
        if table.page is not None:
            self._offers.note_tol(table.page.path, now, is_there=True)
        return not self._offers.are_links_barred(now)

    def _missing(self, request: PlannedRequest, table: TableRequest, now: float) -> None:
        """The table is not there, is no table, or redirects, which counts as missing."""
        if table.page is not None:
            self._offers.note_tol(table.page.path, now, is_there=False)
        elif table.bundle is not None:
            self._offers.note_absent(request.path, now + ABSENT_BUNDLE)
            self._forget_bundle(table)

    def _forget_bundle(self, table: TableRequest) -> None:
        """The bundle was not received: the tables of its pages may be requested."""
        if table.bundle is not None and table.bundle in self._bundled:
            self._bundled.remove(table.bundle)

    # --- whether tables are trusted -------------------------------------------------------------------------------------

    @property
    def expects(self) -> bool:
        """Whether some tables wait to be compared with their documents."""
        return bool(self._samples)

    def expect(self, path: str, table: PageTable) -> None:
        """The links of a page are known from its table; some pages are compared with their tables when they arrive."""
        self._tables += 1
        if self._tables > _ALL_COMPARED and self._tables % _ONE_IN:
            return
        if len(self._samples) >= _MOST_SAMPLES:
            del self._samples[next(iter(self._samples))]  # The document that is awaited longest may never arrive.
        self._samples[path] = sample_of(table, self._origin)

    def compare(self, page: DueUrl, links: PageLinks, now: float) -> bool:
        """Compare a document with its table; returns whether tables were wrong so often that they are not trusted now."""
        sample = self._samples.pop(page.path, None)
        if not sample:
            return False
        self._offers.count_links(*compare(sample, self._origin + page.path, links, self._canon), now)
        if not self._offers.are_links_barred(now):
            return False
        self._samples.clear()
        self._consider(now)
        return True
