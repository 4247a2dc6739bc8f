"""The version of the schema, and the steps from older versions to this one.

A new database is created at the newest version. `MIGRATIONS[n]` brings a database from version n + 1 to n + 2. All steps that
are needed run in one transaction, so a database is never between two versions. A step is not changed after its release: it
describes the tables of its time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, insert, inspect, select, update

from parcahyd.core.errors import DatabaseUnusable, StoreFailure
from parcahyd.storage.cluster_schemas import WHOLE_CRAWL
from parcahyd.storage.schema import metadata, schema_version
from parcahyd.storage.writer import Writer

__all__ = ["MIGRATIONS", "Migration", "check_partitions", "check_version", "migrate", "migrate_tables"]

Migration = Callable[[Connection], None]

_TYPES = {
    "sqlite": {"moment": "DOUBLE", "bytes": "BLOB", "id": "INTEGER"},
    "postgresql": {"moment": "DOUBLE PRECISION", "bytes": "BYTEA", "id": "BIGINT"},
}


def to_version_2(connection: Connection) -> None:
    """Adds robots.txt failures and delays, trap guards, rates of change, titles, similarity, summaries and pauses."""
    _add(connection, "sites", "robots_failing_since", "moment DEFAULT 0 NOT NULL")
    _add(connection, "sites", "robots_delay", "moment DEFAULT 0 NOT NULL")
    _add(connection, "sites", "guards", "bytes")
    _add(connection, "urls", "confirmed_at", "moment")
    _add(connection, "urls", "change_weight", "moment")
    _add(connection, "urls", "change_span", "moment")
    _add(connection, "urls", "change_restless", "moment")
    _add(connection, "documents", "title", "TEXT DEFAULT '' NOT NULL")
    _add(connection, "documents", "language", "TEXT DEFAULT '' NOT NULL")
    _add(connection, "documents", "similarity", "BIGINT")
    kinds = _TYPES[connection.dialect.name]
    columns = f"document_id {kinds['id']} NOT NULL, content {kinds['bytes']} NOT NULL"
    connection.exec_driver_sql(f"CREATE TABLE summaries ({columns}, PRIMARY KEY (document_id))")
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql('ALTER TABLE summaries ALTER COLUMN "content" SET STORAGE EXTERNAL')
    _add(connection, "pauses", "reason", "TEXT DEFAULT '' NOT NULL")
    _add(connection, "pauses", "failures", "INTEGER DEFAULT 0 NOT NULL")


def to_version_3(connection: Connection) -> None:
    """Adds volatile regions of documents, what was learned of pages, and `lastmod` of sitemaps with its trust."""
    _add(connection, "volatile", "id", "TEXT DEFAULT '' NOT NULL")
    _add(connection, "volatile", "length", "BIGINT")
    kinds = _TYPES[connection.dialect.name]
    words = "etag TEXT DEFAULT '' NOT NULL, modified TEXT DEFAULT '' NOT NULL"
    numbers = "refresh BIGINT DEFAULT 0 NOT NULL, merges INTEGER DEFAULT 0 NOT NULL"
    connection.exec_driver_sql(
        f"CREATE TABLE tvis (fetch_id {kinds['id']} NOT NULL, {words}, {numbers}, PRIMARY KEY (fetch_id))"
    )
    columns = f"skeleton_sha256 {kinds['bytes']} NOT NULL, content {kinds['bytes']} NOT NULL"
    connection.exec_driver_sql(f"CREATE TABLE learned (fetch_id {kinds['id']} NOT NULL, {columns}, PRIMARY KEY (fetch_id))")
    _add(connection, "sites", "lastmod_trust", "INTEGER DEFAULT 0 NOT NULL")
    _add(connection, "urls", "lastmod", "moment")
    _add(connection, "urls", "lastmod_read", "moment")


def to_version_4(connection: Connection) -> None:
    """Adds the number of the run that visited a URL last, who brought URLs, and the pages whose links were left out.

    URLs that are known count as brought by their site.
    """
    _add(connection, "runs", "crawl_run", "BIGINT")
    _add(connection, "sites", "rested_in", "BIGINT DEFAULT 0 NOT NULL")
    _add(connection, "urls", "visited_in", "BIGINT DEFAULT 0 NOT NULL")
    _add(connection, "sites", "urls_from_others", "BIGINT DEFAULT 0 NOT NULL")
    _add(connection, "sites", "urls_for_others", "BIGINT DEFAULT 0 NOT NULL")
    columns = "site_id BIGINT NOT NULL, key BIGINT NOT NULL, left_out INTEGER NOT NULL, left_out_external INTEGER NOT NULL"
    end = " WITHOUT ROWID" if connection.dialect.name == "sqlite" else ""
    connection.exec_driver_sql(
        f"CREATE TABLE overfull ({columns}, reads INTEGER DEFAULT 0 NOT NULL, PRIMARY KEY (site_id, key)){end}"
    )


def to_version_5(connection: Connection) -> None:
    """Adds what is on record of an exchange: content codings, heads as received, times, and the headers of requests.

    Documents that are there are zlib streams of ours. Answers that are there have no head: it is made up of their status and
    header lines when it is read.
    """
    for table in ("documents", "fetches"):
        _add(connection, table, "coding", "TEXT DEFAULT '' NOT NULL")
        _add(connection, table, "coded_sha256", "bytes")
    _add(connection, "fetches", "head", "bytes")
    _add(connection, "fetches", "head_base", "BIGINT")
    _add(connection, "fetches", "marks", "INTEGER DEFAULT 0 NOT NULL")
    _add(connection, "fetches", "protocol", "TEXT DEFAULT '' NOT NULL")
    _add(connection, "fetches", "started_at", "moment")
    _add(connection, "fetches", "seconds", "moment")
    _add(connection, "fetches", "request_id", "BIGINT")
    _add(connection, "urls", "via_site", "BIGINT DEFAULT 0 NOT NULL")
    _add(connection, "urls", "via_key", "BIGINT")
    kinds = _TYPES[connection.dialect.name]
    content = f"content {kinds['bytes']} NOT NULL, PRIMARY KEY (id)"
    connection.exec_driver_sql(f"CREATE TABLE head_bases (id {kinds['id']} NOT NULL, site_id BIGINT NOT NULL, {content})")
    connection.exec_driver_sql("CREATE INDEX ix_head_bases_site_id ON head_bases (site_id)")
    connection.exec_driver_sql(f"CREATE TABLE requests (id {kinds['id']} NOT NULL, {content})")
    words, number, some_bytes = "TEXT DEFAULT '' NOT NULL", "BIGINT", kinds["bytes"]
    connection.exec_driver_sql(
        f"CREATE TABLE own_bodies (fetch_id {kinds['id']} NOT NULL, body {some_bytes} NOT NULL, "
        f"length BIGINT NOT NULL, coding {words}, PRIMARY KEY (fetch_id))"
    )
    connection.exec_driver_sql(
        f"CREATE TABLE exchanges (id {kinds['id']} NOT NULL, site_id BIGINT NOT NULL, key BIGINT NOT NULL, "
        f"at {kinds['moment']} NOT NULL, status INTEGER NOT NULL, address TEXT NOT NULL, fetch_id {number}, "
        f"head {some_bytes} NOT NULL, head_base {number}, marks INTEGER DEFAULT 0 NOT NULL, protocol {words}, "
        f"started_at {kinds['moment']}, seconds {kinds['moment']}, request_id {number}, body {some_bytes}, length {number}, "
        f"body_coding {words}, coding {words}, file {words}, coded_sha256 {some_bytes}, PRIMARY KEY (id))"
    )
    connection.exec_driver_sql("CREATE INDEX ix_exchanges_fetch_id ON exchanges (fetch_id)")
    connection.exec_driver_sql("CREATE INDEX exchanges_of_url ON exchanges (site_id, key, id)")


def to_version_6(connection: Connection) -> None:
    """Adds the topics of documents; those that are there have none."""
    _add(connection, "documents", "topic", "TEXT DEFAULT '' NOT NULL")
    connection.exec_driver_sql("CREATE INDEX documents_topic ON documents (topic) WHERE topic != ''")


def _add(connection: Connection, table: str, column: str, description: str) -> None:
    """Adds a column; its type is the first word of the description, one of `_TYPES` or a word that both databases know."""
    kind, _, rest = description.partition(" ")
    connection.exec_driver_sql(
        f"ALTER TABLE {table} ADD COLUMN {column} {_TYPES[connection.dialect.name].get(kind, kind)} {rest}".rstrip()
    )


MIGRATIONS: tuple[Migration, ...] = (to_version_2, to_version_3, to_version_4, to_version_5, to_version_6)


def migrate(writer: Writer, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Creates the tables in an empty database, or brings older ones up to date.

    A database from a newer version of the program, and one that holds other tables of our names, are a DatabaseUnusable.
    """
    try:
        with writer.transaction() as connection:
            migrate_tables(connection, migrations)
    except StoreFailure as failure:
        raise DatabaseUnusable(f"the database's tables could not be prepared: {failure}", "check DbUrl") from failure


def migrate_tables(connection: Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """The same inside a transaction, in the schema that its statements look in."""
    newest = len(migrations) + 1
    found = _version(connection)
    if found is None:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(schema_version).values(version=newest))
    else:
        _refuse_newer(found, newest)
        for step in migrations[found - 1 :]:
            step(connection)
        connection.execute(update(schema_version).values(version=newest))


def check_version(connection: Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """For readers, which change nothing: the tables must be there and of this version."""
    newest = len(migrations) + 1
    found = _version(connection)
    if found is None:
        raise DatabaseUnusable("the database holds no crawl yet", "run `parcahyd run` first")
    _refuse_newer(found, newest)
    if found < newest:
        raise DatabaseUnusable(
            f"the database is of the older version {found}", "run `parcahyd run` once: it brings the tables up to date"
        )


def check_partitions(connection: Connection, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The same for readers of a cluster, of every partition; returns how many there are."""
    newest = len(migrations) + 1
    views = inspect(connection).get_view_names(WHOLE_CRAWL)
    found = list(connection.scalars(select(schema_version.c.version))) if schema_version.name in views else []
    for version in found:
        _refuse_newer(version, newest)
    if min(found, default=0) < newest:
        raise DatabaseUnusable(
            "the partitions of this cluster are of an older version", "`parcahyd cluster migrate` brings them up to date"
        )
    return len(found)


def _version(connection: Connection) -> int | None:
    """The version of the tables that are there; None in an empty database."""
    present = sorted(metadata.tables.keys() & inspect(connection).get_table_names())
    if not present:
        return None
    if schema_version.name not in present:
        raise DatabaseUnusable(
            f'the database has a table "{present[0]}" that is not a crawl\'s', "give the crawl a database of its own"
        )
    version = connection.scalar(select(schema_version.c.version))
    if version is None:
        raise DatabaseUnusable("the database's schema_version is empty", "restore it from a copy")
    return int(version)


def _refuse_newer(found: int, newest: int) -> None:
    if found > newest:
        raise DatabaseUnusable(
            f"the database is of version {found} and this program knows versions up to {newest}", "use a newer parcahyd"
        )
