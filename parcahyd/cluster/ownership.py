"""Whose a URL is in a cluster, who sends requests to its host and addresses now, and who waits for them; for people.

It only reads, by the connection of a report.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import Connection, select, true

from parcahyd.cluster.all_partitions import in_each_partition
from parcahyd.cluster.tables import cluster, homes, partitions, routing, subjects, waiters, wishes
from parcahyd.core.partitions import Partitioner, Routing, Seen
from parcahyd.rules.urls.canonical_url import split
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import sites

__all__ = ["SubjectOwner", "UrlHome", "Waiting", "read_home", "read_owners", "routing_of"]

_NEWEST = (
    select(routing.c.version, routing.c.content, cluster.c.secret)
    .select_from(routing.join(cluster, true()))
    .order_by(routing.c.version.desc())
    .limit(1)
)
_HOLDERS = (
    select(partitions.c.id, partitions.c.node, partitions.c.epoch, partitions.c.token, wishes.c.node.label("wanted"))
    .select_from(partitions.outerjoin(wishes, wishes.c.partition == partitions.c.id))
    .where(partitions.c.id >= 0)
)
_by_holder = (
    (partitions.c.id == waiters.c.partition) & (partitions.c.epoch == waiters.c.epoch) & (partitions.c.token == waiters.c.token)
)
_QUEUE = (
    select(waiters.c.subject, waiters.c.ticket, waiters.c.partition)
    .join(partitions, _by_holder)  # The tickets of others are struck out by the next claim.
    .order_by(waiters.c.ticket)
)


class UrlHome(msgspec.Struct, frozen=True):
    """The partition that a URL lives in, and why."""

    partition: int | None
    """None: its host waits to be given to one."""
    is_on_record: bool
    """It was written down for this host. Else the strategy says so, each time anew."""
    rule: str
    """Why it was written down, for people; empty where it was not, or nobody said why."""
    since: float | None
    """When, in hub time."""
    moving_from: int | None
    """The partition whose rows of the site have not all come yet."""
    found_in: tuple[int, ...]
    """The partitions that have rows of the URL's site."""
    node: str | None
    """Who runs the partition now; None: nobody."""
    wanted_on: str | None
    """The node that it should go to."""


class Waiting(msgspec.Struct, frozen=True):
    """A partition that waits for its turn. The lowest ticket comes first."""

    ticket: int
    partition: int


class SubjectOwner(msgspec.Struct, frozen=True):
    """Who may send requests to a host or an address."""

    subject: str
    """`host NAME` or `address ADDRESS`."""
    partition: int | None
    """None: it is free."""
    node: str | None
    is_stale: bool
    """The partition had it in a tree that is gone. It rests, and then is free."""
    waiting: tuple[Waiting, ...]


def routing_of(reader: Reader) -> Routing:
    """What the strategy of this cluster is made with."""
    ((version, content, secret),) = reader.rows(_NEWEST)
    return Routing(reader.partitions, version, bytes(content), bytes(secret))


def read_home(reader: Reader, url: str, partitioner: Partitioner) -> UrlHome:
    """Whose a canonical URL is."""
    _, host, _, path = split(url)
    with reader.transaction() as connection:
        found_in = _found_in(connection, host, reader.partitions)
        row = connection.execute(select(homes).where(homes.c.site == host)).first()
        holders = {holder.id: holder for holder in connection.execute(_HOLDERS)}
    if row is not None:
        partition: int | None = None if row.waits else row.partition
    else:
        # A host that is to be measured first stays with whoever found it until then.
        answer = partitioner.home(Seen(host=host, path=path, finder=min(found_in, default=0)))
        partition = answer if isinstance(answer, int) else None
    holder = holders.get(partition)
    return UrlHome(
        partition=partition,
        is_on_record=row is not None and not row.waits,
        rule="" if row is None else row.rule,
        since=None if row is None else row.since,
        moving_from=None if row is None else row.moving,
        found_in=found_in,
        node=None if holder is None or holder.token is None else holder.node,
        wanted_on=None if holder is None else holder.wanted,
    )


def _found_in(connection: Connection, host: str, count: int) -> tuple[int, ...]:
    of_sites = in_each_partition(sites, count, "host").subquery()
    return tuple(sorted(set(connection.scalars(select(of_sites.c.partition).where(of_sites.c.host == host)))))


def read_owners(reader: Reader, host: str, addresses: Iterable[str]) -> list[SubjectOwner]:
    """Who has a host and its addresses now, as far as the hub has met them, and who waits for them."""
    names = [f"host {host}", *(f"address {address}" for address in addresses)]
    with reader.transaction() as connection:
        rows = {row.subject: row for row in connection.execute(select(subjects).where(subjects.c.subject.in_(names)))}
        queue = list(connection.execute(_QUEUE.where(waiters.c.subject.in_(names))))
        holders = {holder.id: holder for holder in connection.execute(_HOLDERS)}
    return [_owner(rows[name], holders.get(rows[name].partition), queue) for name in names if name in rows]


def _owner(row: Any, holder: Any, queue: Iterable[Any]) -> SubjectOwner:
    is_current = holder is not None and (holder.epoch, holder.token) == (row.epoch, row.token)
    return SubjectOwner(
        subject=row.subject,
        partition=row.partition,
        node=holder.node if is_current else None,
        is_stale=row.partition is not None and not is_current,
        waiting=tuple(Waiting(waiter.ticket, waiter.partition) for waiter in queue if waiter.subject == row.subject),
    )
