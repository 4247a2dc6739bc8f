"""The cut where the whole graph is known beforehand: hashes, the paper's ways, ours, and the rivals.

The order of the pages is chance: hot tokens and samples depend on it, and so does Fennel. Superpages are those of the crawler,
found from its own counters; their weights and links are then counted exactly, since everything is known.

Tested in tests/lab/test_graph.py.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import Routing
from parcahyd.lab.fennel import fennel
from parcahyd.lab.graph_measures import HEADING, Measured, measured, row_of
from parcahyd.lab.link_graph import LinkGraph
from parcahyd.lab.report import LabRow, LabTable
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.consistent_hash import jump, number_of
from parcahyd.partition.superpages.counters import Counters
from parcahyd.partition.superpages.creation import Known, create
from parcahyd.partition.superpages.estimate import DELTA
from parcahyd.partition.superpages.expansion import Expansion
from parcahyd.partition.superpages.graph import SuperpageGraph
from parcahyd.partition.superpages.greedy import improve_locally, partition_1, partition_2
from parcahyd.partition.superpages.multilevel import Problem, partition
from parcahyd.partition.superpages.refinement import bound_of
from parcahyd.partition.superpages.tokens import token_path

__all__ = ["QUOTED", "Superpages", "known_table", "superpages_of"]

_ROUNDS = 3
"""Expansions one after the other: each looks some tokens further ahead."""
_PER_LINK = (0.01, 0.1, 1.0)
_TOLERANCE = 0.05

QUOTED: dict[tuple[str, int], tuple[tuple[str, str, float, float], ...]] = {
    ("graph-uci", 8): (
        ("METIS on superpages", "rival", 0.019, 1.05),
        ("METIS on pages", "rival", 0.021, 1.04),
        ("Fennel", "rival", 0.074, 1.05),
        ("Partition II, improved locally, c = 0.1", "paper", 0.056, 1.05),
        ("goal", "goal", 0.030, 1.05),
    ),
    ("graph-uci", 16): (
        ("METIS on superpages", "rival", 0.041, 1.05),
        ("METIS on pages", "rival", 0.039, 1.03),
        ("Fennel", "rival", 0.126, 1.05),
        ("Partition II, improved locally, c = 0.1", "paper", 0.123, 1.05),
        ("goal", "goal", 0.060, 1.05),
    ),
    ("topic-webkb", 8): (
        ("METIS on superpages", "rival", 0.066, 1.05),
        ("METIS on pages", "rival", 0.045, 1.00),
        ("Fennel", "rival", 0.170, 1.05),
        ("Partition II, improved locally, c = 0.01", "paper", 0.182, 1.05),
    ),
}
"""Name, whose, cut and max:mean, as the reference figures beside the data have them; none of them was measured here."""


class Superpages:
    """Superpages of a graph, with their exact weights and links."""

    def __init__(self, expansion: Expansion, paths: Sequence[tuple[str, ...]], links: Sequence[Sequence[int]]) -> None:
        self.of_page = [expansion.find(path) for path in paths]
        weights = [0] * len(expansion)
        for page in self.of_page:
            weights[page] += 1
        joined: Counter[int] = Counter()
        for page, row in zip(self.of_page, links, strict=True):
            joined.update([page * len(weights) + self.of_page[target] for target in row])
        triples = ((*divmod(pair, len(weights)), count) for pair, count in joined.items())
        self.graph = SuperpageGraph(weights, triples)

    def pages(self, owners: Sequence[int]) -> list[int]:
        """The partition of superpages, as one of pages."""
        return [owners[page] for page in self.of_page]


def superpages_of(
    graph: LinkGraph, paths: Sequence[tuple[str, ...]], parts: int, order: Sequence[int], secret: bytes
) -> Superpages:
    """The superpages that the crawler's counters and Superpage Creation find, where pages come in this order."""
    expansion = Expansion()
    delta = max(1, len(graph) // (parts * DELTA))
    for _ in range(_ROUNDS):
        counters = Counters(expansion, secret)
        for page in order:
            counters.visit("".join(graph.sites[page]), 1)
        figures = counters.figures(0)
        weights = [0] * len(expansion)
        for number, met, _fetched in figures.pages:
            weights[number] = met
        known = Known(weights, {prefix: met for prefix, met, _ in figures.hot}, [key for _, key in figures.cool])
        expansion = create(expansion, known, delta).expansion
    return Superpages(expansion, paths, graph.links)


class _Known:
    """The ways to divide one graph, for one number of parts."""

    def __init__(self, graph: LinkGraph, parts: int) -> None:
        self._graph, self._parts = graph, parts
        self._paths = [token_path(host, path) for host, path in graph.sites]
        triples = ((page, target, 1) for page, row in enumerate(graph.links) for target in row)
        self._pages = SuperpageGraph([1] * len(graph), triples)
        self.found: dict[tuple[str, str], list[Measured]] = {}

    def _note(self, name: str, whose: str, owners: Sequence[int]) -> None:
        self.found.setdefault((name, whose), []).append(measured(self._graph, owners, self._parts))

    def hashes(self, secret: bytes) -> None:
        """The crawler's strategy "hash", and a hash of the whole URL."""
        by_hash = ByHash(WorkConf(), Routing(self._parts, secret=secret))
        urls = ["".join(site) for site in self._graph.sites]
        self._note("hash of the host", "rival", [by_hash.place(host) for host, _ in self._graph.sites])
        self._note("hash of the URL", "rival", [jump(number_of(url, secret), self._parts) for url in urls])

    def run(self, seed: int) -> None:
        """All ways, with the pages in one random order."""
        chance = random.Random(seed)
        order = list(range(len(self._graph)))
        chance.shuffle(order)
        secret = chance.randbytes(16)
        self.hashes(secret)
        found = superpages_of(self._graph, self._paths, self._parts, order, secret)
        for name, whose, divide in self._ways(secret):
            self._note(name, whose, found.pages(divide(found.graph)))
        mixed = list(range(len(found.graph)))
        chance.shuffle(mixed)
        self._note("Fennel on superpages", "rival", found.pages(fennel(found.graph, mixed, self._parts, _TOLERANCE)))
        self._note("Fennel on pages", "rival", fennel(self._pages, order, self._parts, _TOLERANCE))

    def _ways(self, secret: bytes) -> Iterator[tuple[str, str, Callable[[SuperpageGraph], list[int]]]]:
        parts = self._parts
        yield "Partition I", "paper", lambda graph: partition_1(graph, parts)
        for per_link in _PER_LINK:
            yield f"Partition II, improved locally, c = {per_link:g}", "paper", partial(_second, parts, per_link)
        yield (
            "superpages, multilevel",
            "ours",
            lambda graph: partition(Problem(graph, parts, bound_of(graph, parts, _TOLERANCE)), secret),
        )


def _second(parts: int, per_link: float, graph: SuperpageGraph) -> list[int]:
    return improve_locally(graph, partition_2(graph, parts, per_link), parts, per_link)


def known_table(graph: LinkGraph, parts: int, orders: int, seed: int, command: str) -> LabTable:
    """One row for each way, over some orders of the pages."""
    known = _Known(graph, parts)
    for number in range(orders):
        known.run(seed + number)
    rows = [row_of(name, whose, found) for (name, whose), found in known.found.items()]
    return LabTable(
        f"known-{graph.name}-{parts}",
        f"Links that cross, whole graph known: {graph.name}, {parts} parts",
        HEADING,
        (*rows, *_quoted(graph, parts)),
        command,
        seed,
        orders,
        graph.files,
        (
            f"{len(graph):,} pages, {graph.link_count:,} links. A cell has mean and range over the orders of pages.",
            "Rows that say quoted are figures of others on the same data, and were not measured here.",
        ),
    )


def _quoted(graph: LinkGraph, parts: int) -> Iterator[LabRow]:
    for name, whose, cut, balance in QUOTED.get((graph.name, parts), ()):
        shown = name if whose == "goal" else f"{name} (quoted)"
        yield LabRow(shown, whose, (f"{cut:.3f}", "", "", f"{balance:.2f}"), {"cut": cut, "max:mean": balance})
