"""No statement of a crawl costs more as the tables grow: each finds its rows through an index (architecture, section 5)."""

from __future__ import annotations

import re
from pathlib import Path

from parcahyd.storage.sql_texts import sql_texts
from parcahyd.storage.tables import metadata
from tests.storage.desk import Desk

_SCAN = re.compile(rf"SCAN ({'|'.join(metadata.tables)})\b(?! USING (COVERING )?INDEX sites_)")
_SORTS_A_FEW = {"document_rows.history", "errand_rows.of_sites", "migrations.our_tables", "run_rows.left"}
"""The history of the URLs of a batch, the errands of a few sites, our tables, and two states."""

_ONCE = {
    *("migrations.version", "migrations.update_version", "run_rows.last_settings", "url_rows.any"),
    *("site_rows.of_seeds", "pause_rows.drop_over", "pause_rows.all"),
}
"""Once in a run, or after a failure: one row, or tables that hold what the user gave and what is being spared."""

_WHEN_SETTINGS_CHANGED = {f"run_rows.{name}" for name in ("readmit", "refuse_deep")}
_AT_THE_END = {"run_rows.left"}
_PASSES = _ONCE | _WHEN_SETTINGS_CHANGED | _AT_THE_END


def test_every_statement_uses_an_index(tmp_path: Path) -> None:
    desk = Desk(f"sqlite:///{tmp_path / 'crawl.db'}")
    desk.begin()
    asked = {name: sql for name, sql in sql_texts("sqlite").items() if sql.startswith(("SELECT", "UPDATE", "DELETE"))}
    assert len(asked) > 60
    passing, sorting = {}, {}
    with desk.look.connect() as connection:
        for name, sql in asked.items():
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", ("[]",) * sql.count("?")).all()
            steps = "\n".join(row[3] for row in plan)
            if _SCAN.search(steps):
                passing[name] = steps
            if "USE TEMP B-TREE" in steps:
                sorting[name] = steps
    desk.close()
    assert {name: steps for name, steps in passing.items() if name not in _PASSES} == {}
    assert {name: steps for name, steps in sorting.items() if name not in _SORTS_A_FEW} == {}
