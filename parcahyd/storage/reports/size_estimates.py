"""How many pages the crawl and its sites will have in the end, estimated from the times in the rows of their URLs.

A page that was fetched more than once counts at its last check, since no earlier time is kept beside it. Of more than some ten
thousand URLs a fair sample is read: the key is a hash of the path, so those whose key ends in so many zeros are one.

Tested in tests/storage/reports/test_size_estimates.py.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, true

from parcahyd.core.progress import SizeEstimate
from parcahyd.rules.growth.discovery import growth_of
from parcahyd.rules.growth.estimate import FEWEST, estimate
from parcahyd.storage.schema import FAILED, KNOWN, REFUSED, urls

__all__ = ["estimate_crawl", "estimate_site"]

_SAMPLE = 20_000
_IS_PAGE = urls.c.document_id.is_not(None)
_WAITS = and_(urls.c.state.in_((KNOWN, FAILED)), ~_IS_PAGE)
# What a rule refused before anybody asked for it is nothing that the crawl will have or has to do.
_COUNTS = or_(urls.c.state != REFUSED, urls.c.checked_at.is_not(None))


def estimate_crawl(connection: Connection) -> SizeEstimate | None:
    """Of the whole crawl; None: not known yet."""
    return _estimate(connection, true())


def estimate_site(connection: Connection, site: Any) -> SizeEstimate | None:
    """Of the site of a row; None: not known yet. A site with nothing left, or with too little so far, costs no query."""
    if site.due_at is None and site.visit is None:
        return SizeEstimate(site.pages, site.pages, site.pages, site.pages)
    return _estimate(connection, urls.c.site_id == site.id) if site.urls >= FEWEST else None


def _estimate(connection: Connection, of_site: ColumnElement[bool]) -> SizeEstimate | None:
    pages, waiting, known = connection.execute(
        select(_number(_IS_PAGE), _number(_WAITS), func.count()).where(of_site, _COUNTS)
    ).one()
    pages, waiting = int(pages or 0), int(waiting or 0)
    if not waiting or known - waiting < FEWEST:
        return estimate(growth_of(pages, known - waiting, waiting, (), ()))
    found_at, answered_at = _times(connection, of_site, known)
    return estimate(growth_of(pages, known - waiting, waiting, found_at, answered_at))


def _number(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def _times(connection: Connection, of_site: ColumnElement[bool], known: int) -> tuple[list[float], list[float]]:
    """When URLs of a sample were found, and when they were answered."""
    mask = 0
    while known > _SAMPLE * (mask + 1):
        mask = 2 * mask + 1
    sampled = urls.c.key.bitwise_and(mask) == 0 if mask else true()
    rows = connection.execute(
        select(urls.c.first_seen, case((_WAITS, None), else_=urls.c.checked_at)).where(of_site, _COUNTS, sampled)
    ).all()
    return sorted(found for found, _ in rows), sorted(answered for _, answered in rows if answered is not None)
