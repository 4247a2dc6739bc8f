"""Writes the records of a visit: the outcome of each URL, and when a URL that gave no document is tried again."""

from __future__ import annotations

from collections.abc import Callable

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import Member
from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.messages import BufferRecord
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import (
    AnswerRecord,
    Assignment,
    BadRecord,
    DueUrl,
    ExternRecord,
    LinksRecord,
    PageRecord,
    RobotsFact,
    RobotsRedirect,
    RobotsRedirectRecord,
    SiteRecord,
    TableFact,
    UnchangedRecord,
)
from parcahyd.core.states import Event, Reason
from parcahyd.pipeline.crawl_worker.document_reader import ReadDocument, reason_not_to_keep
from parcahyd.pipeline.crawl_worker.exchange_facts import exchange_of, exchange_of_file, head_and_marks, kept_body
from parcahyd.pipeline.crawl_worker.link_budget import LinkBudget
from parcahyd.pipeline.crawl_worker.new_links import NOT_TOLD, Linked, NewLinks
from parcahyd.refresh.schedule import NEVER, Schedule
from parcahyd.rules.media_types.content_codings import coding_to_keep
from parcahyd.rules.politeness.backoff import Failure
from parcahyd.rules.politeness.validators import validator
from parcahyd.rules.urls.canonical_url import key_of, member_url

__all__ = ["RecordWriter"]

_LINKS_OF_A_RECORD = 500
"""New links that one record has of each kind, at most: visits take turns at the writer, a record each."""


class RecordWriter:
    """Gives the records of one visit to `emit`."""

    def __init__(
        self,
        assignment: Assignment,
        work: WorkConf,
        emit: Callable[[BufferRecord], None],
        budget: LinkBudget | None = None,
        request: bytes = b"",
    ) -> None:
        self.address_blanked = False
        """The address did not answer: it must not be kept when the visit is over."""
        self._visit = assignment.lease.visit
        self._site = assignment.lease.site
        self._address = assignment.address
        self._request = request
        self._received = self._saved = 0
        """Bytes of answers since the last page, and by how many bytes codings made them fewer."""
        self._keeps_checks, self._keeps_errors = work.KeepChecks > 0, work.KeepErrors > 0
        self._schedule = Schedule(work)
        # Links that cannot add a site to the crawl need not be sent before their page.
        self._finds_sites = work.Scope != "site" or bool(work.Domains)
        self._emit = emit
        self._budget = budget or LinkBudget(assignment.lease, work)

    def count(self, result: DownloadResult) -> None:
        """An answer came: its bytes are told with the next page, or with the end of the visit."""
        body = result.transferred or result.body
        self._received += result.received or len(result.head) + len(body)
        self._saved += len(result.body) - len(body)

    def take_counts(self) -> tuple[int, int]:
        """Bytes that were received and saved since this was called before."""
        counts = self._received, max(0, self._saved)
        self._received = self._saved = 0
        return counts

    def page(
        self, document: ReadDocument, new: NewLinks, links: bytes, is_later: bool = False, linked: Linked = NOT_TOLD
    ) -> None:
        """A document with the links first seen in it; `links` are all links of the document, where they are kept.

        Of a page whose directives forbid to store it, only the links are recorded. A document that was made of its table keeps
        the headers of the stored version. A page with links that were left out has no validators and no table: the whole page
        is needed when it is read again. `is_later`: its links are followed after those of other pages. `linked`:
        what it links to besides, where the order wants to know.
        """
        item, result, parts = document.item, document.result, document.parts
        reason = reason_not_to_keep(document.directives) if document.directives else None
        is_kept = reason is None
        is_coded = is_kept and result.codings and not parts.regions and coding_to_keep(result)
        head, marks = head_and_marks(result) if parts.before is None else (parts.head, ExchangeMark.MERGED)
        received, saved = self.take_counts()
        is_whole = is_kept and not (new.left_out or new.left_out_external)
        internal, external = tuple([path for _, path in new.internal]), tuple(new.external)
        lastmods = document.lastmods
        most = max(len(internal), len(external), len(lastmods))
        if most > _LINKS_OF_A_RECORD:
            ahead = (most - 1) // _LINKS_OF_A_RECORD * _LINKS_OF_A_RECORD
            for start in range(0, ahead, _LINKS_OF_A_RECORD):
                part = slice(start, start + _LINKS_OF_A_RECORD)
                self._links_ahead(
                    item.key, item.depth + 1, document.at, internal[part], external[part], lastmods[part], is_later
                )
            internal, external, lastmods = internal[ahead:], external[ahead:], lastmods[ahead:]
        if external and self._finds_sites:
            self._emit(ExternRecord(self._visit, item.depth + 1, external, item.key, is_later))
        self._emit(
            PageRecord(
                visit=self._visit,
                site=self._site,
                key=item.key,
                path=item.path,
                depth=item.depth,
                hops=item.hops,
                seed=item.seed,
                fetched_at=document.at,
                status=result.status,
                address=self._address,
                head=head,
                etag=validator(result.header("etag")) if is_whole else "",
                modified=validator(result.header("last-modified")) if is_whole else "",
                media_type=document.media_type,
                charset=document.charset,
                body=(result.transferred if is_coded else result.body) if is_kept else b"",
                internal=internal,
                external=external,
                links=links,
                reason="" if reason is None else reason.word,
                title=document.title,
                language=document.language,
                summary=document.summary,
                refused=tuple(new.refused),
                regions=parts.regions if is_kept else (),
                table=parts.table if is_whole else None,
                lastmods=lastmods,
                left_out=new.left_out,
                left_out_external=new.left_out_external,
                coding=",".join(result.codings),
                decoded_length=len(result.body) if is_coded else None,
                marks=marks,
                protocol=result.protocol,
                started_at=result.started_at,
                seconds=result.elapsed,
                request=self._request,
                received=received,
                saved=saved,
                topic=document.topic,
                is_later=is_later,
                linked=linked.paths,
                links_found=linked.found,
            )
        )

    def _links_ahead(
        self,
        via: int,
        depth: int,
        at: float,
        internal: tuple[str, ...],
        external: tuple[str, ...],
        lastmods: tuple[tuple[str, float], ...],
        is_later: bool,
    ) -> None:
        """A part of the links of a page, before the page: one whose page is never recorded is found again with it."""
        if external and self._finds_sites:
            self._emit(ExternRecord(self._visit, depth, external, via, is_later))
        self._emit(LinksRecord(self._visit, self._site, depth, at, internal, external, lastmods, via, is_later))

    def redirect(
        self, item: DueUrl, result: DownloadResult, target: str, refused: tuple[tuple[str, str], ...], now: float
    ) -> None:
        """A redirect with its target, and the target as a refused link where a rule refuses it."""
        head, marks = head_and_marks(result)
        body, codings, decoded_length, cut = kept_body(result) if self._keeps_errors else (b"", "", None, 0)
        self._emit(
            PageRecord(
                visit=self._visit,
                site=self._site,
                key=item.key,
                path=item.path,
                depth=item.depth,
                hops=item.hops,
                seed=item.seed,
                fetched_at=now,
                status=result.status,
                address=self._address,
                head=head,
                redirect=target,
                body=body,
                refused=refused,
                coding=codings,
                decoded_length=decoded_length,
                marks=marks | cut,
                protocol=result.protocol,
                started_at=result.started_at,
                seconds=result.elapsed,
                request=self._request,
            )
        )

    def member(self, item: DueUrl, member: Member, media_type: str, charset: str, now: float) -> None:
        """A member of the archive that the item is: a document of its own, which is never requested by itself."""
        path = member_url(item.path, member.name)
        self._emit(
            PageRecord(
                visit=self._visit,
                site=self._site,
                key=key_of(path),
                path=path,
                depth=item.depth + 1,
                hops=0,
                seed=False,
                fetched_at=now,
                status=200,
                address=self._address,
                head=b"",
                media_type=media_type,
                charset=charset,
                body=member.body,
            )
        )

    def unchanged(
        self, item: DueUrl, result: DownloadResult, now: float, table: TableFact | None = None, is_table_gone: bool = False
    ) -> None:
        self._emit(
            UnchangedRecord(
                visit=self._visit,
                site=self._site,
                key=item.key,
                path=item.path,
                checked_at=now,
                status=result.status,
                etag=validator(result.header("etag")) or item.etag,
                modified=validator(result.header("last-modified")) or item.modified,
                table=table,
                is_table_gone=is_table_gone,
                address=self._address,
                exchange=exchange_of(result, self._request) if self._keeps_checks else None,
            )
        )

    def fresh(self, item: DueUrl, table: TableFact | None, etag: str, modified: str, now: float) -> None:
        """A document that its table of variable information confirmed."""
        facts = (now, 304, etag, modified, table, table is None, True)
        self._emit(UnchangedRecord(self._visit, self._site, item.key, item.path, *facts))

    def failure(self, item: DueUrl, result: DownloadResult, failed: Failure, now: float) -> None:
        """A request that gave no document: gone, refused, or to be tried again while there are tries left."""
        detail = result.detail or (f"HTTP {result.status}" if result.status else "")
        answer = exchange_of(result, self._request) if self._keeps_errors and result.status >= 400 else None
        if failed.final:
            due_at = NEVER if failed.event is Event.REFUSAL else self._schedule.gone(now)
            self._bad(item, failed.event, failed.reason, now, due_at, detail=detail, status=result.status, answer=answer)
            return
        tries = item.tries + 1
        if self._schedule.is_last_try(tries):
            due_at = self._schedule.gone(now)
            detail = f"{failed.reason.word}: {detail}"
            self._bad(item, Event.LAST_FAILURE, Reason.OUT_OF_TRIES, now, due_at, tries, detail, result.status, answer=answer)
        else:
            due_at = self._schedule.retry(now, failed.reason, tries, item.key)
            blank = failed.blank_address
            self._bad(item, Event.FAILURE, failed.reason, now, due_at, tries, detail, result.status, blank, answer)

    def no_robots(
        self, item: DueUrl, reason: Reason, cause: Reason | None, detail: str, blank_address: bool, now: float
    ) -> None:
        """The URL waits for the robots.txt of its site, without a last try; `cause` is why that could not be read."""
        tries = item.tries + 1
        due_at = self._schedule.retry(now, cause or reason, tries, item.key)
        self._bad(item, Event.FAILURE, reason, now, due_at, tries, detail, blank_address=blank_address)

    def refusal(self, item: DueUrl, reason: Reason, now: float, until: float = NEVER, detail: str = "") -> None:
        """A rule of the crawl forbids the request."""
        self._bad(item, Event.REFUSAL, reason, now, until, detail=detail)

    def robots(self, fact: RobotsFact, redirect: str, file: str = "", result: DownloadResult | None = None) -> None:
        """What is known of the site's robots.txt, from the answer to the request of `file`.

        `redirect` is the URL on another site that it redirects to.
        """
        answer = None
        if result is not None and result.status and (self._keeps_checks or self._keeps_errors):
            answer = exchange_of_file(result, self._request, self._address, file)
        self._emit(SiteRecord(self._visit, self._site, fact, redirect, exchange=answer))

    def offer(self, augmentation: bytes) -> None:
        """What the visit learned about its site's tables."""
        self._emit(SiteRecord(self._visit, self._site, augmentation=augmentation))

    def extern(self, depth: int, urls: tuple[str, ...]) -> None:
        """Links to other sites that a table of links names, as far as there is room for them."""
        if urls := self._budget.take_external(urls):
            self._emit(ExternRecord(self._visit, depth, urls))

    def robots_redirect(self, redirect: RobotsRedirect, fact: RobotsFact, next_redirect: str) -> None:
        """The outcome of a robots.txt that the robots.txt of another site redirects to; it may redirect again."""
        hops = redirect.hops + 1
        self._emit(RobotsRedirectRecord(self._visit, self._site, redirect.asker, redirect.path, fact, next_redirect, hops))

    def _bad(
        self,
        item: DueUrl,
        event: Event,
        reason: Reason,
        now: float,
        due_at: float,
        tries: int = 0,
        detail: str = "",
        status: int = 0,
        blank_address: bool = False,
        answer: AnswerRecord | None = None,
    ) -> None:
        self.address_blanked = self.address_blanked or blank_address
        self._emit(
            BadRecord.of(
                self._visit,
                self._site,
                item,
                event,
                reason,
                now,
                due_at,
                tries=tries,
                status=status,
                detail=detail,
                address=self._address if event is not Event.REFUSAL else "",
                blank_address=blank_address,
                exchange=answer,
            )
        )
