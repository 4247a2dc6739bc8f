"""One visit to one site, from its lease to its last record.

`NextRequest` plans the requests, `answered` handles the answers, and records go to `emit`. All that concerns tables is behind
`augmented.site`. A visit has no connection and no clock of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from parcahyd.config.schema import WorkConf
from parcahyd.core.messages import BufferRecord
from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.core.records import Assignment, DueUrl, Pause, RobotsFact, RobotsStatus, VisitOver
from parcahyd.core.states import Event, Reason
from parcahyd.pipeline.crawl_worker.augmented.site import AugmentedSite, PlainSite, Site, may_be_augmented
from parcahyd.pipeline.crawl_worker.backoff import SiteBackoff
from parcahyd.pipeline.crawl_worker.document_reader import DocumentReader, ReadDocument, is_sitemap
from parcahyd.pipeline.crawl_worker.exchange_facts import request_lines
from parcahyd.pipeline.crawl_worker.known_urls import SITEMAP_LEVELS, KnownUrls, LaterUrls, Room, SitemapPaths
from parcahyd.pipeline.crawl_worker.link_budget import LinkBudget
from parcahyd.pipeline.crawl_worker.new_links import NOT_TOLD, NewLinkFinder, NewLinks, linked
from parcahyd.pipeline.crawl_worker.next_request import NextRequest
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest, RequestKind, redirect_target
from parcahyd.pipeline.crawl_worker.record_writer import RecordWriter
from parcahyd.pipeline.crawl_worker.site_robots import SiteRobots
from parcahyd.pipeline.crawl_worker.url_filter import UrlFilter
from parcahyd.pipeline.crawl_worker.watch import Watch
from parcahyd.refresh.schedule import Schedule
from parcahyd.rules.html.links import PageLinks
from parcahyd.rules.media_types.media_type import AcceptedTypes
from parcahyd.rules.politeness.backoff import BAD_REDIRECT, REDIRECTS, Failure, failure
from parcahyd.rules.politeness.rate_limit import Pace
from parcahyd.rules.politeness.validators import conditional_headers
from parcahyd.rules.robots.directives import Directive
from parcahyd.rules.robots.robots_file import Robots
from parcahyd.rules.urls.canonical_url import Joiner
from parcahyd.rules.urls.host_rules import HostSettings, without_secrets
from parcahyd.rules.urls.orders import BREADTH_FIRST, PAGE_RANK
from parcahyd.rules.urls.parameters import Canon
from parcahyd.topics.focus import Turn

__all__ = ["ThreadCallback", "Visit"]

ThreadCallback = Callable[[Any, Exception | None, float], str]
"""Takes the result of a function that ran in a thread, or its error, and the time; returns a sentence about a failure, or
nothing."""

_NO_LINKS = NewLinks([], [], [])
_UNASKED_304 = Failure(Reason.PROTOCOL, Event.FAILURE)
_TOO_LATE = frozenset((DownloadFailure.TIMEOUT, DownloadFailure.GAVE_WAY))
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
        *,
        emit: Callable[[BufferRecord], None],
        in_thread: Callable[[Visit, Callable[[], Any], ThreadCallback], None],
        is_busy: Callable[[], bool],
        now: float,
    ) -> None:
        """`is_busy` says whether requests that are not necessary would keep pages waiting."""
        lease = assignment.lease
        self.assignment = assignment
        self.lease = lease
        self.host = lease.host
        self.address = assignment.address
        self.origin = lease.origin
        self.in_threads = 0
        """Documents and tables of this visit that are being read in a thread."""
        self.watch: Watch | None = None
        """Reports each request, where a worker died during a visit to this site."""
        self.is_alone = lease.has_suspects
        """One request at a time, its document read before the next: if the worker dies again, it is known with which one."""
        self.pages = 0
        self.backoff = SiteBackoff(lease, work)
        self.settings = settings
        self.pace = Pace(settings.delay, work.DelayFactor, work.MaxHostDelay)
        self._work = work
        self._room = room
        self._documents = documents
        self._in_thread = in_thread
        self._is_busy = is_busy
        self._sitemaps = SitemapPaths(self.origin)
        budget = LinkBudget(lease, work)
        self._writer = RecordWriter(assignment, work, emit, budget, request_lines(without_secrets(settings).headers))
        self._known = KnownUrls(lease.known, lease.has_all_keys, room)
        for url in lease.urls:
            if not (url.is_later and work.FollowTopics):
                self._known.add(url.key)
        self._url_filter = UrlFilter(lease, work, room.facts, now)
        self._canon = Canon.of(work)
        self._accepted = AcceptedTypes(work.MediaTypes)
        self._new_links = NewLinkFinder(
            self.origin, self._known, room, work.MaxUrlLength, self._url_filter.judge, self._canon, budget
        )
        self._later_links = self._new_links
        self._is_stopped = False
        self._robots = SiteRobots(lease, work, settings, self.pace, self._writer)
        self._augmented: Site = PlainSite(lease.scheme, self._augment)
        self.next_request = NextRequest(
            lease,
            assignment.pages,
            room,
            self._url_filter,
            self._robots,
            self._augmented,
            self._writer,
            Schedule(work),
            in_order=work.MaxDepth is not None,
            by_rank=work.Order == PAGE_RANK,
            now=now,
        )
        self._local_q = self.next_request.local_q
        self._local_q.later_taken = self._known.add
        if work.FollowTopics:
            later = LaterUrls(self._known, room)
            judge = self._url_filter.judge
            self._later_links = NewLinkFinder(self.origin, later, room, work.MaxUrlLength, judge, self._canon, budget)
        if self._robots.use_stored(now):
            self._begin(now)

    # --- what to request -----------------------------------------------------------------------------------------------

    @property
    def host_rule(self) -> tuple[float, int]:
        """The delay of its host, and how many requests may be under way there at once."""
        return self.pace.delay, self.settings.connections

    @property
    def waiting(self) -> int:
        return len(self._local_q)

    @property
    def is_over(self) -> bool:
        """Nothing is under way or being read, and nothing is left that this visit may request."""
        return not self.next_request.on_the_wire and not self.in_threads and self.next_request.ready is None

    @property
    def known_addresses(self) -> tuple[str, ...]:
        """The host's addresses for the next visit, the one that answered first; empty if the host is to be resolved again."""
        addresses = self.assignment.addresses
        if self._writer.address_blanked:
            return ()
        if self.backoff.failures or addresses[0] == self.address:
            return addresses
        return (self.address, *(address for address in addresses if address != self.address))

    @property
    def guards(self) -> bytes:
        """The state of the trap guards, for the next visit to the site."""
        return self._url_filter.encode()

    def stop(self) -> None:
        """Request nothing more."""
        self._is_stopped = True
        for document in self._augmented.stop(self.next_request.clear()):
            self._store_at_last(document)

    def _store_at_last(self, document: ReadDocument) -> None:
        try:
            self._store(document)
        except Exception as error:  # As with answers: one bad document never stops a crawl.
            detail = f"{type(error).__name__}: {error}"
            self._writer.failure(document.item, DownloadResult(detail=detail), _FAULT, document.at)

    def close(self) -> None:
        self.stop()
        self._known.forget()
        self._new_links.forget()
        self._later_links.forget()
        self._url_filter.forget()
        self._augmented.close()

    def put_off(self, until: float) -> None:
        """End the visit: its host or address is left alone until then. This is no failure of the site."""
        self.backoff.extend(until)
        self.stop()

    def last_record(self, now: float, pauses: tuple[Pause, Pause], rests_until: float) -> VisitOver:
        """What the visit leaves; `pauses` are those of its host and of its address."""
        received, saved = self._writer.take_counts()
        return VisitOver(
            visit=self.lease.visit,
            site=self.lease.site,
            at=now,
            not_before=max(pauses[0].not_before, self.backoff.until),
            pauses=pauses,
            addresses=self.known_addresses,
            addresses_expire=self.assignment.addresses_expire,
            failures=self.backoff.failures,
            pages=self.pages,
            requests=self.next_request.requests,
            reason=self.backoff.word,
            guards=self.guards,
            rests_until=rests_until,
            received=received,
            saved=saved,
        )

    def headers(self, request: PlannedRequest) -> tuple[tuple[str, str], ...]:
        """The headers of a request: those of every request to this host, and the validators of the stored document."""
        if request.is_for_table:
            return (*without_secrets(self.settings).headers, *request.validators)
        item, headers = request.item, self.settings.headers
        if item is None or request.is_unconditional or not (item.etag or item.modified):
            return headers
        return (*headers, *conditional_headers(item.etag, item.modified))

    def refuse_all(self, reason: Reason, detail: str, now: float) -> None:
        """Refuse every URL of the lease, and answer the sites whose robots.txt redirects to a file of this site."""
        while self._local_q:
            self._writer.refusal(self._local_q.pop(), reason, now, detail=detail)
        for redirect in self.lease.robots_redirects:
            self._writer.robots_redirect(redirect, RobotsFact(RobotsStatus.UNREACHABLE, b"", now, now, detail), "")

    # --- answers -------------------------------------------------------------------------------------------------------

    def answered(self, request: PlannedRequest, result: DownloadResult, is_foreign_peer: bool, now: float) -> None:
        """Turn an answer into records."""
        self.next_request.on_the_wire -= 1
        self._writer.count(result)
        self._augmented.request_ended(request, result)
        if result.failure is DownloadFailure.CANCELLED:
            if request.kind is RequestKind.TVI:
                self._table_answer(request, result, None, now)
            elif request.item is not None:
                self.next_request.gave_no_page(request.item)
            return
        if result.failure is not None and self._may_try_next_address(result):
            # The next visit tries the next address; after the last one the failure is the site's.
            self.backoff.failures += 1
            self.put_off(now + self.pace.delay)
            return
        failed = _FOREIGN_PEER if is_foreign_peer else None
        if result.failure is None and not is_foreign_peer:
            self.backoff.answered(with_page=request.kind is RequestKind.PAGE and result.status < 400)
        self._handle(request, result, failed, now)
        if result.failure is DownloadFailure.GAVE_WAY:
            if self.backoff.reason is None:  # A robots.txt that did not come has its own.
                self.backoff.back_off(Reason.GAVE_WAY, now)
            self.stop()
        if failed is None and self.backoff.obey(result, now):
            self.stop()

    def _may_try_next_address(self, result: DownloadResult) -> bool:
        """Whether the visit's first request got no connection, and the host has an address that was not tried yet."""
        if self.next_request.requests != 1 or self.backoff.failures + 1 >= len(self.assignment.addresses):
            return False
        return result.failure is DownloadFailure.CONNECT or (result.failure in _TOO_LATE and not result.peer)

    def handle_error(self, request: PlannedRequest, error: Exception, now: float) -> str:
        """An error was raised while an answer was handled: record a failure of its URL; returns a sentence about the error."""
        sentence = f"{type(error).__name__} on {self.origin}{request.path}: {error}"
        self._handle(request, DownloadResult(detail=sentence), _FAULT, now)
        return sentence

    def _handle(self, request: PlannedRequest, result: DownloadResult, failed: Failure | None, now: float) -> None:
        kind = request.kind
        if kind is RequestKind.PAGE:
            self._page_answer(request, result, failed, now)
        elif kind is RequestKind.ROBOTS:
            self._robots_answer(request, result, failed, now)
        elif kind is RequestKind.ROBOTS_REDIRECT:
            self._robots.redirect_answered(request, result, failed, now)
        else:
            self._table_answer(request, result, failed, now)

    def _page_answer(self, request: PlannedRequest, result: DownloadResult, failed: Failure | None, now: float) -> None:
        item = request.item
        assert item is not None  # noqa: S101 - every request of a page has its item
        failed = failed or failure(result)
        if failed is None:
            if result.status in REDIRECTS:
                self._redirect(item, result, now)
                return
            if result.status != 304:
                self._document(item, result, now)
                return
            if conditional_headers(item.etag, item.modified) and not request.is_unconditional:
                self.pages += 1
                self._writer.unchanged(item, result, now, *self._augmented.document_unchanged(item, now))
                return
            failed = _UNASKED_304
        self.next_request.gave_no_page(item)
        if failed.event is Event.MISSING and result.body:
            self._url_filter.observe(item.path, result.body, result.status)
        self._failure(item, result, failed, now)

    def _redirect(self, item: DueUrl, result: DownloadResult, now: float) -> None:
        target = redirect_target(result, self.origin + item.path, self._canon)
        self.next_request.gave_no_page(item)
        if not target or len(target) > self._work.MaxUrlLength:
            self._failure(item, result, BAD_REDIRECT, now)
            return
        refused: tuple[tuple[str, str], ...] = ()
        # After too many hops the target is only recorded with the redirect, and refused in the database.
        if item.hops < self._work.MaxRedirects and target.startswith(self.origin + "/"):
            path = target[len(self.origin) :]
            key = self._new_links.is_new_path(path)
            if key is not None:
                reason = None if item.seed else self._url_filter.judge(path)
                if reason is not None:
                    refused = ((reason.word, path),)
                elif self._known.is_complete:
                    self._local_q.put(DueUrl(key, path, item.depth, item.hops + 1, item.seed))
        self._writer.redirect(item, result, target, refused, now)

    def _failure(self, item: DueUrl, result: DownloadResult, failed: Failure, now: float) -> None:
        self._writer.failure(item, result, failed, now)
        if not failed.final and self.backoff.request_failed(now):
            self.stop()

    # --- documents -----------------------------------------------------------------------------------------------------

    def _document(self, item: DueUrl, result: DownloadResult, now: float) -> None:
        documents, body = self._documents, result.body
        media_type, charset = documents.recognise(result.header("content-type"), body)
        if not self._accepted.admits(media_type):
            self.next_request.gave_no_page(item)
            self._writer.refusal(item, Reason.MEDIA_TYPE, now, detail=media_type)
            return
        self.pages += 1
        self._url_filter.gave_page(item)
        self._url_filter.observe(item.path, body, result.status)
        document = ReadDocument(item, result, media_type, charset, now)
        if documents.is_quick(media_type):
            documents.read_html(document)
            self._was_read(document)
            return
        as_sitemap = item.path in self._sitemaps or is_sitemap(item.path, media_type)
        if documents.is_read(media_type, as_sitemap):
            if documents.is_slow(media_type, len(body)):
                read = partial(documents.read, document, self.origin + item.path, as_sitemap)
                self._in_thread(self, read, partial(self._was_read_in_thread, document))
                return
            documents.read(document, self.origin + item.path, as_sitemap)
        self._was_read(document)

    def _was_read_in_thread(self, document: ReadDocument, _: None, error: Exception | None, now: float) -> str:
        document.at = now
        if error is None:
            try:
                self._was_read(document)
            except Exception as raised:  # A URL that is not recorded would be requested again and again.
                error = raised
        if error is None:
            return ""
        return self.handle_error(PlannedRequest(RequestKind.PAGE, document.item.path, document.item), error, now)

    def _was_read(self, document: ReadDocument) -> None:
        """A document was read: store it, or let it wait for its table."""
        url, agent = self.origin + document.item.path, self.settings.user_agent
        document.directives = self._documents.directives_of(document.links, document.result.headers, url, agent, document.at)
        table = self._augmented.document_received(document)
        if table is None:
            self._store(document)
        else:
            self.next_request.put_first(table)

    def _store(self, document: ReadDocument) -> None:
        """Queue the new links of a document, and record the document."""
        item, links = document.item, document.links
        url, new = self.origin + item.path, _NO_LINKS
        self._documents.label(document)
        turn = self._documents.focus.turn_of(document.topic, item.seed)
        # Indexes may name indexes without end: at this depth their links are not followed.
        is_followed = not document.sitemaps or item.depth + 1 < SITEMAP_LEVELS
        if links is not None and is_followed:
            asks_nofollow = bool(document.directives and document.directives & Directive.NOFOLLOW)
            new = NewLinks([], [], []) if asks_nofollow else self._links_to_follow(url, document, links, turn)
            self._new_links.add_nofollow(url, links, new, asks_nofollow, self._documents.obeys_nofollow)
            self._enqueue(new.internal, item.depth + 1, turn is Turn.LATER)
        if document.sitemaps and is_followed:
            self._sitemaps.note(Joiner(url).join(location) for location in document.sitemaps)
        table = links.table if links is not None and self._work.KeepLinks else b""
        others = NOT_TOLD
        if self._work.Order == PAGE_RANK and links is not None:
            others = linked(self.origin, url, links, new, self._work.MaxUrlLength, self._canon)
        self._writer.page(document, new, table, turn is Turn.LATER, others)
        for member in document.members:
            if not member.skipped:
                self._writer.member(item, member, *self._documents.recognise("", member.body), document.at)

    def _links_to_follow(self, url: str, document: ReadDocument, links: PageLinks, turn: Turn) -> NewLinks:
        if turn is Turn.NEVER:
            return self._new_links.refuse_all(url, links, Reason.TOPIC)
        before = document.parts.before
        found = links if before is None else self._documents.newer_links(document, links, before)
        finder = self._later_links if turn is Turn.LATER else self._new_links
        return finder.find(url, found, self._work.Embedded, not document.item.has_page)

    def _enqueue(self, found: list[tuple[int, str]], depth: int, is_later: bool) -> None:
        """Put internal links into LocalQ as far as there is room; a later visit gets the others."""
        limit = self._work.MaxDepth
        if not self._known.is_complete or self._work.Order != BREADTH_FIRST or (limit is not None and depth > limit):
            return
        early = self._augmented.early_keys
        if early:
            found = [link for link in found if link[0] not in early]  # They are or were in LocalQ.
        waiting = len(self._local_q) if is_later else self._local_q.in_order
        self._local_q.extend(found, depth, self.next_request.pages_left - waiting, is_later)

    # --- tables --------------------------------------------------------------------------------------------------------

    def _augment(self, now: float) -> AugmentedSite:
        """The site offers tables: use an `AugmentedSite` from now on."""
        site = AugmentedSite(
            self.lease,
            self._work,
            self._canon,
            self._robots,
            self.pace,
            self.settings.connections,
            self._known,
            self._room,
            self.next_request,
            self._writer,
            judge=self._url_filter.judge,
            may_follow=partial(self._documents.lets_follow, self.settings.user_agent),
            is_busy=self._is_busy,
            in_thread=partial(self._in_thread, self),
            now=now,
        )
        if self._is_stopped:
            site.stop(())
        self._augmented = self.next_request.augmented = site
        self._new_links.early_keys = self._later_links.early_keys = site.early_keys
        return site

    def _table_answer(self, request: PlannedRequest, result: DownloadResult, failed: Failure | None, now: float) -> None:
        """Do what the answer to the request of a table leads to."""
        step = self._augmented.table_received(request, result, failed, now)
        item = request.item
        if item is None:
            return  # A table of links stands for no page.
        if step.document is not None:
            self._store(step.document)
        elif step.request is not None and not self._is_stopped:
            self.next_request.put_first(step.request)
        elif step.result is not None:
            self._document(item, step.result, now)
        elif step.is_fresh:
            self.pages += 1
            self._writer.fresh(item, step.table, step.etag, step.modified, now)
        else:
            self.next_request.gave_no_page(item)
            if step.failed is not None:
                self._failure(item, result, step.failed, now)

    # --- robots.txt ----------------------------------------------------------------------------------------------------

    def _robots_answer(self, request: PlannedRequest, result: DownloadResult, failed: Failure | None, now: float) -> None:
        moved_to = self._robots.answered(request, result, failed, now)
        if moved_to:
            if not self._is_stopped:
                self.next_request.ready = PlannedRequest(RequestKind.ROBOTS, moved_to, hops=request.hops + 1)
        elif self._robots.rules is not None:
            self._begin(now)
        else:
            self._robots.record_failure(self._local_q, self.backoff, now)
            self.stop()

    def _begin(self, now: float) -> None:
        """Pages may be requested now."""
        rules = self._robots.rules
        assert rules is not None  # noqa: S101 - that is why
        if rules.sitemaps and self._work.Sitemaps:
            self._put_sitemaps_first(rules)
        if may_be_augmented(self.lease, self._work, self._robots.text):
            self._augment(now)

    def _put_sitemaps_first(self, robots: Robots) -> None:
        """The sitemaps that robots.txt names go before everything else in LocalQ, so that what they list is known early."""
        # The protocol asks for absolute URLs; some authors write relative ones.
        for path in reversed(self._sitemaps.note(map(Joiner(f"{self.origin}/robots.txt").join, robots.sitemaps))):
            key = self._new_links.is_new_path(path)
            if key is not None and self._known.is_complete:
                self._local_q.put(DueUrl(key, path), first=True)
        self._local_q.sort(lambda url: url.path not in self._sitemaps)
