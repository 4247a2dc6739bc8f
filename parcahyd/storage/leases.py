"""Leases: a site is given to one visit, and is nobody else's until that visit is over or its process is gone.

One row per visit, not one write per URL. Whatever becomes of the visit, its URLs are still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, Integer, bindparam, func, literal_column, null, select, update

from parcahyd.core.records import Pair, Pause, RobotsFact, RobotsStatus, VisitOver
from parcahyd.rules.retries import retry_after
from parcahyd.storage.due_urls import DueUrls
from parcahyd.storage.errand_rows import ErrandRows
from parcahyd.storage.moments import earliest, later
from parcahyd.storage.pause_rows import PauseRows
from parcahyd.storage.run_state import RunState
from parcahyd.storage.site_rows import SiteRows
from parcahyd.storage.tables import sites
from parcahyd.storage.writer import ONE, Writer, limited

__all__ = ["Leases"]

_DEATHS_FORGIVEN = 3
"""Workers that may die in a row without having brought anything from a site before that is held against the site."""

_PAIR_COLUMNS = (
    *(sites.c.id, sites.c.scheme, sites.c.host, sites.c.port, sites.c.in_scope, sites.c.urls),
    *(sites.c.addresses, sites.c.addresses_expire, sites.c.failures, sites.c.augmentation, sites.c.errand_until),
    *(sites.c.robots_status, sites.c.robots_text, sites.c.robots_fetched_at, sites.c.robots_expires_at, sites.c.robots_detail),
)


class Leases:
    """Gives sites out and takes them back; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, site_rows: SiteRows, errand_rows: ErrandRows) -> None:
        self._writer = writer
        self._state = state
        self._sites = site_rows
        self._errands = errand_rows
        self._pauses = PauseRows(writer)
        self._due_urls = DueUrls(writer)

        free = sites.c.visit.is_(None)
        is_due = free & sites.c.due_at.is_not(None)
        is_again = free & sites.c.again_at.is_not(None)
        most: BindParameter[int] = bindparam("most", type_=Integer)
        due = select(sites.c.due_at, sites.c.id).where(is_due).order_by(sites.c.due_at)
        again = select(sites.c.again_at, sites.c.id).where(is_again).order_by(sites.c.again_at)
        ready = (sites.c.not_before <= bindparam("now"), sites.c.errand_until <= bindparam("now"))
        self._due = writer.prepare(limited(due.where(sites.c.due_at <= bindparam("now")), most), "now", "most")
        self._again = writer.prepare(
            limited(again.where(sites.c.again_at < bindparam("before"), *ready), most), "before", "now", "now", "most"
        )
        self._next_due = writer.prepare(limited(due, ONE))
        self._next_again = writer.prepare(limited(again.where(sites.c.again_at >= bindparam("before")), ONE), "before")
        self._next_spared = writer.prepare(
            select(func.min(later(sites.c.not_before, sites.c.errand_until))).where(
                is_again, sites.c.again_at < bindparam("before")
            ),
            "before",
        )
        self._details = writer.prepare(select(*_PAIR_COLUMNS).where(sites.c.id.in_(writer.lists.numbers("ids"))), "ids")
        this = (sites.c.id == bindparam("site"), sites.c.visit == bindparam("its_visit"))
        self._take = writer.prepare(
            update(sites).where(sites.c.id == bindparam("site")).values(visit=bindparam("new_visit")), "new_visit", "site"
        )
        self._assign = writer.prepare(
            update(sites).where(*this).values(visit_address=bindparam("address")), "address", "site", "its_visit"
        )
        given_back = {"visit": null(), "visit_address": literal_column("''")}
        told = ("addresses", "addresses_expire", "not_before", "failures", "reason")
        self._give_back = writer.prepare(
            update(sites)
            .where(*this)
            .values(
                {
                    **given_back,
                    **{name: bindparam(f"new_{name}") for name in told},
                    "requests": sites.c.requests + bindparam("more"),
                }
            ),
            *(*(f"new_{name}" for name in told), "more", "site", "its_visit"),
        )
        until = later(sites.c.not_before, bindparam("until", type_=sites.c.not_before.type))
        self._orphan = writer.prepare(
            update(sites).where(*this).values({**given_back, "not_before": until, "failures": bindparam("new_failures")}),
            *("until", "until", "new_failures", "site", "its_visit"),
        )
        self._visited = writer.prepare(
            select(
                *(sites.c.id, sites.c.visit, sites.c.host, sites.c.visit_address, sites.c.addresses, sites.c.failures)
            ).where(sites.c.visit.is_not(None))
        )

    # --- giving out -----------------------------------------------------------------------------------------------------

    def lease(
        self, count: int, now: float, again_before: float, visit_pages: int, meta_keys: int
    ) -> tuple[list[Pair], float | None]:
        """Up to `count` sites that have something to do, as visits, and when the next falls due if these were not all.

        A site whose time says more than its URLs do is put right instead of being given out for nothing.
        """
        pairs: list[Pair] = []
        looked_at: set[int] = set()
        while len(pairs) < count:
            most = count - len(pairs)
            picked = [site for site in self._pick(most, now, again_before) if site not in looked_at]
            if not picked:
                return pairs, self._next(again_before)
            looked_at.update(picked)
            self._fill(pairs, picked, now, again_before, visit_pages, meta_keys)
        return pairs, now if self._pick(1, now, again_before) else self._next(again_before)

    def _pick(self, most: int, now: float, again_before: float) -> list[int]:
        found = [*self._writer.rows(self._due, now, most), *self._writer.rows(self._again, again_before, now, now, most)]
        return list(dict.fromkeys(site for _, site in sorted(map(tuple, found))))[:most]

    def _fill(
        self, pairs: list[Pair], picked: Sequence[int], now: float, again_before: float, visit_pages: int, meta_keys: int
    ) -> None:
        errands = self._errands.of(picked)
        rows = {row.id: row for row in self._writer.rows(self._details, self._writer.lists.bind(picked))}
        counts = {site: rows[site].urls for site in picked}
        ready = self._due_urls.of(counts, now, again_before, visit_pages, meta_keys)
        taken, idle = [], []
        for site in picked:
            row = rows[site]
            robots = self._robots(row, now)
            due, known = ready[site]
            if not row.in_scope or row.errand_until > now:
                due = ()
            if not due and site not in errands:
                idle.append(site)
                continue
            pair = Pair(
                visit=self._state.new_visit(),
                site=site,
                scheme=row.scheme,
                host=row.host,
                port=row.port,
                urls=due,
                addresses=tuple(row.addresses.split(",")) if row.addresses else (),
                addresses_expire=row.addresses_expire,
                robots=robots,
                failures=row.failures,
                known=known,
                whole=row.urls <= meta_keys,
                errands=errands.get(site, ()),
                augmentation=bytes(row.augmentation or b""),
            )
            taken.append((pair.visit, site))
            pairs.append(pair)
        self._writer.many(self._take, taken)
        self._sites.settle(idle)

    def _robots(self, row: Any, now: float) -> RobotsFact | None:
        if row.robots_status is None:
            return None
        if 0 < row.errand_until <= now:
            return self._errands.give_up(row.id, now)
        return RobotsFact(
            RobotsStatus(row.robots_status),
            bytes(row.robots_text or b""),
            row.robots_fetched_at,
            row.robots_expires_at,
            row.robots_detail,
        )

    def _next(self, again_before: float) -> float | None:
        """When the next site falls due. Sites with something to look at again that are still spared are few."""
        moments = [row[0] for row in self._writer.rows(self._next_due)]
        moments += [row[0] for row in self._writer.rows(self._next_spared, again_before)]
        if again_before > self._state.started_at:  # refreshing for ever: what is due later counts too
            moments += [row[0] for row in self._writer.rows(self._next_again, again_before)]
        return earliest(*moments)

    def clear_strays(self) -> None:
        """Frees sites whose lease was committed although the database said, or could not say, otherwise."""
        strays = [
            (0.0, 0.0, row.failures, row.id, row.visit)
            for row in self._writer.rows(self._visited)
            if row.visit not in self._state.visits
        ]
        self._writer.many(self._orphan, strays)
        self._sites.settle([site for *_, site, _ in strays])

    def assign(self, addresses: Mapping[int, str]) -> None:
        """Notes the address that each open visit uses, so that it is spared if the visit is orphaned."""
        visits = self._state.visits
        self._writer.many(
            self._assign, [(address, visits[visit], visit) for visit, address in addresses.items() if visit in visits]
        )

    # --- taking back ----------------------------------------------------------------------------------------------------

    def release(self, overs: Iterable[VisitOver]) -> None:
        """Frees the sites of visits that are over, with what they learned about when to come back."""
        longest: dict[str, float] = {}
        rows = []
        for over in overs:
            for pause in over.pauses:
                longest[pause.subject] = max(pause.not_before, longest.get(pause.subject, 0.0))
            blank = over.visit in self._state.blanked
            addresses = ("", 0.0) if blank else (",".join(over.addresses), over.addresses_expire)
            told = (*addresses, over.not_before, over.failures, over.reason or None)
            rows.append((*told, over.requests, over.site, over.visit))
        self._writer.many(self._give_back, rows)
        self._pauses.extend(Pause(subject, not_before) for subject, not_before in longest.items())
        self._sites.settle([row[-2] for row in rows])

    def orphans(self) -> Sequence[Any]:
        """Every site that a visit has: id, visit, host, the visit's address if it was noted, the site's addresses, failures."""
        return self._writer.rows(self._visited)

    def recover(self, orphans: Iterable[Any], now: float, addresses: Mapping[int, str], worker_died: bool = False) -> None:
        """Frees sites whose visit nobody works on any more. What was on the wire is unknown, so host and address are
        spared for one full delay (architecture, section 3). A site at which worker after worker dies before it brought
        anything is spared for longer each time: a page that kills workers must not keep on doing so."""
        work = self._state.work
        host_until, address_until = now + work.HostDelay, now + work.address_delay
        spared: dict[str, float] = {}
        rows = []
        for site, visit, host, visit_address, known_addresses, failures in orphans:
            until = host_until
            if worker_died:
                failures = 0 if visit in self._state.fruitful else failures + 1  # noqa: PLW2901 (as it is from now on)
                if failures > _DEATHS_FORGIVEN:
                    until = max(until, now + retry_after(failures - _DEATHS_FORGIVEN, work.RetryDelay))
            rows.append((until, until, failures, site, visit))
            spared[f"host {host}"] = host_until
            used = addresses.get(visit) or visit_address or known_addresses
            spared.update((f"address {address}", address_until) for address in used.split(",") if address)
        self._writer.many(self._orphan, rows)
        self._pauses.extend(Pause(subject, until) for subject, until in spared.items())
        self._sites.settle([row[3] for row in rows])

    def pauses_in_force(self, now: float) -> tuple[Pause, ...]:
        return self._pauses.in_force(now)
