"""The tables of one page: what its files must hold, and what its author should put right."""

from __future__ import annotations

from typing import NamedTuple

from parcahyd.augment.of_document import describe, tvi_of
from parcahyd.augment.refusal import Refusal
from parcahyd.augment.tol import write_tol
from parcahyd.augment.volatile import part
from parcahyd.authoring.site_folder import Page, reference_to

__all__ = ["Complaint", "PageTables", "tables_of"]


class Complaint(NamedTuple):
    """What is wrong, and where; line and column are 0 where the whole file is meant."""

    path: str
    line: int
    column: int
    sentence: str

    def __str__(self) -> str:
        place = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.path}{place}: {self.sentence}"


class PageTables(NamedTuple):
    """By path in the folder: the bytes of each table that the page has."""

    files: dict[str, bytes]
    complaints: list[Complaint]


def tables_of(page: Page, document: bytes) -> PageTables:
    """The tables of a page with these bytes."""
    parted = part(document, is_xml=page.is_xml)
    complaints = [Complaint(page.path, *mistake) for mistake in parted.mistakes]
    made: dict[str, bytes | Refusal | None] = {}
    if page.tol:
        tvi = reference_to(page.tvi, page.tol)
        made[page.tol] = write_tol(*describe(document, reference_to(page.path, page.tol), parted=parted, tvi=tvi))
    if page.tvi:
        made[page.tvi] = tvi_of(document, reference_to(page.path, page.tvi), parted)
    files = {}
    for path, table in made.items():
        if isinstance(table, bytes):
            files[path] = table
        elif table is not None:
            complaints.append(Complaint(page.path, 0, 0, f"{path} is not written: {table}"))
    return PageTables(files, complaints)
