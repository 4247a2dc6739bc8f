"""By size, the largest first, to whoever is hungry: Algorithm 3.1 of paper 001 (statements G9 to G12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from statistics import fmean

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import ClusterView, JudgedPage, Observation, Observed, Plan, Routing, Seen
from parcahyd.partition.placement import placement

__all__ = ["PARTS_OF_A_SHARE", "ByDynamicSize", "parts"]

PARTS_OF_A_SHARE = 32
"""A host is divided into parts of which so many, at least, make a share of a partition. `parcahyd lab balance` measures it."""
_WAITS: int | None = None


class ByDynamicSize:
    """The strategy "dynamic_size": hosts wait, and a partition that has room gets the largest of them.

    Hosts of a partition that was given up come before all others. The larger come before the smaller, those of unknown size
    last, and of equals those that have waited longer. A host's size, its pages when it was last crawled, comes with it.
    """

    one_home = True
    """Who gets a host keeps it."""
    home_may_change = True
    """Who gets a host is decided when somebody has room."""
    observes: frozenset[Observed] = frozenset()
    """Nothing: sizes come with the hosts that wait."""

    def __init__(self, conf: WorkConf, routing: Routing) -> None:  # noqa: ARG002 - every strategy is made alike
        self.routing = routing

    def home(self, seen: Seen) -> int | None:  # noqa: ARG002 - the port's signature
        """None, for every host."""
        return _WAITS

    def belongs(self, page: JudgedPage, here: int) -> int:  # noqa: ARG002
        """Where it is: the content says nothing."""
        return here

    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:  # noqa: ARG002
        """The first of the order: one, and as many more as make half of the partition's share of all pages that wait.

        Without that bound, one partition with much room would get all large hosts.
        """
        ordered = sorted(waiting, key=_order)  # It is stable: the order of waiting stays among equals.
        pages = _estimated([seen.size for seen in ordered])
        left = sum(pages) / self.routing.partitions / 2
        given: list[str] = []
        for seen, size in zip(ordered[: max(0, room)], pages, strict=False):
            if given and size > left:
                break
            given.append(seen.host)
            left -= size
        return tuple(given)

    def observe(self, facts: Iterable[Observation]) -> None:
        """Passes everything over."""

    def share(self, others: Sequence[bytes] = ()) -> bytes:
        """Nothing: the hosts that wait are on record for all."""
        if any(others):
            raise ValueError("dynamic_size shares nothing, so these bytes are of another strategy")
        return b""

    def plan(self, view: ClusterView) -> Plan:
        """Nodes by capacity. No site is moved: a node that is idle asks for hosts that wait."""
        return Plan(placement(view))


def _order(seen: Seen) -> tuple[bool, bool, int]:
    return not seen.failed, seen.size is None, -(seen.size or 0)


def _estimated(sizes: Sequence[int | None]) -> list[float]:
    """A host of unknown size counts as the mean of the others."""
    known = [size for size in sizes if size is not None]
    mean = fmean(known) if known else 1.0
    return [max(1.0, mean if size is None else size) for size in sizes]


def parts(sizes: Mapping[str, int | None], partitions: int) -> dict[str, int]:
    """How many equal parts each host is divided into, for a crawl of these hosts.

    It is a balance of storage and of processor time only. The delay of a host is one for all its parts: they are visited in
    turns, and the host takes as long as before.
    """
    pages = _estimated(list(sizes.values()))
    most = sum(pages) / partitions / PARTS_OF_A_SHARE
    return {host: ceil(size / most) for host, size in zip(sizes, pages, strict=True)}
