"""The command line, and how a report shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.arguments import parse, shown_command
from bench.contenders.roster import USUAL


def test_contenders_are_the_usual_ones_unless_said_otherwise() -> None:
    assert parse([]).contenders == list(USUAL)
    assert parse(["--only", "parcahyd", "--also", "puf"]).contenders == ["parcahyd", "puf"]


def test_there_are_as_many_rounds_on_a_disk_as_in_memory_unless_said_otherwise() -> None:
    assert parse(["--rounds", "7"]).disk_rounds == 7
    assert parse(["--disk-rounds", "0"]).disk_rounds == 0


@pytest.mark.parametrize("arguments", [["--rounds", "0"], ["--only", "unknown"], ["--repeats", "-1"]])
def test_nonsense_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        parse(arguments)


def test_programs_are_found_wherever_they_are_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = parse(["--python", "here/python", "--other-python", "/there/python", "--scrapy", "python3"])
    assert [given.python, given.other_python, given.scrapy] == [f"{tmp_path}/here/python", "/there/python", "python3"]


def test_a_report_shows_no_paths_of_this_machine() -> None:
    given = ["python3.11-doc", "--sites", "/some/where", "--peers=/else/where", "--report", "docs/performance.md"]
    assert shown_command(given) == "python bench/crawl.py python3.11-doc --sites PATH --peers=PATH --report docs/performance.md"
