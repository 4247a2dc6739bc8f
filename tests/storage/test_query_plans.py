"""No statement of a crawl costs more as the tables grow: each finds its rows through an index (architecture, section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parcahyd.storage.tables import metadata
from parcahyd.storage.writer import Writer
from tests.storage.desk import Desk

_SCAN = re.compile(rf"SCAN ({'|'.join(metadata.tables)})\b(?! USING (COVERING )?INDEX sites_)")
_SORTS_A_FEW = ("ORDER BY fetches.id", "ORDER BY errands.asked_at")
"""The history of the URLs of a batch, and the errands of a few sites."""


def _statements(part: Any, seen: set[int]) -> Iterator[str]:
    """Every prepared statement of the store and its parts."""
    if isinstance(part, str):
        if part.startswith(("SELECT", "UPDATE", "DELETE")):
            yield part
    elif isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _statements(inner, seen)
    elif type(part).__module__.startswith("parcahyd.storage") and not isinstance(part, Writer) and id(part) not in seen:
        seen.add(id(part))
        yield from _statements(dict(vars(part)), seen)


@pytest.fixture
def statements(tmp_path: Path) -> Iterator[tuple[Desk, list[str]]]:
    desk = Desk(f"sqlite:///{tmp_path / 'crawl.db'}")
    desk.begin()
    yield desk, list(_statements(desk.store, set()))
    desk.close()


def test_every_prepared_statement_uses_an_index(statements: tuple[Desk, list[str]]) -> None:
    desk, prepared = statements
    assert len(prepared) > 40
    bad = []
    with desk.look.connect() as connection:
        for sql in prepared:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", ("[]",) * sql.count("?")).all()
            steps = "\n".join(row[3] for row in plan)
            sorts = "USE TEMP B-TREE" in steps and not any(few in sql for few in _SORTS_A_FEW)
            if _SCAN.search(steps) or sorts:
                bad.append(f"{sql}\n{steps}")
    assert not bad, "\n\n".join(bad)
