"""The interface between a visit and everything that concerns tables.

Every visit begins with a `PlainSite`, which adds no request and lets no document wait. An `AugmentedSite` replaces it when the
site offers tables, or may offer some: robots.txt or an earlier visit says so, a stored document is refreshed by fragment, the
settings request tables without a declaration, or a page links to tables.

| the visit calls | when | it gets |
|---|---|---|
| `request_before_pages`, `request_for` | the next request is planned | a request that goes first, or in place of a page |
| `request_started`, `request_ended` | any request starts and ends | |
| `table_received` | a request that was planned here is answered | a `Step` |
| `document_received`, `document_unchanged` | a page is answered | the request that the document waits for; facts of its table |
| `stop`, `close` | the visit ends | documents that still wait |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import partial
from typing import Any, TypeAlias

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl, SiteLease, TableFact
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.augmented.early_links import EarlyLinks, WaitingPages
from parcahyd.pipeline.crawl_worker.augmented.fragments import Fragments, Step
from parcahyd.pipeline.crawl_worker.augmented.offers import Offers
from parcahyd.pipeline.crawl_worker.augmented.table_links import TableLinks, TableReader
from parcahyd.pipeline.crawl_worker.augmented.table_requests import TableRequests
from parcahyd.pipeline.crawl_worker.document_reader import ReadDocument
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest, RequestKind
from parcahyd.pipeline.crawl_worker.record_writer import RecordWriter
from parcahyd.pipeline.crawl_worker.site_robots import SiteRobots
from parcahyd.rules.politeness.backoff import Failure
from parcahyd.rules.politeness.rate_limit import Pace
from parcahyd.rules.robots.robots_file import SCHEMES_WITH_ROBOTS
from parcahyd.rules.urls.parameters import Canon

__all__ = ["AugmentedSite", "InThread", "PlainSite", "Site", "may_be_augmented"]

InThread: TypeAlias = Callable[[Callable[[], Any], Callable[[Any, Exception | None, float], str]], None]
"""Runs the first function in a thread. The second is called on the event loop, with the result or the error, and the time. It
returns a sentence about a failure, or nothing."""

_READ_AT_ONCE = 64 * 1024
"""Bytes of a table that do not hold up the event loop."""


def may_be_augmented(lease: SiteLease, work: WorkConf, robots: bytes) -> bool:
    """Whether a visit needs an `AugmentedSite` from its first page on; `robots` is the text of robots.txt."""
    if lease.scheme not in SCHEMES_WITH_ROBOTS:
        return False
    if work.Probe != "declared" or lease.augmentation or b"augment" in robots.lower():
        return True
    return any(url.stored_version is not None for url in lease.urls)


class PlainSite:
    """The null object for a site without tables. `augment` replaces it by an `AugmentedSite`, which it returns.

    A site without a robots.txt keeps it: tables are of the web, and a request for one goes past the folders of a lease.
    """

    early_keys: Set[int] = frozenset()

    def __init__(self, scheme: str, augment: Callable[[float], AugmentedSite]) -> None:
        self._augment = augment if scheme in SCHEMES_WITH_ROBOTS else None

    def request_before_pages(self, on_the_wire: int, now: float) -> PlannedRequest | None:  # noqa: ARG002 - as AugmentedSite
        return None

    def request_for(self, page: DueUrl, now: float) -> PlannedRequest | None:  # noqa: ARG002 - as AugmentedSite
        return None

    def request_started(self, request: PlannedRequest) -> None:
        pass

    def request_ended(self, request: PlannedRequest, result: DownloadResult) -> None:
        pass

    def table_received(
        self,
        request: PlannedRequest,  # noqa: ARG002 - as AugmentedSite
        result: DownloadResult,  # noqa: ARG002 - as AugmentedSite
        failed: Failure | None,
        now: float,  # noqa: ARG002 - as AugmentedSite
    ) -> Step:
        return Step(failed=failed)

    def document_received(self, document: ReadDocument) -> PlannedRequest | None:
        links = document.links
        if links is None or not links.tables or self._augment is None:
            return None
        return self._augment(document.at).document_received(document)

    def document_unchanged(self, page: DueUrl, now: float) -> tuple[TableFact | None, bool]:  # noqa: ARG002 - as AugmentedSite
        return None, False

    def stop(self, dropped: Iterable[PlannedRequest]) -> list[ReadDocument]:  # noqa: ARG002 - as AugmentedSite
        return []

    def close(self) -> None:
        pass


class AugmentedSite:
    """The site offers tables, or may offer them.

    `may_follow` says whether the robots directives of a table let its links be followed, `judge` why a path of the site is
    refused, `is_busy` whether a request that is not necessary would keep pages waiting.
    """

    def __init__(
        self,
        lease: SiteLease,
        work: WorkConf,
        canon: Canon | None,
        robots: SiteRobots,
        pace: Pace,
        connections: int,
        known: KnownUrls,
        room: Room,
        waiting: WaitingPages,
        writer: RecordWriter,
        *,
        judge: Callable[[str], Reason | None],
        may_follow: Callable[[str], bool],
        is_busy: Callable[[], bool],
        in_thread: InThread,
        now: float,
    ) -> None:
        self._origin = lease.origin
        self._work = work
        self._canon = canon
        self._robots = robots
        self._pace = pace
        self._connections = connections
        self._room = room
        self._waiting = waiting
        self._writer = writer
        self._may_follow = may_follow
        self._in_thread = in_thread
        self._offers = Offers(lease.origin, lease.augmentation, work.Probe == "blind")
        self._offers.declare(robots.text)
        self._tables = TableRequests(lease, work, canon, self._offers, self._allows, now)
        if robots.answer is not None:
            self._tables.worth.answered(*robots.answer)
        self._early = EarlyLinks(lease.origin, work, self._tables, self._allows, judge, known, room, waiting, writer)
        is_off = work.MergeMode == "never"
        self._fragments = Fragments(lease.origin, self._offers, work.MaxBytes, self._allows, is_busy, room, is_off)
        self.early_keys: Set[int] = self._early.keys
        """Keys of paths that were judged and put into LocalQ when a table named them."""

    def _allows(self, path: str) -> bool:
        rules = self._robots.rules
        return rules is not None and rules.allows(self._origin + path)

    # --- what to request -----------------------------------------------------------------------------------------------

    def request_before_pages(self, on_the_wire: int, now: float) -> PlannedRequest | None:
        """A table that is requested before the next page, or while there is no page to request."""
        if not self._tables.is_active:
            return None
        local_q, connections = self._waiting.local_q, self._connections
        if local_q:
            return self._tables.before_pages(local_q, now)
        if self._pace.delay > 0 or not 0 < on_the_wire < connections or not self._room.is_idle:
            return None  # A page would have to wait for the table.
        return self._tables.while_idle(on_the_wire <= max(1, connections // 4), now)

    def request_for(self, page: DueUrl, now: float) -> PlannedRequest | None:
        """The page's table of links, which goes before the page, or its table of variable information, which replaces it."""
        request = self._tables.before_page(page, now) if self._tables.is_active else None
        return request or self._fragments.request_instead(page, now)

    def request_started(self, request: PlannedRequest) -> None:
        if self._tables.is_active and request.kind is RequestKind.PAGE and request.item is not None:
            self._tables.page_started(request.item)

    # --- what arrived ---------------------------------------------------------------------------------------------------

    def request_ended(self, request: PlannedRequest, result: DownloadResult) -> None:
        if self._tables.is_active:
            self._tables.request_ended(request, result)
        has_come = 200 <= result.status <= 299 or result.status == 304
        if not has_come and request.kind is RequestKind.PAGE and request.item is not None:
            self._fragments.forget(request.item)

    def table_received(self, request: PlannedRequest, result: DownloadResult, failed: Failure | None, now: float) -> Step:
        """Handle the answer to a request that was planned here; `failed` is a failure that the answer itself does not show."""
        if request.kind is RequestKind.TVI:
            return self._fragments.answered(request, result, failed, now)
        if self._tables.answered(request, result, failed is not None, now):
            read = self._reader_of(request, result.body)
            if len(result.body) > _READ_AT_ONCE:
                self._in_thread(read, partial(self._was_read_in_thread, request))
            else:
                self._was_read(request, read(), now)
        return Step()

    def _reader_of(self, request: PlannedRequest, body: bytes) -> Callable[[], TableLinks]:
        reader = TableReader(self._origin, self._canon, self._work.Embedded, self._may_follow)
        table = request.table
        assert table is not None  # noqa: S101 - every request of this kind has one
        if table.bundle is not None:
            return partial(reader.read_bundle, body, request.path, table.bundle)
        page, declaration = table.page, table.tol
        assert page is not None and declaration is not None  # noqa: S101, PT018 - it is one or the other
        return partial(reader.read_table, body, request.path, page.path, declaration.index)

    def _was_read_in_thread(
        self, request: PlannedRequest, links: TableLinks | None, error: Exception | None, now: float
    ) -> str:
        if links is None:
            self._tables.answered(request, DownloadResult(), True, now)
            return f"{type(error).__name__} on {self._origin}{request.path}: {error}"
        self._was_read(request, links, now)
        return ""

    def _was_read(self, request: PlannedRequest, links: TableLinks, now: float) -> None:
        if self._tables.was_read(request, links, now):
            self._early.take(links)

    def document_received(self, document: ReadDocument) -> PlannedRequest | None:
        """A document was read: returns the request of its table, if it has to wait for that; else fills in its parts."""
        item, links, now = document.item, document.links, document.at
        if links is not None and links.tables:
            self._tables.learn(item.path, links, now)
        if links is not None and self._tables.expects and self._tables.compare(item, links, now):
            self._early.take_back()
        request = self._fragments.request_table_of(document, now)
        if request is None:
            document.parts = self._fragments.parts_of(document, now)
        return request

    def document_unchanged(self, page: DueUrl, now: float) -> tuple[TableFact | None, bool]:
        """Of a document that its server confirmed: what is new about its table, or None; and whether the table is gone."""
        return self._fragments.unchanged(page, now)

    # --- the end -------------------------------------------------------------------------------------------------------

    def stop(self, dropped: Iterable[PlannedRequest]) -> list[ReadDocument]:
        """Request nothing more; returns the documents that waited for the dropped requests."""
        return self._fragments.close(dropped)

    def close(self) -> None:
        """The visit is over: give the room back, and record what was learned about the site's tables."""
        self._early.forget()
        offer = self._offers.encode()
        if offer:
            self._writer.offer(offer)


Site: TypeAlias = PlainSite | AugmentedSite
