"""The tables of all partitions: made with the hub, migrated together, and read together through views.

The schema `parcahyd_all` has a view for each table of a crawl, with its name and its columns. So the statements of one
machine's reports work on it unchanged. A view is the UNION ALL of the partitions' tables, which PostgreSQL plans as it plans
partitioned tables: conditions and orders reach the indexes of each.

Two views are not that. `pauses` has each host and address once. `runs` has the runs of the hub, each with the sum of what the
trees of all partitions counted in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Connection,
    Integer,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
    table,
    true,
    union_all,
)
from sqlalchemy.schema import CreateSchema, DropSchema
from sqlalchemy.sql.expression import CompoundSelect, TableClause

from parcahyd.cluster import tables as hub_tables
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.tables import cluster, partitions, starts
from parcahyd.core.errors import UserError
from parcahyd.storage.cluster_schemas import WHOLE_CRAWL, partition_schema, use_schema
from parcahyd.storage.migrations import migrate_tables
from parcahyd.storage.schema import metadata, pauses, runs

__all__ = ["in_each_partition", "make_partitions", "make_views", "migrate_partitions"]

_HAS_SCHEMA = select(func.to_regnamespace(bindparam("name")))
_HOLDERS = select(partitions.c.id, partitions.c.token, partitions.c.node).order_by(partitions.c.id).with_for_update()


def make_partitions(connection: Connection, count: int) -> None:
    """Makes the empty partitions of a new cluster, and the views over them; used inside a transaction.

    A schema that is there is somebody's: UserError.
    """
    for number in range(count):
        _make_schema(connection, partition_schema(number))
    _migrate(connection, range(count))
    make_views(connection, count)


def migrate_partitions(hub: HubConnection) -> None:
    """Brings the tables of every partition up to date, all or none. A partition that is held is a UserError."""
    with hub.transaction() as connection:
        found = hub.rows(_HOLDERS)  # Nobody takes one before this is done.
        for number, token, node in found:
            if token is not None:
                raise UserError(f"partition {number} is at work on {node}", "stop the cluster first: parcahyd cluster stop")
        numbers = [number for number, _, _ in found if number != hub_tables.PLANNING]
        connection.execute(DropSchema(WHOLE_CRAWL, cascade=True, if_exists=True))  # A column that is read cannot be changed.
        _migrate(connection, numbers)
        make_views(connection, len(numbers))


def _migrate(connection: Connection, numbers: Iterable[int]) -> None:
    for number in numbers:
        use_schema(connection, partition_schema(number), in_this_transaction=True)
        migrate_tables(connection)


def make_views(connection: Connection, count: int) -> None:
    """Makes the views over that many partitions; used inside a transaction."""
    _make_schema(connection, WHOLE_CRAWL)
    for name, one in metadata.tables.items():
        view = _VIEWS.get(name, _all_rows)(one, count)
        text = view.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
        connection.exec_driver_sql(f"CREATE VIEW {WHOLE_CRAWL}.{name} AS {text}")


def in_each_partition(one: Table, count: int, *names: str) -> CompoundSelect[Any]:
    """These columns of a table in all partitions, after a column with the number of the partition."""
    tables = [(literal_column(str(number), Integer), _in_partition(one, number)) for number in range(count)]
    return union_all(*(select(number.label("partition"), *(of.c[name] for name in names)) for number, of in tables))


def _make_schema(connection: Connection, name: str) -> None:
    if connection.scalar(_HAS_SCHEMA, {"name": name}) is not None:
        raise UserError(f"this database has the schema {name} already", "use another database, or drop it")
    connection.execute(CreateSchema(name))


def _all_rows(one: Table, count: int) -> CompoundSelect[tuple[object, ...]]:
    return union_all(*(select(_in_partition(one, number)) for number in range(count)))


def _in_partition(one: Table, number: int) -> TableClause:
    return table(one.name, *(column(each.name, each.type) for each in one.c), schema=partition_schema(number))


def _longest_pauses(_: Table, count: int) -> Select[tuple[object, ...]]:
    """Each partition notes for itself how long a host or an address is to be left alone."""
    noted = _all_rows(pauses, count).subquery("noted")
    place = func.row_number().over(partition_by=noted.c.subject, order_by=noted.c.not_before.desc())
    ranked = select(noted, place.label("place")).subquery("ranked")
    return select(*(ranked.c[each.name] for each in pauses.c)).where(ranked.c.place == 1)


def _runs_of_hub(_: Table, count: int) -> Select[tuple[object, ...]]:
    started = union_all(
        *(
            select(literal_column(str(number), BigInteger).label("partition"), _in_partition(runs, number))
            for number in range(count)
        )
    ).subquery("started")
    of_run = starts.join(started, (started.c.partition == starts.c.partition) & (started.c.id == starts.c.start))
    each = func.json_each_text(cast(started.c.counts, JSON)).table_valued("key", "value", name="each")
    total = func.sum(cast(each.c.value, BigInteger)).label("total")
    totals = select(starts.c.run, each.c.key, total).select_from(of_run.join(each, true())).group_by(starts.c.run, each.c.key)
    summed = totals.subquery("totals")
    counted = select(summed.c.run, cast(func.json_object_agg(summed.c.key, summed.c.total), Text).label("counts"))
    counts = counted.group_by(summed.c.run).subquery("counts")
    newest = select(starts.c.run, func.max(started.c.version).label("version")).select_from(of_run)
    versions = newest.group_by(starts.c.run).subquery("versions")
    of_hub = hub_tables.runs
    values = {
        "id": of_hub.c.id,
        "started_at": of_hub.c.started_at,
        "ended_at": of_hub.c.ended_at,
        "settings": of_hub.c.settings,
        "version": func.coalesce(versions.c.version, cluster.c.program),
        "outcome": of_hub.c.outcome,
        "counts": counts.c.counts,
        "crawl_run": of_hub.c.id,
    }
    joined = of_hub.join(cluster, true()).outerjoin(versions, versions.c.run == of_hub.c.id)
    return select(*(values[each.name].label(each.name) for each in runs.c)).select_from(
        joined.outerjoin(counts, counts.c.run == of_hub.c.id)
    )


_VIEWS = {pauses.name: _longest_pauses, runs.name: _runs_of_hub}
