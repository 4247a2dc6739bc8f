"""`parcahyd lab balance` (lab_balance.py), on a small cut of real sizes and on synthetic ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parcahyd.cli.application import run_command

SIZES = Path(__file__).parents[1] / "lab" / "site_sizes"


def test_without_data_it_says_that_they_are_synthetic(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab", "balance", "--draws", "1"]) == 0
    said = capsys.readouterr().out
    assert "### Balance of 30 sites on 6 agents" in said
    assert said.count("Data: synthetic, made from the seed.") == 3


def test_the_tables_go_to_a_page_with_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "balance", "--data", str(SIZES), "--draws", "2", "--k", "4", "--report", str(tmp_path), "--json"]
    assert run_command(words) == 0
    tables = json.loads(capsys.readouterr().out)
    assert [table["name"] for table in tables] == ["balance", "balance-changes", "balance-agents"]
    page = (tmp_path / "balance.md").read_text()
    assert "### Balance of 30 sites on 4 agents" in page
    assert "site_sizes/pages.tsv (sha256 " in page
    pictures = ["balance-agents-split.svg", "balance-late.svg", "balance-stdev.svg"]
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == pictures


def test_data_of_too_few_sites_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab", "balance", "--data", str(SIZES), "--sites", "9999"]) == 2
    assert "not 9999" in capsys.readouterr().err
