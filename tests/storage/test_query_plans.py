"""No statement of a crawl costs more as the tables grow: each finds its rows through an index (architecture, section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from sqlalchemy import Executable
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from parcahyd import storage
from parcahyd.storage.schema import metadata
from parcahyd.storage.writer import compiled
from tests.storage.desk import Desk

_MODULES = [import_module(f"parcahyd.storage.{found.name}") for found in iter_modules(storage.__path__) if not found.ispkg]
_SCAN = re.compile(rf"SCAN ({'|'.join(metadata.tables)})\b(?! USING (COVERING )?INDEX sites_)")
_SORTS_A_FEW = {"documents._HISTORY", "exchanges._OF_URLS", "imports._VERSIONS", "robots._OF_SITES", "runs._LEFT"}
"""The history and the exchanges of the URLs of a batch, the redirected robots.txt files of a few sites, and two states."""

_ONCE = {
    "runs._LAST",
    "runs._LAST_CRAWL",
    "last_settings._LAST",
    "urls._ANY",
    "sites._OF_SEEDS",
    "sites._DROP_OVER",
    "sites._ALL",
    "overfull._SITES",
}
"""Once in a run, or after a failure: one row, or tables that hold seeds, pauses and overfull pages."""

_WHEN_SETTINGS_CHANGED = {"runs._READMIT", "runs._REFUSE_DEEP", "runs._END_PAUSES"}
_AT_THE_END = {"runs._LEFT", "runs._LEFT_OUT", "runs._HELD_BACK"}
_PARTS = {"documents._OWN_CODED", "frontier._BY_DUE", "frontier._BY_AGAIN", "due_urls._OF_SITE"}
"""Never run as they are: others are made of them."""

_FOR_FILES = {"frontier._GIVEN_SEEDS"}
"""The table of seeds, once for a visit to files of this machine."""

_FOR_REQUESTS = {"heads._REQUEST"}
"""The kinds of requests of a crawl, a handful: once for each kind in a run."""

_PASSES = _FOR_FILES | _FOR_REQUESTS | _ONCE | _WHEN_SETTINGS_CHANGED | _AT_THE_END


def _statements() -> Iterator[tuple[str, Executable]]:
    for module in _MODULES:
        for name, value in vars(module).items():
            full = f"{_short(module)}.{name}"
            if full not in _PARTS:
                yield from ((full, found) for found in _each(value))


def _short(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _each(value: object) -> Iterator[Executable]:
    if isinstance(value, Executable):
        yield value
    elif isinstance(value, tuple):
        yield from (one for one in value if isinstance(one, Executable))
    elif isinstance(value, dict):
        yield from (one for key, one in value.items() if isinstance(one, Executable) and key != "postgresql")


def test_every_statement_uses_an_index(tmp_path: Path) -> None:
    desk = Desk(f"sqlite:///{tmp_path / 'crawl.db'}")
    desk.begin()
    dialect = SQLiteDialect_pysqlite()
    asked = [(name, compiled(statement, dialect).text) for name, statement in _statements()]
    asked = [(name, sql) for name, sql in asked if sql.startswith(("SELECT", "UPDATE", "DELETE"))]
    assert len(asked) > 60
    passing, sorting = {}, {}
    with desk.look.connect() as connection:
        for name, sql in asked:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", ("[]",) * sql.count("?")).all()
            steps = "\n".join(row[3] for row in plan)
            if _SCAN.search(steps):
                passing[name] = steps
            if "USE TEMP B-TREE" in steps:
                sorting[name] = steps
    desk.close()
    assert {name: steps for name, steps in passing.items() if name not in _PASSES} == {}
    assert {name: steps for name, steps in sorting.items() if name not in _SORTS_A_FEW} == {}
