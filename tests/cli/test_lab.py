"""What all experiments of the lab have in common."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from parcahyd.cli.application import run_command
from parcahyd.cli.lab import command
from parcahyd.cli.lab_output import show_tables, this_command
from parcahyd.lab.report import LabRow, LabTable

TABLE = LabTable("cut", "Cut", ("cut",), (LabRow("hash", "rival", ("0.5",), {"cut": 0.5}),), command="c", seed=1, runs=1)


def test_without_an_experiment_its_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab"]) == 0
    assert "Try the strategies of a cluster on recorded data." in capsys.readouterr().out


NO_EXPERIMENTS = {"record", "rir"}
"""They make what others read, and print no table."""


def test_every_experiment_has_the_options_of_all() -> None:
    for experiment in (one for name, one in command.commands.items() if name not in NO_EXPERIMENTS):
        options = {option for parameter in experiment.params for option in parameter.opts}
        assert options >= {"--seed", "--json", "--report"}, experiment.name


def test_the_command_line_of_a_table_leaves_out_where_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["parcahyd", "lab", "graph", "my data", "--report", "docs", "--json", "--seed", "2"])
    assert this_command() == "parcahyd lab graph 'my data' --seed 2"


def test_a_table_goes_to_the_page_with_its_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_tables([TABLE], json_output=False, report=tmp_path, page="graph", pictures=[("cut", "cut")])
    assert "### Cut" in capsys.readouterr().out
    assert "### Cut" in (tmp_path / "graph.md").read_text()
    assert (tmp_path / "cut-cut.svg").read_text().startswith("<svg")
