"""`parcahyd topic`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from parcahyd.cli.application import run_command
from tests.topics.small_corpus import corpus

WEBKB = Path(__file__).parents[3] / "shared" / "data" / "lab" / "topic-webkb"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "pages.table.tsv"
    with path.open("w") as stream:
        for page in corpus(12):
            words = " ".join(f"{word.decode()}:{count}" for word, count in page.words.items())
            print(page.topic, page.url, words, sep="\t", file=stream)
    return path


@pytest.mark.parametrize("method", ["linear", "bayes", "lewis", "rocchio"])
def test_a_model_is_trained_and_tested(tmp_path: Path, table: Path, method: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.model"
    assert run_command(["topic", "train", str(table), "--out", str(model), "--method", method]) == 0
    assert re.search(r"m\.model: [\d.]+ k?B, 36 pages of kettles, trains, violins", capsys.readouterr().out)
    assert run_command(["topic", "test", str(model), str(table)]) == 0
    output = capsys.readouterr().out
    assert "accuracy   1.0000 of 36 pages" in output
    assert output.splitlines()[1].split() == ["true", "kettles", "trains", "violins", "right"]


def test_the_same_data_give_the_same_file(tmp_path: Path, table: Path) -> None:
    for name in ("a", "b"):
        assert run_command(["topic", "train", str(table), "--out", str(tmp_path / name), "--url", "--pieces"]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_errors_are_one_line_with_a_remedy(tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "m.model")
    train = ["topic", "train", str(table), "--out", model]
    for arguments, sentence in (
        ([*train, "--without", "trains", "--without", "violins"], "to train, give pages of two topics at least"),
        ([*train, "--group", "north"], "no page is left"),
        ([*train, "--least", "5000"], "holds no page with 5000 words"),
        ([*train, "--method", "bayes", "--pieces"], "take --method linear"),
        (["topic", "train", str(table), "--out", str(tmp_path / "no" / "m")], "cannot be written"),
        (["topic", "test", model, str(table)], "parcahyd topic train writes a model"),
        (["topic", "test", str(table), str(table)], "is not a model of topics"),
    ):
        assert run_command(arguments) == 2, arguments
        error = capsys.readouterr().err.strip()
        assert sentence in error.splitlines()[-1], error


def test_without_a_command_its_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["topic"]) == 0
    assert "Train and test models" in capsys.readouterr().out


@pytest.mark.skipif(not WEBKB.is_dir(), reason=f"WebKB is not there: {WEBKB}")
def test_real_pages_of_universities_that_were_not_trained_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = str(tmp_path / "webkb.model"), str(WEBKB)
    train = ["topic", "train", data, "--out", model, "--group", "misc", "--without", "other"]
    assert run_command([*train, "--language", ""]) == 0
    groups = [part for name in ("cornell", "texas", "washington", "wisconsin") for part in ("--group", name)]
    assert run_command(["topic", "test", model, data, *groups, "--without", "other"]) == 0
    found = re.search(r"accuracy   ([\d.]+) of 933 pages", capsys.readouterr().out)
    assert found
    assert float(found[1]) >= 0.90
