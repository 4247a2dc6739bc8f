"""Decides what a visit requests next.

The order is: robots.txt files that other sites redirect to, what documents wait for, this site's robots.txt, tables of links,
pages. `NextRequest` owns LocalQ; the visit handles the answers.
"""

from __future__ import annotations

from collections import deque

from parcahyd.core.records import DueUrl, RobotsRedirect, SiteLease
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.augmented.site import Site
from parcahyd.pipeline.crawl_worker.known_urls import Room
from parcahyd.pipeline.crawl_worker.local_q import LocalQ
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest, RequestKind
from parcahyd.pipeline.crawl_worker.record_writer import RecordWriter
from parcahyd.pipeline.crawl_worker.site_robots import SiteRobots
from parcahyd.pipeline.crawl_worker.url_filter import UrlFilter
from parcahyd.refresh.schedule import NEVER, Schedule
from parcahyd.rules.robots.robots_file import Robots

__all__ = ["NextRequest"]

_MAY_PASS = frozenset({Reason.DUPLICATES, Reason.SOFT_404})


class NextRequest:
    """Plans the requests of one visit. `ready` is the request that waits at the scheduler, or None."""

    __slots__ = (
        *("_after_table", "_depth_on_the_wire", "_in_order", "_is_closed", "_origin", "_robots", "_robots_redirects"),
        *("_schedule", "_url_filter", "_urgent", "_writer", "augmented", "local_q", "on_the_wire", "pages_left", "ready"),
        "requests",
    )

    def __init__(
        self,
        lease: SiteLease,
        pages: int,
        room: Room,
        url_filter: UrlFilter,
        robots: SiteRobots,
        augmented: Site,
        writer: RecordWriter,
        schedule: Schedule,
        *,
        in_order: bool,
        by_rank: bool = False,
        now: float,
    ) -> None:
        """At most `pages` pages are requested; `in_order`: none before all pages of less depth were answered; `by_rank`: those
        of the lease in its order, whatever their depth."""
        self.augmented = augmented
        self._origin = lease.origin
        self._url_filter = url_filter
        self._robots = robots
        self._writer = writer
        self._schedule = schedule
        self._in_order = in_order
        self._robots_redirects = deque(_by_path(lease.robots_redirects))
        # Requested before the next page: tables that documents wait for, and documents that could not be made of tables.
        self._urgent: deque[PlannedRequest] = deque()
        self._after_table: DueUrl | None = None
        """The page whose table of links is requested before it."""
        self._depth_on_the_wire = 0
        self._is_closed = False
        self.ready: PlannedRequest | None = None
        self.on_the_wire = 0
        self.requests = 0
        self.pages_left = pages
        self.local_q = LocalQ(self._admitted(lease.urls, now), room, by_depth=not by_rank)

    def _admitted(self, urls: tuple[DueUrl, ...], now: float) -> list[DueUrl]:
        """The URLs of the lease without those that the settings refuse now; refusals are recorded."""
        admitted = []
        for url, reason in self._url_filter.judge_all(urls):
            if reason is None:
                admitted.append(url)
            else:
                self._writer.refusal(url, reason, now, self._refused_until(reason, now))
        return admitted

    def _refused_until(self, reason: Reason, now: float) -> float:
        """When a refused URL is judged again although no setting changed: a site may stop repeating its documents."""
        return self._schedule.again(now) if reason in _MAY_PASS else NEVER

    @property
    def pages(self) -> list[DueUrl]:
        """The pages that wait to be requested, the next one first."""
        first = self.ready.item if self.ready is not None else self._after_table
        return [*self.local_q] if first is None else [first, *self.local_q]

    @property
    def is_suspect(self) -> bool:
        """Whether the request that is `ready` is for a URL whose last try ended with the process of a worker."""
        return self.ready is not None and self.ready.item is not None and self.ready.item.is_suspect

    def started(self) -> PlannedRequest:
        """The request that was `ready` is sent now; returns it."""
        request = self.ready
        assert request is not None, "a visit was scheduled without a request"  # noqa: S101 - a bug, not an input
        self.ready = None
        self.on_the_wire += 1
        self.requests += 1
        if request.item is not None:
            if not request.is_counted:
                self.pages_left -= 1
                self._url_filter.requested(request.item)
            self._depth_on_the_wire = request.item.depth
            self.augmented.request_started(request)
        return request

    def gave_no_page(self, item: DueUrl) -> None:
        """A request gave no page: another may be requested in its place."""
        self.pages_left += 1
        self._url_filter.gave_no_page(item)

    def put_first(self, request: PlannedRequest) -> None:
        """Request this before anything else, also before what is `ready`."""
        if self.ready is None:
            self._urgent.appendleft(request)
            return
        if self.ready.kind is RequestKind.PAGE:
            self._urgent.append(self.ready)
        else:
            self._urgent.appendleft(self.ready)
        self.ready = request

    def clear(self) -> list[PlannedRequest]:
        """Request nothing more; returns the requests that are dropped. URLs in LocalQ stay `known` in the database."""
        self._is_closed = True
        dropped = [*self._urgent, *([self.ready] if self.ready is not None else ())]
        self.local_q.clear()
        self._robots_redirects.clear()
        self._urgent.clear()
        self._after_table = None
        self.ready = None
        self.pages_left = 0
        return dropped

    # --- what is next --------------------------------------------------------------------------------------------------

    def prepare(self, now: float) -> PlannedRequest | None:
        """Plan the next request, if there may be one; URLs that turn out to be refused are recorded."""
        if self.ready is None and not self._is_closed:
            self.ready = self._next(now)
        return self.ready

    def _next(self, now: float) -> PlannedRequest | None:
        if self._robots_redirects:
            redirects = self._robots_redirects.popleft()
            return PlannedRequest(RequestKind.ROBOTS_REDIRECT, redirects[0].path, robots_redirects=redirects)
        if self._urgent:
            return self._urgent.popleft()
        if self.pages_left <= 0:
            return None
        rules = self._robots.rules
        if rules is None:
            may_request = self.local_q and not self.on_the_wire
            return PlannedRequest(RequestKind.ROBOTS, "/robots.txt") if may_request else None
        if self._after_table is not None:
            page, self._after_table = self._after_table, None
            return PlannedRequest(RequestKind.PAGE, page.path, page)
        return self.augmented.request_before_pages(self.on_the_wire, now) or self._next_page(rules, now)

    def _next_page(self, rules: Robots, now: float) -> PlannedRequest | None:
        while self.local_q:
            if self._in_order and self.on_the_wire and self.local_q.first.depth > self._depth_on_the_wire:
                return None  # MaxDepth is exact only if no page is requested before all shallower ones are read.
            item = self.local_q.pop()
            if not rules.allows(self._origin + item.path):
                self._writer.refusal(item, Reason.ROBOTS, now, self._robots.expires_at)
            elif (reason := self._url_filter.judge_request(item)) is not None:
                if reason is Reason.SITE_PAGES and self.on_the_wire:
                    self.local_q.put_back(item)  # A request on the wire may give no page; then there is room for this one.
                    return None
                self._writer.refusal(item, reason, now, self._refused_until(reason, now))
            else:
                table = self.augmented.request_for(item, now)
                if table is None:
                    return PlannedRequest(RequestKind.PAGE, item.path, item)
                if table.kind is RequestKind.TOL:
                    self._after_table = item
                return table
        return None


def _by_path(redirects: tuple[RobotsRedirect, ...]) -> list[tuple[RobotsRedirect, ...]]:
    """One file is requested once, however many sites redirect to it."""
    found: dict[str, tuple[RobotsRedirect, ...]] = {}
    for redirect in redirects:
        found[redirect.path] = (*found.get(redirect.path, ()), redirect)
    return list(found.values())
