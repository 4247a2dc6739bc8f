"""By a hash of the host's name (statement X4): nobody has to be asked, and nothing has to be remembered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import (
    ClusterView,
    JudgedPage,
    Observation,
    Observed,
    Plan,
    Routing,
    Seen,
    Undecided,
)
from parcahyd.partition.address_homes import home_at_address
from parcahyd.partition.consistent_hash import jump, number_of
from parcahyd.partition.placement import placement
from parcahyd.rules.urls.scope import registrable_domain

__all__ = ["ByHash"]

_REMEMBERED = 8192
"""Hosts whose partition is not computed again: most links of a page lead to few hosts."""


class ByHash:
    """The strategy "hash": every partition gets the same share of the hosts, or of the registrable domains (`PartitionBy`).

    The partition that the hash names maps a host. Before the first visit, the host may be given to the partition where other
    hosts of its address live (`address_homes`). Another strategy may build on this one and replace `place`, or any answer.
    """

    one_home = True
    """Every host has one."""
    home_may_change = False
    """A name and the secret are all that it takes."""
    observes: frozenset[Observed] = frozenset()
    """Nothing."""

    def __init__(self, conf: WorkConf, routing: Routing) -> None:
        self.routing = routing
        self._by_domain = conf.PartitionBy == "domain"
        self._place = lru_cache(_REMEMBERED)(self.place)

    def place(self, host: str) -> int:
        """The partition that the host's name leads to."""
        name = registrable_domain(host) if self._by_domain else host
        return jump(number_of(name, self.routing.secret), self.routing.partitions)

    def home(self, seen: Seen) -> int | Undecided | None:
        """The partition that the name leads to; of a mapped host, that of its address as long as it has room."""
        own = self._place(seen.host)
        return own if seen.neighbours is None else home_at_address(own, seen.neighbours, self.routing.partitions)

    def belongs(self, page: JudgedPage, here: int) -> int:  # noqa: ARG002 - the port's signature
        """Where it is: the content says nothing."""
        return here

    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:  # noqa: ARG002
        """None: no host waits, since the hash knows a home for every name."""
        return ()

    def observe(self, facts: Iterable[Observation]) -> None:
        """Passes everything over: a name is all that it needs."""

    def share(self, others: Sequence[bytes] = ()) -> bytes:
        """Nothing: there is nothing that others would have to know."""
        if any(others):
            raise ValueError("a hash shares nothing, so these bytes are of another strategy")
        return b""

    def plan(self, view: ClusterView) -> Plan:
        """Nodes by capacity; no site is ever moved."""
        return Plan(placement(view))
