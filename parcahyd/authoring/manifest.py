"""What the last build wrote, so that the next one writes only what has changed and removes only what is its own.

Tested in tests/authoring/test_build.py.
"""

from __future__ import annotations

import json
import os

import msgspec

from parcahyd.authoring.author_plan import AuthorPlan
from parcahyd.authoring.page_tables import PageError
from parcahyd.authoring.whole_files import read_or_none, write_whole

__all__ = ["MANIFEST", "Manifest", "PageEntry", "read_manifest", "write_manifest"]

MANIFEST = ".augment.json"
"""Its name in the folder; servers need not serve it."""
_MAKE = 2
"""Raised when the same page would get other tables: everything is then written anew."""


class PageEntry(msgspec.Struct, frozen=True):
    """A page as it was."""

    sha256: str
    files: dict[str, tuple[int, str]]
    """By path: length and SHA-256 of what was written."""
    errors: tuple[PageError, ...] = ()


class Manifest(msgspec.Struct, frozen=True):
    """A build as it was."""

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
    return found if found.make == _MAKE else msgspec.structs.replace(empty, pages=_forgotten(found))


def write_manifest(plan: AuthorPlan, pages: dict[str, PageEntry], bundle: str) -> None:
    manifest = Manifest(_MAKE, plan.robots_line, pages, bundle, plan.bundle if bundle else "")
    # Names of files need not be UTF-8, which msgspec's own encoder insists on.
    write_whole(os.path.join(plan.folder, MANIFEST), json.dumps(msgspec.to_builtins(manifest)).encode())


def _forgotten(found: Manifest) -> dict[str, PageEntry]:
    """Pages of another make are made anew; which files were written stays known."""
    return {path: msgspec.structs.replace(entry, sha256="") for path, entry in found.pages.items()}
