"""By superpages of the URL tree (paper 000, C10 to C36): what links much to each other lives together, in equal shares.

A superpage is all URLs that begin alike: a domain, a host, a folder, or an interval of those. A plan is made from what was
crawled: it divides what has become too heavy and partitions the superpages anew, and every pipeline looks a URL's superpage up.
A host that is larger than a share is divided by path, and its politeness stays one, since host and address remain one subject.
A cluster moves hosts as a whole, so there a host stays in one partition: that of its first page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import ClusterView, Observation, Observed, Plan, Routing, Seen, SiteMove, Undecided
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.placement import placement
from parcahyd.partition.superpages.counters import Counters
from parcahyd.partition.superpages.figures import Figures, merged, read, written
from parcahyd.partition.superpages.layout import Layout
from parcahyd.partition.superpages.moves import moves
from parcahyd.partition.superpages.planning import decide
from parcahyd.partition.superpages.tokens import token_path

__all__ = ["BySuperpage"]


_Asked = tuple[Routing, tuple[bytes, ...]]


class BySuperpage(ByHash):
    """The strategy "superpage": as "hash" until something was learned, and for what the plan says nothing of."""

    home_may_change = True
    """With each plan."""
    observes = frozenset((Observed.VISITS, Observed.FETCHED, Observed.LINKS, Observed.RATE))
    """URLs that are met and visited, links, and rates of hosts."""

    def __init__(self, conf: WorkConf, routing: Routing) -> None:
        super().__init__(conf, routing)
        self._layout = Layout.read(routing.state)
        self._last: tuple[_Asked, tuple[tuple[SiteMove, ...], bytes | None]] | None = None
        self._counters = Counters(self._layout.expansion, routing.secret)

    def home(self, seen: Seen) -> int | Undecided | None:
        """The partition of the URL's superpage; that of the hash, where the plan says nothing or is for other partitions."""
        owner = self._layout.owner(token_path(seen.host, seen.path))
        return owner if owner is not None and 0 <= owner < self.routing.partitions else super().home(seen)

    def observe(self, facts: Iterable[Observation]) -> None:
        """Counts URLs and links by superpage, and hot prefixes below."""
        counters = self._counters
        for fact in facts:
            match fact.what:
                case Observed.VISITS:
                    counters.visit(fact.subject, fact.value)
                case Observed.FETCHED:
                    counters.fetch(fact.subject, fact.value)
                case Observed.LINKS:
                    counters.link(fact.subject, fact.target, fact.value)
                case Observed.RATE:
                    counters.rate(fact.subject, fact.value)

    def share(self, others: Sequence[bytes] = ()) -> bytes:
        """The counters, beside those of others. Counters that were taken by an older routing than the newest are left out."""
        own = self._counters.figures(self.routing.version)
        return written(merged([own, *(read(other) for other in others)]))

    def plan(self, view: ClusterView) -> Plan:
        """Nodes by capacity; superpages by what was shared, and moves of what has another owner then."""
        moved, state = self._decided(view)
        return Plan(placement(view), moved, state)

    def _decided(self, view: ClusterView) -> tuple[tuple[SiteMove, ...], bytes | None]:
        """Moves and state. They are kept for the next question: nodes come and go more often than pipelines share."""
        shared = sorted(view.shared)
        asked = view.routing, tuple(blake2b(one).digest() for one in shared)
        if self._last is None or self._last[0] != asked:
            decision = decide(view, [*_readable(shared)], self._place, view.routing.secret)
            moved = moves(decision.before, decision.after, decision.known, self._place) if decision else ()
            self._last = asked, (moved, decision.after.written() if decision else None)
        return self._last[1]


def _readable(shared: Iterable[bytes]) -> Iterator[Figures]:
    """What pipelines gave. Bytes of another strategy, which was exchanged for this one just now, say nothing."""
    for one in shared:
        try:
            yield read(one)
        except ValueError:
            continue
