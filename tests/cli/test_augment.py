"""`parcahyd augment`."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.cli import main


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text("<a href=x.html>x</a><b data-vol=n>1</b>", encoding="utf-8")
    return tmp_path


def test_build_then_check(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["augment", "check", str(site)]) == 1
    assert "index.TOL: it is missing\n" in capsys.readouterr().out
    assert main(["augment", "build", str(site), "--dry-run"]) == 0
    assert "index.TVI\n" in capsys.readouterr().out
    assert not (site / "index.TVI").exists()
    assert main(["augment", "build", str(site), "--jobs", "1"]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("1 page (39 B) in ")
    assert output.err == ""
    assert main(["augment", "check", str(site)]) == 0
    assert capsys.readouterr().out == "Nothing was found: every table fits.\n"


def test_mistakes_go_to_standard_error(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "bad\x1b.html").write_text("<img data-vol=x>", encoding="utf-8")
    assert main(["augment", "build", str(site), "--quiet"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "bad\\x1b.html:1:1: this element has no end tag, so it cannot hold a region\n"


def test_a_part_of_a_site_is_told_its_line(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["augment", "build", str(site), "--base-url", "https://www.example.org/docs/"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("# Augment: 1; scope=/docs/;")


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "nowhere"],
        ["build", ".", "--base-url", "x"],
        ["build", ".", "--form", "x"],
        ["frobnicate"],
        ["serve", ".", "--port", "x"],
        ["serve", ".", "--port", "65536"],
        ["serve", ".", "--port", "-1"],
    ],
)
def test_a_users_mistake_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["augment", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("parcahyd: ")
    assert output.err.count("\n") == 1


def test_without_a_command_of_its_own_it_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["augment"]) == 0
    assert capsys.readouterr().out.startswith("Usage: parcahyd augment [OPTIONS] [COMMAND]")
