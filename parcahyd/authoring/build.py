"""Writes the tables of a site, as the last step of the site's build, after any minifier."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from parcahyd.augment.refusal import Refusal
from parcahyd.authoring.atomic_files import digest_of, read_or_none, remove, write_atomically
from parcahyd.authoring.author_plan import AuthorPlan, declared, declaring, is_declared, make_plan, robots_file
from parcahyd.authoring.page_tables import PageError, make_bundle, tables_of
from parcahyd.authoring.site_folder import SIDECARS, Page, find_pages, for_all_pages

__all__ = [
    "BUNDLE",
    "DECLARATIONS",
    "MANIFEST",
    "BuildReport",
    "Manifest",
    "PageEntry",
    "augment_folder",
    "build",
    "page_element",
    "read_manifest",
    "write_manifest",
]


class BuildReport(NamedTuple):
    """What a build did, or in a dry run would do; paths are relative to the folder."""

    pages: int
    page_bytes: int
    table_bytes: int
    """Of all tables beside pages, old and new."""
    written: list[str]
    removed: list[str]
    errors: list[PageError]
    robots_line: str
    """The line that the author must add to robots.txt, where that is not in the folder; else empty."""


class _BuiltPage(NamedTuple):
    """The result for one page."""

    path: str
    length: int
    entry: PageEntry
    written: list[str]
    fresh: dict[str, bytes]
    """Tables that a dry run did not write."""


def build(
    plan: AuthorPlan, *, jobs: int = 1, dry_run: bool = False, progress: Callable[[int, int], None] | None = None
) -> BuildReport:
    """Brings every table of the folder up to date; files that are already right are not written."""
    pages = find_pages(plan)
    before = read_manifest(plan)
    work = partial(_build_page, plan, dry_run)
    done = []
    for page in for_all_pages(work, [(page, before.pages.get(page.path)) for page in pages], jobs):
        done.append(page)
        if progress is not None:
            progress(len(done), len(pages))
    plan = declaring(plan, has_regions=any(path.endswith(".TVI") for page in done for path in page.entry.files))
    written = [path for page in done for path in page.written]
    entries = {page.path: page.entry for page in done}
    removed = _remove_leftovers(plan, before.pages, entries, dry_run)
    errors = [error for page in done for error in page.entry.errors]
    removed += _remove_old_bundle(plan, before, dry_run)
    bundle = before.bundle if plan.bundle else ""
    if plan.bundle:
        is_whole = digest_of(read_or_none(os.path.join(plan.folder, plan.bundle)) or b"") == before.bundle
        has_changed = bool(written or removed) or list(before.pages) != list(entries) or not is_whole
        if has_changed or before.declaration != plan.robots_line:
            fresh = {path: table for page in done for path, table in page.fresh.items()}
            bundle = _write_bundle(plan, pages, fresh, written, errors, dry_run)
    _declare(plan, written, dry_run)
    if not dry_run and (before.pages != entries or before.bundle != bundle or before.declaration != plan.robots_line):
        write_manifest(plan, entries, bundle)
    table_bytes = sum(length for page in done for length, _ in page.entry.files.values())
    line = "" if plan.is_whole_site else plan.robots_line
    return BuildReport(len(done), sum(page.length for page in done), table_bytes, written, removed, errors, line)


def _build_page(plan: AuthorPlan, dry_run: bool, item: tuple[Page, PageEntry | None]) -> _BuiltPage:
    page, before = item
    document = read_or_none(os.path.join(plan.folder, page.path)) or b""
    digest = digest_of(document)
    if before is not None and before.sha256 == digest and _is_as_before(plan, page, before):
        return _BuiltPage(page.path, len(document), before, [], {})
    tables = tables_of(page, document)
    written = []
    for path, table in tables.files.items():
        file = os.path.join(plan.folder, path)
        if read_or_none(file) != table:
            written.append(path)
            if not dry_run:
                write_atomically(file, table)
    files = {path: (len(table), digest_of(table)) for path, table in tables.files.items()}
    entry = PageEntry(digest, files, tuple(tables.errors))
    return _BuiltPage(page.path, len(document), entry, written, tables.files if dry_run else {})


def _is_as_before(plan: AuthorPlan, page: Page, before: PageEntry) -> bool:
    """Whether the page's tables exist, under the names of this plan, and are unchanged since they were written."""
    if not set(before.files) <= {page.tol, page.tvi}:
        return False
    return all(_is_unchanged(plan, path, digest) for path, (_, digest) in before.files.items())


def _is_unchanged(plan: AuthorPlan, path: str, digest: str) -> bool:
    data = read_or_none(os.path.join(plan.folder, path))
    return data is not None and digest_of(data) == digest


def _remove_leftovers(plan: AuthorPlan, before: dict[str, PageEntry], now: dict[str, PageEntry], dry_run: bool) -> list[str]:
    """Removes tables of an earlier build that belong to no page any more, unless they were changed since."""
    kept = {path for entry in now.values() for path in entry.files}
    removed = []
    for entry in before.values():
        for path, (_, digest) in entry.files.items():
            if path not in kept and _is_ours(path) and _is_unchanged(plan, path, digest):
                removed.append(path)
                if not dry_run:
                    remove(os.path.join(plan.folder, path))
    return removed


def _remove_old_bundle(plan: AuthorPlan, before: Manifest, dry_run: bool) -> list[str]:
    """Removes the bundle of an earlier build, where this one has none or another name for it."""
    name = before.bundle_name
    if name in ("", plan.bundle) or not _is_ours(name) or not _is_unchanged(plan, name, before.bundle):
        return []
    if not dry_run:
        remove(os.path.join(plan.folder, name))
    return [name]


def _is_ours(path: str) -> bool:
    """Whether a path of a manifest, which is not trusted, is that of a table in this folder."""
    return path.endswith(SIDECARS) and not path.startswith("/") and "\0" not in path and ".." not in path.split("/")


def _write_bundle(
    plan: AuthorPlan, pages: list[Page], fresh: dict[str, bytes], written: list[str], errors: list[PageError], dry_run: bool
) -> str:
    """Writes the bundle. Returns its SHA-256; empty where none was written."""
    bundle = make_bundle(plan, pages, fresh)
    if isinstance(bundle, Refusal):
        errors.append(PageError(plan.bundle, 0, 0, f"the bundle is not written: {bundle}"))
        return ""
    file = os.path.join(plan.folder, plan.bundle)
    if read_or_none(file) != bundle:
        written.append(plan.bundle)
        if not dry_run:
            write_atomically(file, bundle)
    return digest_of(bundle)


def _declare(plan: AuthorPlan, written: list[str], dry_run: bool) -> None:
    if not plan.is_whole_site or is_declared(plan):
        return
    written.append("robots.txt")
    if not dry_run:
        write_atomically(robots_file(plan), declared(plan, read_or_none(robots_file(plan)) or b""))


# --- The manifest: what the last build wrote, so that the next one writes only changes and removes only its own files ---


MANIFEST = ".augment.json"
"""The manifest's name in the folder; servers need not serve it."""
_MAKE = 2
"""Increased when a new version makes other tables for the same page: all tables are then written again."""


class PageEntry(msgspec.Struct, frozen=True):
    """A page at the last build."""

    sha256: str
    files: dict[str, tuple[int, str]]
    """By path: length and SHA-256 of what was written."""
    errors: tuple[PageError, ...] = ()


class Manifest(msgspec.Struct, frozen=True):
    """The last build."""

    make: int
    declaration: str
    pages: dict[str, PageEntry] = {}
    bundle: str = ""
    """SHA-256 of the bundle, or empty."""
    bundle_name: str = ""


def read_manifest(plan: AuthorPlan) -> Manifest:
    """The manifest of the last build with the same plan; an empty one where there is none, or where it cannot be read."""
    empty = Manifest(_MAKE, plan.robots_line)
    data = read_or_none(os.path.join(plan.folder, MANIFEST))
    try:
        found = msgspec.convert(json.loads(data or b""), Manifest)
    except (ValueError, RecursionError, msgspec.ValidationError):
        return empty
    return found if found.make == _MAKE else msgspec.structs.replace(empty, pages=_without_hashes(found))


def write_manifest(plan: AuthorPlan, pages: dict[str, PageEntry], bundle: str) -> None:
    manifest = Manifest(_MAKE, plan.robots_line, pages, bundle, plan.bundle if bundle else "")
    # Names of files need not be UTF-8, which msgspec's own encoder insists on.
    write_atomically(os.path.join(plan.folder, MANIFEST), json.dumps(msgspec.to_builtins(manifest)).encode())


def _without_hashes(found: Manifest) -> dict[str, PageEntry]:
    """The entries without the hashes of pages: the pages are built again, and their files stay known."""
    return {path: msgspec.structs.replace(entry, sha256="") for path, entry in found.pages.items()}


# --- For the plug-ins of site generators ---------------------------------------------------------------------------------
# robots.txt declares for a whole site, and is written where the folder is one. A site below a path (`/project/`) has no
# robots.txt of its own: a file of declarations is written into the folder, and each page has a link to it.


DECLARATIONS = "augment.txt"
BUNDLE = "site.TOL"
_ANYWHERE = "http://localhost/"


def augment_folder(folder: str | os.PathLike[str], base_url: str, *, form: str = "stem", bundle: str = BUNDLE) -> BuildReport:
    """Writes the tables of a folder that a site generator built; without a base URL, the folder is a whole site."""
    plan = make_plan(Path(folder), base_url or _ANYWHERE, form=form, bundle=bundle)
    report = build(plan)
    if not plan.is_whole_site:
        _declare_in_folder(folder, report)
    return report


def page_element(page: str, base_url: str) -> str:
    """The element for the head of a page (path in the folder, or relative URL); empty where robots.txt declares the tables."""
    if make_plan(Path(), base_url or _ANYWHERE).is_whole_site:
        return ""
    return f'<link rel="augment" href="{"../" * page.count("/")}{DECLARATIONS}">'


def _declare_in_folder(folder: str | os.PathLike[str], report: BuildReport) -> None:
    file = os.path.join(folder, DECLARATIONS)
    text = f"{report.robots_line.removeprefix('# ')}\n".encode()
    if read_or_none(file) != text:
        write_atomically(file, text)
        report.written.append(DECLARATIONS)
