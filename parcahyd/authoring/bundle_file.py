"""The bundle of a site folder: its tables of links one after another, as seen from the bundle."""

from __future__ import annotations

import os
from collections.abc import Iterable

from parcahyd.augment.bundle import write_bundle
from parcahyd.augment.refusal import Refusal
from parcahyd.authoring.author_plan import AuthorPlan
from parcahyd.authoring.site_folder import Page, reference_to
from parcahyd.authoring.whole_files import read_or_none

__all__ = ["make_bundle"]


def make_bundle(plan: AuthorPlan, pages: Iterable[Page], fresh: dict[str, bytes] | None = None) -> bytes | Refusal:
    """The bundle of the tables that are in the folder, or in `fresh` by path; refused where nobody would read it."""
    entries = []
    for page in pages:
        table = (fresh or {}).get(page.tol) or (read_or_none(os.path.join(plan.folder, page.tol)) if page.tol else None)
        if table is not None:
            entries.append(_entry(plan, page, table))
    return write_bundle(entries)


def _entry(plan: AuthorPlan, page: Page, table: bytes) -> bytes:
    """A table with its references as they lead from the bundle; links lead from the document, and stay."""
    head, empty, body = table.partition(b"\n\n")
    lines = head.split(b"\n")
    for number, line in enumerate(lines):
        if line.startswith(b"Document: "):
            lines[number] = b"Document: " + reference_to(page.path, plan.bundle).encode()
        elif line.startswith(b"TVI: "):
            lines[number] = b"TVI: " + reference_to(page.tvi, plan.bundle).encode()
    return b"\n".join(lines) + empty + body
