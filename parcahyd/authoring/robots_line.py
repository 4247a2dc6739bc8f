"""The line of robots.txt that declares the tables."""

from __future__ import annotations

import os

from parcahyd.augment.declaration import declarations_in
from parcahyd.authoring.author_plan import AuthorPlan
from parcahyd.authoring.whole_files import read_or_none

__all__ = ["declared", "is_declared", "robots_file"]


def robots_file(plan: AuthorPlan) -> str:
    return os.path.join(plan.folder, "robots.txt")


def is_declared(plan: AuthorPlan) -> bool:
    """Whether robots.txt says what the plan says, and says it for its scope first."""
    said = [found for found in declarations_in(read_or_none(robots_file(plan)) or b"") if found.scope == plan.declaration.scope]
    return said[:1] == [plan.declaration]


def declared(plan: AuthorPlan, robots: bytes) -> bytes:
    """A robots.txt with the plan's line, in the place of lines that declared the same scope before, else at its end."""
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
