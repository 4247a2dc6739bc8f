"""One visit to one site, from its pair to its last record.

It asks for robots.txt if no fresh copy came with the pair, runs errands for other sites, then drains LocalQ. It holds no
connection and no clock: `prepare` gives what to ask next, `answered` takes what came back, `emit` takes the records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import Event, Reason
from parcahyd.core.messages import BufferRecord
from parcahyd.core.ports import DownloadFault, DownloadResult
from parcahyd.core.records import Assignment, DueUrl, Errand, RobotsFact, RobotsStatus
from parcahyd.pipeline.crawl_worker.answers import location, read_robots
from parcahyd.pipeline.crawl_worker.documents import DocumentReader, Reading, is_sitemap, wish_not_to_be_kept
from parcahyd.pipeline.crawl_worker.gate import Gate
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.reading import LinkReader, NewLinks
from parcahyd.pipeline.crawl_worker.scribe import Scribe
from parcahyd.refresh.schedule import NEVER, Schedule
from parcahyd.rules.accepted_types import AcceptedTypes
from parcahyd.rules.backoff import retry_after
from parcahyd.rules.canonical_url import Joiner
from parcahyd.rules.directives import Directive
from parcahyd.rules.host_rules import HostSettings
from parcahyd.rules.orders import BREADTH_FIRST
from parcahyd.rules.parameters import Canon
from parcahyd.rules.politeness import Pace
from parcahyd.rules.retries import BAD_REDIRECT, REDIRECTS, Failure, failure
from parcahyd.rules.robots import ALLOW_ALL, Robots
from parcahyd.rules.robots_patience import stale_robots

__all__ = ["Aside", "Ask", "AskKind", "Then", "Visit"]

_ROBOTS_HOPS = 5
"""RFC 9309, section 2.3.1.2: at least five redirects of robots.txt are followed."""

_FAULTS_IN_A_ROW = 5
"""So many requests without an answer, and the site is left alone for a while."""

_BUSY = frozenset((429, 503))
"""What servers answer that want to be left alone for a while."""
_MAY_PASS = frozenset({Reason.DUPLICATES, Reason.SOFT_404})
_SITEMAP_LEVELS = 3
"""An index of indexes of sitemaps; the protocol knows two levels."""
_NO_LINKS = NewLinks([], [], [])
_UNASKED_304 = Failure(Reason.PROTOCOL, Event.FAILURE)
_FAULT = Failure(Reason.FAULT, Event.FAILURE)
_FOREIGN_PEER = Failure(Reason.PEER, Event.FAILURE)


Then = Callable[[Reading | None, Exception | None, float], str]
"""Takes what was read, or why nothing was, and the time; a sentence tells of a failure."""
Aside = Callable[[Callable[[], Reading], Then], None]
"""Has a document read beside the event loop."""


class AskKind(Enum):
    ROBOTS = "robots"
    ERRAND = "errand"
    PAGE = "page"


class Ask:
    """One request that a visit wants to make."""

    __slots__ = ("errand", "hops", "item", "kind", "path", "started_at")

    def __init__(
        self, kind: AskKind, path: str, item: DueUrl | None = None, errand: Errand | None = None, hops: int = 0
    ) -> None:
        self.kind = kind
        self.path = path
        self.item = item
        self.errand = errand
        self.hops = hops
        self.started_at = 0.0
        """On the monotonic clock."""


class Visit:
    """The state of one visit. `ready` is the ask that stands in line, None while there is nothing to ask."""

    def __init__(
        self,
        assignment: Assignment,
        work: WorkConf,
        settings: HostSettings,
        room: Room,
        documents: DocumentReader,
        emit: Callable[[BufferRecord], None],
        aside: Aside,
        now: float,
    ) -> None:
        pair = assignment.pair
        self.assignment = assignment
        self.pair = pair
        self.host = pair.host
        self.address = assignment.address
        self.origin = pair.origin
        self.ready: Ask | None = None
        self.on_the_wire = 0
        self.being_read = 0
        """Documents that are read beside the event loop."""
        self.pages = 0
        self.requests = 0
        self.failures = pair.failures
        self.spared_until = 0.0
        self.spared_for: Reason | None = None
        self.asked_until = 0.0
        """Until when the server wants its host to be left alone, until the worker has taken note of it."""
        self.settings = settings
        self.pace = Pace(settings.delay, work.DelayFactor, work.MaxHostDelay)
        self._work = work
        self._room = room
        self._documents = documents
        self._aside = aside
        self._sitemaps: set[str] = set()
        self._scribe = Scribe(assignment, work, emit)
        self._schedule = Schedule(work)
        self._known = KnownUrls(pair.known, pair.whole, room)
        for url in pair.urls:
            self._known.add(url.key)
        self._gate = Gate(pair, work, room.facts, now)
        self._canon = Canon.of(work)
        self._accepted = AcceptedTypes(work.MediaTypes)
        self._reader = LinkReader(self.origin, self._known, room, work.MaxUrlLength, self._gate.judge, self._canon)
        self._errands = deque(pair.errands)
        # LocalQ: filled with what came in the set and what documents link to, emptied by `prepare`. Bounded by `Room`.
        self._local_q: deque[DueUrl] = deque(sorted(self._sift(pair.urls, now), key=lambda url: url.depth))
        self._room.urls -= len(self._local_q)
        self._pages_left = assignment.pages
        self._depth_on_the_wire = 0
        self._in_order = work.MaxDepth is not None
        self._faults = 0
        self._robots: Robots | None = None
        self._robots_expire = 0.0
        self._use_stored_robots(now)

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

    # --- what to ask ---------------------------------------------------------------------------------------------------

    @property
    def host_rule(self) -> tuple[float, int]:
        """The delay of its host, and how many requests may be under way there at once."""
        return self.pace.delay, self.settings.connections

    @property
    def waiting(self) -> int:
        return len(self._local_q)

    @property
    def is_over(self) -> bool:
        """Nothing is under way or being read, and nothing is left that this visit may ask."""
        return not self.on_the_wire and not self.being_read and self.ready is None

    @property
    def known_addresses(self) -> tuple[str, ...]:
        """The host's addresses for the next visit, the one that answered first; none where it is to be resolved again."""
        addresses = self.assignment.addresses
        if self._scribe.address_blanked:
            return ()
        if self.failures or addresses[0] == self.address:
            return addresses
        return (self.address, *(address for address in addresses if address != self.address))

    @property
    def guards(self) -> bytes:
        """What the trap guards are to be told in the site's next visit."""
        return self._gate.encode()

    def stop(self) -> None:
        """Ask for nothing more; what is left in LocalQ stays `known` in the database."""
        self._room.urls += len(self._local_q)
        self._local_q.clear()
        self._errands.clear()
        self.ready = None
        self._pages_left = 0

    def close(self) -> None:
        self.stop()
        self._known.forget()
        self._reader.forget()
        self._gate.forget()

    def prepare(self, now: float) -> Ask | None:
        """Decide on the next ask, if there is room for one; refused URLs are recorded on the way."""
        if self.ready is None:
            self.ready = self._next_ask(now)
        return self.ready

    def started(self) -> Ask:
        """The ask that stood in line is on the wire now."""
        ask = self.ready
        assert ask is not None, "a visit passed the turnstile with nothing to ask"  # noqa: S101 - a bug, not an input
        self.ready = None
        self.on_the_wire += 1
        self.requests += 1
        if ask.item is not None:
            self._pages_left -= 1
            self._gate.asked(ask.item)
            self._depth_on_the_wire = ask.item.depth
        return ask

    def headers(self, ask: Ask) -> tuple[tuple[str, str], ...]:
        """Those of every request to this host, with the stored document's validators where there are any."""
        item, headers = ask.item, self.settings.headers
        if item is None or not (item.etag or item.modified):
            return headers
        if item.etag:
            headers = (*headers, ("If-None-Match", item.etag))
        return (*headers, ("If-Modified-Since", item.modified)) if item.modified else headers

    def _next_ask(self, now: float) -> Ask | None:
        if self._errands:
            errand = self._errands.popleft()
            return Ask(AskKind.ERRAND, errand.path, errand=errand, hops=errand.hops)
        if not self._local_q or self._pages_left <= 0:
            return None
        if self._robots is None:
            return Ask(AskKind.ROBOTS, "/robots.txt") if not self.on_the_wire else None
        # Tables of links (.TOL, bundle, sitemap) have their place here: before LocalQ is drained, so that what they list
        # is in it while the first documents are still on the wire.
        while self._local_q:
            if self._in_order and self.on_the_wire and self._local_q[0].depth > self._depth_on_the_wire:
                return None  # MaxDepth is exact only if no page is asked for before all shallower ones are read.
            item = self._local_q.popleft()
            self._room.urls += 1
            if not self._robots.allows(self.origin + item.path):
                self._scribe.refusal(item, Reason.ROBOTS, now, self._robots_expire)
            elif (reason := self._gate.judge_ask(item)) is not None:
                if reason is Reason.SITE_PAGES and self.on_the_wire:
                    self._local_q.appendleft(item)  # What is on the wire may come to nothing and leave it room.
                    self._room.urls -= 1
                    return None
                self._scribe.refusal(item, reason, now, self._looked_at_again(reason, now))
            else:
                return Ask(AskKind.PAGE, item.path, item)
        return None

    def refuse_all(self, reason: Reason, detail: str, now: float) -> None:
        """Nothing of this site may be asked for: record it for every URL of the pair."""
        while self._local_q:
            self._room.urls += 1
            self._scribe.refusal(self._local_q.popleft(), reason, now, detail=detail)

    # --- what came back ------------------------------------------------------------------------------------------------

    def answered(self, ask: Ask, result: DownloadResult, foreign_peer: bool, now: float) -> None:
        """Turn an answer into records."""
        self.on_the_wire -= 1
        if result.fault is DownloadFault.CANCELLED:
            if ask.item is not None:
                self._came_to_nothing(ask.item)
            return
        if result.fault is not None and self._is_nobody_home(result):
            self._try_next_address(now)
            return
        failed = _FOREIGN_PEER if foreign_peer else None
        if result.fault is None and not foreign_peer:
            self._faults = 0
            self.failures = 0 if ask.kind is AskKind.PAGE and result.status < 400 else self.failures
        self._take(ask, result, failed, now)
        if result.status in _BUSY and failed is None:
            self._heed(result, now)

    def _is_nobody_home(self, result: DownloadResult) -> bool:
        """Whether the visit's first request found nobody, and the host has an address whose turn has not come yet."""
        if self.requests != 1 or self.failures + 1 >= len(self.assignment.addresses):
            return False
        return result.fault is DownloadFault.CONNECT or (result.fault is DownloadFault.TIMEOUT and not result.peer)

    def _try_next_address(self, now: float) -> None:
        """Hand the site back, for a visit to the host's next address; after the last of them it is the site that failed."""
        self.failures += 1
        self.put_off(now + self.pace.delay)

    def _heed(self, result: DownloadResult, now: float) -> None:
        """The server wants to be left alone: its host for as long as it says; where a 429 does not say, the site, longer
        every time."""
        seconds = retry_after(result.header("retry-after"), now)
        if seconds is None:
            if result.status != 429:
                return  # An error like others.
            failures = self.failures + (self.spared_for is None)
            self.spare(Reason.ASKED_TO_WAIT, self._schedule.spare_site(now, failures, self.pair.site))
            return
        until = now + min(seconds, self._work.MaxRetryAfter)
        self.asked_until = max(self.asked_until, until)
        self.spare(Reason.ASKED_TO_WAIT, until)

    def stumbled(self, ask: Ask, error: Exception, now: float) -> str:
        """This program failed on an answer: the URL fails, the visit goes on, and a sentence says what happened."""
        sentence = f"{type(error).__name__} on {self.origin}{ask.path}: {error}"
        self._take(ask, DownloadResult(detail=sentence), _FAULT, now)
        return sentence

    def _take(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        if ask.kind is AskKind.PAGE:
            self._page(ask, result, failed, now)
        elif ask.kind is AskKind.ROBOTS:
            self._robots_answer(ask, result, failed, now)
        else:
            self._errand_answer(ask, result, failed, now)

    def _page(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        item = ask.item
        assert item is not None  # noqa: S101 - every page ask has its item
        failed = failed or failure(result)
        if failed is None:
            if result.status in REDIRECTS:
                self._redirect(item, result, now)
                return
            if result.status != 304:
                self.pages += 1
                self._document(item, result, now)
                return
            if item.etag or item.modified:
                self.pages += 1
                self._scribe.unchanged(item, result, now)
                return
            failed = _UNASKED_304
        self._came_to_nothing(item)
        if failed.event is Event.MISSING and result.body:
            self._gate.observe(item.path, result.body, result.status)
        self._failure(item, result, failed, now)

    def _came_to_nothing(self, item: DueUrl) -> None:
        """A request gave no page: another may be asked for in its place."""
        self._pages_left += 1
        self._gate.came_to_nothing(item)

    def _document(self, item: DueUrl, result: DownloadResult, now: float) -> None:
        media_type, charset = self._documents.recognise(result.header("content-type"), result.body)
        if not self._accepted.admits(media_type):
            self._gate.came_to_nothing(item)
            self._scribe.refusal(item, Reason.MEDIA_TYPE, now, detail=media_type)
            return
        documents, body = self._documents, result.body
        self._gate.observe(item.path, body, result.status)
        if documents.is_quick(media_type):
            self._keep(item, result, media_type, documents.read_html(body, charset), now)
            return
        as_sitemap = item.path in self._sitemaps or is_sitemap(item.path, media_type)
        if not documents.is_read(media_type, as_sitemap):
            self._keep(item, result, media_type, Reading(charset), now)
            return
        read = partial(documents.read, body, media_type, charset, self.origin + item.path, as_sitemap)
        if documents.is_slow(media_type, len(body)):
            self.being_read += 1
            self._aside(read, partial(self._was_read, item, result, media_type))
        else:
            self._keep(item, result, media_type, read(), now)

    def _was_read(
        self,
        item: DueUrl,
        result: DownloadResult,
        media_type: str,
        reading: Reading | None,
        error: Exception | None,
        now: float,
    ) -> str:
        """A document was read beside the event loop, or this program failed on it, which is told in a sentence."""
        self.being_read -= 1
        if reading is None:
            return self.stumbled(Ask(AskKind.PAGE, item.path, item), error or Exception("nothing was read"), now)
        self._keep(item, result, media_type, reading, now)
        return ""

    def _keep(self, item: DueUrl, result: DownloadResult, media_type: str, reading: Reading, now: float) -> None:
        """Take the links of a document that was read, and give its record away."""
        url, links = self.origin + item.path, reading.links
        asked = self._documents.heed(links, result.headers, url, self.settings.user_agent, now)
        new = _NO_LINKS
        # An index may name indexes without end: those that are this far from robots.txt lead no further.
        is_followed = not reading.sitemaps or item.depth + 1 < _SITEMAP_LEVELS
        if links is not None and is_followed and not (asked and asked & Directive.NOFOLLOW):
            new = self._reader.read(url, links, self._work.Embedded)
            self._enqueue(new.internal, item.depth + 1)
        if reading.sitemaps and is_followed:
            self._note_sitemaps(Joiner(url).join(location) for location in reading.sitemaps)
        self._scribe.page(
            item,
            result,
            now,
            media_type=media_type,
            charset=reading.charset,
            internal=tuple([path for _, path in new.internal]),
            external=tuple(new.external),
            links=links.table if links is not None and self._work.KeepLinks else b"",
            refused=tuple(new.refused),
            reading=reading,
            wish=wish_not_to_be_kept(asked) if asked else None,
        )
        for member in reading.members:
            if not member.skipped:
                self._scribe.member(item, member, *self._documents.recognise("", member.body), now)

    def _note_sitemaps(self, urls: Iterable[str | None]) -> list[str]:
        """Remembers which paths of this site are sitemaps, as far as one site may have them; gives those that are new."""
        from parcahyd.rules.sitemap_walk import MAX_SITEMAPS  # Most sites name no sitemap.

        new = []
        for url in urls:
            if url is not None and url.startswith(self.origin + "/") and len(self._sitemaps) < MAX_SITEMAPS:
                path = url[len(self.origin) :]
                if path not in self._sitemaps:
                    self._sitemaps.add(path)
                    new.append(path)
        return new

    def _ask_for_sitemaps(self, robots: Robots) -> None:
        """The sitemaps that robots.txt names stand before everything else in LocalQ: what they list is known early then."""
        if not self._work.Sitemaps or not robots.sitemaps:
            return
        # The protocol asks for whole URLs; not every author has heard of that.
        for path in reversed(self._note_sitemaps(map(Joiner(f"{self.origin}/robots.txt").join, robots.sitemaps))):
            key = self._reader.is_new_path(path)
            if key is not None and self._known.is_whole and self._room.urls > 0:
                self._room.urls -= 1
                self._local_q.appendleft(DueUrl(key, path))
        self._local_q = deque(sorted(self._local_q, key=lambda url: url.path not in self._sitemaps))

    def _enqueue(self, found: list[tuple[int, str]], depth: int) -> None:
        """Internal links to LocalQ as far as there is room; the rest comes with a later visit."""
        limit = self._work.MaxDepth
        if not self._known.is_whole or self._work.Order != BREADTH_FIRST or (limit is not None and depth > limit):
            return
        count = min(len(found), self._room.urls, self._pages_left - len(self._local_q))
        if count > 0:
            self._room.urls -= count
            self._local_q.extend([DueUrl(key, path, depth) for key, path in found[:count]])

    def _redirect(self, item: DueUrl, result: DownloadResult, now: float) -> None:
        target = location(result, self.origin + item.path, self._canon)
        self._came_to_nothing(item)
        if not target or len(target) > self._work.MaxUrlLength:
            self._failure(item, result, BAD_REDIRECT, now)
            return
        refused: tuple[tuple[str, str], ...] = ()
        # One hop too many: the target is recorded with the redirect, and refused there.
        if item.hops < self._work.MaxRedirects and target.startswith(self.origin + "/"):
            path = target[len(self.origin) :]
            key = self._reader.is_new_path(path)
            if key is not None:
                reason = None if item.seed else self._gate.judge(path)
                if reason is not None:
                    refused = ((reason.word, path),)
                elif self._known.is_whole and self._room.urls > 0:
                    self._room.urls -= 1
                    self._local_q.append(DueUrl(key, path, item.depth, item.hops + 1, item.seed))
        self._scribe.page(item, result, now, redirect=target, refused=refused)

    def _failure(self, item: DueUrl, result: DownloadResult, failed: Failure, now: float) -> None:
        self._scribe.failure(item, result, failed, now)
        if failed.final:
            return
        self._faults += 1
        if self._faults >= _FAULTS_IN_A_ROW:
            self._spare_unreachable(Reason.UNREACHABLE_SITE, now)

    def _spare_unreachable(self, reason: Reason, now: float, cause: Reason | None = None) -> None:
        """Leave the site alone for a while that grows with every visit that ends like this."""
        self.spare(reason, self._schedule.spare_site(now, self.failures + 1, self.pair.site, cause))

    def spare(self, reason: Reason, until: float) -> None:
        """End the visit, and leave the site alone until then."""
        if self.spared_for is None:
            self.failures += 1
        if self.spared_for is None or reason is Reason.ASKED_TO_WAIT:
            self.spared_for = reason
        self.spared_until = max(self.spared_until, until)
        self.stop()

    def put_off(self, until: float) -> None:
        """End the visit without blame: its host or address is to be left alone until then."""
        self.spared_until = max(self.spared_until, until)
        self.stop()

    # --- robots.txt ----------------------------------------------------------------------------------------------------

    def _use_stored_robots(self, now: float) -> None:
        fact = self.pair.robots
        if fact is not None and fact.expires_at > now:
            self._obey(fact)

    def _obey(self, fact: RobotsFact) -> None:
        """Go by what is known of robots.txt, where it says whether anything may be asked for."""
        if fact.status in (RobotsStatus.FOUND, RobotsStatus.STALE) and fact.text:
            self._robots = Robots.parse(fact.text, self.settings.user_agent)
            if self._robots.crawl_delay is not None:
                self.pace.ask_for(min(self._robots.crawl_delay, self._work.MaxCrawlDelay))
            self._ask_for_sitemaps(self._robots)
        elif fact.status in (RobotsStatus.FOUND, RobotsStatus.ABSENT, RobotsStatus.STALE):
            self._robots = ALLOW_ALL
        self._robots_expire = fact.expires_at

    def _robots_answer(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        fact, target = read_robots(result, failed, self.origin + ask.path, now, self._work.RobotsTtl)
        if target and ask.hops >= _ROBOTS_HOPS:
            fact, target = RobotsFact(RobotsStatus.ABSENT, b"", now, now + self._work.RobotsTtl, "redirected too often"), ""
        if target.startswith(self.origin + "/"):
            self.ready = Ask(AskKind.ROBOTS, target[len(self.origin) :], hops=ask.hops + 1)
            return
        if fact.status in (RobotsStatus.ERROR, RobotsStatus.UNREACHABLE):
            fact = stale_robots(fact, self.pair.robots, self._work)
        self._obey(fact)
        self._scribe.robots(self._with_delay(fact), target)
        if self._robots is not None:
            return
        if fact.status is not RobotsStatus.AWAITED:
            cause = failed or failure(result)
            self._robots_failure(fact, None if cause is None else cause.reason, now)
        self.stop()

    def _with_delay(self, fact: RobotsFact) -> RobotsFact:
        if not fact.text:
            return fact
        return msgspec.structs.replace(fact, delay=Robots.parse(fact.text, self.settings.user_agent).crawl_delay or 0.0)

    def _robots_failure(self, fact: RobotsFact, cause: Reason | None, now: float) -> None:
        """RFC 9309, section 2.3.1.4: nothing is fetched. A network error blanks the address (statement P17).

        When it is tried again depends on why it failed, as with every URL.
        """
        network = fact.status is RobotsStatus.UNREACHABLE
        reason = Reason.ROBOTS_UNREACHABLE if network else Reason.ROBOTS_ERROR
        if self._local_q:  # Empty when the run is being stopped.
            self._room.urls += 1
            self._scribe.no_robots(self._local_q.popleft(), reason, cause, fact.detail, network, now)
        self._spare_unreachable(reason, now, cause)

    def _errand_answer(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        errand = ask.errand
        assert errand is not None  # noqa: S101 - every errand ask has its errand
        fact, target = read_robots(result, failed, self.origin + ask.path, now, self._work.RobotsTtl)
        self._scribe.errand(errand, self._with_delay(fact), target)
