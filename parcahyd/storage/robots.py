"""The rows of `errands` and what is known of robots.txt: a robots.txt that redirects to another site is fetched there.

The site that asks waits, at most ten minutes; the site that is asked falls due. Redirects may lead on; after five the file
counts as absent (RFC 9309, section 2.3.1.2). An errand that comes to nothing is run again later, after longer each time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import bindparam, case, delete, insert, select, update

from parcahyd.core.records import RobotsFact, RobotsRedirect, RobotsRedirectRecord, RobotsStatus, SiteRecord
from parcahyd.rules.robots.robots_file import redirect_again_at, stale_robots
from parcahyd.rules.urls.canonical_url import canonical, split
from parcahyd.storage.expressions import ZERO, same, updating
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import errands, sites
from parcahyd.storage.sites import SiteRows
from parcahyd.storage.values import numbers, plain
from parcahyd.storage.writer import Writer

__all__ = ["MOST_OF_A_VISIT", "PATIENCE", "RobotsRows"]

PATIENCE = 600.0
"""Seconds that a site waits for the answer to its errand."""

MOST_OF_A_VISIT = 100
"""Errands that one visit runs; the site falls due again for the others."""

_HOPS = 5
_UNREAD = frozenset((RobotsStatus.ERROR, RobotsStatus.UNREACHABLE, RobotsStatus.AWAITED))


_READ = ("robots_status", "robots_fetched_at", "robots_expires_at", "robots_detail", "errand_until")
_SET_ROBOTS = updating(sites, ("id",), *_READ, "robots_text", "robots_failing_since", "robots_delay")
# Where it could not be read, the last copy stays, and so does the time since when.
_SET_UNREAD_ROBOTS = (
    update(sites)
    .where(*same(sites, "id"))
    .values(
        {
            **{name: bindparam(name) for name in _READ},
            "robots_failing_since": case(
                (sites.c.robots_failing_since > ZERO, sites.c.robots_failing_since), else_=bindparam("since")
            ),
        }
    )
)
_SET_AUGMENTATION = updating(sites, ("id",), "augmentation")
_LAST_COPY = select(sites.c.robots_text, sites.c.robots_failing_since, sites.c.robots_delay).where(*same(sites, "id"))
_INSERT = insert(errands)
_DELETE = delete(errands).where(*same(errands, "asker"))
_OF_SITES = (
    select(errands.c.site_id, errands.c.asker, errands.c.path, errands.c.hops)
    .where(errands.c.site_id.in_(numbers("ids")))
    .order_by(errands.c.asked_at)
)
_OF_ASKER = select(errands.c.site_id, errands.c.path, errands.c.hops).where(*same(errands, "asker"))


class RobotsRows:
    """Keeps errands and robots facts; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, site_rows: SiteRows) -> None:
        self._writer = writer
        self._state = state
        self._sites = site_rows

    def learn(self, records: Iterable[SiteRecord], now: float) -> None:
        """Takes what visits learned about their sites."""
        for record in records:
            if record.augmentation:
                self._writer.many(_SET_AUGMENTATION, [{"id": record.site, "augmentation": record.augmentation}])
            if record.robots_redirect:
                self._ask(record.site, record.robots_redirect, 1, now)
            elif record.robots is not None:
                self._answer(record.site, record.robots)

    def answered(self, records: Iterable[RobotsRedirectRecord], now: float) -> None:
        """Takes the outcomes of errands; an errand that is not under way any more has been answered or given up."""
        for record in records:
            under_way = self._writer.rows(_OF_ASKER, asker=record.asker)
            if not under_way or under_way[0][:2] != (record.site, record.path):
                continue
            if record.redirect:
                self._ask(record.asker, record.redirect, max(under_way[0][2] + 1, record.hops), now)
            elif record.robots.status in _UNREAD:
                self._come_to_nothing(record.asker, record.robots)
            else:
                self._answer(record.asker, record.robots)
            self._sites.settle([record.asker])

    def of(self, ids: Collection[int]) -> dict[int, tuple[RobotsRedirect, ...]]:
        """The errands that are to be run at each of the sites, those first that wait longest."""
        found: dict[int, list[RobotsRedirect]] = {}
        if ids:
            for site, asker, path, hops in self._writer.rows(_OF_SITES, ids=self._writer.lists.bind(list(ids))):
                its_errands = found.setdefault(site, [])
                if len(its_errands) < MOST_OF_A_VISIT:
                    its_errands.append(RobotsRedirect(asker, path, hops))
        return {site: tuple(wanted) for site, wanted in found.items()}

    def give_up(self, asker: int, now: float) -> None:
        """Nobody brought the robots.txt in time: it counts as unreachable."""
        detail = "robots.txt redirects to another site, which gave no answer in time"
        self._come_to_nothing(asker, RobotsFact(RobotsStatus.UNREACHABLE, b"", now, now, detail))

    def _come_to_nothing(self, asker: int, fact: RobotsFact) -> None:
        """The robots.txt could not be read where it lies: the site asks again later, or goes by the last copy."""
        text, since, delay = self._writer.rows(_LAST_COPY, id=asker)[0]
        before = RobotsFact(RobotsStatus.AWAITED, bytes(text or b""), failing_since=since, delay=delay)
        fact = stale_robots(fact, before, self._state.work)
        until = 0.0 if fact.status is RobotsStatus.STALE else redirect_again_at(fact, asker, self._state.work)
        self._keep(asker, fact, until)

    def _ask(self, asker: int, url: str, hops: int, now: float) -> None:
        target = canonical(url)
        if hops > _HOPS:
            expires = now + self._state.work.RobotsTtl
            self._answer(asker, RobotsFact(RobotsStatus.ABSENT, b"", now, expires, "robots.txt redirects too often"))
            return
        if target is None:
            detail = f"robots.txt redirects to {plain(url, 200)}, which is no URL"
            self._come_to_nothing(asker, RobotsFact(RobotsStatus.UNREACHABLE, b"", now, now, detail))
            return
        parts = split(target)
        site, _ = self._sites.find([parts[:3]])[parts[:3]]
        waiting = RobotsFact(RobotsStatus.AWAITED, b"", now, now + PATIENCE, f"robots.txt redirects to {target}")
        self._keep(asker, waiting, until=now + PATIENCE)
        self._writer.many(_INSERT, [{"asker": asker, "site_id": site, "path": parts[3], "hops": hops, "asked_at": now}])
        self._sites.settle([site])

    def _answer(self, asker: int, fact: RobotsFact) -> None:
        self._keep(asker, fact, until=0.0)

    def _keep(self, site: int, fact: RobotsFact, until: float) -> None:
        """Sets what is known of a site's robots.txt; an errand that was under way for it is over."""
        over = self._writer.rows(_OF_ASKER, asker=site)
        self._writer.many(_DELETE, [{"asker": site}] if over else [])
        row: dict[str, Any] = {
            "id": site,
            "robots_status": fact.status.value,
            "robots_fetched_at": fact.fetched_at,
            "robots_expires_at": fact.expires_at,
            "robots_detail": plain(fact.detail),
            "errand_until": until,
        }
        if fact.status in _UNREAD:
            self._writer.many(_SET_UNREAD_ROBOTS, [{**row, "since": fact.failing_since or fact.fetched_at}])
        else:
            copy = {"robots_text": fact.text, "robots_failing_since": fact.failing_since, "robots_delay": fact.delay}
            self._writer.many(_SET_ROBOTS, [{**row, **copy}])
        self._sites.settle([asked for asked, _, _ in over])
