"""Compiles the definitions into `storage/sql/`: `python -m parcahyd.storage.statements.compiling sqlite` prints one file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import groupby

from sqlalchemy import create_mock_engine
from sqlalchemy.schema import CreateIndex, ExecutableDDLElement

from parcahyd.storage.statements import (
    bad_batch,
    document_rows,
    due_urls,
    errand_rows,
    histories,
    lastmod_rows,
    leases,
    migrations,
    page_batch,
    pause_rows,
    run_rows,
    seed_rows,
    site_rows,
    url_rows,
    version_rows,
    writer,
)
from parcahyd.storage.statements.definition import Definition
from parcahyd.storage.statements.idioms import IDIOMS, Idiom
from parcahyd.storage.tables import metadata

__all__ = ["compiled", "rendered"]

_PARTS: tuple[tuple[str, Callable[[Idiom], dict[str, Definition]]], ...] = (
    ("migrations", migrations.definitions),
    ("writer", writer.definitions),
    ("site_rows", site_rows.definitions),
    ("url_rows", url_rows.definitions),
    ("seed_rows", seed_rows.definitions),
    ("histories", histories.definitions),
    ("page_batch", page_batch.definitions),
    ("lastmod_rows", lastmod_rows.definitions),
    ("document_rows", document_rows.definitions),
    ("version_rows", version_rows.definitions),
    ("bad_batch", bad_batch.definitions),
    ("errand_rows", errand_rows.definitions),
    ("leases", leases.definitions),
    ("due_urls", due_urls.definitions),
    ("pause_rows", pause_rows.definitions),
    ("run_rows", run_rows.definitions),
)


def rendered(database: str) -> str:
    """The file of a kind of database: each statement below a line with its name and the order of its parameters."""
    idiom = IDIOMS[database]
    creation = ";\n\n".join(_creation(idiom))
    sections = [
        f"-- What the store says to {database}, compiled from storage/statements/. Do not edit: `make docs` writes it.",
        f"-- migrations.create_tables ()\n{creation};",
    ]
    for part, definitions in _PARTS:
        for name, definition in definitions(idiom).items():
            title = f"{part}.{name} ({', '.join(definition.parameters)})"
            sections.append(f"-- {title}\n{compiled(definition, idiom)};")
    return "\n\n".join(sections) + "\n"


def compiled(definition: Definition, idiom: Idiom) -> str:
    """A statement as text for the driver, which takes its parameters as tuples in the order that the definition tells."""
    done = definition.statement.compile(dialect=idiom.dialect)
    order = tuple(done.positiontup or ())
    if order != definition.parameters:
        raise AssertionError(f"parameters come in the order {order}, not {definition.parameters}, in: {done}")
    return _tidy(str(done))


def _creation(idiom: Idiom) -> Iterator[str]:
    """Everything that makes a new database, in order."""
    found: list[ExecutableDDLElement] = []
    engine = create_mock_engine(f"{idiom.dialect.name}+{idiom.dialect.driver}://", lambda step, *_, **__: found.append(step))
    metadata.create_all(engine, checkfirst=False)
    for is_index, steps in groupby(found, key=lambda step: isinstance(step, CreateIndex)):
        texts = [_tidy(str(step.compile(dialect=idiom.dialect))) for step in steps]
        yield from sorted(texts) if is_index else texts  # SQLAlchemy keeps a table's indexes in no order


def _tidy(sql: str) -> str:
    return "\n".join(line.rstrip() for line in sql.expandtabs(4).strip().splitlines())


if __name__ == "__main__":
    sys.stdout.write(rendered(sys.argv[1]))
