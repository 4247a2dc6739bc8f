"""Presets: several settings under one name, for a purpose. What the user sets himself goes before them."""

from __future__ import annotations

__all__ = ["ARCHIVE"]

ARCHIVE = (
    "Work.Embedded=true",
    "Work.KeepVersions=1000000",
    "Work.KeepChecks=1000000",
    "Work.KeepErrors=1000000",
    "Work.KeepCoded=true",
    "Work.LearnRegions=false",
    'Work.MergeMode="never"',
)
"""For archivists: everything that was exchanged is kept, and every version as it was sent; in the form of `--set`."""
