"""The order in which a visit asks: errands for other sites, what documents wait for, robots.txt, tables of links, pages.

It holds LocalQ and decides; what comes back is the visit's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from parcahyd.core.life_cycle import Reason
from parcahyd.core.records import DueUrl, Pair
from parcahyd.pipeline.crawl_worker.asks import Ask, AskKind
from parcahyd.pipeline.crawl_worker.gate import Gate
from parcahyd.pipeline.crawl_worker.known_urls import Room
from parcahyd.pipeline.crawl_worker.local_q import LocalQ
from parcahyd.pipeline.crawl_worker.scribe import Scribe
from parcahyd.pipeline.crawl_worker.site_robots import SiteRobots
from parcahyd.pipeline.crawl_worker.tables import Tables
from parcahyd.refresh.schedule import NEVER, Schedule
from parcahyd.rules.politeness import Pace
from parcahyd.rules.robots import Robots

if TYPE_CHECKING:
    from parcahyd.pipeline.crawl_worker.fragments import Fragments

__all__ = ["Agenda"]

_MAY_PASS = frozenset({Reason.DUPLICATES, Reason.SOFT_404})


class Agenda:
    """What one visit is still to ask for. `ready` is the ask that stands in line, None while there is nothing to ask."""

    __slots__ = (
        *("_after_table", "_connections", "_depth_on_the_wire", "_errands", "_fragments", "_gate", "_in_order", "_is_closed"),
        *("_origin", "_pace", "_robots", "_room", "_schedule", "_scribe", "_tables", "_urgent"),
        *("local_q", "on_the_wire", "pages_left", "ready", "requests"),
    )

    def __init__(
        self,
        pair: Pair,
        pages: int,
        room: Room,
        gate: Gate,
        robots: SiteRobots,
        tables: Tables,
        fragments: Callable[[], Fragments],
        scribe: Scribe,
        schedule: Schedule,
        pace: Pace,
        *,
        connections: int,
        in_order: bool,
        now: float,
    ) -> None:
        """At most `pages` pages; `in_order`: none is asked for before all that are less deep have come."""
        self._origin = pair.origin
        self._room = room
        self._gate = gate
        self._robots = robots
        self._tables = tables
        self._fragments = fragments
        self._scribe = scribe
        self._schedule = schedule
        self._pace = pace
        self._connections = connections
        self._in_order = in_order
        self._errands = deque(pair.errands)
        # What must be asked before the next page: tables that documents wait for, documents that tables did not bring.
        self._urgent: deque[Ask] = deque()
        self._after_table: DueUrl | None = None
        self._depth_on_the_wire = 0
        self._is_closed = False
        self.ready: Ask | None = None
        self.on_the_wire = 0
        self.requests = 0
        self.pages_left = pages
        self.local_q = LocalQ(self._sift(pair.urls, now), room)

    def _sift(self, urls: tuple[DueUrl, ...], now: float) -> list[DueUrl]:
        """What came in the set without what today's settings refuse, which is recorded."""
        admitted = []
        for url, reason in self._gate.sift(urls):
            if reason is None:
                admitted.append(url)
            else:
                self._scribe.refusal(url, reason, now, self._looked_at_again(reason, now))
        return admitted

    def _looked_at_again(self, reason: Reason, now: float) -> float:
        """When a refused URL is looked at again although no setting changed: what a site gave too often may change."""
        return self._schedule.again(now) if reason in _MAY_PASS else NEVER

    @property
    def pages(self) -> list[DueUrl]:
        """The pages that wait, the next one first."""
        first = self.ready.item if self.ready is not None else self._after_table
        return [*self.local_q] if first is None else [first, *self.local_q]

    def started(self) -> Ask:
        """The ask that stood in line is on the wire now."""
        ask = self.ready
        assert ask is not None, "a visit passed the turnstile with nothing to ask"  # noqa: S101 - a bug, not an input
        self.ready = None
        self.on_the_wire += 1
        self.requests += 1
        if ask.item is not None:
            if not ask.is_counted:
                self.pages_left -= 1
                self._gate.asked(ask.item)
            self._depth_on_the_wire = ask.item.depth
            if self._tables.is_active and ask.kind is AskKind.PAGE:
                self._tables.page_asked(ask.item)
        return ask

    def came_to_nothing(self, item: DueUrl) -> None:
        """A request gave no page: another may be asked for in its place."""
        self.pages_left += 1
        self._gate.came_to_nothing(item)

    def ask_next(self, ask: Ask) -> None:
        """This is asked before anything else, in the place of what stands in line, if something does."""
        if self.ready is None:
            self._urgent.appendleft(ask)
            return
        if self.ready.kind is AskKind.PAGE:
            self._urgent.append(self.ready)
        else:
            self._urgent.appendleft(self.ready)
        self.ready = ask

    def clear(self) -> list[Ask]:
        """Nothing more is asked for, whatever comes; gives what was about to be. What is left in LocalQ stays `known`."""
        self._is_closed = True
        dropped = [*self._urgent, *([self.ready] if self.ready is not None else ())]
        self.local_q.clear()
        self._errands.clear()
        self._urgent.clear()
        self._after_table = None
        self.ready = None
        self.pages_left = 0
        return dropped

    # --- what is next --------------------------------------------------------------------------------------------------

    def prepare(self, now: float) -> Ask | None:
        """Decide on the next ask, if there is room for one; refused URLs are recorded on the way."""
        if self.ready is None and not self._is_closed:
            self.ready = self._next_ask(now)
        return self.ready

    def _next_ask(self, now: float) -> Ask | None:
        if self._errands:
            errand = self._errands.popleft()
            return Ask(AskKind.ERRAND, errand.path, errand=errand, hops=errand.hops)
        if self._urgent:
            return self._urgent.popleft()
        if self.pages_left <= 0:
            return None
        rules = self._robots.rules
        if rules is None:
            may_ask = self.local_q and not self.on_the_wire
            return Ask(AskKind.ROBOTS, "/robots.txt") if may_ask else None
        if self._tables.is_active and (ask := self._next_table(now)) is not None:
            return ask
        return self._next_page(rules, now)

    def _next_table(self, now: float) -> Ask | None:
        """A table of links that is asked for before the next page, or while there is none to ask for."""
        if self._after_table is not None:
            return None
        if self.local_q:
            return self._tables.ask_first(self.local_q, now)
        busy, connections = self.on_the_wire, self._connections
        if self._pace.delay > 0 or not 0 < busy < connections or not self._room.is_idle:
            return None  # Some page would have to wait for it.
        return self._tables.ask_when_dry(busy <= max(1, connections // 4), now)

    def _next_page(self, rules: Robots, now: float) -> Ask | None:
        tables, after_table = self._tables, self._after_table
        if after_table is not None:
            self._after_table = None
            return Ask(AskKind.PAGE, after_table.path, after_table)
        while self.local_q:
            if self._in_order and self.on_the_wire and self.local_q.first.depth > self._depth_on_the_wire:
                return None  # MaxDepth is exact only if no page is asked for before all shallower ones are read.
            item = self.local_q.pop()
            if not rules.allows(self._origin + item.path):
                self._scribe.refusal(item, Reason.ROBOTS, now, self._robots.expires_at)
            elif (reason := self._gate.judge_ask(item)) is not None:
                if reason is Reason.SITE_PAGES and self.on_the_wire:
                    self.local_q.put_back(item)  # What is on the wire may come to nothing and leave it room.
                    return None
                self._scribe.refusal(item, reason, now, self._looked_at_again(reason, now))
            elif tables.is_active and (ask := tables.ask_before(item, now)) is not None:
                self._after_table = item
                return ask
            else:
                table = None if item.held is None else self._fragments().instead(item, now)
                return table or Ask(AskKind.PAGE, item.path, item)
        return None
