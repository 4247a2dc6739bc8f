"""The rows of `sites` and `pauses`: sites by origin, inside or outside the scope, when each falls due, and pauses of hosts.

Tested in tests/storage/test_sites.py and tests/storage/test_runs.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec.structs import asdict
from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Text,
    and_,
    bindparam,
    case,
    delete,
    func,
    literal_column,
    null,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.dialects import sqlite

from parcahyd.core.records import Pause, PauseRecord
from parcahyd.core.states import Event, Reason, State
from parcahyd.refresh.schedule import NEVER
from parcahyd.rules.urls.cross_links import OPEN_SCHEMES, cross_refusal
from parcahyd.rules.urls.scope import Scope
from parcahyd.storage.expressions import MOST, ONE, ZERO, inserting, later, numbers, same, time_bound, updating, word, words
from parcahyd.storage.other_partitions import Origin, OtherPartitions
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import FAILED, GONE, KNOWN, REFUSED, STORED, errands, pauses, seeds, sites, state_after, urls
from parcahyd.storage.writer import Writer

__all__ = [
    "Origin",
    "PauseRows",
    "SiteRows",
    "earliest",
    "never",
    "site_due",
]

_CACHED = 65536
_PAGE = 1000

# --- by origin ----------------------------------------------------------------------------------------------------------

_ORIGIN = (sites.c.id, sites.c.scheme, sites.c.host, sites.c.port, sites.c.in_scope)
_THIS = same(sites, "id")
_BY_HOSTS = select(*_ORIGIN).where(sites.c.host.in_(words("hosts")))
_BY_IDS = select(*_ORIGIN).where(sites.c.id.in_(numbers("ids")))
_INSERT = inserting(sites, *(column.name for column in _ORIGIN))
_FOLLOWING = select(*_ORIGIN).where(sites.c.id > bindparam("after")).order_by(sites.c.id).limit(MOST)
_COUNT = update(sites).where(*_THIS).values(urls=sites.c.urls + bindparam("more"))

_FROM_OTHERS = update(sites).where(*_THIS).values(urls_from_others=sites.c.urls_from_others + bindparam("more"))
_FOR_OTHERS = update(sites).where(*_THIS).values(urls_for_others=sites.c.urls_for_others + bindparam("more"))

# --- the scope ----------------------------------------------------------------------------------------------------------

_OF_SITES = urls.c.site_id.in_(numbers("ids"))
_OUTSIDE = (_OF_SITES, urls.c.state == REFUSED, urls.c.reason == word(Reason.SCOPE))
_IN_REACH = (urls.c.depth <= bindparam("max_depth"), urls.c.hops <= bindparam("max_hops"))
_OF_SEEDS = select(sites.c.scheme, sites.c.host, sites.c.port).where(sites.c.id.in_(select(seeds.c.site_id)))
_SET_SCOPE = updating(sites, ("id",), "in_scope")
_READMIT = (
    update(urls)
    .where(*_OUTSIDE, *_IN_REACH)
    .values(state=state_after(Event.SECOND_LOOK, State.REFUSED), reason=null(), due_at=bindparam("now"), tries=ZERO)
)
_REFUSE_DEEP = update(urls).where(*_OUTSIDE, urls.c.depth > bindparam("max_depth")).values(reason=word(Reason.DEPTH))
_REFUSE_FAR = update(urls).where(*_OUTSIDE).values(reason=word(Reason.REDIRECTS))
_EXPEL = (
    update(urls)
    .where(_OF_SITES, urls.c.state.in_((KNOWN, FAILED)))
    .values(state=state_after(Event.REFUSAL, State.KNOWN, State.FAILED), reason=word(Reason.SCOPE), due_at=null())
)

# --- when they fall due -------------------------------------------------------------------------------------------------


def _first(state: ColumnElement[int]) -> ScalarSelect[float]:
    """The earliest due_at of a site's URLs in a state other than known: one step into `urls_rest`."""
    of_site = select(urls.c.due_at).where(
        urls.c.site_id == sites.c.id, urls.c.state != KNOWN, urls.c.state == state, urls.c.due_at.is_not(None)
    )
    return of_site.order_by(urls.c.due_at).limit(1).scalar_subquery()


_READY = later(time_bound("now", sites.c.due_at), later(sites.c.not_before, sites.c.errand_until))
_NOT_DUE = sites.c.due_at.is_(None) | (sites.c.due_at > _READY)
_MAKE_DUE = update(sites).where(*_THIS, sites.c.visit.is_(None), sites.c.in_scope.is_(true()), _NOT_DUE).values(due_at=_READY)
_FIRST_KNOWN = (
    select(urls.c.due_at)
    .where(urls.c.site_id == sites.c.id, urls.c.state == KNOWN)
    .order_by(urls.c.priority, urls.c.due_at, urls.c.key)
    .limit(1)
    .scalar_subquery()
)
_FIRST_REDIRECT = select(func.min(errands.c.asked_at)).where(errands.c.site_id == sites.c.id).scalar_subquery()
_DUES = select(
    *(sites.c.id, sites.c.in_scope, sites.c.not_before, sites.c.errand_until, _FIRST_KNOWN.label("known")),
    *(_first(FAILED).label("failed"), _first(STORED).label("stored"), _first(REFUSED).label("refused")),
    *(_first(GONE).label("gone"), _FIRST_REDIRECT.label("robots_redirect")),
).where(sites.c.id.in_(numbers("ids")))
_SET_DUES = updating(sites, ("id",), "due_at", "again_at")


class SiteRows:
    """Finds, makes and settles sites; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState) -> None:
        self._writer = writer
        self._state = state
        self._cache: dict[Origin, tuple[int, bool]] = {}
        self._scope: Scope | None = None
        self._has_new_work = False
        self.others: OtherPartitions | None = None
        writer.on_failure(self.forget)

    def forget(self) -> None:
        self._cache.clear()
        self._scope = None

    # --- by origin ------------------------------------------------------------------------------------------------------

    def find(self, origins: Iterable[Origin]) -> dict[Origin, tuple[int, bool]]:
        """By origin: the id of the site and whether it is in scope. Sites that were never seen are inserted."""
        found: dict[Origin, tuple[int, bool]] = {}
        missing: list[Origin] = []
        for origin in dict.fromkeys(origins):
            if site := self._cache.get(origin):
                found[origin] = site
            else:
                missing.append(origin)
        if missing:
            read = self._read(missing)
            made = self._make([origin for origin in missing if origin not in read])
            self._remember(read | made)
            found |= read | made
        return found

    def _read(self, origins: Sequence[Origin]) -> dict[Origin, tuple[int, bool]]:
        wanted = set(origins)
        hosts = self._writer.lists.bind(sorted({host for _, host, _ in wanted}))
        return {
            origin: (number, bool(inside))
            for number, *parts, inside in self._writer.rows(_BY_HOSTS, hosts=hosts)
            if (origin := (parts[0], parts[1], parts[2])) in wanted
        }

    def _make(self, origins: Iterable[Origin]) -> dict[Origin, tuple[int, bool]]:
        scope = self.scope
        made = {origin: (self._writer.new_id(sites), scope.admits(*origin)) for origin in origins}
        self._writer.many(
            _INSERT,
            [
                {"id": number, "scheme": scheme, "host": host, "port": port, "in_scope": inside}
                for (scheme, host, port), (number, inside) in made.items()
            ],
        )
        return made

    def _remember(self, found: Mapping[Origin, tuple[int, bool]]) -> None:
        if len(self._cache) > _CACHED:
            for origin in list(islice(self._cache, _CACHED // 2)):
                del self._cache[origin]
        self._cache.update(found)

    def crossing(self, links: Sequence[tuple[int, Origin]]) -> dict[tuple[int, Origin], Reason]:
        """By asking site and origin: why nothing leads from the one to the other. Nearly always there is no such link."""
        doubtful = {link for link in links if link[1][0] not in OPEN_SCHEMES}
        if not doubtful:
            return {}
        askers = self._writer.lists.bind(sorted({asker for asker, _ in doubtful}))
        begins = {number: (scheme, host, port) for number, scheme, host, port, _ in self._writer.rows(_BY_IDS, ids=askers)}
        found: dict[tuple[int, Origin], Reason] = {}
        for asker, origin in doubtful:
            begin = begins.get(asker, ("", "", 0))
            reason = cross_refusal(begin[0], origin[0], origin[2], self._state.local_schemes)
            if reason is not None and origin != begin:
                found[asker, origin] = reason
        return found

    def origin_of(self, site: int) -> Origin:
        """Scheme, host and port of a site."""
        ((_, scheme, host, port, _),) = self._writer.rows(_BY_IDS, ids=self._writer.lists.bind([site]))
        return scheme, host, port

    # --- the scope ------------------------------------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        """The scope that the stored seeds span."""
        if self._scope is None:
            work = self._state.work
            self._scope = Scope(work.Scope, work.Domains, work.Include, work.Exclude)
            origins = self._writer.rows(_OF_SEEDS) if self.others is None else self.others.scope_origins()
            for scheme, host, port in origins:
                self._scope.add_seed(scheme, host, port)
        return self._scope

    def refusal(self, url: str, inside: bool) -> str:
        """The word of the reason why a URL is refused whose site is inside or outside the scope; empty where it is not."""
        if not inside:
            return Reason.SCOPE.word
        patterns = self.scope.patterns
        return "" if patterns is None or patterns.admits(url) else Reason.EXCLUDED.word

    def widen(self, origins: Iterable[Origin], now: float) -> None:
        """Adds the sites of seeds to the scope, and every site that the scope then admits."""
        new = [origin for origin in dict.fromkeys(origins) if not self.scope.admits(*origin)]
        if not new:
            return
        if self.others is not None:
            self.others.widen(new)
        self.admit(new, now)

    def admit(self, origins: Collection[Origin], now: float) -> None:
        """Adds sites to the scope of this database, with every site that it then admits."""
        scope = self.scope
        for origin in origins:
            scope.add_seed(*origin)
        if self._state.work.Scope == "site":
            read = self._read(list(origins))
            outside: Iterable[tuple[int, Origin]] = [
                (number, origin) for origin, (number, inside) in read.items() if not inside
            ]
        else:
            outside = ((number, origin) for number, origin, inside in self.all_sites() if not inside)
        self.readmit([number for number, origin in outside if scope.admits(*origin)], now)
        self._cache.clear()

    def judge_again(self, now: float) -> None:
        """Brings every site into the scope, or takes it out, as the scope is now; reads all sites."""
        scope = self.scope
        moved = [(number, inside) for number, origin, inside in self.all_sites() if scope.admits(*origin) is not inside]
        self.readmit([number for number, inside in moved if not inside], now)
        self.expel([number for number, inside in moved if inside])
        self._cache.clear()

    def all_sites(self) -> Iterator[tuple[int, Origin, bool]]:
        """Every site and whether it is in scope, paged by id."""
        after = 0
        while page := self._writer.rows(_FOLLOWING, after=after, most=_PAGE):
            for number, scheme, host, port, inside in page:
                yield number, (scheme, host, port), bool(inside)
            after = page[-1][0]

    def readmit(self, ids: Collection[int], now: float) -> None:
        """Brings sites into the scope. URLs refused for the scope become known, unless another limit refuses them."""
        self._writer.many(_SET_SCOPE, [{"id": number, "in_scope": True} for number in ids])
        limits = {"max_depth": self._state.max_depth, "max_hops": self._state.work.MaxRedirects}
        for page in _pages(ids):
            bound = self._writer.lists.bind(page)
            self._writer.run(_READMIT, now=now, ids=bound, **limits)
            self._writer.run(_REFUSE_DEEP, ids=bound, **limits)
            self._writer.run(_REFUSE_FAR, ids=bound)
        self.settle(ids)

    def expel(self, ids: Collection[int]) -> None:
        """Takes sites out of the scope. URLs that wait there are refused; what is stored stays."""
        self._writer.many(_SET_SCOPE, [{"id": number, "in_scope": False} for number in ids])
        for page in _pages(ids):
            self._writer.run(_EXPEL, ids=self._writer.lists.bind(page))
        self.settle(ids)

    # --- when they fall due ---------------------------------------------------------------------------------------------

    def count_new(self, new: Mapping[int, int], waiting: Collection[int], now: float) -> None:
        """Adds to the count of URLs by site, and makes the `waiting` sites due now unless a visit has them."""
        self._writer.many(_COUNT, [{"id": site, "more": more} for site, more in new.items()])
        if self._writer.many(_MAKE_DUE, [{"id": site, "now": now} for site in waiting]):
            self._has_new_work = True

    def count_brought(self, brought: Sequence[tuple[int, int]]) -> None:
        """Counts new URLs that a page of another site brought: the site of the page (0: no other), and that of the URL."""
        named = Counter(site for asker, site in brought if asker)
        if named:
            self._writer.many(_FROM_OTHERS, [{"id": site, "more": more} for site, more in named.items()])
            self.count_posted(asker for asker, _ in brought)

    def count_posted(self, askers: Iterable[int]) -> None:
        """Counts URLs of other sites by the site whose page named them. A site of another partition has no row here: it
        counts them itself."""
        counted = Counter(asker for asker in askers if asker)
        self._writer.many(_FOR_OTHERS, [{"id": site, "more": more} for site, more in counted.items()])

    def settle(self, ids: Iterable[int]) -> None:
        """Sets due_at and again_at of sites from their URLs, by steps into the indexes."""
        for page in _pages(ids):
            rows = []
            for number, inside, not_before, errand_until, known, failed, stored, refused, gone, redirect in self._writer.rows(
                _DUES, ids=self._writer.lists.bind(page)
            ):
                url = earliest(known, failed) if inside else None
                again = earliest(stored, refused, gone) if inside else None
                due = site_due(not_before, errand_until, url, redirect)
                self._has_new_work = self._has_new_work or due is not None
                rows.append({"id": number, "due_at": due, "again_at": again})
            self._writer.many(_SET_DUES, rows)

    def take_new_work(self) -> bool:
        """Whether a site became due since the last call. A site that a visit has becomes due when the visit ends."""
        found, self._has_new_work = self._has_new_work, False
        return found

    def settle_all(self) -> None:
        """The same for every site; only when settings changed."""
        self.settle(number for number, _, _ in self.all_sites())


def _pages(ids: Iterable[int]) -> Iterator[list[int]]:
    numbers = iter(ids)
    while page := list(islice(numbers, _PAGE)):
        yield page


# --- When sites and URLs fall due: the rules that leases, releases and `verify` share -----------------------------------


def never(time: float) -> float | None:
    """A due time as the database has it: None where only a change of settings makes the URL due again."""
    return None if time >= NEVER else time


def earliest(*times: float | None) -> float | None:
    """The earliest of the times that are not None."""
    return min((time for time in times if time is not None), default=None)


def site_due(not_before: float, errand_until: float, url: float | None, robots_redirect: float | None) -> float | None:
    """When a site has something new to do.

    Its URLs wait while its robots.txt is awaited from another site. `robots_redirect`, a robots.txt that another site awaits
    from this one, does not wait.
    """
    if url is not None:
        url = max(url, errand_until)
    time = earliest(url, robots_redirect)
    return None if time is None else max(time, not_before)


# --- The rows of `pauses`: until when no request goes to a host or an address, for any site -----------------------------


_REMEMBERED = 86_400.0


_FIELDS = Pause.__struct_fields__


def _upsert(new: Any) -> Any:
    """An INSERT that lengthens an existing pause. Each database has its own form of it.

    Of two visits to one host or address the later end counts. A visit that ends repeats the same end without its reason.
    """
    longer = later(pauses.c.not_before, new.excluded.not_before)
    is_longer = new.excluded.not_before > pauses.c.not_before + ONE
    has_news = or_(new.excluded.reason != literal_column("''", Text), is_longer)
    reason = case((has_news, new.excluded.reason), else_=pauses.c.reason)
    changed = {"not_before": longer, "reason": reason, "failures": new.excluded.failures}
    return new.values({name: bindparam(name) for name in _FIELDS}).on_conflict_do_update(
        index_elements=["subject"], set_=changed
    )


def _insert(kind: str) -> Any:
    if kind == "sqlite":
        return sqlite.insert(pauses)
    from sqlalchemy.dialects import postgresql  # Loading it takes as long as the rest of the start of a small crawl.

    return postgresql.insert(pauses)


_DROP_OVER = delete(pauses).where(
    or_(
        and_(pauses.c.not_before <= bindparam("now"), pauses.c.failures == ZERO),
        pauses.c.not_before <= bindparam("long_ago"),
    )
)
_ALL = select(*(pauses.c[name] for name in _FIELDS)).order_by(pauses.c.subject)
_SPARE_SITE = (
    update(sites)
    .where(*same(sites, "id", "visit"))
    .values(
        not_before=later(sites.c.not_before, time_bound("until", sites.c.not_before)),
        failures=bindparam("failures"),
        reason=bindparam("reason"),
    )
)


class PauseRows:
    """Writes and reads pauses; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._upsert = _upsert(_insert(writer.kind))

    def extend(self, wanted: Iterable[Pause]) -> None:
        """Inserts pauses or lengthens them. A pause is never shortened."""
        self._writer.many(self._upsert, [asdict(pause) for pause in wanted])

    def note(self, record: PauseRecord) -> None:
        """Stores the pauses that an open visit reports, and that of its own site."""
        self.extend(record.pauses)
        row = {"until": record.not_before, "failures": record.failures, "reason": record.reason or None}
        self._writer.many(_SPARE_SITE, [{"id": record.site, "visit": record.visit, **row}])

    def in_force(self, now: float) -> tuple[Pause, ...]:
        """The pauses, without those that are over. One after repeated failures is kept for a day after its end."""
        self._writer.run(_DROP_OVER, now=now, long_ago=now - _REMEMBERED)
        return tuple(Pause(*row) for row in self._writer.rows(_ALL))
