"""Augmented test sites: tables of links for the pages of a site, beside them and in a bundle."""

from __future__ import annotations

from parcahyd.augment.document_tables import tol_of
from parcahyd.augment.sidecars import stem
from tests.support.sites import Answer, Page, Site, robots, text

__all__ = ["augmented", "table_of"]

BUNDLE = "/site.TOL"


def table_of(answer: Page, name: str) -> bytes:
    """The table of links of a page, whose name leads from the table to it."""
    assert isinstance(answer, Answer)
    made = tol_of(answer.body, name, header_charset="utf-8")
    assert isinstance(made, bytes)
    return made


def augmented(site: Site, *, bundle: bool = True, beside: bool = False, rules: str = "") -> Site:
    """The same site with tables, declared in its robots.txt."""
    pages = {
        target: answer
        for target, answer in site.pages.items()
        if isinstance(answer, Answer) and answer.media_type.startswith("text/html") and "?" not in target
    }
    tables: dict[str, Page] = {}
    names = {target: target + "index.html" if target.endswith("/") else target for target in pages}
    if beside:
        tables |= {
            f"{stem(names[target])}.TOL": text(table_of(page, names[target].rpartition("/")[2]))
            for target, page in pages.items()
        }
    if bundle:
        tables[BUNDLE] = text(b"".join(table_of(page, names[target][1:]) for target, page in pages.items()))
    fields = [*(["tol={stem}.TOL"] if beside else []), *([f"bundle={BUNDLE}"] if bundle else [])]
    line = "; ".join(["# Augment: 1", *fields])
    return Site({**site.pages, **tables, "/robots.txt": robots(f"{rules}\n{line}\n")}, site.otherwise)
