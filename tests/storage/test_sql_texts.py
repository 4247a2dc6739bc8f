"""The statements as a crawl reads them."""

from __future__ import annotations

import pytest

from parcahyd.storage.sql_texts import sql_texts


@pytest.mark.parametrize(("database", "change"), [("sqlite", "version=?"), ("postgresql", "version=%s::INTEGER")])
def test_a_statement_is_found_by_its_part_and_name(database: str, change: str) -> None:
    texts = sql_texts(database)
    assert texts["migrations.update_version"].endswith(change)
    assert texts["leases.visited"].startswith("SELECT sites.id, sites.visit,")
    assert texts["leases.visited"].endswith("WHERE sites.visit IS NOT NULL")


def test_only_the_tables_are_made_by_more_than_one_statement() -> None:
    assert [name for name, text in sql_texts("postgresql").items() if ";" in text] == ["migrations.create_tables"]
