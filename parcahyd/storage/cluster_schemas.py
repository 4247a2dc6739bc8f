"""The schemas of a database that several machines crawl into, and whether a database is one of these.

Each partition has its tables in a schema of its own. Readers see them all as one crawl, through the views of another schema.
What is read and refused on a cluster's database follows from `has_hub`, and from nothing else.

Tested in tests/cluster/test_all_partitions.py.
"""

from __future__ import annotations

from sqlalchemy import Connection, column, exists, func, select, table

from parcahyd.core.errors import UserError

__all__ = ["HUB", "IDS_OF_A_PARTITION", "WHOLE_CRAWL", "has_hub", "partition_schema", "refuse_cluster", "use_schema"]

HUB = "parcahyd_hub"
"""The schema of what the machines share."""

WHOLE_CRAWL = "parcahyd_all"
"""The schema of the views over all partitions, which have the names and columns of the tables."""

IDS_OF_A_PARTITION = 2**40
"""Partition p numbers its rows from p times this on, so that no two partitions have a number in common."""

_schemas = table("pg_namespace", column("nspname"))


def partition_schema(partition: int) -> str:
    """The schema with the tables of a partition, in the hub's own database."""
    return f"parcahyd_p{partition}"


def has_hub(connection: Connection) -> bool:
    """Whether several machines crawl into this database."""
    return connection.dialect.name == "postgresql" and bool(
        connection.scalar(select(exists().where(_schemas.c.nspname == HUB)))
    )


def refuse_cluster(connection: Connection) -> None:
    """Raises UserError for a writer that is not part of the cluster whose database this is."""
    if has_hub(connection):
        raise UserError(
            "this is the database of a cluster, which no command by itself writes to",
            "crawl with `parcahyd cluster start`, or name another database with --db",
        )


def use_schema(connection: Connection, schema: str, *, in_this_transaction: bool = False) -> None:
    """Has statements find their tables there from now on, if the transaction is committed."""
    connection.execute(select(func.set_config("search_path", schema, in_this_transaction)))
