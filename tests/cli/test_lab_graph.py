"""`parcahyd lab graph` and `parcahyd lab crawl` as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parcahyd.cli import lab_crawl, lab_graph
from parcahyd.cli.application import run_command


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Two hosts with chains of pages."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    urls = [f"http://{host}.example/{number:03}" for host in "ab" for number in range(60)]
    (folder / "pages.tsv").write_text("".join(f"{url}\t10\n" for url in urls))
    (folder / "links.txt").write_text("".join(f"{(number + 1) % 120} {number // 60 * 60}\n" for number in range(120)))
    return folder


def test_the_graph_is_divided_known_and_on_line(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab_graph.command.name == "graph"
    assert run_command(["lab", "graph", "--data", str(recorded), "--orders", "1", "--k", "2", "--report", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "whole graph known: recorded, 2 parts" in shown
    assert "Learnt while crawling: recorded, 2 agents" in shown
    assert "pages.tsv (sha256" in (tmp_path / "graph.md").read_text()
    assert (tmp_path / "known-recorded-2-cut.svg").exists()


def test_one_half_can_be_left_out(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab", "graph", "--data", str(recorded), "--orders", "1", "--k", "2", "--no-online", "--json"]) == 0
    assert [table["name"] for table in json.loads(capsys.readouterr().out)] == ["known-recorded-2"]


def test_the_crawl_loses_nothing(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab_crawl.command.name == "crawl"
    assert run_command(["lab", "crawl", "--data", str(recorded), "--runs", "1", "--k", "2", "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    found = {row["name"]: row["figures"] for row in table["rows"]}
    assert {figures["coverage"] for figures in found.values() if figures} == {1.0}
    assert found["hash, one agent fails"]["refetched"] <= 16


def test_a_folder_without_a_graph_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab", "graph", "--data", str(tmp_path)]) != 0
    assert "there is no pages.tsv" in capsys.readouterr().err
