"""The tables of one page, and the bundle."""

from __future__ import annotations

from pathlib import Path

from parcahyd.augment.bundle import read_bundle
from parcahyd.augment.tol import Tol, read_tol
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.page_tables import PageError, make_bundle, tables_of
from parcahyd.authoring.site_folder import Page

PAGE = Page("sub/page.html", "sub/page.TOL", "sub/page.TVI")


def test_a_page_with_regions_has_both_tables() -> None:
    tables = tables_of(PAGE, b'<a href="x.html">x</a><b data-vol="n">1</b>')
    assert sorted(tables.files) == ["sub/page.TOL", "sub/page.TVI"]
    tol = read_tol(tables.files["sub/page.TOL"])
    assert isinstance(tol, Tol)
    assert (tol.head.document, tol.head.tvi, tol.references) == ("page.html", "page.TVI", ["x.html"])
    assert tables.errors == []


def test_an_error_in_the_markers_has_its_place() -> None:
    tables = tables_of(PAGE, b'<p>\n<b data-vol="n">1')
    assert sorted(tables.files) == ["sub/page.TOL"]
    assert tables.errors == [PageError("sub/page.html", 2, 1, "region 'n' does not end")]
    assert str(tables.errors[0]) == "sub/page.html:2:1: region 'n' does not end"


def test_references_of_a_bundle_are_relative_to_it(tmp_path: Path) -> None:
    fresh = tables_of(PAGE, b'<a href="x.html">x</a><b data-vol="n">1</b>').files
    bundle = make_bundle(make_plan(tmp_path), [PAGE], fresh)
    assert isinstance(bundle, bytes)
    ((tol,), refusal) = read_bundle(bundle)
    assert refusal is None
    assert (tol.head.document, tol.head.tvi, tol.references) == ("sub/page.html", "sub/page.TVI", ["x.html"])
