"""The new URLs that one visit may bring: of each page, of its site (see `rules.traps.site_room`), and of other sites."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import SiteLease
from parcahyd.rules.traps.site_room import NO_LIMIT, URLS_PER_PAGE

__all__ = ["LinkBudget"]


class LinkBudget:
    """What is left of the room that the lease came with."""

    __slots__ = ("_external", "_internal", "_of_a_page")

    def __init__(self, lease: SiteLease, work: WorkConf) -> None:
        self._internal = lease.url_room
        self._external = lease.external_room
        self._of_a_page = work.MaxNewUrls or NO_LIMIT

    def open_page(self, is_new: bool) -> tuple[int, int]:
        """How many URLs a page may bring of its own site, and of others. A page that is new makes room itself."""
        if is_new:
            self._internal += URLS_PER_PAGE
            self._external += URLS_PER_PAGE
        return min(self._of_a_page, self._internal), min(self._of_a_page, self._external)

    def spend(self, internal: int, external: int) -> None:
        """A page has brought so many."""
        self._internal -= internal
        self._external -= external

    def take_external(self, urls: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the URLs of other sites for which there is room, ahead of their pages."""
        taken = urls[: min(self._of_a_page, self._external)]
        self._external -= len(taken)
        return taken
