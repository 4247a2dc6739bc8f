"""Finds the tables of a site folder that are missing, outdated, wrong or left over.

Tables are read as a crawler reads them, so tables that another tool wrote are accepted too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256

from parcahyd.augment.bundle import read_bundle
from parcahyd.augment.refusal import Refusal
from parcahyd.augment.skeleton import part_with_tvi
from parcahyd.augment.tol import Tol, read_tol
from parcahyd.augment.tvi import read_tvi
from parcahyd.authoring.atomic_files import read_or_none
from parcahyd.authoring.author_plan import AuthorPlan, declaring, is_declared
from parcahyd.authoring.page_tables import PageError, make_bundle, tables_of
from parcahyd.authoring.site_folder import Page, find_pages, find_sidecars, for_all_pages

__all__ = ["check"]


def check(plan: AuthorPlan, *, jobs: int = 1, progress: Callable[[int, int], None] | None = None) -> list[PageError]:
    """All errors: first those of each page, then those of the folder as a whole."""
    pages = find_pages(plan)
    found: list[PageError] = []
    has_regions = False
    for number, (errors, has_tvi) in enumerate(for_all_pages(partial(_check_page, plan), pages, jobs), 1):
        found += errors
        has_regions |= has_tvi
        if progress is not None:
            progress(number, len(pages))
    return [*found, *_leftovers(plan, pages), *_whole(declaring(plan, has_regions=has_regions), pages)]


def _check_page(plan: AuthorPlan, page: Page) -> tuple[list[PageError], bool]:
    """The errors of a page, and whether it has a .TVI."""
    document = read_or_none(os.path.join(plan.folder, page.path)) or b""
    tables = tables_of(page, document)
    errors = list(tables.errors)
    for path in filter(None, (page.tol, page.tvi)):
        wanted, there = tables.files.get(path), read_or_none(os.path.join(plan.folder, path))
        if wanted == there:
            continue
        if wanted is None:
            sentence = "the document has nothing to say in it"
        elif there is None:
            sentence = "it is missing"
        else:
            sentence = _wrong_tol(there, wanted) if path == page.tol else _wrong_tvi(there, document)
        if sentence:
            errors.append(PageError(path, 0, 0, sentence))
    return errors, page.tvi in tables.files


def _wrong_tol(there: bytes, wanted: bytes) -> str:
    tol, made = read_tol(there), read_tol(wanted)
    if isinstance(tol, Refusal) or isinstance(made, Refusal):
        return str(tol)
    if not tol.is_complete:
        return "it is cut"
    if tol.head.hash != made.head.hash:
        return "it describes another version of its document"
    same_head = (tol.head.document, tol.head.base, tol.head.base_hash, tol.head.tvi, tol.head.length, tol.head.df) == (
        made.head.document,
        made.head.base,
        made.head.base_hash,
        made.head.tvi,
        made.head.length,
        made.head.df,
    )
    if not same_head:
        return "what it says about its document is not so"
    return "" if set(tol.references) == set(made.references) else "its links are not those of its document"


def _wrong_tvi(there: bytes, document: bytes) -> str:
    tvi = read_tvi(there)
    if isinstance(tvi, Refusal):
        return str(tvi)
    if tvi.length != len(document) or tvi.hash != sha256(document).digest():
        return "it describes another version of its document"
    parted = part_with_tvi(document, tvi)
    return str(parted) if isinstance(parted, Refusal) else ""


def _leftovers(plan: AuthorPlan, pages: list[Page]) -> Iterator[PageError]:
    known = {path for page in pages for path in (page.tol, page.tvi)} | {plan.bundle}
    for path in find_sidecars(plan):
        if path not in known:
            yield PageError(path, 0, 0, "it belongs to no document")


def _whole(plan: AuthorPlan, pages: list[Page]) -> Iterator[PageError]:
    if plan.bundle:
        there, wanted = read_or_none(os.path.join(plan.folder, plan.bundle)), make_bundle(plan, pages)
        if there is None:
            yield PageError(plan.bundle, 0, 0, "it is missing")
        elif there != wanted:
            sentence = _wrong_bundle(there, wanted)
            if sentence:
                yield PageError(plan.bundle, 0, 0, sentence)
    if plan.is_whole_site and not is_declared(plan):
        yield PageError("robots.txt", 0, 0, f"it does not say: {plan.robots_line}")


def _wrong_bundle(there: bytes, wanted: bytes | Refusal) -> str:
    tables, refusal = read_bundle(there)
    if refusal is not None:
        return str(refusal)
    made = [] if isinstance(wanted, Refusal) else read_bundle(wanted)[0]
    return "" if _by_document(tables) == _by_document(made) else "its tables are not those of the documents"


def _by_document(tables: list[Tol]) -> dict[str, Tol]:
    return {table.head.document: table for table in tables}
