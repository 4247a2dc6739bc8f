"""MaxPages, divided among the sites that have work.

A visit reserves a small part of what is left, and returns what it did not use. So no site takes the pages of another that has
not begun yet, and no more pages are ever promised than there are.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["PageBudget"]


class PageBudget:
    """Counts the pages of a run; `max_pages` None means that there is no limit.

    Call `reserve` when a visit begins, `used` when it is over, `lost` when a worker died, and `committed` with every report
    of the database. A pipeline of a cluster begins with 0, and calls `set_to` with what it has drawn of the limit of all.
    """

    def __init__(self, max_pages: int | None) -> None:
        self._max_pages = max_pages
        self._left = max_pages or 0
        self._reserved: dict[int, int] = {}
        self._promised = 0
        """The sum of what is reserved."""
        self._unreleased: set[int] = set()
        """Visits that the database has not released: some of their pages may not be counted there."""
        self._in_doubt = False
        """A worker died. How many pages of its visits were stored is known when everything is committed."""

    @property
    def is_used_up(self) -> bool:
        """Whether no visit may begin now."""
        return self._max_pages is not None and not self._left

    @property
    def is_over(self) -> bool:
        """Whether it is used up, and no visit can return a part of it."""
        return self.is_used_up and not self._reserved and not (self._in_doubt and self._unreleased)

    def reserve(self, visit: int, most: int, sites: int) -> int:
        """How many pages a visit may fetch: at most `most`, and at most half an equal part of what `sites` sites share.

        With half of it, sites that are found later get a part, too.
        """
        if self._max_pages is None:
            return most
        part = (self._left + self._promised) // (2 * max(1, sites))
        pages = min(most, self._left, max(1, part))
        self._left -= pages
        self._promised += pages
        self._reserved[visit] = pages
        self._unreleased.add(visit)
        return pages

    def used(self, visit: int, pages: int) -> None:
        """A visit is over; it brought so many pages."""
        reserved = self._reserved.pop(visit, 0)
        self._promised -= reserved
        self._left += max(0, reserved - pages)

    def lost(self, visits: Iterable[int]) -> None:
        """The worker of these visits died: all that was reserved counts as used until the database has counted the pages.

        Without visits, too: pages of a visit that was over may not have reached the database.
        """
        self._promised -= sum([self._reserved.pop(visit, 0) for visit in visits])
        self._in_doubt = self._max_pages is not None

    def set_to(self, max_pages: int) -> None:
        """The pipeline may store so many pages in all from now on: it has drawn more, or given back what was left."""
        self._left = max(0, self._left + max_pages - (self._max_pages or 0))
        self._max_pages = max_pages

    def committed(self, released: Iterable[int], pages: int) -> None:
        """The database has released these visits, and has stored or confirmed so many pages in this run."""
        self._unreleased.difference_update(released)
        if self._in_doubt and not self._unreleased and not self._reserved:
            self._in_doubt = False
            self._left = max(0, (self._max_pages or 0) - pages)
