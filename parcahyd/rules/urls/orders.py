"""The order in which a site's URLs are requested: the built-in implementations of the hook `parcahyd_orders`.

A priority is a number that is stored with each known URL; the smallest comes first, and of equals the one that was found first.
"""

from __future__ import annotations

from parcahyd.config.schema import WorkConf

__all__ = ["BREADTH_FIRST", "ByDepth", "ByInLinks", "Fair"]


BREADTH_FIRST = "depth"
"""The only order in which a worker follows links in the visit that found them."""


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
