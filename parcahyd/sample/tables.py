"""The tables of the sample site: one of links for each page, all of them in a bundle, and what changes where something does."""

from __future__ import annotations

from collections.abc import Mapping

from parcahyd.augment.bundle import write_bundle
from parcahyd.augment.of_document import describe, tvi_of
from parcahyd.augment.sidecars import INDEX, stem
from parcahyd.augment.tol import write_tol

__all__ = ["BUNDLE", "site_tables"]

BUNDLE = "/site.TOL"


def site_tables(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """By path: the tables that robots.txt declares for these pages."""
    tables: dict[str, bytes] = {}
    bundle: list[bytes] = []
    for path, document in sorted(files.items()):
        if not path.endswith(("/", ".html")):
            continue
        whole = path + INDEX if path.endswith("/") else path
        name, tvi = whole.rpartition("/")[2], f"{stem(whole)}.TVI"
        made = {
            f"{stem(whole)}.TOL": write_tol(*describe(document, name, tvi=tvi.rpartition("/")[2])),
            tvi: tvi_of(document, name),
        }
        tables |= {place: table for place, table in made.items() if isinstance(table, bytes)}
        entry = write_tol(*describe(document, whole[1:], tvi=tvi[1:]))
        bundle += [entry] if isinstance(entry, bytes) else []
    together = write_bundle(bundle)
    return {**tables, BUNDLE: together} if isinstance(together, bytes) else tables
