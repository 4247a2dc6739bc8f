"""A partition strategy that gives large sites a partition each, and divides all other hosts by hash among the rest.

Copy this file, edit LARGE and give the copy a name of its own, then set `Partition = "own-partitions"` in WorkConf.toml.
"""

from __future__ import annotations

from collections.abc import Callable

from parcahyd.plugins import ByHash, Routing, Seen, Undecided, WorkConf, hookimpl

__all__ = ["LARGE", "OwnPartitions", "parcahyd_partitioners"]

LARGE = ("wiki.example.org", "forum.example.org")


class OwnPartitions(ByHash):
    """The first partitions are those of LARGE, in its order, as long as one partition is left for all others."""

    def __init__(self, conf: WorkConf, routing: Routing) -> None:
        super().__init__(conf, routing)
        self._large = LARGE[: routing.partitions - 1]
        self._rest = ByHash(conf, Routing(routing.partitions - len(self._large), secret=routing.secret))

    def place(self, host: str) -> int:
        return self._large.index(host) if host in self._large else len(self._large) + self._rest.place(host)

    def home(self, seen: Seen) -> int | Undecided | None:
        """Nobody moves in with a large site, or out with it, because the address is the same."""
        own, shared = self.place(seen.host), super().home(seen)
        return shared if isinstance(shared, int) and min(own, shared) >= len(self._large) else own


@hookimpl
def parcahyd_partitioners() -> dict[str, Callable[[WorkConf, Routing], OwnPartitions]]:
    return {"own-partitions": OwnPartitions}
