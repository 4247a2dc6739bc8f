"""Whose a host is: by its row in `homes`, or else by the strategy.

A row is the exception: it was written because the host was moved, or lives with others of its address. Rows that were looked
up are remembered, and so is that a host has none. Such a memory may be old: then a letter goes to the wrong partition, which
posts it on. Who gets a letter for a host that it takes for another's looks again before it does so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from sqlalchemy import select

from parcahyd.cluster.planning import routing_now
from parcahyd.cluster.tables import homes
from parcahyd.core.partitions import Partitioner, Routing, Seen
from parcahyd.rules.urls.canonical_url import split
from parcahyd.storage.expressions import words
from parcahyd.storage.writer import Writer

__all__ = ["Routes"]

_READ = select(homes.c.site, homes.c.partition).where(homes.c.site.in_(words("names")), homes.c.partition.is_not(None))
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
        self._known: dict[str, int] = {}

    @property
    def version(self) -> int:
        """Of the routing."""
        return self._routing.version

    @property
    def partitions(self) -> int:
        return self._routing.partitions

    def follow(self) -> bool:
        """Reads the newest routing of the hub; returns whether it is a newer one."""
        version, _, state = routing_now(self._writer)
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

    def _look_up(self, places: Mapping[str, str]) -> dict[str, int]:
        names = self._writer.lists.bind(sorted(places))
        decided = dict(self._writer.rows(_READ, names=names))
        found = {host: decided[host] if host in decided else self._decide(host, path) for host, path in places.items()}
        if len(self._known) > _REMEMBERED:
            for host in list(islice(self._known, len(self._known) - _REMEMBERED // 2)):
                del self._known[host]
        self._known.update(found)
        return found

    def _decide(self, host: str, path: str) -> int:
        home = self._partitioner.home(Seen(host=host, path=path, finder=self.here))
        # A host that waits to be given away, or that is to be measured first, stays with whoever found it until then.
        return home if isinstance(home, int) else self.here
