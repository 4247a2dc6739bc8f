"""What a visit asks for: one request, and what is needed to understand its answer."""

from __future__ import annotations

from enum import Enum

from parcahyd.core.records import DueUrl, Errand

__all__ = ["Ask", "AskKind"]


class AskKind(Enum):
    ROBOTS = "robots"
    ERRAND = "errand"
    PAGE = "page"
    FRAGMENT = "fragment"
    """A document's table of variable information."""


class Ask:
    """One request that a visit wants to make."""

    __slots__ = ("errand", "hops", "is_counted", "is_whole", "item", "kind", "path", "started_at")

    def __init__(
        self, kind: AskKind, path: str, item: DueUrl | None = None, errand: Errand | None = None, hops: int = 0
    ) -> None:
        self.kind = kind
        self.path = path
        self.item = item
        self.errand = errand
        self.hops = hops
        self.started_at = 0.0
        """On the monotonic clock."""
        self.is_whole = False
        """The document is wanted whatever the server holds against its validators."""
        self.is_counted = False
        """The page counted for the visit's limits when something of it was asked for before."""
