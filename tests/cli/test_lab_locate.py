"""`parcahyd lab locate` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parcahyd.cli.application import run_command
from parcahyd.cli.lab_locate import command

SMALL = ["--draws", "1", "--crawlers", "3", "--first", "60"]


@pytest.fixture(autouse=True)
def few_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parcahyd.lab.latencies._MADE_SITES", 80)


def test_the_same_seed_prints_the_same_tables(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for _ in range(2):
        assert run_command(["lab", "locate", *SMALL, "--json"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert [table["name"] for table in json.loads(said[0])] == ["locate", "locate-unknown", "locate-steps", "locate-settings"]


def test_the_page_gets_tables_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab", "locate", *SMALL, "--report", str(tmp_path)]) == 0
    assert "synthetic" in capsys.readouterr().out
    assert "### What decided" in (tmp_path / "locate.md").read_text()
    assert {path.suffix for path in tmp_path.iterdir()} == {".md", ".svg"}


def test_data_and_registries_belong_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([*("lab", str(command.name)), "--data", str(tmp_path)]) == 2
    assert "--data and --registries belong together" in capsys.readouterr().err
