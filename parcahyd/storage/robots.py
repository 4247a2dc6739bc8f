"""The robots.txt of each site, and the rows of `errands`: robots.txt files that are fetched from another site.

A robots.txt may redirect to another site. The asking site then waits, at most ten minutes, and the other site falls due.
Further redirects are followed; after five the file counts as absent (RFC 9309, section 2.3.1.2). So it does where it redirects
to a file that is not called robots.txt: no site may send us to any URL of another one. A site's own robots.txt may redirect to
any path of that site. A fetch that fails is tried again later, after longer each time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import bindparam, case, delete, insert, select, update

from parcahyd.core.records import RobotsFact, RobotsRedirect, RobotsRedirectRecord, RobotsStatus, SiteRecord
from parcahyd.rules.robots.robots_file import is_robots_path, redirect_again_at, stale_robots
from parcahyd.rules.urls.canonical_url import canonical, split
from parcahyd.storage.exchanges import ExchangeRows
from parcahyd.storage.expressions import ZERO, numbers, plain, same, updating
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import errands, sites
from parcahyd.storage.sites import SiteRows
from parcahyd.storage.writer import Writer

__all__ = ["ANSWER_TIMEOUT", "MOST_PER_VISIT", "RobotsRows"]

ANSWER_TIMEOUT = 600.0
"""Seconds that a site waits for its robots.txt from another site."""

MOST_PER_VISIT = 100
"""Files that one visit fetches for other sites. The site falls due again for the rest."""

_HOPS = 5
_UNREAD = frozenset((RobotsStatus.ERROR, RobotsStatus.UNREACHABLE, RobotsStatus.AWAITED))


_READ = ("robots_status", "robots_fetched_at", "robots_expires_at", "robots_detail", "errand_until")
_SET_ROBOTS = updating(sites, ("id",), *_READ, "robots_text", "robots_failing_since", "robots_delay")
# A file that could not be read: its last copy stays, and so does the time since when reading fails.
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
_AWAITED = select(sites.c.id).where(*same(sites, "id"), sites.c.errand_until > ZERO)
_OF_ASKER = select(errands.c.site_id, errands.c.path, errands.c.hops).where(*same(errands, "asker"))


class RobotsRows:
    """Writes what is known of robots.txt files; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, site_rows: SiteRows, exchanges: ExchangeRows) -> None:
        self._writer = writer
        self._state = state
        self._sites = site_rows
        self._exchanges = exchanges

    def learn(self, records: Iterable[SiteRecord], now: float) -> None:
        """Stores what visits learned about their sites."""
        for record in records:
            if record.augmentation:
                self._writer.many(_SET_AUGMENTATION, [{"id": record.site, "augmentation": record.augmentation}])
            if record.robots_redirect:
                self._ask(record.site, record.robots_redirect, 1, now)
            elif record.robots is not None:
                self._answer(record.site, record.robots)
            if record.exchange is not None:
                self._exchanges.robots(record.site, now, record.exchange)
        self._exchanges.write()

    def answered(self, records: Iterable[RobotsRedirectRecord], now: float) -> None:
        """Stores files fetched for other sites. One that is no longer awaited was answered or given up before."""
        for record in records:
            under_way = self._writer.rows(_OF_ASKER, asker=record.asker)
            if not under_way or under_way[0][:2] != (record.site, record.path):
                continue
            if record.redirect:
                owner = record.site if record.path == "/robots.txt" else None
                self._ask(record.asker, record.redirect, max(under_way[0][2] + 1, record.hops), now, owner)
            elif record.robots.status in _UNREAD:
                self._fail(record.asker, record.robots)
            else:
                self._answer(record.asker, record.robots)
            self._sites.settle([record.asker])

    def of(self, ids: Collection[int]) -> dict[int, tuple[RobotsRedirect, ...]]:
        """By site: the robots.txt files to be fetched there for other sites, the longest awaited first."""
        found: dict[int, list[RobotsRedirect]] = {}
        if ids:
            for site, asker, path, hops in self._writer.rows(_OF_SITES, ids=self._writer.lists.bind(list(ids))):
                waiting = found.setdefault(site, [])
                if len(waiting) < MOST_PER_VISIT:
                    waiting.append(RobotsRedirect(asker, path, hops))
        return {site: tuple(wanted) for site, wanted in found.items()}

    def give_up(self, asker: int, now: float) -> None:
        """Counts the robots.txt of `asker` as unreachable: it was not fetched in time."""
        detail = "robots.txt redirects to another site, which gave no answer in time"
        self._fail(asker, RobotsFact(RobotsStatus.UNREACHABLE, b"", now, now, detail))

    # --- sites of other partitions --------------------------------------------------------------------------------------

    def take_question(self, asker: int, url: str, hops: int, now: float) -> None:
        """Fetches a robots.txt for a site of another partition. All that is here of that site is its row in `errands`.

        It may be a site of this partition, whose question went around. Then it still awaits the answer, or nothing is done.
        """
        if self._is_foreign(asker) or self._writer.rows(_AWAITED, id=asker):
            self._ask(asker, url, hops, now)
            self._sites.settle([asker])

    def take_answer(self, asker: int, fact: RobotsFact) -> None:
        """Another partition has fetched the robots.txt of a site. Where none is awaited any more, it changes nothing.

        An answer to the question before the last one counts, too: the site redirected there ten minutes ago.
        """
        if self._is_sent_home(asker, fact) or not self._writer.rows(_AWAITED, id=asker):
            return
        if fact.status in _UNREAD:
            self._fail(asker, fact)
        else:
            self._answer(asker, fact)
        self._sites.settle([asker])

    def _is_foreign(self, asker: int) -> bool:
        others = self._sites.others
        return others is not None and not others.is_own(asker)

    def _is_sent_home(self, asker: int, fact: RobotsFact) -> bool:
        """Gives an answer to the partition of the asking site, where that is another one."""
        others = self._sites.others
        if others is None or others.is_own(asker):
            return False
        self._forget(asker)
        others.answer_robots(asker, fact)
        return True

    # --- this partition -------------------------------------------------------------------------------------------------

    def _fail(self, asker: int, fact: RobotsFact) -> None:
        """Notes that the file could not be read at the other site: it is asked for again later, or the last copy is used."""
        if self._is_sent_home(asker, fact):
            return
        text, since, delay = self._writer.rows(_LAST_COPY, id=asker)[0]
        before = RobotsFact(RobotsStatus.AWAITED, bytes(text or b""), failing_since=since, delay=delay)
        fact = stale_robots(fact, before, self._state.work)
        until = 0.0 if fact.status is RobotsStatus.STALE else redirect_again_at(fact, asker, self._state.work)
        self._keep(asker, fact, until)

    def _ask(self, asker: int, url: str, hops: int, now: float, owner: int | None = None) -> None:
        """Waits for the file at `url`; `owner` is the site whose own robots.txt redirects there, if it is not the asker."""
        target = canonical(url)
        if hops > _HOPS:
            expires = now + self._state.work.RobotsTtl
            self._answer(asker, RobotsFact(RobotsStatus.ABSENT, b"", now, expires, "robots.txt redirects too often"))
            return
        if target is None or self._sites.crossing([(owner or asker, split(target)[:3])]):
            detail = f"robots.txt redirects to {plain(url, 200)}, which is no URL of a web server"
            self._fail(asker, RobotsFact(RobotsStatus.UNREACHABLE, b"", now, now, detail))
            return
        parts = split(target)
        if not is_robots_path(parts[3]) and (owner is None or self._sites.origin_of(owner) != parts[:3]):
            detail = f"robots.txt redirects to {plain(target, 200)}, which is not called robots.txt"
            self._answer(asker, RobotsFact(RobotsStatus.ABSENT, b"", now, now + self._state.work.RobotsTtl, detail))
            return
        waiting = RobotsFact(RobotsStatus.AWAITED, b"", now, now + ANSWER_TIMEOUT, f"robots.txt redirects to {target}")
        if self._is_foreign(asker):
            self._forget(asker)
        else:
            self._keep(asker, waiting, until=now + ANSWER_TIMEOUT)
        others = self._sites.others
        if others is not None and not others.is_ours(parts[1]):
            others.ask_robots(asker, target, hops)
            return
        site, _ = self._sites.find([parts[:3]])[parts[:3]]
        self._writer.many(_INSERT, [{"asker": asker, "site_id": site, "path": parts[3], "hops": hops, "asked_at": now}])
        self._sites.settle([site])

    def _answer(self, asker: int, fact: RobotsFact) -> None:
        if not self._is_sent_home(asker, fact):
            self._keep(asker, fact, until=0.0)

    def _forget(self, asker: int) -> None:
        """The site no longer awaits its robots.txt from another one, which may have been due for nothing else."""
        over = self._writer.rows(_OF_ASKER, asker=asker)
        self._writer.many(_DELETE, [{"asker": asker}] if over else [])
        self._sites.settle([asked for asked, _, _ in over])

    def _keep(self, site: int, fact: RobotsFact, until: float) -> None:
        """Sets what is known of a site's robots.txt. The site no longer awaits it from another site."""
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
        self._forget(site)
