"""What the plug-ins of site generators share."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.augment.site_offer import bound, declarations_in
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.check import check
from parcahyd.authoring.generated_site import augment_folder, page_element


def test_a_whole_site_is_declared_in_its_robots_file(site: Path) -> None:
    report = augment_folder(site, "https://a.example/")
    assert "robots.txt" in report.written
    assert not (site / "augment.txt").exists()
    assert page_element("sub/index.html", "https://a.example/") == ""


def test_a_site_below_a_path_is_declared_by_a_file_that_its_pages_name(site: Path) -> None:
    url = "https://a.example/project/"
    report = augment_folder(site, url)
    assert "augment.txt" in report.written
    assert not (site / "robots.txt").exists()
    (declaration,) = declarations_in((site / "augment.txt").read_bytes())
    held = bound(declaration, f"{url}augment.txt")
    assert held is not None
    assert held.tol_of(f"{url}sub/") == f"{url}sub/index.TOL"
    assert held.bundle_of("https://a.example") == f"{url}site.TOL"
    assert check(make_plan(site, url)) == []
    assert augment_folder(site, url).written == []


@pytest.mark.parametrize(("page", "href"), [("index.html", ""), ("", ""), ("sub/index.html", "../"), ("a/b/", "../../")])
def test_a_page_names_the_file_from_where_it_is(page: str, href: str) -> None:
    assert page_element(page, "https://a.example/p") == f'<link rel="augment" href="{href}augment.txt">'
