"""The rows of `runs`. A new run applies settings that changed since the last one."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from sqlalchemy import Text, bindparam, func, literal_column, null, or_, select, tuple_, update

from parcahyd.config.remembered import GIVEN, given, recorded
from parcahyd.config.schema import Configuration
from parcahyd.core.states import SETTINGS_OF, Event, Reason, State
from parcahyd.core.version import __version__
from parcahyd.refresh.budget import Allowance
from parcahyd.refresh.schedule import SETTINGS
from parcahyd.storage.expressions import MOST, ZERO, inserting, updating, word, words
from parcahyd.storage.revisits import History, rate_of
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import FAILED, KNOWN, REFUSED, STORED, overfull, runs, sites, state_after, urls
from parcahyd.storage.sites import SiteRows, never
from parcahyd.storage.writer import Writer

__all__ = ["IMPORTED", "RunRows"]

_GOES_ON = frozenset({None, "interrupted"})
"""Outcomes of a run that the next start goes on with: it was killed, or stopped by the user."""

_DAY = 86400.0
_PAGE = 2000


IMPORTED = "imported"
"""The outcome of what was no crawl: answers were read from archives. The row has it from the beginning."""

_LAST = select(runs.c.settings).order_by(runs.c.id.desc()).limit(1)
_LAST_CRAWL = (
    select(runs.c.crawl_run, runs.c.outcome)
    .where(or_(runs.c.outcome.is_(None), runs.c.outcome != literal_column(f"'{IMPORTED}'")))
    .order_by(runs.c.id.desc())
    .limit(1)
)
_INSERT = inserting(runs, "id", "started_at", "settings", "version", "crawl_run", "outcome")
_END = updating(runs, ("id",), "ended_at", "outcome", "counts")
_LEFT_OUT = select(func.sum(overfull.c.left_out + overfull.c.left_out_external))
_LEFT = select(urls.c.state, func.count()).where(urls.c.state.in_((KNOWN, FAILED))).group_by(urls.c.state)
_HELD_BACK = select(func.count()).where(urls.c.state == REFUSED, urls.c.reason == word(Reason.SITE_PAGES))
_NEXT_DUE = select(func.min(sites.c.due_at)).where(sites.c.visit.is_(None))

# Changed settings applied to URLs. These read the whole table.
_READMIT = (
    update(urls)
    .where(
        *(urls.c.state.in_((REFUSED, FAILED)), urls.c.reason.in_(words("reasons"))),
        *(urls.c.depth <= bindparam("max_depth"), urls.c.hops <= bindparam("max_hops")),
        urls.c.site_id.in_(select(sites.c.id).where(sites.c.in_scope)),
    )
    .values(
        state=state_after(Event.SECOND_LOOK, State.REFUSED, State.FAILED), reason=null(), due_at=bindparam("now"), tries=ZERO
    )
)
_END_PAUSES = update(sites).where(sites.c.reason.in_(words("reasons"))).values(not_before=ZERO, failures=ZERO, reason=null())
_REFUSE_DEEP = (
    update(urls)
    .where(urls.c.state.in_((KNOWN, FAILED)), urls.c.depth > bindparam("max_depth"))
    .values(state=state_after(Event.REFUSAL, State.KNOWN, State.FAILED), reason=word(Reason.DEPTH), due_at=null())
)
_HISTORIES = (
    select(urls.c.site_id, urls.c.key, urls.c.state, *(urls.c[name] for name in History._fields))
    .where(
        tuple_(urls.c.site_id, urls.c.key) > tuple_(bindparam("after_site"), bindparam("after_key")),
        or_(urls.c.fetch_id.is_not(None), urls.c.state == STORED),
        urls.c.path.not_like(literal_column("'%#%'", Text)),  # members of archives come with the archive
    )
    .order_by(urls.c.site_id, urls.c.key)
    .limit(MOST)
)
_SET_DUE = updating(urls, ("site_id", "key"), "due_at")


class RunRows:
    """Opens and closes runs; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, site_rows: SiteRows) -> None:
        self._writer = writer
        self._state = state
        self._sites = site_rows

    def begin(
        self, configuration: Configuration, now: float, *, forever: bool, is_import: bool = False, goes_on: bool | None = None
    ) -> tuple[int, int, frozenset[str]]:
        """Inserts a start of a run. `goes_on` says whether it goes on with the last one; None: its outcome does.

        Returns its number, that of the run that it goes on with or its own, and the settings, as `Work.KEY`, that differ from
        the last run's. A run that refreshes for ever has visited URLs at any time, so no other goes on with it. Neither does
        one with other settings for revisits: its user wants to see pages earlier, or later. An import visits nothing, and the
        run before it can be gone on with after it.
        """
        settings = recorded(configuration)
        before_text = self._writer.value(_LAST)
        last = self._writer.rows(_LAST_CRAWL)
        crawl_run, outcome = last[0] if last else (None, "")
        before = settings if before_text is None else msgspec.json.decode(before_text)
        # A setting that the last run did not have is not a change.
        changed = frozenset(key for key, value in settings.items() if before.get(key, value) != value)
        number = self._writer.new_id(runs)
        if goes_on is None:
            goes_on = outcome in _GOES_ON
        if forever or crawl_run is None or not goes_on or SETTINGS & changed:
            crawl_run = number
        record = msgspec.json.encode({**settings, GIVEN: given(configuration)}).decode()
        started = {"id": number, "started_at": now, "settings": record, "version": __version__}
        if is_import:
            self._writer.run(_INSERT, **started, crawl_run=None, outcome=IMPORTED)
            return number, 0, changed
        self._writer.run(_INSERT, **started, crawl_run=None if forever else crawl_run, outcome=None)
        return number, crawl_run, changed

    def apply(self, changed: frozenset[str], now: float) -> None:
        """Applies changed settings to URLs. Reads whole tables if something changed, and nothing otherwise."""
        readmitted = [
            reason.word for reason, keys in SETTINGS_OF.items() if reason is not Reason.SCOPE and changed.intersection(keys)
        ]
        if Reason.NOFOLLOW.word in self._state.work.Directives and Reason.NOFOLLOW.word in readmitted:
            readmitted.remove(Reason.NOFOLLOW.word)  # Another directive changed. No visit could judge these links again.
        work = self._state.work
        if Reason.TOPIC.word in readmitted and work.Topics and work.FollowTopics and work.OtherTopics == "never":
            readmitted.remove(Reason.TOPIC.word)  # The same.
        revisit = bool(SETTINGS & changed)
        if changed.intersection(SETTINGS_OF[Reason.SCOPE]):
            self._sites.judge_again(now)
        if readmitted:
            # As far as distance and scope allow.
            reasons = self._writer.lists.bind(readmitted)
            limits = {"max_depth": self._state.max_depth, "max_hops": self._state.work.MaxRedirects}
            self._writer.run(_READMIT, now=now, reasons=reasons, **limits)
            self._writer.run(_END_PAUSES, reasons=reasons)
        if "Work.MaxDepth" in changed:
            self._writer.run(_REFUSE_DEEP, max_depth=self._state.max_depth)
        if revisit:
            self._reschedule()
        if readmitted or revisit:
            self._sites.settle_all()

    def count_pages(self, now: float) -> None:
        """Counts stored pages by rate of change for the budget of revisits; reads the whole table."""
        budget, per_day = self._state.budget, self._state.work.RevisitsPerDay
        if budget is None:
            return
        spent = 0
        for page in self._stored():
            for _, _, state, history in page:
                budget.enter(rate_of(history, self._state.revisits.guess), history.planned)
                again = history.checks > 1 or state != State.STORED
                spent += again and (history.checked_at or 0.0) > now - _DAY
        budget.tune()
        self._state.allowance = Allowance(per_day, now, spent)

    def _reschedule(self) -> None:
        """Sets the next visit of every stored page as if the settings had always been these."""
        revisits, budget = self._state.revisits, self._state.budget
        for page in self._stored():
            rows = []
            for site, key, state, history in page:
                if state == State.STORED:
                    rate = rate_of(history, revisits.guess)
                    at = history.last_good
                    due = revisits.first(at, key) if rate is None else revisits.following(at, key, rate)
                    rows.append({"site_id": site, "key": key, "due_at": never(due)})
                    if budget is not None:
                        budget.replan(history.planned, due - at)
            self._writer.many(_SET_DUE, rows)

    def _stored(self) -> Iterator[list[tuple[int, int, int, History]]]:
        """Site, key, state and history of every URL that has a version, some at a time."""
        site, key = 0, 0
        while rows := self._writer.rows(_HISTORIES, after_site=site, after_key=key, most=_PAGE):
            yield [(row[0], row[1], row[2], History._make(row[3:])) for row in rows]
            site, key = rows[-1][:2]

    def waiting(self) -> tuple[dict[str, int], float | None]:
        """Known and failed URLs, counted by state, links that were left out, and when the next site falls due."""
        left = {State(state).word: number for state, number in self._writer.rows(_LEFT)}
        if left_out := int(self._writer.value(_LEFT_OUT) or 0):
            left["left out"] = left_out
        return left, self._writer.value(_NEXT_DUE)

    def held_back(self) -> int:
        """How many URLs wait until MaxPagesPerSite is raised. It reads the refused URLs, so call it once, at the end."""
        return int(self._writer.value(_HELD_BACK))

    def end(self, outcome: str, counts: dict[str, int], now: float) -> None:
        record = msgspec.json.encode(counts).decode()
        self._writer.run(_END, id=self._state.run, ended_at=now, outcome=outcome, counts=record)
