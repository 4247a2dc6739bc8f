"""What a visit asks for: one request, and what is needed to understand its answer."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from parcahyd.core.records import DueUrl, Errand
from parcahyd.rules.robots import MAX_ROBOTS

if TYPE_CHECKING:
    from parcahyd.augment.declaration import Declaration

__all__ = ["Ask", "AskKind", "TableAsk"]


class AskKind(Enum):
    ROBOTS = "robots"
    ERRAND = "errand"
    PAGE = "page"
    FRAGMENT = "fragment"
    """A document's table of variable information."""
    TABLE = "table"
    """Of links, or a file of declarations."""


class TableAsk:
    """Which table is asked for: of links, for a page; a bundle; or, without either, a file of declarations."""

    __slots__ = ("bundle", "page", "tol")

    def __init__(self, page: DueUrl | None = None, tol: Declaration | None = None, bundle: Declaration | None = None) -> None:
        self.page = page
        self.tol = tol
        """The declaration that names the page's table."""
        self.bundle = bundle
        """The declaration that names the bundle."""


class Ask:
    """One request that a visit wants to make."""

    __slots__ = (
        *("errand", "hops", "is_counted", "is_whole", "item", "kind", "max_bytes", "path", "seconds", "started_at", "table"),
    )

    def __init__(
        self,
        kind: AskKind,
        path: str,
        item: DueUrl | None = None,
        errand: Errand | None = None,
        hops: int = 0,
        table: TableAsk | None = None,
        max_bytes: int = MAX_ROBOTS,
    ) -> None:
        self.kind = kind
        self.path = path
        self.item = item
        self.errand = errand
        self.hops = hops
        self.table = table
        self.max_bytes = max_bytes
        """Of everything but pages: the answer is wanted as far as that."""
        self.started_at = 0.0
        """On the monotonic clock."""
        self.seconds = 0.0
        """What the answer took."""
        self.is_whole = False
        """The document is wanted whatever the server holds against its validators."""
        self.is_counted = False
        """The page counted for the visit's limits when something of it was asked for before."""
