"""The frontier: a site is leased to one visit, with its due URLs, until that visit ends or its process is gone.

A lease writes one row per visit, not one per URL. However the visit ends, its URLs stay in the database.

Tested in tests/storage/test_frontier.py and tests/storage/test_budgets.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, literal_column, null, select, update

from parcahyd.core.records import (
    MOST_LEASED,
    DueUrl,
    Pause,
    PauseRecord,
    RobotsFact,
    RobotsStatus,
    SiteAddresses,
    SiteLease,
    VisitOver,
)
from parcahyd.core.states import State
from parcahyd.rules.politeness.backoff import grown
from parcahyd.rules.traps.site_room import site_room
from parcahyd.rules.urls.canonical_url import split
from parcahyd.rules.urls.host_rules import host_delays
from parcahyd.storage.documents import VersionsForVisit
from parcahyd.storage.due_urls import DueUrls, Revisits
from parcahyd.storage.expressions import MOST, later, numbers, same, time_bound, updating
from parcahyd.storage.overfull import OverfullPages
from parcahyd.storage.robots import RobotsRows
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import HELD, seeds, sites
from parcahyd.storage.sites import PauseRows, SiteRows, earliest
from parcahyd.storage.writer import Writer

__all__ = ["LeasedSite", "Leases", "VisitedSite"]

_FIRST = frozenset({int(State.KNOWN), int(State.FAILED)})

_DEATHS_ALLOWED = 3
"""Workers that may die in a row, without having stored anything of a site, before the site is paused for longer."""


class LeasedSite(NamedTuple):
    """The columns of a site that a visit needs."""

    id: int
    scheme: str
    host: str
    port: int
    in_scope: bool
    urls: int
    urls_from_others: int
    urls_for_others: int
    pages: int
    addresses: str
    addresses_expire: float
    failures: int
    augmentation: bytes | None
    guards: bytes | None
    errand_until: float
    robots_status: str | None
    robots_text: bytes | None
    robots_fetched_at: float
    robots_expires_at: float
    robots_detail: str
    robots_failing_since: float
    robots_delay: float


class VisitedSite(NamedTuple):
    """A site that a visit has."""

    id: int
    visit: int
    host: str
    port: int
    visit_address: str
    """Empty where it was not noted."""
    addresses: str
    failures: int
    robots_delay: float


_FREE = sites.c.visit.is_(None)
_HELD: ColumnElement[int] = literal_column(str(HELD))
_ITS_VISIT = same(sites, "id", "visit")
_BEFORE = sites.c.again_at < bindparam("before")
_BY_DUE = select(sites.c.due_at, sites.c.id).where(_FREE, sites.c.due_at.is_not(None)).order_by(sites.c.due_at)
_BY_AGAIN = select(sites.c.again_at, sites.c.id).where(_FREE, sites.c.again_at.is_not(None)).order_by(sites.c.again_at)
_DUE = _BY_DUE.where(sites.c.due_at <= bindparam("now")).limit(MOST)
# While the clock goes forward, no URL that the run has visited is due before the run. If it was set back, sites seem to be due
# that have nothing left to visit in this run: each is looked at once, and then rests. It rests until the next start, also of
# the same run: that start is later, so more may be due.
_NOT_RESTED = sites.c.rested_in < bindparam("start")
_READY = (sites.c.not_before <= bindparam("now"), sites.c.errand_until <= bindparam("now"))
_AGAIN = _BY_AGAIN.where(_BEFORE, *_READY, _NOT_RESTED).limit(MOST)
_REST = updating(sites, ("id",), "rested_in")
_NEXT_DUE = _BY_DUE.limit(1)
_NEXT_AGAIN = _BY_AGAIN.where(sites.c.again_at >= bindparam("before")).limit(1)
_NEXT_SPARED = select(func.min(later(sites.c.not_before, sites.c.errand_until))).where(
    _FREE, sites.c.again_at.is_not(None), _BEFORE, _NOT_RESTED
)
_DETAILS = select(*(sites.c[name] for name in LeasedSite._fields)).where(sites.c.id.in_(numbers("ids")))
_GIVEN_SEEDS = select(seeds.c.url).where(*same(seeds, "site_id"), seeds.c.via.is_(None))
_VISITED = select(*(sites.c[name] for name in VisitedSite._fields)).where(sites.c.visit.is_not(None), sites.c.visit != _HELD)
_TAKE = updating(sites, ("id",), "visit")
_NOTE_ADDRESSES = updating(sites, ("id", "visit"), "addresses", "addresses_expire")
_ASSIGN = updating(sites, ("id", "visit"), "visit_address")
_GIVEN_BACK = {"visit": null(), "visit_address": literal_column("''")}
_LEARNED = ("addresses", "addresses_expire", "guards", "not_before", "failures", "reason")
_GIVE_BACK = (
    update(sites)
    .where(*_ITS_VISIT)
    .values(
        {
            **_GIVEN_BACK,
            **{name: bindparam(name) for name in _LEARNED},
            "requests": sites.c.requests + bindparam("more"),
            "bytes": sites.c.bytes + bindparam("more_bytes"),
        }
    )
)
_ORPHAN = (
    update(sites)
    .where(*_ITS_VISIT)
    .values(
        {
            **_GIVEN_BACK,
            "not_before": later(sites.c.not_before, time_bound("until", sites.c.not_before)),
            "failures": bindparam("failures"),
        }
    )
)


class Leases:
    """Leases sites and releases them; used inside a transaction of the writer."""

    def __init__(
        self, writer: Writer, state: RunState, site_rows: SiteRows, robots_rows: RobotsRows, overfull: OverfullPages
    ) -> None:
        self._overfull = overfull
        self._writer = writer
        self._state = state
        self._sites = site_rows
        self._robots_rows = robots_rows
        self._pauses = PauseRows(writer)
        self._due_urls = DueUrls(writer)
        self._versions = VersionsForVisit(writer, state)
        writer.on_failure(self._take_back)

    # --- giving out -----------------------------------------------------------------------------------------------------

    def lease(
        self, count: int, now: float, again_before: float | None, visit_pages: int, meta_keys: int
    ) -> tuple[list[SiteLease], float | None]:
        """Up to `count` due sites, as visits, and when the next site falls due: see `Store.lease`.

        A site that is due although none of its URLs is gets its due times corrected instead of a visit.
        """
        if self._sites.others is not None:
            self._sites.others.before_leasing()
        again = self._revisits(again_before)
        pairs: list[SiteLease] = []
        looked_at: set[int] = set()
        while len(pairs) < count:
            most = count - len(pairs)
            picked = [site for site in self._pick(most, now, again) if site not in looked_at]
            if not picked:
                return pairs, self._next(now, again)
            looked_at.update(picked)
            self._fill(pairs, picked, now, again, visit_pages, meta_keys)
        return pairs, self.next_due(now, again_before)

    def _revisits(self, again_before: float | None) -> Revisits:
        state = self._state
        if again_before is None:
            return Revisits(state.started_at, state.crawl_run, is_forever=False)
        return Revisits(again_before, state.crawl_run + 1, is_forever=True)

    def _start(self, again: Revisits) -> int:
        """Sites that rested in an earlier start are looked at; where a run never ends, all are."""
        return self._state.run + again.is_forever

    def _pick(self, most: int, now: float, again: Revisits) -> list[int]:
        found = self._writer.rows(_DUE, now=now, most=most)
        if self._may_revisit(now):
            found += self._writer.rows(_AGAIN, before=again.before, start=self._start(again), now=now, most=most)
        return list(dict.fromkeys(site for _, site in sorted(found)))[:most]

    def _may_revisit(self, now: float) -> bool:
        return self._state.allowance is None or self._state.allowance.left(now) > 0

    def _within_allowance(self, due: tuple[DueUrl, ...], now: float) -> tuple[DueUrl, ...]:
        """The due URLs without revisits beyond the day's allowance; revisits come last."""
        allowance = self._state.allowance
        if allowance is None:
            return due
        first = sum(url.state in _FIRST for url in due)
        again = min(len(due) - first, allowance.left(now))
        allowance.spend(again)
        return due[: first + again]

    def committed(self) -> None:
        """Called after the commit of a lease: its part of the day's allowance is used up."""
        if self._state.allowance is not None:
            self._state.allowance.settle()

    def _take_back(self) -> None:
        if self._state.allowance is not None:
            self._state.allowance.take_back()

    def _fill(
        self, pairs: list[SiteLease], picked: Sequence[int], now: float, again: Revisits, visit_pages: int, meta_keys: int
    ) -> None:
        redirects = self._robots_rows.of(picked)
        found = map(LeasedSite._make, self._writer.rows(_DETAILS, ids=self._writer.lists.bind(picked)))
        rows = {row.id: row for row in found}
        counts = {site: rows[site].urls for site in picked}
        ready = self._due_urls.of(counts, now, again, min(visit_pages, MOST_LEASED), meta_keys)
        taken, idle, filled, rested = [], [], [], []
        work = self._state.work
        for site in picked:
            row = rows[site]
            robots, waits = self._robots(row, now)
            due, known = ready[site]
            if not due:
                rested.append({"id": site, "rested_in": self._state.run})
            due = self._within_allowance(due, now) if row.in_scope and not waits else ()
            if not due and site not in redirects:
                idle.append(site)
                continue
            pair = SiteLease(
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
                has_all_keys=row.urls <= meta_keys,
                robots_redirects=redirects.get(site, ()),
                augmentation=bytes(row.augmentation or b""),
                site_pages=row.pages,
                guards=bytes(row.guards or b""),
                roots=self._roots(site) if row.scheme == "file" else (),
                is_watched=site in self._state.watched or any(url.is_suspect for url in due),
                url_room=site_room(work.MaxSiteUrls, row.urls - row.urls_from_others, row.pages),
                external_room=site_room(work.MaxExternalUrls, row.urls_for_others, row.pages),
            )
            taken.append({"id": site, "visit": pair.visit})
            filled.append(pair)
        pairs += self._versions.give(filled)
        self._writer.many(_TAKE, taken)
        self._sites.settle(idle)
        self._writer.many(_REST, rested)

    def _roots(self, site: int) -> tuple[str, ...]:
        """The folders of the seeds that the user gave on this site."""
        paths = [split(url)[3] for (url,) in self._writer.rows(_GIVEN_SEEDS, site_id=site)]
        return tuple({path[: path.rindex("/") + 1]: None for path in paths})

    def _robots(self, row: LeasedSite, now: float) -> tuple[RobotsFact | None, bool]:
        """What is known of a site's robots.txt, and whether its URLs wait for it."""
        if row.robots_status is None:
            return None, False
        status = RobotsStatus(row.robots_status)
        is_late = status is RobotsStatus.AWAITED and 0 < row.errand_until <= now
        if is_late:
            self._robots_rows.give_up(row.id, now)
        fact = RobotsFact(
            status,
            bytes(row.robots_text or b""),
            row.robots_fetched_at,
            row.robots_expires_at,
            row.robots_detail,
            row.robots_failing_since,
            row.robots_delay,
        )
        return fact, is_late or row.errand_until > now

    def _next(self, now: float, again: Revisits) -> float | None:
        """When the next site falls due. Few sites have a revisit due and are still paused."""
        known = earliest(*(row[0] for row in self._writer.rows(_NEXT_DUE)))
        times = [row[0] for row in self._writer.rows(_NEXT_SPARED, before=again.before, start=self._start(again))]
        if again.is_forever:  # what is due later counts, too
            times += [row[0] for row in self._writer.rows(_NEXT_AGAIN, before=again.before)]
        following, allowance = earliest(*times), self._state.allowance
        if following is not None and allowance is not None and not allowance.left(now):
            # Another day's requests are for another run, unless this one never ends.
            following = max(following, allowance.next_at(now)) if again.is_forever else None
        return earliest(known, following)

    def next_due(self, now: float, again_before: float | None) -> float | None:
        """When the next site falls due; `now` where one is due that was not leased."""
        again = self._revisits(again_before)
        return now if self._pick(1, now, again) else self._next(now, again)

    def clear_strays(self) -> None:
        """Frees sites whose lease was committed although the commit seemed to fail."""
        strays = [row for row in self.visited() if row.visit not in self._state.visits]
        self._writer.many(
            _ORPHAN, [{"id": row.id, "visit": row.visit, "until": 0.0, "failures": row.failures} for row in strays]
        )
        self._sites.settle([row.id for row in strays])

    def note_addresses(self, resolved: Iterable[SiteAddresses]) -> None:
        """Writes the addresses of sites in open visits, unless the address did not answer."""
        visits = self._state.visits
        rows = [
            {
                "id": visits[site.visit],
                "visit": site.visit,
                "addresses": ",".join(site.addresses),
                "addresses_expire": site.expires_at,
            }
            for site in resolved
            if site.visit in visits and site.visit not in self._state.blanked
        ]
        self._writer.many(_NOTE_ADDRESSES, rows)

    def assign(self, addresses: Mapping[int, str]) -> None:
        """Writes the address that each open visit uses, so that it is paused if the visit's process dies."""
        visits = self._state.visits
        rows = [
            {"id": visits[visit], "visit": visit, "visit_address": address}
            for visit, address in addresses.items()
            if visit in visits
        ]
        self._writer.many(_ASSIGN, rows)

    # --- taking back ----------------------------------------------------------------------------------------------------

    def release(self, overs: Iterable[VisitOver]) -> None:
        """Frees the sites of visits that ended, with the earliest time of the next visit."""
        longest: dict[str, Pause] = {}
        rows: list[dict[str, Any]] = []
        for over in overs:
            for pause in over.pauses:
                if pause.subject not in longest or pause.not_before > longest[pause.subject].not_before:
                    longest[pause.subject] = pause
            blank = over.visit in self._state.blanked
            rows.append(
                {
                    "id": over.site,
                    "visit": over.visit,
                    "addresses": "" if blank else ",".join(over.addresses),
                    "addresses_expire": 0.0 if blank else over.addresses_expire,
                    "guards": over.guards or None,
                    "not_before": over.not_before,
                    "failures": over.failures,
                    "reason": over.reason or None,
                    "more": over.requests,
                    "more_bytes": over.received,
                    "at": over.at,
                }
            )
        self._writer.many(_GIVE_BACK, rows)
        self._pauses.extend(longest.values())
        self._overfull.read_again({row["id"]: row["at"] for row in rows})
        self._sites.settle([row["id"] for row in rows])

    def visited(self) -> list[VisitedSite]:
        """Every site that a visit has."""
        return list(map(VisitedSite._make, self._writer.rows(_VISITED)))

    def recover(
        self, orphans: Iterable[VisitedSite], now: float, addresses: Mapping[int, str], worker_died: bool = False
    ) -> None:
        """Frees sites whose visit no process works on any more.

        It is unknown which requests were on the way, so host and address are paused for one full delay (architecture,
        section 3). A site at which workers die one after the other, before anything is stored or because of its documents, is
        paused for longer each time: pages that kill workers must not go on doing so.
        """
        work = self._state.work
        host_delay = host_delays(work)
        address_until = now + work.address_delay
        spared: dict[str, float] = {}
        rows: list[dict[str, Any]] = []
        for site, visit, host, port, visit_address, known_addresses, failures, crawl_delay in orphans:
            delay = host_delay(host, port, crawl_delay)
            until = now + delay
            if worker_died and visit not in self._state.innocent:
                if visit in self._state.guilty:
                    deaths = self._state.convictions.get(site, 0) + 1
                else:
                    deaths = failures = 0 if visit in self._state.fruitful else failures + 1  # noqa: PLW2901 (from now on)
                if deaths > _DEATHS_ALLOWED:
                    until = max(until, now + grown(deaths - _DEATHS_ALLOWED, work.RetryDelay))
            rows.append({"id": site, "visit": visit, "until": until, "failures": failures})
            spared[f"host {host}"] = max(now + delay, spared.get(f"host {host}", 0.0))
            used = addresses.get(visit) or visit_address or known_addresses
            spared.update((f"address {address}", address_until) for address in used.split(",") if address)
        self._writer.many(_ORPHAN, rows)
        self._pauses.extend(Pause(subject, until) for subject, until in spared.items())
        self._sites.settle([row["id"] for row in rows])

    def note_pauses(self, record: PauseRecord) -> None:
        self._pauses.note(record)

    def pauses_in_force(self, now: float) -> tuple[Pause, ...]:
        return self._pauses.in_force(now)
