"""The pages for site authors and for other crawlers' authors say what is so: their examples are run."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from parcahyd.augment.document_tables import tol_of, tvi_of
from parcahyd.augment.refusal import Refusal
from parcahyd.augment.site_offer import Declaration, read_declaration
from parcahyd.augment.skeleton import merge, part_with_tvi
from parcahyd.augment.tol import KINDS, read_tol
from parcahyd.augment.tvi import read_tvi

DOCS = Path(__file__).parents[2] / "docs"
FORMAT = (DOCS / "tol-tvi-format.md").read_text(encoding="utf-8")
AUTHORS = (DOCS / "for-site-authors.md").read_text(encoding="utf-8")


def _fenced(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def test_the_whole_example_is_what_is_written() -> None:
    (document,) = [text.encode() for text in _fenced(FORMAT, "html")]
    tol, tvi = [text.encode() for text in re.findall(r"^```\n(T(?:OL|VI)/1\n.*?)^```$", FORMAT, re.DOTALL | re.MULTILINE)]
    assert tol == tol_of(document, "kettle.html", tvi="kettle.TVI")
    assert tvi == tvi_of(document, "kettle.html")


def test_the_whole_example_is_merged() -> None:
    (document,) = [text.encode() for text in _fenced(FORMAT, "html")]
    (text,) = re.findall(r"^```\n(TVI/1\n.*?)^```$", FORMAT, re.DOTALL | re.MULTILINE)
    tvi = read_tvi(text.encode())
    assert not isinstance(tvi, Refusal)
    parted = part_with_tvi(document, tvi)
    assert not isinstance(parted, Refusal)
    assert sha256(merge(parted.skeleton, parted.regions)).digest() == tvi.hash
    assert f"The skeleton has {len(parted.skeleton)} bytes" in FORMAT
    assert f"Offset {tvi.regions[0].offset} is where the price" in FORMAT


def test_the_table_of_names_is_right() -> None:
    rows = re.findall(r"^\| `(/[^`]*)` \| (\S+) \| (\S+) \|$", FORMAT, re.MULTILINE)
    assert len(rows) == 5
    for path, *expected in rows:
        for mark, name in zip(("{stem}", "{path}"), expected, strict=True):
            found = Declaration(tol=f"{mark}.TOL").tol_of(f"http://host{path}")
            assert (found or "none").removeprefix("http://host") == name.strip("`")


def test_the_declaration_can_be_read() -> None:
    (line,) = re.findall(r"^    Augment: (.*)$", FORMAT, re.MULTILINE)
    assert read_declaration(line) == Declaration("/docs/", "{stem}.TOL", "{stem}.TVI", "index.html", "/docs/site.TOL")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_link_is_named(kind: str) -> None:
    (row,) = re.findall(r"^\| `k` \|.*$", FORMAT, re.MULTILINE)
    assert f"`{kind}`" in row


def test_every_header_is_named() -> None:
    for name in (
        "Document",
        "Hash",
        "Length",
        "DF",
        "Base-Hash",
        "TVI",
        "Base",
        "Robots",
        "ETag",
        "Last-Modified",
        "Generated",
    ):
        assert f"`{name}`" in FORMAT


def test_what_is_said_of_unknown_headers_and_counts() -> None:
    head = f"TOL/1\nDocument: a\nHash: sha-256={'0' * 64}\n"
    for rest, is_read in (("X: y\n\nend 0\n", True), ("!X: y\n\nend 0\n", False), ("\na\n", True), ("\na\nend 2\n", False)):
        assert isinstance(read_tol(f"{head}{rest}".encode()), Refusal) != is_read


@pytest.mark.parametrize("program", _fenced(AUTHORS, "python"), ids=lambda program: program.split()[1])
def test_programs_for_site_authors_run(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    if "jinja2" in program:
        pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install '.[author-test]'")

    def app(*_: Any) -> Any:
        """Stands for the site author's own."""

    exec(program, {"app": app, "application": app})  # noqa: S102 - our own page
    if "robots_line" in program:
        assert capsys.readouterr().out.startswith("# Augment: 1; scope=/;")
