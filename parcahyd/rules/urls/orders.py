"""The order in which a site's URLs are requested: the built-in implementations of the hook `parcahyd_orders`.

A priority is a number that is stored with each known URL; the smallest comes first, and of equals the one that was found first.
"""

from __future__ import annotations

from parcahyd.config.schema import WorkConf

__all__ = ["BREADTH_FIRST", "FIRST", "LATER", "PAGE_RANK", "ByDepth", "ByInLinks", "ByPageRank", "Fair", "moved"]


BREADTH_FIRST = "depth"
"""The only order in which a worker follows links in the visit that found them."""


LATER = 1 << 30
"""What is added to the priority of a URL that is requested after all others."""


PAGE_RANK = "pagerank"
"""The order for which a worker tells all links of a page, and not only those that are new."""

FIRST = -(1 << 30)
"""No priority is less: databases have 32 bits for it."""
_WAITS = LATER // 2
"""A priority from here on is one with LATER added; orders stay below."""


def moved(priority: int, again: int, weight: int) -> int:
    """The priority of a waiting URL that was met again, from its old one and the one that an order gives it now.

    `weight` is what the page adds that leads there. A URL that waits for all others no longer does, once a page leads there
    whose links are followed in order.
    """
    moves = again + weight
    return max(FIRST, moves - LATER if priority >= _WAITS or weight >= _WAITS else moves)


class ByDepth:
    """Breadth first: by the number of links from a seed."""

    visit_pages: int | None = None

    def __init__(self, work: WorkConf | None = None) -> None:
        pass

    def first(self, path: str, depth: int) -> int:  # noqa: ARG002 - the hook's signature
        return depth

    def again(self, priority: int) -> int:
        return priority


class ByInLinks(ByDepth):
    """What more sites and visits link to comes first: each that meets a waiting URL again moves it up by one.

    A page counts once for each visit that met it, since a visit reports a URL only once.
    """

    def first(self, path: str, depth: int) -> int:  # noqa: ARG002
        return -1

    def again(self, priority: int) -> int:
        return priority - 1


class Fair(ByDepth):
    """Breadth first, with short visits: no site gets far ahead of the others that wait."""

    visit_pages: int | None = 50


class ByPageRank(ByDepth):
    """What links from important pages lead to comes first: PageRank (X3), estimated from the links that are known so far.

    A page that is stored gives each of its links an equal part of the rank that it had collected itself. What it collects
    afterwards is not passed on. The rank of a URL that waits is its priority, so it takes no memory. Visits are short, because
    each page that is stored may change which URL comes first.
    """

    visit_pages: int | None = 100

    _DAMPING = 0.85
    _UNIT = 1 << 14
    """Stands for a rank of 1."""
    _MOST = 1 << 28

    def first(self, path: str, depth: int) -> int:  # noqa: ARG002
        return 0

    def part(self, priority: int, links: int) -> int:
        """What a page with this priority, while it waited, adds to each of so many links: less than 0 is earlier."""
        if priority >= _WAITS:
            priority -= LATER
        rank = (1 - self._DAMPING) * self._UNIT + min(max(-priority, 0), self._MOST)
        return -round(self._DAMPING * rank / max(links, 1))
