"""Homes of sites: the partition that a site lives in, decided once by whoever comes first."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import bindparam, null, select, update
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.fence import Fence
from parcahyd.cluster.tables import homes
from parcahyd.storage.expressions import bound, same, words

__all__ = ["Homes"]

_SETTLE = insert(homes).values(bound("site", "partition")).on_conflict_do_nothing()
_READ = select(homes.c.site, homes.c.partition).where(homes.c.site.in_(words("names")))
_MOVE = (
    update(homes)
    .where(*same(homes, "site"), homes.c.partition == bindparam("source"), homes.c.moving.is_(None))
    .values(partition=bindparam("target"), moving=bindparam("source"))
    .returning(homes.c.site)
)
_ARRIVE = (
    update(homes)
    .where(*same(homes, "site"), homes.c.partition == bindparam("target"), homes.c.moving.is_not(None))
    .values(moving=null())
    .returning(homes.c.site)
)


class Homes:
    """The homes of sites as a tree of one partition asks for them: short transactions of their own, before a batch."""

    def __init__(self, fence: Fence) -> None:
        self._fence = fence

    def settle(self, proposed: Mapping[str, int | None]) -> dict[str, int | None]:
        """Gives each site the proposed home unless it has one; returns the homes. None: it waits to be taken."""
        writer = self._fence.writer
        with self._fence.transaction():
            # In one order, so that no two of these wait for each other.
            writer.many(_SETTLE, [{"site": site, "partition": proposed[site]} for site in sorted(proposed)])
        return self.of(proposed)

    def of(self, sites: Collection[str]) -> dict[str, int | None]:
        """The homes that are decided."""
        writer = self._fence.writer
        with self._fence.transaction():
            return dict(writer.rows(_READ, names=writer.lists.bind(sorted(sites))))

    def move(self, site: str, target: int) -> bool:
        """Says, as the site's home, that it lives elsewhere from now on. Its rows here are frozen until they were read
        there."""
        with self._fence.transaction():
            return bool(self._fence.writer.rows(_MOVE, site=site, source=self._fence.holding.partition, target=target))

    def arrived(self, site: str) -> bool:
        """Says, as the new home, that all rows of the site have come."""
        with self._fence.transaction():
            return bool(self._fence.writer.rows(_ARRIVE, site=site, target=self._fence.holding.partition))
