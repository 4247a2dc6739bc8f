"""The rows of `sites`: found or made by origin, inside or outside the scope, and when each falls due."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from parcahyd.core.life_cycle import Reason
from parcahyd.rules.scope import Scope
from parcahyd.storage.moments import earliest, site_due
from parcahyd.storage.run_state import RunState
from parcahyd.storage.writer import Writer

__all__ = ["Origin", "SiteRows"]

Origin = tuple[str, str, int]
"""Scheme, host, port."""

_CACHED = 65536
_PAGE = 1000


class SiteRows:
    """Finds, makes and settles sites; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState) -> None:
        self._writer = writer
        self._state = state
        self._cache: dict[Origin, tuple[int, bool]] = {}
        self._scope: Scope | None = None
        self._woken = False
        writer.on_failure(self.forget)
        self._by_hosts = writer.statements["site_rows.by_hosts"]
        self._insert = writer.statements["site_rows.insert"]
        self._page = writer.statements["site_rows.page"]
        self._count = writer.statements["site_rows.count"]
        self._of_seeds = writer.statements["site_rows.of_seeds"]
        self._set_scope = writer.statements["site_rows.set_scope"]
        self._readmit = writer.statements["site_rows.readmit"]
        self._refuse_deep = writer.statements["site_rows.refuse_deep"]
        self._refuse_far = writer.statements["site_rows.refuse_far"]
        self._expel = writer.statements["site_rows.expel"]
        self._wake = writer.statements["site_rows.wake"]
        self._dues = writer.statements["site_rows.dues"]
        self._set_dues = writer.statements["site_rows.set_dues"]

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
        made = {origin: (self._writer.new_id("sites"), scope.admits(*origin)) for origin in origins}
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
            work = self._state.work
            self._scope = Scope(work.Scope, work.Domains, work.Include, work.Exclude)
            for scheme, host, port in self._writer.rows(self._of_seeds):
                self._scope.add_seed(scheme, host, port)
        return self._scope

    def refusal(self, url: str, inside: bool) -> str:
        """The word of the reason why a URL is refused whose site is inside or outside the scope; empty where it is not."""
        if not inside:
            return Reason.SCOPE.word
        patterns = self.scope.patterns
        return "" if patterns is None or patterns.admits(url) else Reason.EXCLUDED.word

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
        while page := self._writer.rows(self._page, after, _PAGE):
            for number, scheme, host, port, inside in page:
                yield number, (scheme, host, port), bool(inside)
            after = page[-1][0]

    def readmit(self, ids: Collection[int], now: float) -> None:
        """Brings sites into the scope; what was refused for it becomes known, unless another limit forbids it still."""
        self._writer.many(self._set_scope, [(True, number) for number in ids])
        for page in _pages(ids):
            numbers = self._writer.lists.bind(page)
            self._writer.run(self._readmit, now, numbers, self._state.max_depth, self._state.work.MaxRedirects)
            self._writer.run(self._refuse_deep, numbers, self._state.max_depth)
            self._writer.run(self._refuse_far, numbers)
        self.settle(ids)

    def expel(self, ids: Collection[int]) -> None:
        """Takes sites out of the scope; what waits there is refused, what is stored stays."""
        self._writer.many(self._set_scope, [(False, number) for number in ids])
        for page in _pages(ids):
            self._writer.run(self._expel, self._writer.lists.bind(page))
        self.settle(ids)

    # --- when they fall due ---------------------------------------------------------------------------------------------

    def gained(self, new: Mapping[int, int], waiting: Collection[int], now: float) -> None:
        """Counts new URLs by site, and wakes the sites that have something to do now and are not being visited."""
        self._writer.many(self._count, [(more, site) for site, more in new.items()])
        if self._writer.changed(self._wake, [(now, now, site, now, now) for site in waiting]):
            self._woken = True

    def settle(self, ids: Iterable[int]) -> None:
        """Sets due_at and again_at of sites to what their URLs say, by steps into the indexes."""
        for page in _pages(ids):
            rows = []
            for number, inside, not_before, errand_until, known, failed, stored, refused, gone, errand in self._writer.rows(
                self._dues, self._writer.lists.bind(page)
            ):
                url = earliest(known, failed) if inside else None
                again = earliest(stored, refused, gone) if inside else None
                due = site_due(not_before, errand_until, url, errand)
                self._woken = self._woken or due is not None
                rows.append((due, again, number))
            self._writer.many(self._set_dues, rows)

    def take_woken(self) -> bool:
        """Whether a site was given something to do since the last question; one that is being visited is told at its end."""
        woken, self._woken = self._woken, False
        return woken

    def settle_all(self) -> None:
        """The same for every site; only when settings changed."""
        self.settle(number for number, _, _ in self.all_sites())


def _pages(ids: Iterable[int]) -> Iterator[list[int]]:
    numbers = iter(ids)
    while page := list(islice(numbers, _PAGE)):
        yield page
