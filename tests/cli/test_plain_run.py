from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec
import pytest

from parcahyd.cli.plain_run import plain_run
from parcahyd.cli.run import command


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").touch()


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--seed", "http://a.example/"],
        ["--seed", "http://a.example/", "--seed", "http://b.example/", "--seed", ""],
        ["--seed", "--forever"],
        ["--seed", "\udcff"],
        ["--set", "Work.MaxPages=5", "--forever", "--set", "Work.MaxPages="],
        ["--conf", "here"],
        ["--conf", "here", "--quiet", "--conf", "there/"],
        ["-q", "--forever", "-q", "--forever"],
    ],
    ids=" ".join,
)
def test_plain_words_are_read_as_click_reads_them(words: list[str]) -> None:
    options = plain_run(words)
    assert options is not None
    by_click = command.make_context("run", list(words)).params
    folder = by_click.pop("folder")
    assert options.folder is None if folder is None else Path(os.fspath(options.folder or "")) == folder
    assert {name: value for name, value in msgspec.structs.asdict(options).items() if name != "folder"} == by_click


@pytest.mark.parametrize(
    "words",
    [
        ["--seed"],
        ["--seed", "http://a.example/", "--set"],
        ["--seed=http://a.example/"],
        ["--interval", "5"],
        ["--conf", "nowhere"],
        ["--conf", "file"],
        ["-qq"],
        ["--"],
        ["--frobnicate"],
        ["http://a.example/"],
        ["--seed", "http://a.example/", "--quiet", "http://b.example/", "--forever"],
    ],
    ids=" ".join,
)
def test_everything_else_is_left_to_click(words: list[str]) -> None:
    assert plain_run(words) is None


def test_every_option_is_known_or_left_to_click() -> None:
    """A new option of `run` is left to click until it is read here too."""
    names = {name for parameter in command.params if isinstance(parameter, click.Option) for name in parameter.opts}
    known = {name for name in names if plain_run([name, "here"]) is not None or plain_run([name]) is not None}
    assert names - known == {"--interval"}
