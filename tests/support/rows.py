"""A look into a crawl's tables behind the command line's back, and faults planted there."""

from __future__ import annotations

from typing import Any

import sqlalchemy

__all__ = ["open_engine", "refuse_documents_of_length", "rows"]


def open_engine(database: str) -> sqlalchemy.Engine:
    """An engine for a DbUrl; PostgreSQL through psycopg 3."""
    return sqlalchemy.create_engine(database.replace("postgresql://", "postgresql+psycopg://", 1))


def rows(database: str, table: str) -> list[tuple[Any, ...]]:
    """Every row of a table, in a fixed order."""
    engine = open_engine(database)
    try:
        with engine.connect() as connection:
            found = sqlalchemy.Table(table, sqlalchemy.MetaData(), autoload_with=connection)
            return sorted((tuple(row) for row in connection.execute(sqlalchemy.select(found))), key=repr)
    finally:
        engine.dispose()


_SQLITE_TRAP = """
CREATE TRIGGER no_such_document BEFORE INSERT ON documents WHEN NEW.length = {length}
BEGIN SELECT RAISE(ABORT, 'planted failure'); END
"""
_POSTGRES_TRAP = """
CREATE FUNCTION no_such_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.length = {length} THEN RAISE EXCEPTION 'planted failure'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER no_such_document BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION no_such_document();
"""


def refuse_documents_of_length(database: str, length: int) -> None:
    """From now on the database refuses every document of that many bytes."""
    engine = open_engine(database)
    trap = _SQLITE_TRAP if database.startswith("sqlite") else _POSTGRES_TRAP
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql(trap.format(length=length))
    finally:
        engine.dispose()
