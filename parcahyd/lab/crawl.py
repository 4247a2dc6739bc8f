"""A simulated crawl by several agents, one of which fails: what is lost, what is fetched again, and how good its order is.

Tested in tests/lab/test_crawl.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parcahyd.hookspecs import PartitionerFactory
from parcahyd.lab.link_graph import LinkGraph
from parcahyd.lab.page_ranks import page_ranks
from parcahyd.lab.report import LabRow, LabTable, spread
from parcahyd.lab.simulated_crawl import Outcome, Pace, SimulatedCrawl

__all__ = ["crawl_table", "quality"]

_HEADING = (
    *(
        "coverage",
        "overlap",
        "fetched again",
        "cut",
        "messages a page",
        "efficiency",
        "moved URLs a page",
        "top pages among the first",
    ),
)
_FIELDS = ("coverage", "overlap", "refetched", "cut", "posts", "efficiency", "moved")
_FORMS = ("{:.4f}", "{:.4f}", "{:.0f}", "{:.3f}", "{:.4f}", "{:.3f}", "{:.3f}")
_TOP = 0.1
"""Quality is that of the first so many of all pages."""


def quality(order: Sequence[int], ranks: Sequence[float]) -> float:
    """The share of the top N pages by rank that are among the first N fetched; N is a tenth of all."""
    count = max(1, int(_TOP * len(ranks)))
    top = sorted(range(len(ranks)), key=lambda page: (-ranks[page], page))[:count]
    return len(set(top) & set(order[:count])) / count


def crawl_table(
    graph: LinkGraph, agents: int, runs: int, seed: int, command: str, strategies: Mapping[str, PartitionerFactory]
) -> LabTable:
    """Two rows for each strategy: undisturbed, and with an agent that fails at half time."""
    ranks = page_ranks(graph.links)
    rows = []
    for name, factory in strategies.items():
        for pace, suffix in ((Pace(), ""), (Pace(fails_at=len(graph) // 2), ", one agent fails")):
            outcomes = [SimulatedCrawl(graph, factory, agents, seed + number, pace).run() for number in range(runs)]
            rows.append(_row(f"{name}{suffix}", outcomes, ranks))
    alone = SimulatedCrawl(graph, next(iter(strategies.values())), 1, seed, Pace()).run()
    rows.append(_row("one agent alone", [alone], ranks, "rival"))
    return LabTable(
        f"crawl-{graph.name}",
        f"A simulated crawl: {graph.name}, {agents} agents",
        _HEADING,
        (*rows, LabRow("prototype, one agent fails (quoted)", "rival", ("1", "", "0.0008 of pages", *[""] * 5)), _goal()),
        command,
        seed,
        runs,
        graph.files,
        (
            f"{len(graph):,} pages. The agent that fails had {Pace().in_flight} pages that were fetched and not stored.",
            "Top pages: the share of the tenth of all pages with the highest PageRank that is among the first tenth fetched.",
        ),
    )


def _goal() -> LabRow:
    return LabRow("goal", "goal", ("1", "0", f"<= {Pace().in_flight}", *[""] * 5))


def _row(name: str, outcomes: Sequence[Outcome], ranks: Sequence[float], whose: str = "ours") -> LabRow:
    spreads = [spread([getattr(one, field) for one in outcomes]) for field in _FIELDS]
    top = spread([quality(one.order, ranks) for one in outcomes])
    cells = (*(one.text(form) for one, form in zip(spreads, _FORMS, strict=True)), top.text())
    figures = {field: one.mean for field, one in zip(_FIELDS, spreads, strict=True)}
    return LabRow(name, whose, cells, {**figures, "top": top.mean})
