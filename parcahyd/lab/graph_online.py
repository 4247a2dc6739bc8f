"""The cut where nothing is known beforehand: the crawler's strategies learn the graph while they crawl it.

Tested in tests/lab/test_graph.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parcahyd.core.partitions import Seen
from parcahyd.hookspecs import PartitionerFactory
from parcahyd.lab.link_graph import LinkGraph
from parcahyd.lab.report import LabRow, LabTable, spread
from parcahyd.lab.simulated_crawl import Outcome, Pace, SimulatedCrawl
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.consistent_hash import jump, number_of

__all__ = ["ByUrlHash", "online_table"]

_HEADING = ("cut", "distinct posts a page", "efficiency", "max:mean of work", "max:mean stored", "moved URLs a page", "plans")
_GOAL = LabRow("goal", "goal", ("0.080", "", "0.950", "", "", "", ""), {"cut": 0.08, "efficiency": 0.95})
_QUOTED = (
    LabRow("prototype, little moved (quoted)", "rival", ("0.033", "", "", "1.67", "", "", ""), {"cut": 0.033}),
    LabRow(
        "prototype, well balanced (quoted)", "rival", ("0.350", "", "0.980", "", "", "", ""), {"cut": 0.35, "efficiency": 0.98}
    ),
)


class ByUrlHash(ByHash):
    """A hash of the whole URL: nothing is balanced better, and nothing cuts more links."""

    def home(self, seen: Seen) -> int:
        """The partition of the URL."""
        return jump(number_of(f"{seen.host}{seen.path}", self.routing.secret), self.routing.partitions)


def online_table(
    graph: LinkGraph, parts: int, crawls: int, seed: int, command: str, strategies: Mapping[str, PartitionerFactory]
) -> LabTable:
    """One row for each strategy, over some crawls that begin differently."""
    rows = [
        _row(name, [SimulatedCrawl(graph, factory, parts, seed + number, Pace()).run() for number in range(crawls)])
        for name, factory in {**strategies, "hash of the URL": ByUrlHash}.items()
    ]
    return LabTable(
        f"online-{graph.name}-{parts}",
        f"Learnt while crawling: {graph.name}, {parts} agents",
        _HEADING,
        (*rows, *(_QUOTED if (graph.name, parts) == ("graph-uci", 8) else ()), _GOAL),
        command,
        seed,
        crawls,
        graph.files,
        (
            f"Breadth first from {len(graph.seeds()):,} seeds, from which all pages are reached.",
            "Efficiency: pages fetched, as a share of those that the agents could have fetched by the time of the last one.",
            "A link counts by who owned its target when its page was fetched. Stored: in the end, after all moves.",
        ),
    )


def _row(name: str, outcomes: Sequence[Outcome]) -> LabRow:
    cut, posts, efficiency, balance, stored, moved, plans = (
        spread([getattr(one, field) for one in outcomes])
        for field in ("cut", "posts", "efficiency", "balance", "stored", "moved", "plans")
    )
    cells = (
        *(cut.text("{:.3f}"), posts.text("{:.3f}"), efficiency.text("{:.3f}"), balance.text("{:.2f}")),
        *(stored.text("{:.2f}"), moved.text("{:.2f}"), plans.text("{:.0f}")),
    )
    figures = {
        "cut": cut.mean,
        "posts": posts.mean,
        "efficiency": efficiency.mean,
        "max:mean": balance.mean,
        "moved": moved.mean,
    }
    return LabRow(name, "rival" if "hash" in name else "ours", cells, figures)
