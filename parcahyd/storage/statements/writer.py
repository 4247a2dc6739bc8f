"""The statements that find the last id of each table whose ids the writer gives out."""

from __future__ import annotations

from sqlalchemy import func, select

from parcahyd.storage.statements.definition import Definition
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import documents, fetches, runs, sites

__all__ = ["definitions"]


def definitions(_: Idiom) -> dict[str, Definition]:
    return {f"last_of_{table.name}": Definition(select(func.max(table.c.id))) for table in (documents, fetches, runs, sites)}
