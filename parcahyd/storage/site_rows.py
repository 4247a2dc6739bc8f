"""The rows of `sites`: found or made by origin, inside or outside the scope, and when each falls due."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from sqlalchemy import ColumnElement, ScalarSelect, bindparam, func, select, true, update

from parcahyd.core.life_cycle import Reason
from parcahyd.rules.scope import Scope
from parcahyd.storage.moments import earliest, later, site_due
from parcahyd.storage.run_state import RunState
from parcahyd.storage.tables import FAILED, GONE, KNOWN, REFUSED, STORED, errands, seeds, sites, urls
from parcahyd.storage.writer import ONE, Writer, limited

__all__ = ["Origin", "SiteRows"]

Origin = tuple[str, str, int]
"""Scheme, host, port."""

_CACHED = 65536
_PAGE = 1000


def _first(state: ColumnElement[int]) -> ScalarSelect[float]:
    """The earliest due_at of a site's URLs in a state other than known: one step into `urls_rest`."""
    of_site = select(urls.c.due_at).where(
        urls.c.site_id == sites.c.id, urls.c.state != KNOWN, urls.c.state == state, urls.c.due_at.is_not(None)
    )
    return limited(of_site.order_by(urls.c.due_at), ONE).scalar_subquery()


class SiteRows:
    """Finds, makes and settles sites; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState) -> None:
        self._writer = writer
        self._state = state
        self._cache: dict[Origin, tuple[int, bool]] = {}
        self._scope: Scope | None = None
        writer.on_failure(self.forget)

        self._by_hosts = writer.prepare(
            select(sites.c.id, sites.c.scheme, sites.c.host, sites.c.port, sites.c.in_scope).where(
                sites.c.host.in_(writer.lists.words("hosts"))
            ),
            "hosts",
        )
        self._insert = writer.prepare_insert(sites, "id", "scheme", "host", "port", "in_scope")
        ready = later(bindparam("now", type_=sites.c.due_at.type), later(sites.c.not_before, sites.c.errand_until))
        now_until = ("now", "now")  # `ready` compares before it chooses
        self._wake = writer.prepare(
            update(sites)
            .where(
                sites.c.id == bindparam("site"),
                sites.c.visit.is_(None),
                sites.c.in_scope.is_(true()),
                sites.c.due_at.is_(None) | (sites.c.due_at > ready),
            )
            .values(due_at=ready),
            *now_until,
            "site",
            *now_until,
        )
        self._count = writer.prepare(
            update(sites).where(sites.c.id == bindparam("site")).values(urls=sites.c.urls + bindparam("more")), "more", "site"
        )
        known = select(urls.c.due_at).where(urls.c.site_id == sites.c.id, urls.c.state == KNOWN)
        first_known = limited(known.order_by(urls.c.priority, urls.c.due_at, urls.c.key), ONE).scalar_subquery()
        errand = select(func.min(errands.c.asked_at)).where(errands.c.site_id == sites.c.id).scalar_subquery()
        self._dues = writer.prepare(
            select(
                sites.c.id,
                sites.c.in_scope,
                sites.c.not_before,
                sites.c.errand_until,
                first_known.label("known"),
                *(_first(kind).label(f"first_{number}") for number, kind in enumerate((FAILED, STORED, REFUSED, GONE))),
                errand.label("errand"),
            ).where(sites.c.id.in_(writer.lists.numbers("ids"))),
            "ids",
        )
        self._set_dues = writer.prepare(
            update(sites)
            .where(sites.c.id == bindparam("site"))
            .values({"due_at": bindparam("due"), "again_at": bindparam("again")}),
            *("due", "again", "site"),
        )
        self._set_scope = writer.prepare(
            update(sites).where(sites.c.id == bindparam("site")).values(in_scope=bindparam("inside")), "inside", "site"
        )

    def forget(self) -> None:
        self._cache.clear()
        self._scope = None

    # --- by origin ------------------------------------------------------------------------------------------------------

    def find(self, origins: Iterable[Origin]) -> dict[Origin, tuple[int, bool]]:
        """Id and membership of the scope of each site; those that were never seen are made."""
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
            for number, *parts, inside in self._writer.rows(self._by_hosts, hosts)
            if (origin := (parts[0], parts[1], parts[2])) in wanted
        }

    def _make(self, origins: Iterable[Origin]) -> dict[Origin, tuple[int, bool]]:
        scope = self.scope
        made = {origin: (self._writer.new_id(sites), scope.admits(*origin)) for origin in origins}
        self._writer.many(self._insert, [(number, *origin, inside) for origin, (number, inside) in made.items()])
        return made

    def _remember(self, found: Mapping[Origin, tuple[int, bool]]) -> None:
        if len(self._cache) > _CACHED:
            for origin in list(islice(self._cache, _CACHED // 2)):
                del self._cache[origin]
        self._cache.update(found)

    # --- the scope ------------------------------------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        """The scope that the stored seeds span."""
        if self._scope is None:
            self._scope = Scope(self._state.work.Scope)
            statement = select(sites.c.scheme, sites.c.host, sites.c.port).where(sites.c.id.in_(select(seeds.c.site_id)))
            for scheme, host, port in self._writer.execute(statement):
                self._scope.add_seed(scheme, host, port)
        return self._scope

    def widen(self, origins: Iterable[Origin], now: float) -> None:
        """Takes the sites of seeds into the scope, and with them every site that the scope then admits."""
        scope = self.scope
        new = [origin for origin in dict.fromkeys(origins) if not scope.admits(*origin)]
        for origin in new:
            scope.add_seed(*origin)
        if not new:
            return
        if self._state.work.Scope == "site":
            outside: Iterable[tuple[int, Origin]] = [(number, origin) for origin, (number, _) in self._read(new).items()]
        else:
            outside = ((number, origin) for number, origin, inside in self.all_sites() if not inside)
        self.readmit([number for number, origin in outside if scope.admits(*origin)], now)
        self._cache.clear()

    def all_sites(self) -> Iterator[tuple[int, Origin, bool]]:
        """Every site with its membership of the scope, paged by id."""
        after = 0
        columns = (sites.c.id, sites.c.scheme, sites.c.host, sites.c.port, sites.c.in_scope)
        while page := self._writer.execute(select(*columns).where(sites.c.id > after).order_by(sites.c.id).limit(_PAGE)).all():
            for number, scheme, host, port, inside in page:
                yield number, (scheme, host, port), bool(inside)
            after = page[-1].id

    def readmit(self, ids: Collection[int], now: float) -> None:
        """Brings sites into the scope; what was refused for it becomes known, unless another limit forbids it still."""
        self._writer.many(self._set_scope, [(True, number) for number in ids])
        outside = (urls.c.state == REFUSED) & (urls.c.reason == Reason.SCOPE.word)
        for page in _pages(ids):
            of_sites = urls.c.site_id.in_(page)
            self._writer.execute(
                update(urls)
                .where(of_sites, outside, urls.c.depth <= self._state.max_depth, urls.c.hops <= self._state.work.MaxRedirects)
                .values(state=KNOWN, reason=None, due_at=now, tries=0)
            )
            deep = urls.c.depth > self._state.max_depth
            self._writer.execute(update(urls).where(of_sites, outside, deep).values(reason=Reason.DEPTH.word))
            self._writer.execute(update(urls).where(of_sites, outside).values(reason=Reason.REDIRECTS.word))
        self.settle(ids)

    def expel(self, ids: Collection[int]) -> None:
        """Takes sites out of the scope; what waits there is refused, what is stored stays."""
        self._writer.many(self._set_scope, [(False, number) for number in ids])
        for page in _pages(ids):
            self._writer.execute(
                update(urls)
                .where(urls.c.site_id.in_(page), urls.c.state.in_((KNOWN, FAILED)))
                .values(state=REFUSED, reason=Reason.SCOPE.word, due_at=None)
            )
        self.settle(ids)

    # --- when they fall due ---------------------------------------------------------------------------------------------

    def gained(self, new: Mapping[int, int], waiting: Collection[int], now: float) -> None:
        """Counts new URLs by site, and wakes the sites that have something to do now and are not being visited."""
        self._writer.many(self._count, [(more, site) for site, more in new.items()])
        self._writer.many(self._wake, [(now, now, site, now, now) for site in waiting])

    def settle(self, ids: Iterable[int]) -> None:
        """Sets due_at and again_at of sites to what their URLs say, by steps into the indexes."""
        for page in _pages(ids):
            rows = []
            for number, inside, not_before, errand_until, known, failed, stored, refused, gone, errand in self._writer.rows(
                self._dues, self._writer.lists.bind(page)
            ):
                url = earliest(known, failed) if inside else None
                again = earliest(stored, refused, gone) if inside else None
                rows.append((site_due(not_before, errand_until, url, errand), again, number))
            self._writer.many(self._set_dues, rows)

    def settle_all(self) -> None:
        """The same for every site; only when settings changed."""
        self.settle(number for number, _, _ in self.all_sites())


def _pages(ids: Iterable[int]) -> Iterator[list[int]]:
    numbers = iter(ids)
    while page := list(islice(numbers, _PAGE)):
        yield page
