"""The tables of one page, the errors in its markers, and the bundle of all tables of links."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from parcahyd.augment.bundle import write_bundle
from parcahyd.augment.document_tables import describe, tvi_of
from parcahyd.augment.refusal import Refusal
from parcahyd.augment.skeleton import part
from parcahyd.augment.tol import write_tol
from parcahyd.authoring.atomic_files import read_or_none
from parcahyd.authoring.author_plan import AuthorPlan
from parcahyd.authoring.site_folder import Page, reference_to

__all__ = [
    "PageError",
    "PageTables",
    "make_bundle",
    "tables_of",
]


class PageError(NamedTuple):
    """An error for the author, and its place; line and column are 0 where it concerns the whole file."""

    path: str
    line: int
    column: int
    sentence: str

    def __str__(self) -> str:
        place = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.path}{place}: {self.sentence}"


class PageTables(NamedTuple):
    """The bytes of a page's tables by path in the folder, and the errors found."""

    files: dict[str, bytes]
    errors: list[PageError]


def tables_of(page: Page, document: bytes) -> PageTables:
    """The tables of a page with these bytes."""
    parted = part(document, is_xml=page.is_xml)
    errors = [PageError(page.path, *error) for error in parted.errors]
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
            errors.append(PageError(page.path, 0, 0, f"{path} is not written: {table}"))
    return PageTables(files, errors)


def make_bundle(plan: AuthorPlan, pages: Iterable[Page], fresh: dict[str, bytes] | None = None) -> bytes | Refusal:
    """The bundle of the tables that are in the folder, or in `fresh` by path; a Refusal where it is too large."""
    entries = []
    for page in pages:
        table = (fresh or {}).get(page.tol) or (read_or_none(os.path.join(plan.folder, page.tol)) if page.tol else None)
        if table is not None:
            entries.append(_entry(plan, page, table))
    return write_bundle(entries)


def _entry(plan: AuthorPlan, page: Page, table: bytes) -> bytes:
    """A table with its own references rewritten relative to the bundle; its links are relative to the document and stay."""
    head, empty, body = table.partition(b"\n\n")
    lines = head.split(b"\n")
    for number, line in enumerate(lines):
        if line.startswith(b"Document: "):
            lines[number] = b"Document: " + reference_to(page.path, plan.bundle).encode()
        elif line.startswith(b"TVI: "):
            lines[number] = b"TVI: " + reference_to(page.tvi, plan.bundle).encode()
    return b"\n".join(lines) + empty + body
