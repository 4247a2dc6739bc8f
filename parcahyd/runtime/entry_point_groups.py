"""Whether any installed package may offer entry points of a group, without the standard library's slow way to find out.

`importlib.metadata` costs more to import than all plugins that come with the program. Most crawls have no others, and
then it is not needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder

__all__ = ["ENTRY_POINTS", "may_be_offered"]

ENTRY_POINTS = "parcahyd"
"""The group in which packages offer plugins."""

_METADATA = (".dist-info", ".egg-info")


def may_be_offered(group: str) -> bool:
    """False only where it is certain; packages in archives, eggs, or found by strange finders count as perhaps."""
    if any(hasattr(finder, "find_distributions") and finder is not PathFinder for finder in sys.meta_path):
        return True
    heading = f"[{group}]".encode()
    return any(_may_offer(entry or os.curdir, heading) for entry in sys.path)


def _may_offer(entry: str, heading: bytes) -> bool:
    if not os.path.isdir(entry):
        return os.path.exists(entry)
    return entry.rstrip("/").endswith(".egg") or any(heading in text for text in _entry_points_in(entry))


def _entry_points_in(folder: str) -> Iterator[bytes]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith(_METADATA):
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                    yield file.read()
            except OSError:
                continue
