"""The author's choices: which folder is served where, how tables are named, and the line of robots.txt for them."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from parcahyd.augment.sidecars import INDEX, STEM, WHOLE_PATH
from parcahyd.augment.site_offer import Declaration, declarations_in, write_declaration
from parcahyd.authoring.atomic_files import read_or_none
from parcahyd.core.errors import UserError
from parcahyd.rules.urls.canonical_url import canonical, split

__all__ = [
    "AuthorPlan",
    "declared",
    "declaring",
    "is_declared",
    "make_plan",
    "robots_file",
]


class AuthorPlan(msgspec.Struct, frozen=True):
    """A site folder, its URL, and what robots.txt declares about it."""

    folder: str
    base_url: str
    """The canonical URL of the folder; it ends with a slash."""
    declaration: Declaration
    bundle: str = ""
    """The bundle's file name in the folder, or empty."""

    @property
    def robots_line(self) -> str:
        """The line for robots.txt: a comment, because some checkers reject unknown lines."""
        return f"# Augment: {write_declaration(self.declaration)}"

    @property
    def is_whole_site(self) -> bool:
        """Whether the folder holds the site's robots.txt."""
        return split(self.base_url)[3] == "/"


def make_plan(folder: Path, base_url: str = "http://localhost/", *, form: str = "stem", bundle: str = "site.TOL") -> AuthorPlan:
    """A valid plan; invalid choices are a UserError."""
    url = canonical(base_url)
    if url is None or not url.startswith(("http://", "https://")) or "?" in url:
        raise UserError(f"{base_url!r} is not the URL of a folder", "give one like https://www.example.org/docs/")
    url = url if url.endswith("/") else url + "/"
    if bundle and ("/" in bundle or bundle.startswith(".") or not bundle.endswith(".TOL")):
        raise UserError(f"the bundle cannot be called {bundle!r}", "give a file name that ends with .TOL")
    scope = split(url)[3]
    mark = WHOLE_PATH if form == "path" else STEM
    bundle_path = split(canonical(url + bundle) or url)[3] if bundle else ""
    declaration = Declaration(scope, f"{mark}.TOL", f"{mark}.TVI", INDEX, bundle_path)
    if not isinstance(write_declaration(declaration), str):
        raise UserError(f"{base_url!r} and {bundle!r} cannot be declared", "avoid semicolons and the like in their names")
    return AuthorPlan(str(folder), url, declaration, bundle)


def declaring(plan: AuthorPlan, *, has_regions: bool) -> AuthorPlan:
    """The plan as it is declared: without .TVI where no page has regions, so that crawlers do not ask for what is not there."""
    if has_regions:
        return plan
    return msgspec.structs.replace(plan, declaration=msgspec.structs.replace(plan.declaration, tvi=""))


def robots_file(plan: AuthorPlan) -> str:
    return os.path.join(plan.folder, "robots.txt")


def is_declared(plan: AuthorPlan) -> bool:
    """Whether the first declaration of robots.txt for the plan's scope is the plan's."""
    same_scope = [
        found for found in declarations_in(read_or_none(robots_file(plan)) or b"") if found.scope == plan.declaration.scope
    ]
    return same_scope[:1] == [plan.declaration]


def declared(plan: AuthorPlan, robots: bytes) -> bytes:
    """A robots.txt with the plan's line, instead of earlier lines for the same scope, else at its end."""
    line = plan.robots_line.encode()
    kept: list[bytes] = []
    for old in robots.splitlines(keepends=True):
        if not any(found.scope == plan.declaration.scope for found in declarations_in(old)):
            kept.append(old)
        elif line not in kept and not any(part.startswith(line) for part in kept):
            kept.append(line + old[len(old.rstrip(b"\r\n")) :])
    if not any(part.startswith(line) for part in kept):
        if kept and not kept[-1].endswith((b"\n", b"\r")):
            kept[-1] += b"\n"
        kept.append(line + b"\n")
    return b"".join(kept)
