"""What the partitions and the hub hold after a crawl, read by SQL of its own: it must not share a mistake with the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from parcahyd.core.states import State

__all__ = ["StoreFindings", "judge_stores"]

Rows = Callable[[str], list[tuple[Any, ...]]]
"""Runs a query on the database of the cluster."""

_PARTITIONS = "SELECT id FROM parcahyd_hub.partitions WHERE id >= 0 ORDER BY id"
_STORED = """
    SELECT {number}, s.host, s.scheme || '://' || s.host || ':' || s.port || u.path
    FROM parcahyd_p{number}.urls u JOIN parcahyd_p{number}.sites s ON s.id = u.site_id
    WHERE u.state = {stored} AND COALESCE(u.reason, '') = ''
"""
_VISITS = "SELECT count(*) FROM parcahyd_p{number}.sites WHERE visit IS NOT NULL"
_HAS_TABLES = "SELECT to_regclass('parcahyd_p{number}.urls') IS NOT NULL"
_OWNED = """
    SELECT count(*) FROM parcahyd_hub.subjects s JOIN parcahyd_hub.partitions p
    ON p.id = s.partition AND p.epoch = s.epoch AND p.token = s.token
"""
_COUNT = "SELECT count(*) FROM parcahyd_hub.{table}"
_PAGES = "SELECT COALESCE(sum(pages), 0) FROM parcahyd_hub.states"


class StoreFindings(msgspec.Struct, frozen=True):
    """What is stored, and what should not be left."""

    stored: int
    """Different URLs that have a document."""
    twice: tuple[str, ...]
    """URLs that are stored in more than one partition."""
    counted: int
    """Pages that the partitions say they stored in the run."""
    homes: dict[str, int]
    """The partition that has the documents of a host; the last one, where several have."""
    open_visits: int
    owned: int
    """Hosts and addresses that a living tree still has."""
    letters: int
    """Letters that nobody has read: mail and outbox."""


def judge_stores(rows: Rows) -> StoreFindings:
    """The findings, after the run."""
    found: dict[str, list[int]] = {}
    homes: dict[str, int] = {}
    visits = 0
    for (number,) in rows(_PARTITIONS):
        ((has_tables,),) = rows(_HAS_TABLES.format(number=number))
        if not has_tables:
            continue
        for partition, host, url in rows(_STORED.format(number=number, stored=int(State.STORED))):
            found.setdefault(url, []).append(partition)
            homes[host] = partition
        ((open_visits,),) = rows(_VISITS.format(number=number))
        visits += open_visits
    ((owned,),), ((pages,),) = rows(_OWNED), rows(_PAGES)
    return StoreFindings(
        stored=len(found),
        twice=tuple(sorted(url for url, partitions in found.items() if len(partitions) > 1)),
        counted=int(pages),
        homes=homes,
        open_visits=visits,
        owned=owned,
        letters=sum(rows(_COUNT.format(table=table))[0][0] for table in ("mail", "outbox")),
    )
