"""A planned request: what a visit requests, what is needed to handle the answer, and where a redirect leads."""

from __future__ import annotations

from enum import Enum

from parcahyd.augment.site_offer import Declaration
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl, RobotsRedirect
from parcahyd.rules.robots.robots_file import MAX_ROBOTS
from parcahyd.rules.urls.parameters import Canon, joining

__all__ = ["PlannedRequest", "RequestKind", "TableRequest", "redirect_target"]


class RequestKind(Enum):
    ROBOTS = "robots"
    ROBOTS_REDIRECT = "robots redirect"
    """A robots.txt that the robots.txt of another site redirects to."""
    PAGE = "page"
    TVI = "tvi"
    """A document's table of variable information."""
    TOL = "tol"
    """A table of links, a bundle of them, or a file of declarations."""


class TableRequest:
    """Which table is requested: the table of links of a page, a bundle, or (without either) a file of declarations."""

    __slots__ = ("bundle", "page", "tol")

    def __init__(self, page: DueUrl | None = None, tol: Declaration | None = None, bundle: Declaration | None = None) -> None:
        self.page = page
        self.tol = tol
        """The declaration that names the page's table."""
        self.bundle = bundle
        """The declaration that names the bundle."""


class PlannedRequest:
    """One request of a visit."""

    __slots__ = (
        *("hops", "is_counted", "is_unconditional", "item", "kind", "max_bytes", "path", "robots_redirects", "seconds"),
        *("started_at", "table", "validators"),
    )

    def __init__(
        self,
        kind: RequestKind,
        path: str,
        item: DueUrl | None = None,
        robots_redirects: tuple[RobotsRedirect, ...] = (),
        hops: int = 0,
        table: TableRequest | None = None,
        max_bytes: int = MAX_ROBOTS,
        validators: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.kind = kind
        self.path = path
        self.item = item
        self.robots_redirects = robots_redirects
        """All that lead to this path."""
        self.hops = hops
        self.table = table
        self.max_bytes = max_bytes
        """No more of the answer is read. Pages have MaxBytes instead."""
        self.validators = validators
        """Headers that make the request of a table conditional. Those of a page follow from its `item`."""
        self.started_at = 0.0
        """On the monotonic clock."""
        self.seconds = 0.0
        """From the start of the request to the end of its answer."""
        self.is_unconditional = False
        """The document is requested without its validators."""
        self.is_counted = False
        """An earlier request for the same page was counted for the limits of the visit."""

    @property
    def is_for_table(self) -> bool:
        """Whether a table is requested, which is done without cookies and credentials."""
        return self.kind is RequestKind.TVI or self.kind is RequestKind.TOL


def redirect_target(result: DownloadResult, url: str, canon: Canon | None = None) -> str:
    """The URL that a redirect of `url` leads to; empty where the answer names none."""
    target = result.header("location")
    return (joining(url, canon)(target) or "") if target else ""
