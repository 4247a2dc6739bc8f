"""The texts that a crawl reads are what the definitions say, for each kind of database."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import bindparam, select

import parcahyd.storage
from parcahyd.storage.sql_texts import sql_texts
from parcahyd.storage.statements.compiling import compiled, rendered
from parcahyd.storage.statements.definition import Definition
from parcahyd.storage.statements.idioms import IDIOMS
from parcahyd.storage.tables import metadata, urls

FOLDER = Path(parcahyd.storage.__file__).parent


@pytest.mark.parametrize("database", IDIOMS)
def test_the_files_are_what_the_definitions_say(database: str) -> None:
    assert (FOLDER / "sql" / f"{database}.sql").read_text(encoding="utf-8") == rendered(database), "run: make docs"


def test_there_is_a_file_for_each_kind_of_database() -> None:
    assert {path.name for path in (FOLDER / "sql").iterdir()} == {f"{database}.sql" for database in IDIOMS}
    first, second = (list(sql_texts(database)) for database in IDIOMS)
    assert first == second


@pytest.mark.parametrize("database", IDIOMS)
def test_every_table_is_made(database: str) -> None:
    made = re.findall(r"^CREATE TABLE (\w+)", sql_texts(database)["migrations.create_tables"], re.MULTILINE)
    assert sorted(made) == sorted(metadata.tables)


@pytest.mark.parametrize("database", IDIOMS)
def test_every_parameter_has_its_name(database: str) -> None:
    titles = dict(re.findall(r"^-- (\S+) \((.*)\)$", rendered(database), re.MULTILINE))
    places = {name: text.count("?" if database == "sqlite" else "%s") for name, text in sql_texts(database).items()}
    assert {name: len(re.findall(r"\w+", parameters)) for name, parameters in titles.items()} == places


def test_parameters_in_another_order_are_noticed() -> None:
    statement = select(urls.c.path).where(urls.c.site_id == bindparam("site"), urls.c.key == bindparam("place"))
    for idiom in IDIOMS.values():
        assert compiled(Definition(statement, "site", "place"), idiom)
        with pytest.raises(AssertionError, match="order"):
            compiled(Definition(statement, "place", "site"), idiom)


def test_nothing_is_defined_that_the_store_does_not_run() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py"))
    asked = set(re.findall(r'statements\["(\w+\.\w+)"\]', sources))
    asked |= {f"due_urls.{state}" for state in ("stored", "refused", "gone")}
    asked |= {f"writer.last_of_{table}" for table in re.findall(r'new_id\("(\w+)"\)', sources)}
    assert asked == set(sql_texts("sqlite"))


def test_it_is_a_program() -> None:
    command = [sys.executable, "-m", "parcahyd.storage.statements.compiling", "sqlite"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == rendered("sqlite")
