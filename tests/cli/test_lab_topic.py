"""`parcahyd lab topic`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parcahyd.cli.application import run_command
from tests.topics.small_corpus import corpus


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Counts with links: each page links to the two before it."""
    folder = tmp_path / "data"
    folder.mkdir()
    pages = [page._replace(words={word: 30 * count for word, count in page.words.items()}) for page in corpus(12)]
    vocabulary = sorted({word for page in pages for word in page.words})
    number = {word: place for place, word in enumerate(vocabulary)}
    rows = [f"{page.url}\t{page.topic}\t{page.group}\n" for page in pages]
    counts = [" ".join(f"{number[word]}:{count}" for word, count in page.words.items()) + "\n" for page in pages]
    links = [" ".join(str(target) for target in (row - 1, row - 2) if target >= 0) + "\n" for row in range(len(pages))]
    (folder / "pages.tsv").write_text("".join(rows))
    (folder / "counts.txt").write_text("".join(counts))
    (folder / "vocabulary.txt").write_text("".join(f"{word.decode()}\n" for word in vocabulary))
    (folder / "links.txt").write_text("".join(links))
    return folder


def test_each_table_goes_to_the_page(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report"
    assert run_command(["lab", "topic", str(data), "--train", "even", "--report", str(report)]) == 0
    output = capsys.readouterr().out
    page = (report / "topic.md").read_text()
    for title in ("Accuracy", "Topic locality", "Order by PageRank within a part", "Pages fetched", "Speed"):
        assert f"### {title}" in output
        assert f"### {title}" in page
    assert (report / "accuracy-accuracy.svg").exists()


def test_data_without_groups_have_accuracy_alone_under_their_name(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lab", "topic", str(data), "--name", "mine", "--table", "accuracy", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert [table["name"] for table in tables] == ["mine-accuracy"]
    assert tables[0]["rows"][0]["figures"]["accuracy"] == 1.0
