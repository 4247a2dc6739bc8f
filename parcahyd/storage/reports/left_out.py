"""Reads which links were left out, since their site had no room for them (`storage.overfull`).

Tested in tests/storage/test_overfull.py.
"""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from parcahyd.core.records import origin
from parcahyd.storage.reports.records import LeftOut
from parcahyd.storage.schema import overfull, sites

__all__ = ["left_out_by_site", "left_out_of_page", "left_out_of_site"]

_COUNTS = (
    func.count(),
    func.coalesce(func.sum(overfull.c.left_out), 0),
    func.coalesce(func.sum(overfull.c.left_out_external), 0),
)


def left_out_by_site(connection: Connection, top: int | None) -> tuple[LeftOut, ...]:
    """The sites with most links that were left out."""
    statement = select(sites.c.scheme, sites.c.host, sites.c.port, *_COUNTS).join(overfull, overfull.c.site_id == sites.c.id)
    by_site = statement.group_by(sites.c.id, sites.c.scheme, sites.c.host, sites.c.port)
    most_first = by_site.order_by((_COUNTS[1] + _COUNTS[2]).desc(), sites.c.id).limit(top)
    return tuple(
        LeftOut(subject=origin(scheme, host, port), pages=pages, links=int(links), external=int(external))
        for scheme, host, port, pages, links, external in connection.execute(most_first)
    )


def left_out_of_site(connection: Connection, site: int, name: str) -> LeftOut | None:
    """What was left out of all pages of a site; None where nothing was."""
    pages, links, external = connection.execute(select(*_COUNTS).where(overfull.c.site_id == site)).one()
    return LeftOut(subject=name, pages=pages, links=int(links), external=int(external)) if pages else None


def left_out_of_page(connection: Connection, site: int, key: int, url: str) -> LeftOut | None:
    """What was left out of one page; None where nothing was."""
    row = connection.execute(select(overfull).where(overfull.c.site_id == site, overfull.c.key == key)).first()
    return None if row is None else LeftOut(subject=url, pages=1, links=row.left_out, external=row.left_out_external)
