"""How good a partition of a graph of pages is: what crosses, what is posted, and how even the parts are.

Tested in tests/lab/test_graph.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from parcahyd.lab.link_graph import LinkGraph
from parcahyd.lab.report import LabRow, spread

__all__ = ["HEADING", "Measured", "measured", "row_of"]

HEADING = ("cut", "crossing links a page", "distinct posts a page", "max:mean")


class Measured(msgspec.Struct, frozen=True):
    """Of one partition."""

    cut: float
    """The share of links that cross."""
    crossing: float
    """Links that cross, for each page (the paper's L/N)."""
    posts: float
    """URLs that a part has to tell another part, each once, for each page."""
    balance: float
    """Pages of the largest part, to the mean."""


def measured(graph: LinkGraph, owners: Sequence[int], parts: int) -> Measured:
    """Of a partition of all pages."""
    crossing = 0
    posts: set[int] = set()
    for owner, row in zip(owners, graph.links, strict=True):
        for target in row:
            if owners[target] != owner:
                crossing += 1
                posts.add(target * parts + owner)
    sizes = [0] * parts
    for owner in owners:
        sizes[owner] += 1
    pages = len(graph)
    return Measured(crossing / max(1, graph.link_count), crossing / pages, len(posts) / pages, max(sizes) * parts / pages)


def row_of(name: str, whose: str, several: Sequence[Measured]) -> LabRow:
    """A row with the means and ranges of several runs."""
    cut, crossing, posts, balance = (
        spread([getattr(one, field) for one in several]) for field in ("cut", "crossing", "posts", "balance")
    )
    cells = (cut.text("{:.4f}"), crossing.text("{:.3f}"), posts.text("{:.4f}"), balance.text("{:.2f}"))
    figures = {"cut": cut.mean, "crossing": crossing.mean, "posts": posts.mean, "max:mean": balance.mean}
    return LabRow(name, whose, cells, figures)
