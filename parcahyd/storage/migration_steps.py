"""The steps from each version of the tables to the next, as they were then: a step is never changed once it was released."""

from __future__ import annotations

from parcahyd.storage.writer import Writer

__all__ = ["to_version_2", "to_version_3"]

_TYPES = {
    "sqlite": {"moment": "DOUBLE", "bytes": "BLOB", "id": "INTEGER"},
    "postgresql": {"moment": "DOUBLE PRECISION", "bytes": "BYTEA", "id": "BIGINT"},
}


def to_version_2(writer: Writer) -> None:
    """What makes a crawl polite and correct on the real web."""
    _add(writer, "sites", "robots_failing_since", "moment DEFAULT 0 NOT NULL")
    _add(writer, "sites", "robots_delay", "moment DEFAULT 0 NOT NULL")
    _add(writer, "sites", "guards", "bytes")
    _add(writer, "urls", "confirmed_at", "moment")
    _add(writer, "urls", "change_weight", "moment")
    _add(writer, "urls", "change_span", "moment")
    _add(writer, "urls", "change_restless", "moment")
    _add(writer, "documents", "title", "TEXT DEFAULT '' NOT NULL")
    _add(writer, "documents", "language", "TEXT DEFAULT '' NOT NULL")
    _add(writer, "documents", "similarity", "BIGINT")
    kinds = _TYPES[writer.kind]
    columns = f"document_id {kinds['id']} NOT NULL, content {kinds['bytes']} NOT NULL"
    writer.run(f"CREATE TABLE summaries ({columns}, PRIMARY KEY (document_id))")
    if writer.kind == "postgresql":
        writer.run('ALTER TABLE summaries ALTER COLUMN "content" SET STORAGE EXTERNAL')
    _add(writer, "pauses", "reason", "TEXT DEFAULT '' NOT NULL")
    _add(writer, "pauses", "failures", "INTEGER DEFAULT 0 NOT NULL")


def to_version_3(writer: Writer) -> None:
    """Documents with volatile regions; what sitemaps say of pages, and whether it is believed."""
    _add(writer, "volatile", "id", "TEXT DEFAULT '' NOT NULL")
    _add(writer, "volatile", "length", "BIGINT")
    kinds = _TYPES[writer.kind]
    words = "etag TEXT DEFAULT '' NOT NULL, modified TEXT DEFAULT '' NOT NULL"
    numbers = "refresh BIGINT DEFAULT 0 NOT NULL, merges INTEGER DEFAULT 0 NOT NULL"
    writer.run(f"CREATE TABLE tvis (fetch_id {kinds['id']} NOT NULL, {words}, {numbers}, PRIMARY KEY (fetch_id))")
    columns = f"skeleton_sha256 {kinds['bytes']} NOT NULL, content {kinds['bytes']} NOT NULL"
    writer.run(f"CREATE TABLE learned (fetch_id {kinds['id']} NOT NULL, {columns}, PRIMARY KEY (fetch_id))")
    _add(writer, "sites", "lastmod_trust", "INTEGER DEFAULT 0 NOT NULL")
    _add(writer, "urls", "lastmod", "moment")
    _add(writer, "urls", "lastmod_read", "moment")


def _add(writer: Writer, table: str, column: str, description: str) -> None:
    """Adds a column; its type is the first word of the description, one of `_TYPES` or a word that both databases know."""
    kind, _, rest = description.partition(" ")
    writer.run(f"ALTER TABLE {table} ADD COLUMN {column} {_TYPES[writer.kind].get(kind, kind)} {rest}".rstrip())
