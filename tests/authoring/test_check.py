"""What no longer fits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.build import build
from parcahyd.authoring.check import check
from tests.authoring.conftest import files_of


def _check(site: Path) -> list[str]:
    return [str(error) for error in check(make_plan(site))]


def test_a_site_that_was_built_fits(site: Path) -> None:
    build(make_plan(site))
    before = files_of(site)
    assert _check(site) == []
    assert files_of(site) == before


def test_a_site_that_was_not_built(site: Path) -> None:
    found = _check(site)
    assert "kettle.TVI: it is missing" in found
    assert "site.TOL: it is missing" in found
    assert found[-1].startswith("robots.txt: it does not say: # Augment: 1; scope=/;")
    assert len(found) == 7


def _edit(path: str, old: bytes, new: bytes) -> Callable[[Path], None]:
    def edit(site: Path) -> None:
        data = (site / path).read_bytes()
        assert old in data
        (site / path).write_bytes(data.replace(old, new))

    return edit


def _write(path: str, data: bytes) -> Callable[[Path], None]:
    def write(site: Path) -> None:
        (site / path).write_bytes(data)

    return write


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            _edit("kettle.html", b"11.00", b"12.00"),
            [
                "kettle.TOL: it describes another version of its document",
                "kettle.TVI: it describes another version of its document",
            ],
        ),
        (_edit("kettle.html", b"</span>", b""), ["kettle.html:1:39: region 'price' does not end"]),
        (
            _edit("kettle.TVI", b"11.00 EUR", b"11.00 USD"),
            ["kettle.TVI: The regions are not in order, or not those of the document."],
        ),
        (
            _edit("kettle.TVI", b"end 1\n", b""),
            ["kettle.TVI: The last line is missing, counts wrongly, or is not the last. (cut)"],
        ),
        (_edit("kettle.TVI", b"\n\n", b"\nRefresh: 60\n\n"), []),
        (_edit("index.TOL", b"kettle.html\t", b"cup.html\t"), ["index.TOL: its links are not those of its document"]),
        (_edit("index.TOL", b"end 2\n", b""), ["index.TOL: it is cut"]),
        (_edit("index.TOL", b"Document: index", b"Document: other"), ["index.TOL: what it says about its document is not so"]),
        (_edit("site.TOL", b"kettle.html\t", b"cup.html\t"), ["site.TOL: its tables are not those of the documents"]),
        (
            _edit("site.TOL", b"end 2", b"end 3"),
            ["site.TOL: The last line is missing, counts wrongly, or is not the last. (count)"],
        ),
        (_write("gone.TOL", b""), ["gone.TOL: it belongs to no document"]),
        (_write("index.TVI", b""), ["index.TVI: the document has nothing to say in it"]),
        (_edit("robots.txt", b"{stem}.TOL", b"{path}.TOL"), ["robots.txt: it does not say: "]),
        (_edit("robots.txt", b"# Aug", b"User-agent: *\nDisallow: /x\nAug"), []),
    ],
)
def test_what_is_found(site: Path, change: Callable[[Path], None], expected: list[str]) -> None:
    build(make_plan(site))
    change(site)
    found = _check(site)
    first = [line for line in found if any(line.startswith(start[:60]) for start in expected)]
    assert len(first) == len(expected), found
    assert bool(found) == bool(expected)
