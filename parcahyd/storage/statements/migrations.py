"""The statements of the schema's version."""

from __future__ import annotations

from sqlalchemy import ColumnElement, bindparam, literal_column, select, update

from parcahyd.storage.statements.definition import Definition, inserting
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import metadata, schema_version

__all__ = ["definitions"]


def definitions(idiom: Idiom) -> dict[str, Definition]:
    names = idiom.table_names()
    ours: list[ColumnElement[str]] = [literal_column(f"'{name}'") for name in sorted(metadata.tables)]
    (name,) = names.exported_columns
    return {
        "our_tables": Definition(names.where(name.in_(ours)).order_by(name)),
        "version": Definition(select(schema_version.c.version)),
        "insert_version": inserting(schema_version),
        "update_version": Definition(update(schema_version).values(version=bindparam("new")), "new"),
    }
