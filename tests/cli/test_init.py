from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from parcahyd.cli import main
from parcahyd.config.loading import load

SEED = "http://a.example/"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _answer(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", _Terminal("".join(f"{line}\n" for line in lines)))


def test_no_question_with_yes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "my crawl", SEED, "--yes"]) == 0
    assert capsys.readouterr() == (
        (
            "my crawl/MapConf.toml and my crawl/WorkConf.toml are written. To start the crawl, and to go on with it:\n"
            "  parcahyd run --conf 'my crawl'\n"
        ),
        "",
    )
    assert {path.name for path in (here / "my crawl").iterdir()} == {"MapConf.toml", "WorkConf.toml"}
    assert load(here / "my crawl").work.Seeds == (SEED,)


def test_four_questions_each_until_it_is_answered(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _answer(monkeypatch, "a.example", f"{SEED} http://b.example/", "all", "any", "soon", "0.5", "\u00fc", "me@a.example")
    assert main(["init", "mine"]) == 0
    said = capsys.readouterr().out
    assert 'Error: seed "a.example": its scheme is missing (did you mean https://a.example/?)' in said
    assert "Error: the delay: HostDelay: expected a number" in said
    assert "Error: the contact: UserAgent: expected text of printable ASCII" in said
    work = load(here / "mine").work
    assert (work.Scope, work.HostDelay, work.UserAgent) == ("any", 0.5, "parcahyd (+mailto:me@a.example)")
    assert work.Seeds == (SEED, "http://b.example/")


def test_every_question_but_the_first_has_an_answer(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _answer(monkeypatch, "", SEED, "", "", "")
    assert main(["init", "mine"]) == 0
    work = load(here / "mine").work
    assert (work.Scope, work.HostDelay) == ("site", 1.0)
    assert work.UserAgent.startswith("parcahyd/")


def test_urls_that_are_given_are_not_asked_for(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _answer(monkeypatch, "domain", "2", "")
    assert main(["init", "mine", SEED]) == 0
    work = load(here / "mine").work
    assert (work.Seeds, work.Scope) == ((SEED,), "domain")


def test_who_stops_answering_gets_no_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _answer(monkeypatch, SEED)
    assert main(["init", "mine"]) == 130
    assert list(here.iterdir()) == []


MISTAKES = [
    (["init", "mine"], "init asks questions, and standard input is no terminal (parcahyd init mine URL --yes asks none)"),
    (["init", "mine", "--yes"], "--yes needs a URL that the crawl starts from (parcahyd init mine URL --yes)"),
    (["init", "mine", "a.example", "--yes"], 'seed "a.example": its scheme is missing (did you mean https://a.example/?)'),
    (["init", "file", SEED, "--yes"], '"file" is a file (name a new folder)'),
    (["init", "old", SEED, "--yes"], "old/WorkConf.toml is there already, and is not overwritten (name another folder)"),
    (["init", "linked", SEED, "--yes"], "linked/MapConf.toml is there already, and is not overwritten (name another folder)"),
    (["init", "file/below", SEED, "--yes"], '"file/below" cannot be written to: Not a directory (name another folder)'),
    (["init", "a%b", SEED, "--yes"], 'DbUrl: "{here}/a%b/crawl.db" has a "?" or "%" in it (choose a file and folder'),
    (["init", "a\nb", SEED, "--yes"], "the folder has no name that can be shown (choose another)"),
    (["init", "", SEED, "--yes"], "the folder has no name that can be shown (choose another)"),
    (["init"], "missing argument 'DIR' (see parcahyd init --help)"),
]


@pytest.mark.parametrize(("arguments", "line"), MISTAKES, ids=[" ".join(row[0][1:]) or "nothing" for row in MISTAKES])
def test_a_mistake_has_its_line_and_changes_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    (here / "file").touch()
    (here / "old").mkdir()
    (here / "old" / "WorkConf.toml").write_text("HostDelay = 9\n")
    (here / "linked").mkdir()
    (here / "linked" / "MapConf.toml").symlink_to(here / "elsewhere")
    before = sorted(here.rglob("*"))
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"parcahyd: {line.format(here=here)}")
    assert sorted(here.rglob("*")) == before
    assert (here / "old" / "WorkConf.toml").read_text() == "HostDelay = 9\n"


def test_a_folder_that_cannot_be_filled_is_left_as_it_was(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another file of that name comes while questions are answered."""

    def link_first(path: str, *, exist_ok: bool) -> None:
        (here / path).mkdir(exist_ok=exist_ok)
        (here / path / "MapConf.toml").write_text("mine")

    monkeypatch.setattr(os, "makedirs", link_first)
    assert main(["init", "mine", SEED, "--yes"]) == 2
    assert capsys.readouterr().err == 'parcahyd: "mine" cannot be written to: File exists (name another folder)\n'
    assert [path.name for path in (here / "mine").iterdir()] == ["MapConf.toml"]
    assert (here / "mine" / "MapConf.toml").read_text() == "mine"
