"""Whose a host is: by its row in `homes`, or else by the strategy.

A row is the exception: it was written because the host was moved, or lives with others of its address. Rows that were looked
up are remembered, and so is that a host has none. Such a memory may be old: then a letter goes to the wrong partition, which
posts it on. Who gets a letter for a host that it takes for another's looks again before it does so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.planning import routing_now
from parcahyd.cluster.tables import homes
from parcahyd.core.partitions import Partitioner, Routing, Seen, Undecided
from parcahyd.rules.urls.canonical_url import split
from parcahyd.storage.expressions import bound, words
from parcahyd.storage.writer import Writer

__all__ = ["Routes"]

_READ = select(homes.c.site, homes.c.partition, homes.c.moving).where(homes.c.site.in_(words("names")))
_WRITE_DOWN = insert(homes).values(**bound("site", "partition", "waits", "rule")).on_conflict_do_nothing()
_REMEMBERED = 65536


class Routes:
    """The homes of hosts as one partition sees them; used inside transactions of its writer."""

    def __init__(
        self, writer: Writer, make_partitioner: Callable[[Routing], Partitioner], here: int, partitions: int, secret: bytes
    ) -> None:
        self._writer = writer
        self._make_partitioner = make_partitioner
        self._routing = Routing(partitions, secret=secret)
        self._partitioner = make_partitioner(self._routing)
        self.here = here
        self._rule = ""
        """The strategy that routes."""
        self._known: dict[str, int] = {}
        self.on_coming: Callable[[str, int], None] = lambda _host, _source: None
        """Called with a host that lives here, and the partition where its rows still are."""
        writer.on_failure(self._known.clear)

    @property
    def version(self) -> int:
        """Of the routing."""
        return self._routing.version

    @property
    def partitions(self) -> int:
        return self._routing.partitions

    @property
    def may_wait(self) -> bool:
        """Whether the strategy may know no home for a host, which waits then."""
        return self._partitioner.home_may_change

    def follow(self) -> bool:
        """Reads the newest routing of the hub; returns whether it is a newer one."""
        version, self._rule, state = routing_now(self._writer)
        if version == self.version:
            return False
        self._routing = Routing(self.partitions, version, state, self._routing.secret)
        self._partitioner = self._make_partitioner(self._routing)
        self._known.clear()
        return True

    def home(self, host: str) -> int:
        """The partition of one host."""
        known = self._known.get(host)
        return self._look_up({host: "/"})[host] if known is None else known

    def homes_of(self, urls: Sequence[str]) -> list[int]:
        """The partition of each URL."""
        places = [split(url)[1::2] for url in urls]
        found = {host: self._known[host] for host, _ in places if host in self._known}
        missing = {host: path for host, path in places if host not in found}
        if missing:
            found |= self._look_up(missing)
        return [found[host] for host, _ in places]

    def doubt(self, urls: Iterable[str]) -> None:
        """Somebody takes this partition for the home of these: what is remembered to be another's is looked up again."""
        for url in urls:
            host = split(url)[1]
            if self._known.get(host, self.here) != self.here:
                del self._known[host]

    def forget(self, hosts: Iterable[str]) -> None:
        """They live elsewhere from now on."""
        for host in hosts:
            self._known.pop(host, None)

    def _look_up(self, places: Mapping[str, str]) -> dict[str, int]:
        found = self._read(places)
        missing = {host: path for host, path in places.items() if host not in found}
        if missing and self._partitioner.home_may_change:
            self._write_down(missing)
            found |= self._read(missing)
        else:
            for host, path in missing.items():
                home = self._decide(host, path)
                found[host] = self.here if home is None else home
        if len(self._known) > _REMEMBERED:
            for host in list(islice(self._known, len(self._known) - _REMEMBERED // 2)):
                del self._known[host]
        self._known.update(found)
        return found

    def _read(self, hosts: Iterable[str]) -> dict[str, int]:
        found = {}
        for host, partition, moving in self._writer.rows(_READ, names=self._writer.lists.bind(sorted(hosts))):
            found[host] = partition
            if moving is not None and partition == self.here:
                self.on_coming(host, moving)
        return found

    def _write_down(self, places: Mapping[str, str]) -> None:
        """Whoever comes first decides. The rows are written in one order, so that two that write the same rarely deadlock."""
        rows = []
        for host, path in sorted(places.items()):
            home = self._decide(host, path)
            # Whoever finds a host that is to be given away keeps its URLs until then.
            rows.append({"site": host, "partition": self.here if home is None else home, "waits": home is None})
        self._writer.many(_WRITE_DOWN, [{**row, "rule": self._rule} for row in rows])

    def _decide(self, host: str, path: str) -> int | None:
        home = self._partitioner.home(Seen(host=host, path=path, finder=self.here))
        # A host that is to be measured first stays with whoever found it until then.
        return self.here if isinstance(home, Undecided) else home
