"""One visit to one site, from its pair to its last record.

Its agenda says what is asked next; `answered` takes what came back, `emit` takes the records. It holds no connection and no
clock.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import Event, Reason
from parcahyd.core.messages import BufferRecord
from parcahyd.core.ports import DownloadFault, DownloadResult
from parcahyd.core.records import Assignment, DueUrl, RobotsFact, RobotsStatus
from parcahyd.pipeline.crawl_worker.agenda import Agenda
from parcahyd.pipeline.crawl_worker.answers import location, validating
from parcahyd.pipeline.crawl_worker.asks import Ask, AskKind
from parcahyd.pipeline.crawl_worker.documents import (
    Aside,
    DocumentReader,
    Page,
    Parts,
    Reading,
    is_sitemap,
    wish_not_to_be_kept,
)
from parcahyd.pipeline.crawl_worker.gate import Gate
from parcahyd.pipeline.crawl_worker.hints import Hints
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.reading import LinkReader, NewLinks
from parcahyd.pipeline.crawl_worker.respite import Respite
from parcahyd.pipeline.crawl_worker.scribe import Scribe
from parcahyd.pipeline.crawl_worker.site_robots import SiteRobots
from parcahyd.pipeline.crawl_worker.sitemap_paths import SITEMAP_LEVELS, SitemapPaths
from parcahyd.pipeline.crawl_worker.tables import Tables
from parcahyd.refresh.schedule import Schedule
from parcahyd.rules.accepted_types import AcceptedTypes
from parcahyd.rules.canonical_url import Joiner
from parcahyd.rules.directives import Directive
from parcahyd.rules.host_rules import HostSettings, without_secrets
from parcahyd.rules.orders import BREADTH_FIRST
from parcahyd.rules.parameters import Canon
from parcahyd.rules.politeness import Pace
from parcahyd.rules.retries import BAD_REDIRECT, REDIRECTS, Failure, failure
from parcahyd.rules.robots import Robots

if TYPE_CHECKING:
    from parcahyd.pipeline.crawl_worker.fragments import Fragments
    from parcahyd.pipeline.crawl_worker.table_links import Told

__all__ = ["Visit"]

_NO_LINKS = NewLinks([], [], [])
_NO_PARTS = Parts()
_UNASKED_304 = Failure(Reason.PROTOCOL, Event.FAILURE)
_FAULT = Failure(Reason.FAULT, Event.FAILURE)
_FOREIGN_PEER = Failure(Reason.PEER, Event.FAILURE)


class Visit:
    """The state of one visit."""

    def __init__(
        self,
        assignment: Assignment,
        work: WorkConf,
        settings: HostSettings,
        room: Room,
        documents: DocumentReader,
        emit: Callable[[BufferRecord], None],
        aside: Aside,
        is_short: Callable[[], bool],
        now: float,
    ) -> None:
        """`is_short` says whether there is no room now for requests that can be done without."""
        pair = assignment.pair
        self.assignment = assignment
        self.pair = pair
        self.host = pair.host
        self.address = assignment.address
        self.origin = pair.origin
        self.being_read = 0
        """Documents that are read beside the event loop."""
        self.pages = 0
        self.respite = Respite(pair, work)
        self.settings = settings
        self.pace = Pace(settings.delay, work.DelayFactor, work.MaxHostDelay)
        self._work = work
        self._documents = documents
        self._aside = aside
        self._sitemaps = SitemapPaths(self.origin)
        self._scribe = Scribe(assignment, work, emit)
        self._known = KnownUrls(pair.known, pair.whole, room)
        for url in pair.urls:
            self._known.add(url.key)
        self._gate = Gate(pair, work, room.facts, now)
        self._canon = Canon.of(work)
        self.tables = Tables(pair, work, self._canon, partial(documents.lets_follow, settings.user_agent))
        self._accepted = AcceptedTypes(work.MediaTypes)
        self._reader = LinkReader(self.origin, self._known, room, work.MaxUrlLength, self._gate.judge, self._canon)
        self._is_short = is_short
        self._fragments: Fragments | None = None
        self._is_stopped = False
        self._robots = SiteRobots(pair, work, settings, self.pace, self._scribe)
        self.agenda = Agenda(
            pair,
            assignment.pages,
            room,
            self._gate,
            self._robots,
            self.tables,
            self._with_fragments,
            self._scribe,
            Schedule(work),
            self.pace,
            connections=settings.connections,
            in_order=work.MaxDepth is not None,
            now=now,
        )
        self._local_q = self.agenda.local_q
        self._hints = Hints(self.tables, self._known, room, self._local_q, self._gate.judge, self._scribe, work)
        self._reader.hinted = self._hints.keys
        if self._robots.use_stored(now):
            self._begin(now)

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
        return not self.agenda.on_the_wire and not self.being_read and self.agenda.ready is None

    @property
    def known_addresses(self) -> tuple[str, ...]:
        """The host's addresses for the next visit, the one that answered first; none where it is to be resolved again."""
        addresses = self.assignment.addresses
        if self._scribe.address_blanked:
            return ()
        if self.respite.failures or addresses[0] == self.address:
            return addresses
        return (self.address, *(address for address in addresses if address != self.address))

    @property
    def guards(self) -> bytes:
        """What the trap guards are to be told in the site's next visit."""
        return self._gate.encode()

    def stop(self) -> None:
        """Ask for nothing more."""
        self._is_stopped = True
        dropped = self.agenda.clear()
        if self._fragments is not None:
            for page in self._fragments.close(dropped):
                self._store_at_last(page)

    def _store_at_last(self, page: Page) -> None:
        try:
            self._store(*page)
        except Exception as error:  # As with answers: one bad document never stops a crawl.
            self._scribe.failure(page.item, DownloadResult(detail=f"{type(error).__name__}: {error}"), _FAULT, page.at)

    def close(self) -> None:
        self.stop()
        self._known.forget()
        self._reader.forget()
        self._gate.forget()
        self._hints.forget()
        offer = self.tables.encode()
        if offer:
            self._scribe.offer(offer)

    def headers(self, ask: Ask) -> tuple[tuple[str, str], ...]:
        """Those of every request to this host, with the stored document's validators where there are any."""
        if ask.table is not None:
            return without_secrets(self.settings).headers
        if ask.kind is AskKind.FRAGMENT:
            return (*without_secrets(self.settings).headers, *self._with_fragments().validators(ask))
        item, headers = ask.item, self.settings.headers
        if item is None or ask.is_whole or not (item.etag or item.modified):
            return headers
        return (*headers, *validating(item.etag, item.modified))

    def refuse_all(self, reason: Reason, detail: str, now: float) -> None:
        """Nothing of this site may be asked for: record it for every URL of the pair, and tell who waits for its robots.txt."""
        while self._local_q:
            self._scribe.refusal(self._local_q.pop(), reason, now, detail=detail)
        for errand in self.pair.errands:
            self._scribe.errand(errand, RobotsFact(RobotsStatus.UNREACHABLE, b"", now, now, detail), "")

    # --- what came back ------------------------------------------------------------------------------------------------

    def answered(self, ask: Ask, result: DownloadResult, foreign_peer: bool, now: float) -> None:
        """Turn an answer into records."""
        self.agenda.on_the_wire -= 1
        if self.tables.is_active or ask.kind is AskKind.ROBOTS:
            self.tables.heard(ask, result)
        if result.fault is DownloadFault.CANCELLED:
            if ask.kind is AskKind.FRAGMENT:
                self._fragment_answer(ask, result, None, now)
            elif ask.item is not None:
                self.agenda.came_to_nothing(ask.item)
            return
        if result.fault is not None and self._is_nobody_home(result):
            self._try_next_address(now)
            return
        failed = _FOREIGN_PEER if foreign_peer else None
        if result.fault is None and not foreign_peer:
            self.respite.answered(with_page=ask.kind is AskKind.PAGE and result.status < 400)
        self._take(ask, result, failed, now)
        if failed is None and self.respite.heed(result, now):
            self.stop()

    def _is_nobody_home(self, result: DownloadResult) -> bool:
        """Whether the visit's first request found nobody, and the host has an address whose turn has not come yet."""
        if self.agenda.requests != 1 or self.respite.failures + 1 >= len(self.assignment.addresses):
            return False
        return result.fault is DownloadFault.CONNECT or (result.fault is DownloadFault.TIMEOUT and not result.peer)

    def _try_next_address(self, now: float) -> None:
        """Hand the site back, for a visit to the host's next address; after the last of them it is the site that failed."""
        self.respite.failures += 1
        self.put_off(now + self.pace.delay)

    def stumbled(self, ask: Ask, error: Exception, now: float) -> str:
        """This program failed on an answer: the URL fails, the visit goes on, and a sentence says what happened."""
        sentence = f"{type(error).__name__} on {self.origin}{ask.path}: {error}"
        self._take(ask, DownloadResult(detail=sentence), _FAULT, now)
        return sentence

    def _take(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        if ask.kind is AskKind.PAGE:
            self._page(ask, result, failed, now)
        elif ask.kind is AskKind.FRAGMENT:
            self._fragment_answer(ask, result, failed or failure(result), now)
        elif ask.kind is AskKind.TABLE:
            self._table_answer(ask, result, failed, now)
        elif ask.kind is AskKind.ROBOTS:
            self._robots_answer(ask, result, failed, now)
        else:
            self._robots.errand_answered(ask, result, failed, now)

    def _page(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        item = ask.item
        assert item is not None  # noqa: S101 - every page ask has its item
        failed = failed or failure(result)
        if failed is None:
            if result.status in REDIRECTS:
                if self._fragments is not None:
                    self._fragments.forget(item)
                self._redirect(item, result, now)
                return
            if result.status != 304:
                self.pages += 1
                self._document(item, result, now)
                return
            if (item.etag or item.modified) and not ask.is_whole:
                self.pages += 1
                facts = (None, False) if self._fragments is None else self._fragments.unchanged(item, now)
                self._scribe.unchanged(item, result, now, *facts)
                return
            failed = _UNASKED_304
        if self._fragments is not None:
            self._fragments.forget(item)
        self.agenda.came_to_nothing(item)
        if failed.event is Event.MISSING and result.body:
            self._gate.observe(item.path, result.body, result.status)
        self._failure(item, result, failed, now)

    def _document(self, item: DueUrl, result: DownloadResult, now: float) -> None:
        media_type, charset = self._documents.recognise(result.header("content-type"), result.body)
        if not self._accepted.admits(media_type):
            self._gate.came_to_nothing(item)
            self._scribe.refusal(item, Reason.MEDIA_TYPE, now, detail=media_type)
            return
        documents, body = self._documents, result.body
        self._gate.came(item)
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
        try:
            self._keep(item, result, media_type, reading, now)
        except Exception as fault:  # As with answers: a URL that is not recorded would be asked for again and again.
            return self.stumbled(Ask(AskKind.PAGE, item.path, item), fault, now)
        return ""

    def _keep(self, item: DueUrl, result: DownloadResult, media_type: str, reading: Reading, now: float) -> None:
        """A document was read: it is stored, or waits for its table."""
        links = reading.links
        asked = self._documents.heed(links, result.headers, self.origin + item.path, self.settings.user_agent, now)
        if links is not None and (links.tables or self.tables.expects):
            self._hints.document_came(item, links, now)
        parts = _NO_PARTS
        if self.tables.has_offers or self._fragments is not None:
            page = Page(item, result, media_type, reading, asked, now)
            table = self._with_fragments().wait(page, now)
            if table is not None:
                self.agenda.ask_next(table)
                return
            parts = self._with_fragments().parts(page, now)
        self._store(item, result, media_type, reading, asked, now, parts)

    def _store(
        self,
        item: DueUrl,
        result: DownloadResult,
        media_type: str,
        reading: Reading,
        asked: Directive,
        now: float,
        parts: Parts = _NO_PARTS,
    ) -> None:
        """Take the links of a document, and give its record away."""
        url, links = self.origin + item.path, reading.links
        new = _NO_LINKS
        # An index may name indexes without end: those that are this far from robots.txt lead no further.
        is_followed = not reading.sitemaps or item.depth + 1 < SITEMAP_LEVELS
        if links is not None and is_followed and not (asked and asked & Directive.NOFOLLOW):
            found = links
            if parts.before is not None:
                found = self._documents.newer_links(links, parts.before, media_type, reading.charset)
            new = self._reader.read(url, found, self._work.Embedded)
            self._enqueue(self._hints.without(new.internal), item.depth + 1)
        if reading.sitemaps and is_followed:
            self._sitemaps.note(Joiner(url).join(location) for location in reading.sitemaps)
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
            parts=parts,
        )
        for member in reading.members:
            if not member.skipped:
                self._scribe.member(item, member, *self._documents.recognise("", member.body), now)

    def _ask_for_sitemaps(self, robots: Robots) -> None:
        """The sitemaps that robots.txt names stand before everything else in LocalQ: what they list is known early then."""
        # The protocol asks for whole URLs; not every author has heard of that.
        for path in reversed(self._sitemaps.note(map(Joiner(f"{self.origin}/robots.txt").join, robots.sitemaps))):
            key = self._reader.is_new_path(path)
            if key is not None and self._known.is_whole:
                self._local_q.put(DueUrl(key, path), first=True)
        self._local_q.sort(lambda url: url.path not in self._sitemaps)

    def _enqueue(self, found: list[tuple[int, str]], depth: int) -> None:
        """Internal links to LocalQ as far as there is room; the rest comes with a later visit."""
        limit = self._work.MaxDepth
        if not self._known.is_whole or self._work.Order != BREADTH_FIRST or (limit is not None and depth > limit):
            return
        self._local_q.extend(found, depth, self.agenda.pages_left - len(self._local_q))

    def _redirect(self, item: DueUrl, result: DownloadResult, now: float) -> None:
        target = location(result, self.origin + item.path, self._canon)
        self.agenda.came_to_nothing(item)
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
                elif self._known.is_whole:
                    self._local_q.put(DueUrl(key, path, item.depth, item.hops + 1, item.seed))
        self._scribe.page(item, result, now, redirect=target, refused=refused)

    def _failure(self, item: DueUrl, result: DownloadResult, failed: Failure, now: float) -> None:
        self._scribe.failure(item, result, failed, now)
        if not failed.final and self.respite.fault(now):
            self.stop()

    def put_off(self, until: float) -> None:
        """End the visit without blame: its host or address is to be left alone until then."""
        self.respite.extend(until)
        self.stop()

    # --- tables --------------------------------------------------------------------------------------------------------

    def _table_answer(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        reader = self.tables.answered(ask, result, failed is not None, now)
        if reader is not None and reader.is_long:
            self.being_read += 1
            self._aside(reader.read_aside, partial(self._table_was_read, ask))
        elif reader is not None:
            self._take_hints(ask, reader.read(), now)

    def _table_was_read(self, ask: Ask, reading: Reading | None, error: Exception | None, now: float) -> str:
        self.being_read -= 1
        if reading is None or reading.told is None:
            return self.stumbled(ask, error or Exception("nothing was read"), now)
        self._take_hints(ask, reading.told, now)
        return ""

    def _take_hints(self, ask: Ask, told: Told, now: float) -> None:
        self._hints.table_came(ask, told, self.agenda.pages, self.agenda.pages_left, now)

    # --- tables of variable information -------------------------------------------------------------------------------

    def _with_fragments(self) -> Fragments:
        """Made when it is first needed: nearly all sites have no tables."""
        if self._fragments is None:
            from parcahyd.pipeline.crawl_worker.fragments import Fragments

            self._fragments = Fragments(self.origin, self.tables, self._work.MaxBytes, self._allows, self._is_short)
            if self._is_stopped:
                self._fragments.close(())
        return self._fragments

    def _allows(self, path: str) -> bool:
        rules = self._robots.rules
        return rules is not None and rules.allows(self.origin + path)

    def _fragment_answer(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        item = ask.item
        assert item is not None  # noqa: S101 - every ask for a table has its document's item
        step = self._with_fragments().answered(ask, result, failed, now)
        if step.page is not None:
            self._store(*step.page, step.parts)
        elif step.ask is not None and not self._is_stopped:
            self.agenda.ask_next(step.ask)
        elif step.document is not None:
            self.pages += 1
            self._document(item, step.document, now)
        elif step.is_fresh:
            self.pages += 1
            self._scribe.fresh(item, step.table, step.etag, step.modified, now)
        else:
            self.agenda.came_to_nothing(item)
            if step.failed is not None:
                self._failure(item, result, step.failed, now)

    # --- robots.txt ----------------------------------------------------------------------------------------------------

    def _robots_answer(self, ask: Ask, result: DownloadResult, failed: Failure | None, now: float) -> None:
        moved_to = self._robots.answered(ask, result, failed, now)
        if moved_to:
            if not self._is_stopped:
                self.agenda.ready = Ask(AskKind.ROBOTS, moved_to, hops=ask.hops + 1)
        elif self._robots.rules is not None:
            self._begin(now)
        else:
            self._robots.fail(self._local_q, self.respite, now)
            self.stop()

    def _begin(self, now: float) -> None:
        """Pages may be asked for now."""
        rules = self._robots.rules
        assert rules is not None  # noqa: S101 - that is why
        if rules.sitemaps and self._work.Sitemaps:
            self._ask_for_sitemaps(rules)
        self.tables.begin(self._robots.text, rules.allows, now)
