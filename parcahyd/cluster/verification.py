"""Checks what no partition can show by itself: what the hub has, and that the partitions agree with each other.

It only reads. What is left over can be told only while nobody works: each such check reads who holds a partition in the
transaction that reads what is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, Connection, Select, Table, func, select

from parcahyd.cluster.all_partitions import in_each_partition
from parcahyd.cluster.quotas import MAX_PAGES
from parcahyd.cluster.tables import chunks, homes, mail, outbox, partitions, runs, subjects
from parcahyd.core.records import origin
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.reports.records import Finding
from parcahyd.storage.schema import STORED, metadata, sites, urls
from parcahyd.storage.schema import runs as runs_of_partition

__all__ = ["cluster_findings", "finished_run", "partitions_of_moves"]

_DONE = "done"
"""The outcome of a run that left nothing to do. After the others, letters and visits are gone on with by the next run."""

_NUMBERED = [one for one in metadata.tables.values() if "id" in one.primary_key.columns and one is not runs_of_partition]
"""Runs are told apart by their partition."""
_SHOWN = 10
_ORIGIN = (sites.c.scheme, sites.c.host, sites.c.port)
_IN_SEVERAL = select(*_ORIGIN, func.array_agg(sites.c.id)).group_by(*_ORIGIN).having(func.count() > 1)
_MOVING = select(homes.c.site).where(homes.c.moving.is_not(None))
_ON_THEIR_WAY = select(homes.c.partition, homes.c.moving).where(homes.c.moving.is_not(None))
_HELD = select(partitions.c.id).where(partitions.c.id >= 0, partitions.c.token.is_not(None)).limit(1)
_LAST_RUN = select(runs.c.id, runs.c.outcome).order_by(runs.c.id.desc()).limit(1)


def cluster_findings(reader: Reader, *, one_home: bool) -> Iterator[Finding]:
    """Every finding that is about several partitions or the hub. With `one_home` a URL is stored by one partition only."""
    yield from _check_ids(reader)
    if one_home:
        yield from _check_homes(reader)
    with reader.transaction() as connection:
        yield from _check_rest(connection)


def partitions_of_moves(reader: Reader) -> frozenset[int]:
    """The partitions between which sites are on their way."""
    with reader.transaction() as connection:
        return frozenset(number for row in connection.execute(_ON_THEIR_WAY) for number in row)


def finished_run(reader: Reader) -> int | None:
    """The number of the last run, if it left nothing to do and nobody holds a partition; else None."""
    with reader.transaction() as connection:
        return _finished_run(connection)


def _finished_run(connection: Connection) -> int | None:
    row = connection.execute(_LAST_RUN).first()
    is_over = row is not None and row.outcome == _DONE and connection.execute(_HELD).first() is None
    return row.id if row is not None and is_over else None


def _check_ids(reader: Reader) -> Iterator[Finding]:
    """No number is that of two rows, in whatever partitions: it would lead to the wrong row."""
    for one in _NUMBERED:
        for (number,) in reader.rows(select(one.c.id).group_by(one.c.id).having(func.count() > 1).limit(_SHOWN)):
            yield Finding(kind="number", subject=str(one.name), sentence=f"Several rows have the number {number}.")


def _check_homes(reader: Reader) -> Iterator[Finding]:
    """No URL is stored in two partitions, unless its site is being moved."""
    moving = {site.partition("/")[0] for (site,) in reader.rows(_MOVING)}
    of_sites = in_each_partition(sites, reader.partitions, "id", "scheme", "host", "port").subquery()
    for scheme, host, port, numbers in reader.rows(_IN_SEVERAL):
        if host in moving:
            continue
        homes_of = dict(reader.rows(select(of_sites.c.id, of_sites.c.partition).where(of_sites.c.id.in_(numbers))))
        places = select(urls.c.path, func.array_agg(urls.c.site_id)).where(urls.c.site_id.in_(numbers), urls.c.state == STORED)
        for path, found in reader.rows(places.group_by(urls.c.path).having(func.count() > 1)):
            several = sorted(homes_of[number] for number in found)
            sentence = f"It is stored in the partitions {' and '.join(map(str, several))}."
            yield Finding(kind="stored-twice", subject=f"{origin(scheme, host, port)}{path}", sentence=sentence)


def _check_rest(connection: Connection) -> Iterator[Finding]:
    """While nobody holds a partition, nobody owns anything; after a run that is done, no letter is left."""
    if connection.execute(_HELD).first() is not None:
        return
    # Giving a partition back ends its epoch: what was owned in an earlier one is free.
    for subject, partition in connection.execute(_owned(subjects, subjects.c.subject)):
        sentence = f"It belongs to partition {partition}, which nobody holds."
        yield Finding(kind="subject", subject=subject, sentence=sentence)
    for left, partition in connection.execute(_owned(chunks, chunks.c.left).where(chunks.c.left > 0)):
        sentence = f"It has drawn {left} pages of {MAX_PAGES} and not given them back, and nobody holds it."
        yield Finding(kind="chunk", subject=MAX_PAGES, sentence=sentence, partition=partition)
    if _finished_run(connection) is None:
        return
    for kind, owner, what in (("mail", mail.c.partition, "wait for it"), ("outbox", outbox.c.sender, "of it were not posted")):
        for partition, number in connection.execute(select(owner, func.count()).group_by(owner).order_by(owner)):
            sentence = f"The run is done, and letters {what}: {number}."
            yield Finding(kind=kind, subject="letters", sentence=sentence, partition=partition)


def _owned(table: Table, what: Column[Any]) -> Select[Any]:
    """What belongs to an epoch of a partition that has not ended, as if somebody held it."""
    joined = select(what, table.c.partition).join(partitions, partitions.c.id == table.c.partition)
    return joined.where(table.c.epoch >= partitions.c.epoch).order_by(what)
