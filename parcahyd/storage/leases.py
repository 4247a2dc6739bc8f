"""Leases: a site is given to one visit, and is nobody else's until that visit is over or its process is gone.

One row per visit, not one write per URL. Whatever becomes of the visit, its URLs are still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from parcahyd.core.life_cycle import State
from parcahyd.core.records import DueUrl, Pair, Pause, PauseRecord, RobotsFact, RobotsStatus, VisitOver
from parcahyd.rules.backoff import grown
from parcahyd.rules.host_rules import host_delays
from parcahyd.storage.due_urls import DueUrls
from parcahyd.storage.errand_rows import ErrandRows
from parcahyd.storage.held_documents import HeldDocuments
from parcahyd.storage.moments import earliest
from parcahyd.storage.pause_rows import PauseRows
from parcahyd.storage.run_state import RunState
from parcahyd.storage.site_rows import SiteRows
from parcahyd.storage.writer import Writer

__all__ = ["LeasedSite", "Leases", "VisitedSite"]

_FIRST = frozenset({int(State.KNOWN), int(State.FAILED)})

_DEATHS_FORGIVEN = 3
"""Workers that may die in a row without having brought anything from a site before that is held against the site."""


class LeasedSite(NamedTuple):
    """What the database has on a site, as far as a visit needs it."""

    id: int
    scheme: str
    host: str
    port: int
    in_scope: bool
    urls: int
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


class Leases:
    """Gives sites out and takes them back; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, site_rows: SiteRows, errand_rows: ErrandRows) -> None:
        self._writer = writer
        self._state = state
        self._sites = site_rows
        self._errands = errand_rows
        self._pauses = PauseRows(writer)
        self._due_urls = DueUrls(writer)
        self._held = HeldDocuments(writer, state)
        self._due = writer.statements["leases.due"]
        self._again = writer.statements["leases.again"]
        self._next_due = writer.statements["leases.next_due"]
        self._next_again = writer.statements["leases.next_again"]
        self._next_spared = writer.statements["leases.next_spared"]
        self._details = writer.statements["leases.details"]
        self._take = writer.statements["leases.take"]
        self._assign = writer.statements["leases.assign"]
        self._give_back = writer.statements["leases.give_back"]
        self._orphan = writer.statements["leases.orphan"]
        self._visited = writer.statements["leases.visited"]
        writer.on_failure(self._take_back)

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
                return pairs, self._next(now, again_before)
            looked_at.update(picked)
            self._fill(pairs, picked, now, again_before, visit_pages, meta_keys)
        return pairs, now if self._pick(1, now, again_before) else self._next(now, again_before)

    def _pick(self, most: int, now: float, again_before: float) -> list[int]:
        found = self._writer.rows(self._due, now, most)
        if self._may_revisit(now):
            found += self._writer.rows(self._again, again_before, now, now, most)
        return list(dict.fromkeys(site for _, site in sorted(found)))[:most]

    def _may_revisit(self, now: float) -> bool:
        return self._state.allowance is None or self._state.allowance.left(now) > 0

    def _within_allowance(self, due: tuple[DueUrl, ...], now: float) -> tuple[DueUrl, ...]:
        """Without those to be looked at again for which the day's requests are used up; they come last."""
        allowance = self._state.allowance
        if allowance is None:
            return due
        first = sum(url.state in _FIRST for url in due)
        again = min(len(due) - first, allowance.left(now))
        allowance.spend(again)
        return due[: first + again]

    def committed(self) -> None:
        """What was leased last is committed: its part of the day's requests is used up."""
        if self._state.allowance is not None:
            self._state.allowance.settle()

    def _take_back(self) -> None:
        if self._state.allowance is not None:
            self._state.allowance.take_back()

    def _fill(
        self, pairs: list[Pair], picked: Sequence[int], now: float, again_before: float, visit_pages: int, meta_keys: int
    ) -> None:
        errands = self._errands.of(picked)
        found = map(LeasedSite._make, self._writer.rows(self._details, self._writer.lists.bind(picked)))
        rows = {row.id: row for row in found}
        counts = {site: rows[site].urls for site in picked}
        ready = self._due_urls.of(counts, now, again_before, visit_pages, meta_keys)
        taken, idle, filled = [], [], []
        for site in picked:
            row = rows[site]
            robots, waits = self._robots(row, now)
            due, known = ready[site]
            due = self._within_allowance(due, now) if row.in_scope and not waits else ()
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
                site_pages=row.pages,
                guards=bytes(row.guards or b""),
            )
            taken.append((pair.visit, site))
            filled.append(pair)
        pairs += self._held.give(filled)
        self._writer.many(self._take, taken)
        self._sites.settle(idle)

    def _robots(self, row: LeasedSite, now: float) -> tuple[RobotsFact | None, bool]:
        """What is known of a site's robots.txt, and whether its URLs wait for more."""
        if row.robots_status is None:
            return None, False
        status = RobotsStatus(row.robots_status)
        is_late = status is RobotsStatus.AWAITED and 0 < row.errand_until <= now
        if is_late:
            self._errands.give_up(row.id, now)
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

    def _next(self, now: float, again_before: float) -> float | None:
        """When the next site falls due. Sites with something to look at again that are still spared are few."""
        known = earliest(*(row[0] for row in self._writer.rows(self._next_due)))
        again = [row[0] for row in self._writer.rows(self._next_spared, again_before)]
        forever = again_before > self._state.started_at
        if forever:  # what is due later counts too
            again += [row[0] for row in self._writer.rows(self._next_again, again_before)]
        following, allowance = earliest(*again), self._state.allowance
        if following is not None and allowance is not None and not allowance.left(now):
            # Another day's requests are for another run, unless this one never ends.
            following = max(following, allowance.next_at(now)) if forever else None
        return earliest(known, following)

    def clear_strays(self) -> None:
        """Frees sites whose lease was committed although the database said, or could not say, otherwise."""
        strays = [(0.0, 0.0, row.failures, row.id, row.visit) for row in self.visited() if row.visit not in self._state.visits]
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
        longest: dict[str, Pause] = {}
        rows = []
        for over in overs:
            for pause in over.pauses:
                if pause.subject not in longest or pause.not_before > longest[pause.subject].not_before:
                    longest[pause.subject] = pause
            blank = over.visit in self._state.blanked
            addresses = ("", 0.0) if blank else (",".join(over.addresses), over.addresses_expire)
            told = (*addresses, over.guards or None, over.not_before, over.failures, over.reason or None)
            rows.append((*told, over.requests, over.site, over.visit))
        self._writer.many(self._give_back, rows)
        self._pauses.extend(longest.values())
        self._sites.settle([row[-2] for row in rows])

    def visited(self) -> list[VisitedSite]:
        """Every site that a visit has."""
        return list(map(VisitedSite._make, self._writer.rows(self._visited)))

    def recover(
        self, orphans: Iterable[VisitedSite], now: float, addresses: Mapping[int, str], worker_died: bool = False
    ) -> None:
        """Frees sites whose visit nobody works on any more. What was on the wire is unknown, so host and address are
        spared for one full delay (architecture, section 3). A site at which worker after worker dies before it brought
        anything is spared for longer each time: a page that kills workers must not keep on doing so."""
        work = self._state.work
        host_delay = host_delays(work)
        address_until = now + work.address_delay
        spared: dict[str, float] = {}
        rows = []
        for site, visit, host, port, visit_address, known_addresses, failures, crawl_delay in orphans:
            delay = host_delay(host, port, crawl_delay)
            until = now + delay
            if worker_died:
                failures = 0 if visit in self._state.fruitful else failures + 1  # noqa: PLW2901 (as it is from now on)
                if failures > _DEATHS_FORGIVEN:
                    until = max(until, now + grown(failures - _DEATHS_FORGIVEN, work.RetryDelay))
            rows.append((until, until, failures, site, visit))
            spared[f"host {host}"] = max(now + delay, spared.get(f"host {host}", 0.0))
            used = addresses.get(visit) or visit_address or known_addresses
            spared.update((f"address {address}", address_until) for address in used.split(",") if address)
        self._writer.many(self._orphan, rows)
        self._pauses.extend(Pause(subject, until) for subject, until in spared.items())
        self._sites.settle([row[3] for row in rows])

    def note(self, record: PauseRecord) -> None:
        self._pauses.note(record)

    def pauses_in_force(self, now: float) -> tuple[Pause, ...]:
        return self._pauses.in_force(now)
