"""Sites that go from one partition to another while a crawl runs (rule 14 of a cluster).

A row of `moves` says what is wanted. The source's writer begins when no visit of the site is open: it writes the new home, and
from then on everything new for the site is posted there. The target takes over the site's row before anything else of it is
stored there, and then its URLs, with all that was fetched, some in each transaction. Killed anywhere, a move goes on.

Tested in tests/cluster/test_site_moves.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import BindParameter, bindparam, delete, exists, extract, false, func, literal_column, null, select, update
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.carried_rows import CarriedRows
from parcahyd.cluster.letters import LEFT_DOCUMENTS, URLS, document_bodies, url_bodies
from parcahyd.cluster.mail import Letter, Mailbox
from parcahyd.cluster.partition_writer import PartitionWriter
from parcahyd.cluster.records import MoveNews
from parcahyd.cluster.routes import Routes
from parcahyd.cluster.tables import homes, moves, states
from parcahyd.storage.expressions import bound, same, words
from parcahyd.storage.schema import HELD, sites
from parcahyd.storage.store import Store

__all__ = ["SiteMoves"]

_AT_ONCE = 200
"""URLs that one transaction carries, at most."""
_HUB_NOW = extract("epoch", func.clock_timestamp())
_HERE: BindParameter[int] = bindparam("here")
_WANTED = select(moves.c.site, moves.c.target, moves.c.rule).where(moves.c.source == _HERE).order_by(moves.c.site)
_COMING = (
    select(homes.c.site, homes.c.moving).where(homes.c.partition == _HERE, homes.c.moving.is_not(None)).order_by(homes.c.site)
)
_HOMES = select(homes.c.site, homes.c.partition, homes.c.moving).where(homes.c.site.in_(words("names")))
_VISITS = select(sites.c.host, sites.c.visit).where(sites.c.host.in_(words("names")))
_WAITING = select(homes.c.site).where(homes.c.partition == _HERE, homes.c.waits)
_HOLD_BACK = update(sites).where(sites.c.visit.is_(None), sites.c.host.in_(_WAITING)).values(visit=HELD)
_to_move = exists(select(moves.c.site).where(moves.c.site == homes.c.site))
_is_given = (homes.c.partition == _HERE) & homes.c.moving.is_(None) & ~homes.c.waits & ~_to_move
_GIVEN = (
    select(sites.c.id).join(homes, homes.c.site == sites.c.host).where(sites.c.visit == literal_column(str(HELD)), _is_given)
)
_FREE = update(sites).where(sites.c.id.in_(_GIVEN)).values(visit=null()).returning(sites.c.id)
_HOLD = update(sites).where(sites.c.host == bindparam("site")).values(visit=HELD)
_leave = insert(homes).values(**bound("site", "partition", "moving", "rule"), moves=1)
_LEAVE = _leave.on_conflict_do_update(
    index_elements=["site"],
    set_={
        **{name: _leave.excluded[name] for name in ("partition", "moving", "rule")},
        "waits": false(),
        "since": _HUB_NOW,
        "moves": homes.c.moves + 1,
    },
)
_BEGUN = delete(moves).where(*same(moves, "site", "source"))
_BUSY = update(states).where(*same(states, "partition")).values(idle_since=null())
_ARRIVED = update(homes).where(*same(homes, "site"), homes.c.partition == _HERE).values(moving=null())


class SiteMoves:
    """The moves from and to one partition; used inside transactions of its writer."""

    def __init__(self, writer: PartitionWriter, mailbox: Mailbox, routes: Routes, store: Store) -> None:
        self._writer = writer
        self._mailbox = mailbox
        self._routes = routes
        self._store = store
        self._here = routes.here
        self._leaving: Mapping[str, tuple[int, str]] = {}
        self._taken: dict[str, list[tuple[int, str, str, int]]] = {}
        """By host that is coming: its sites, whose rows are here."""
        writer.on_failure(self._taken.clear)

    def look(self) -> MoveNews:
        """Reads what there is to do; writes nothing."""
        wanted = self._writer.rows(_WANTED, here=self._here)
        self._leaving = {site: (target, rule) for site, target, rule in wanted}
        coming = tuple(site for site, _ in self._writer.rows(_COMING, here=self._here))
        return MoveNews(tuple(self._leaving), coming, len(self._writer.rows(_GIVEN, here=self._here)))

    # --- hosts that wait ------------------------------------------------------------------------------------------------

    def before_leases(self) -> None:
        """Keeps visits from hosts that wait to be given to a partition, and from those that leave."""
        if self._routes.may_wait:
            self._writer.run(_HOLD_BACK, here=self._here)
        self.let_go()

    def begin_given(self) -> None:
        """Hosts that waited here were given to this partition: visits may begin."""
        begun = [row[0] for row in self._writer.rows(_FREE, here=self._here)]
        if begun:
            self._store.settle(begun)
            self._writer.run(_BUSY, partition=self._here)

    # --- the source -----------------------------------------------------------------------------------------------------

    def let_go(self) -> list[str]:
        """Begins the moves of all hosts that no visit has; returns them."""
        if not self._leaving:
            return []
        names = self._writer.lists.bind(sorted(self._leaving))
        known = {site: (partition, moving) for site, partition, moving in self._writer.rows(_HOMES, names=names)}
        visited: dict[str, bool] = {}
        for host, visit in self._writer.rows(_VISITS, names=names):
            visited[host] = visited.get(host, False) or visit not in (None, HELD)
        begun = []
        for host, (target, rule) in self._leaving.items():
            home, moving = known.get(host, (self._here, None))
            is_ours = home == self._here and target != self._here
            if is_ours and (visited.get(host) or moving is not None):
                continue  # Later: it is being visited, or has not wholly come itself.
            if is_ours:
                self._leave(host, target, rule, has_rows=host in visited)
            self._writer.run(_BEGUN, site=host, source=self._here)
            begun.append(host)
        self._leaving = {host: where for host, where in self._leaving.items() if host not in begun}
        self._routes.forget(begun)
        return begun

    def _leave(self, host: str, target: int, rule: str, *, has_rows: bool) -> None:
        self._writer.run(_HOLD, site=host)
        self._writer.run(_LEAVE, site=host, partition=target, moving=self._here if has_rows else None, rule=rule)

    # --- the target -----------------------------------------------------------------------------------------------------

    def receive(self, host: str, source: int) -> None:
        """Takes over the rows of a host's sites, before anything new of it is stored here."""
        if host not in self._taken:
            self._taken[host] = CarriedRows(self._writer, source, self._here).take_sites(host)

    def carry(self) -> None:
        """Carries some rows of one host."""
        coming = self._writer.rows(_COMING, here=self._here)
        if not coming:
            return
        host, source = coming[0]
        self.receive(host, source)
        rows = CarriedRows(self._writer, source, self._here)
        for site in self._taken[host]:
            carried = rows.carry(site, _AT_ONCE)
            if carried is not None:
                version = self._routes.version
                letters = [Letter(source, LEFT_DOCUMENTS, version, body) for body in document_bodies(carried.left_documents)]
                letters += [Letter(self._here, URLS, version, body) for body in url_bodies(carried.came_before)]
                self._mailbox.post(letters)
                return
        self._finish(rows, host)

    def _finish(self, rows: CarriedRows, host: str) -> None:
        numbers = [site[0] for site in self._taken.pop(host)]
        for number in numbers:
            rows.finish(number)
        self._store.settle(numbers)
        self._writer.run(_ARRIVED, site=host, here=self._here)
        self._writer.run(_BUSY, partition=self._here)
