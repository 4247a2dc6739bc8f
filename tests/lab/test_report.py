"""Tables of the lab: what they show, and how they get into a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parcahyd.core.errors import UserError
from parcahyd.lab.bars import draw_bars
from parcahyd.lab.data import data_file, fields
from parcahyd.lab.report import LabRow, LabTable, as_json, as_text, spread, write_section

TABLE = LabTable(
    "cut",
    "Links that cross",
    ("cut",),
    (LabRow("superpages", "ours", ("0.02",), {"cut": 0.02}), LabRow("a | b", "rival", ("0.07",), {"cut": 0.07})),
    command="parcahyd lab graph",
    seed=1,
    runs=5,
)


def test_a_table_says_how_it_is_made() -> None:
    text = as_text(TABLE)
    assert "`parcahyd lab graph`, seed 1, 5 runs a row." in text
    assert "synthetic" in text
    assert "| a / b" in text
    assert {len(line) for line in text.splitlines() if line.startswith("|")} == {len(text.splitlines()[2])}


def test_json_has_the_bare_numbers() -> None:
    assert json.loads(as_json([TABLE]))[0]["rows"][1]["figures"] == {"cut": 0.07}


def test_a_section_is_written_anew_and_the_rest_of_the_page_stays(tmp_path: Path) -> None:
    page = tmp_path / "lab" / "graph.md"
    write_section(page, TABLE)
    page.write_text(page.read_text().replace("0.02", "0.99") + "\nWritten by hand.\n")
    write_section(page, TABLE)
    text = page.read_text()
    assert text.count("### Links that cross") == 1
    assert "0.99" not in text
    assert text.endswith("Written by hand.\n")


def test_a_spread_of_several_shows_the_range_and_of_one_does_not() -> None:
    assert spread([1.0, 3.0, 2.0]).text("{:.1f}") == "2.0 (1.0 to 3.0)"
    assert spread([1.0]).text("{:.1f}") == "1.0"


def test_a_picture_has_a_bar_for_each_row_with_the_figure() -> None:
    picture = draw_bars(TABLE, "cut")
    assert picture.count('class="ours"') == picture.count('class="rival"') == 1
    assert draw_bars(TABLE, "nothing").count("<rect") == 1


def test_data_that_is_absent_or_damaged_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no pages\.tsv"):
        data_file(tmp_path, "pages.tsv")
    (tmp_path / "pages.tsv").write_text("#url\tbytes\na\t1\nb\n")
    with pytest.raises(UserError, match="row 2 has 1 fields"):
        list(fields(data_file(tmp_path, "pages.tsv"), 2))
    (tmp_path / "links.txt.xz").write_bytes(b"not xz")
    with pytest.raises(UserError, match="cannot be read"):
        list(fields(data_file(tmp_path, "links.txt"), 1))
